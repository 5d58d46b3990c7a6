// How fast an empty archive is filled from a simulated platform, run after run; then the same rows are copied into an
// empty table of the same shape.
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { runCommand, simulate } from './children.ts';
import { ask, withServer } from './server.ts';
import { round, said, spread, type Table } from './tables.ts';
import { load, processorSeconds } from './timing.ts';

type Measured = {
  orders: number;
  classes: number;
  /** From starting `outlast sync` to its exit; the tables are there already. */
  syncSeconds: number;
  /** Bare COPY of the same rows, and once more: how much the same thing varies. */
  copySeconds: number;
  copyAgainSeconds: number;
  /** Processor time a row of the sync, microseconds: the process, Postgres and the simulated platform. */
  processorUs: number[];
  peakMb: number;
  loadBefore: number;
};

export type Filled = { runs: Measured[]; postgres: string };

export async function measureFilling(
  what: { orders: number; classes: number },
  times: number,
  signal: AbortSignal,
): Promise<Filled> {
  const runs: Measured[] = [];
  let postgres = 'unknown';
  for (let run = 0; run < times; run++) {
    const loadBefore = load();
    await withServer(async (server) => {
      const platform = await simulate(what.orders, what.classes);
      server.atEnd(() => platform.close());
      const env = { ...platform.env, DATABASE_URL: server.connectionString };
      await runCommand(['migrate'], env, signal);
      const used = (): number[] => [
        processorSeconds(process.pid, [server.pid, platform.pid]),
        processorSeconds(server.pid),
        processorSeconds(platform.pid),
      ];
      const before = used();
      const sync = await runCommand(['sync', '--json'], env, signal);
      const after = used();
      const [held] = await ask<{ orders: number; classes: number }>(
        server.connectionString,
        `select (select count(*)::int from archive.orders)      as orders,
                (select count(*)::int from archive.nft_classes) as classes`,
      );
      const { orders = 0, classes = 0 } = held ?? {};
      const copy = async (): Promise<number> =>
        (await copyAgain(server.connectionString, 'orders', server.folder)) +
        (await copyAgain(server.connectionString, 'nft_classes', server.folder));
      postgres = server.version;
      runs.push({
        orders,
        classes,
        syncSeconds: sync.seconds,
        copySeconds: await copy(),
        copyAgainSeconds: await copy(),
        processorUs: after.map(
          (seconds, n) => ((seconds - (before[n] ?? 0)) * 1e6) / (orders + classes),
        ),
        peakMb: sync.peakMb,
        loadBefore,
      });
    });
  }
  return { runs, postgres };
}

/** Seconds that COPY takes for the rows just archived, into an empty table with the same indexes. */
export async function copyAgain(
  connectionString: string,
  table: 'orders' | 'nft_classes',
  folder: string,
): Promise<number> {
  const file = join(folder, 'rows.copy');
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const rows = client.query(copyTo(`copy archive.${table} to stdout`));
    await pipeline(rows, createWriteStream(file));
    await client.query(`create table public.copied (like archive.${table} including all)`);
    const begun = performance.now();
    await pipeline(createReadStream(file), client.query(copyFrom('copy public.copied from stdin')));
    const seconds = (performance.now() - begun) / 1000;
    await client.query('drop table public.copied');
    await rm(file);
    return seconds;
  } finally {
    await client.end();
  }
}

const paceOf = (one: Measured): number => (one.orders + one.classes) / one.syncSeconds;
const ratioOf = (one: Measured): number => one.copySeconds / one.syncSeconds;

export const fillingTables = ({ runs }: Filled): Table[] => [
  {
    name: 'filling',
    head: [
      'orders',
      'classes',
      'sync s',
      'COPY s',
      'COPY again s',
      'rows/s',
      'ratio to COPY',
      'processor µs a row',
      'peak MB',
      'load before',
    ],
    rows: runs.map((one) => [
      one.orders,
      one.classes,
      round(one.syncSeconds, 1),
      round(one.copySeconds, 1),
      round(one.copyAgainSeconds, 1),
      round(paceOf(one)),
      round(ratioOf(one), 2),
      one.processorUs.map((us) => round(us)).join(' + '),
      round(one.peakMb),
      round(one.loadBefore, 1),
    ]),
    notes: [
      'Processor time: of the sync process, of Postgres, and of the simulated platform.',
      `Median (min–max): ${said(spread(runs.map(paceOf)))} rows/s, ${said(spread(runs.map(ratioOf), 2))} of COPY, ${said(spread(runs.map(({ peakMb }) => peakMb)))} MB.`,
    ],
  },
];

// How fast an empty archive is filled from a simulated platform, run after run; then the same rows are copied into an
// empty table of the same shape.
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { queryAt, withClient } from '../test/support/client.ts';
import { runCommand, simulate } from './children.ts';
import { withServer, type BenchServer } from './server.ts';
import { round, said, spread, tableOf, type Measured, type Table } from './tables.ts';
import { used } from './timing.ts';

export async function measureFilling(
  orders: number,
  classes: number,
  times: number,
  signal: AbortSignal,
): Promise<Measured> {
  const runs: Filled[] = [];
  for (let run = 0; run < times; run++) {
    runs.push(await withServer((server) => fill(server, orders, classes, signal)));
  }
  return { results: runs, tables: [table(runs)] };
}

type Filled = Awaited<ReturnType<typeof fill>>;

async function fill(server: BenchServer, orders: number, classes: number, signal: AbortSignal) {
  const { connectionString, folder } = server;
  const platform = await simulate(server, orders, classes);
  const env = { ...platform.env, DATABASE_URL: connectionString };
  await runCommand(['migrate'], env, signal);
  // From its start to its exit; the tables are there already.
  const { of, own, apart, loadBefore } = await used(
    () => runCommand(['sync', '--json'], env, signal),
    [server.pid, platform.pid],
  );
  const [held = { orders: 0, classes: 0 }] = await queryAt<{ orders: number; classes: number }>(
    connectionString,
    `select (select count(*)::int from archive.orders)      as orders,
            (select count(*)::int from archive.nft_classes) as classes`,
  );
  const copy = async (): Promise<number> =>
    (await copyAgain(connectionString, 'orders', folder)) +
    (await copyAgain(connectionString, 'nft_classes', folder));
  return {
    ...held,
    syncSeconds: of.seconds,
    // Bare COPY of the same rows, and once more: how much the same thing varies.
    copySeconds: await copy(),
    copyAgainSeconds: await copy(),
    /** Of the sync, a row, microseconds: the process, Postgres and the simulated platform. */
    processorUs: [own, ...apart].map((seconds) => (seconds * 1e6) / (held.orders + held.classes)),
    peakMb: of.peakMb,
    loadBefore,
  };
}

/** Seconds that COPY takes for the rows just archived, into an empty table with the same indexes. */
export const copyAgain = (
  connectionString: string,
  table: 'orders' | 'nft_classes',
  folder: string,
): Promise<number> =>
  withClient(connectionString, async (client) => {
    const file = join(folder, 'rows.copy');
    const rows = client.query(copyTo(`copy archive.${table} to stdout`));
    await pipeline(rows, createWriteStream(file));
    await client.query(`create table public.copied (like archive.${table} including all)`);
    const begun = performance.now();
    await pipeline(createReadStream(file), client.query(copyFrom('copy public.copied from stdin')));
    const seconds = (performance.now() - begun) / 1000;
    await client.query('drop table public.copied');
    await rm(file);
    return seconds;
  });

const paceOf = (one: Filled): number => (one.orders + one.classes) / one.syncSeconds;
const ratioOf = (one: Filled): number => one.copySeconds / one.syncSeconds;

const table = (runs: Filled[]): Table =>
  tableOf(
    'filling',
    runs,
    [
      ['orders', (one) => one.orders],
      ['classes', (one) => one.classes],
      ['sync s', (one) => round(one.syncSeconds, 1)],
      ['COPY s', (one) => round(one.copySeconds, 1)],
      ['COPY again s', (one) => round(one.copyAgainSeconds, 1)],
      ['rows/s', (one) => round(paceOf(one))],
      ['ratio to COPY', (one) => round(ratioOf(one), 2)],
      ['processor µs a row', (one) => one.processorUs.map((us) => round(us)).join(' + ')],
      ['peak MB', (one) => round(one.peakMb)],
      ['load before', (one) => round(one.loadBefore, 1)],
    ],
    [
      'Processor time: of the sync process, of Postgres, and of the simulated platform.',
      `Median (min–max): ${said(spread(runs.map(paceOf)))} rows/s, ${said(spread(runs.map(ratioOf), 2))} of COPY, ${said(spread(runs.map(({ peakMb }) => peakMb)))} MB.`,
    ],
  );

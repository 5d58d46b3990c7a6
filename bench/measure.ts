// One measurement: an empty archive is filled from a simulated platform, then the same rows are copied into an empty
// table of the same shape. Everything it makes is in a folder of its own and gone afterwards.
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { silentLog } from '../src/log.ts';
import { openEmbedded } from '../src/store/embedded/embedded.ts';
import { runCommand, simulate } from './children.ts';
import { processorSeconds } from './timing.ts';

export type Measured = {
  orders: number;
  classes: number;
  /** From starting `outlast sync` to its exit; the tables are there already. */
  syncSeconds: number;
  /** Bare COPY of the same rows, and once more: how much the same thing varies. */
  copySeconds: number;
  copyAgainSeconds: number;
  /** Processor time a row of the sync, microseconds: the process, Postgres and the simulated platform. */
  processUs: number;
  postgresUs: number;
  platformUs: number;
  rowsPerSecond: number;
  ratioToCopy: number;
  /** Peak resident memory of the sync process, MB. */
  peakMb: number;
  /** Load average of the last minute when the measurement began: what others were using of the machine. */
  loadBefore: number;
  postgres: string;
};

export type What = { orders: number; classes: number };

export async function measure(what: What, signal: AbortSignal): Promise<Measured> {
  const [loadBefore = 0] = loadavg();
  const folder = await mkdtemp(join(tmpdir(), 'outlast-bench-'));
  // Run by root, the server has another user, who must be able to pass through.
  await chmod(folder, 0o755);
  const closers: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const platform = await simulate(what.orders, what.classes);
    closers.push(() => platform.close());
    const embedded = await openEmbedded({ dataDir: join(folder, 'data'), log: silentLog() });
    closers.push(() => embedded.close());
    const env = { ...platform.env, DATABASE_URL: embedded.connectionString };
    await runCommand(['migrate'], env, signal);
    const postmaster = join(embedded.dataDir, 'pgdata', 'postmaster.pid');
    const server = Number(readFileSync(postmaster, 'utf8').split('\n')[0]);
    const used = (): number[] => [
      processorSeconds(process.pid, [server, platform.pid]),
      processorSeconds(server),
      processorSeconds(platform.pid),
    ];
    const before = used();
    const sync = await runCommand(['sync', '--json'], env, signal);
    const after = used();

    const client = new pg.Client({ connectionString: embedded.connectionString });
    await client.connect();
    closers.push(() => client.end());
    const { orders, classes, postgres } = await held(client);
    const copy = async (): Promise<number> =>
      (await copyAgain(client, 'orders', folder)) +
      (await copyAgain(client, 'nft_classes', folder));
    const copySeconds = await copy();
    const copyAgainSeconds = await copy();
    const [processUs = 0, postgresUs = 0, platformUs = 0] = after.map(
      (seconds, n) => ((seconds - (before[n] ?? 0)) * 1e6) / (orders + classes),
    );
    return {
      orders,
      classes,
      syncSeconds: sync.seconds,
      copySeconds,
      copyAgainSeconds,
      processUs,
      postgresUs,
      platformUs,
      rowsPerSecond: (orders + classes) / sync.seconds,
      ratioToCopy: copySeconds / sync.seconds,
      peakMb: sync.peakMb,
      loadBefore,
      postgres,
    };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

type Held = { orders: number; classes: number; postgres: string };

async function held(client: pg.Client): Promise<Held> {
  const { rows } = await client.query<Held>(
    `select (select count(*)::int from archive.orders)      as orders,
            (select count(*)::int from archive.nft_classes) as classes,
            current_setting('server_version')               as postgres`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the archive cannot be counted');
  return row;
}

/** Seconds that COPY takes for the rows just archived, into an empty table with the same indexes. */
export async function copyAgain(
  client: pg.Client,
  table: 'orders' | 'nft_classes',
  folder: string,
): Promise<number> {
  const file = join(folder, 'rows.copy');
  await pipeline(client.query(copyTo(`copy archive.${table} to stdout`)), createWriteStream(file));
  await client.query(`create table public.copied (like archive.${table} including all)`);
  const begun = performance.now();
  await pipeline(createReadStream(file), client.query(copyFrom('copy public.copied from stdin')));
  const seconds = (performance.now() - begun) / 1000;
  await client.query('drop table public.copied');
  await rm(file);
  return seconds;
}

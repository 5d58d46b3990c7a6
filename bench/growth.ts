// What an order costs as the archive grows: archives of ten times as many orders each are filled by `outlast sync`,
// read and kept up. What should be flat and is not is a defect.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openArchive } from '../src/query/archive.ts';
import { silentLog } from '../src/log.ts';
import { openEmbedded } from '../src/store/embedded/embedded.ts';
import { runCommand, simulate } from './children.ts';
import { measureStorage, storageTables, type Storage } from './storage.ts';
import type { Table } from './tables.ts';
import { load, time, type Timed } from './timing.ts';
import { measureUpkeep, upkeepTable, type Upkeep } from './upkeep.ts';

export type Grown = {
  orders: number;
  seconds: number;
  /** Of `outlast sync`, MB. */
  peakMb: number;
  requests: number;
  walBytes: number;
  /** Of the archive's tables, the journal and the ledger; TOAST included. */
  tableBytes: number;
  indexBytes: number;
  pageMs: { median: number; p99: number };
  monthMs: number;
  upkeep: Upkeep;
  loadBefore: number;
};

/** `storage`: of the last size. */
export type Growth = { sizes: Grown[]; storage: Storage; postgres: string };

export async function measureGrowth(sizes: number[], signal: AbortSignal): Promise<Growth> {
  const grown: Grown[] = [];
  let postgres = 'unknown';
  let storage: Storage = { columns: [], indexes: [], tables: [] };
  for (const size of sizes) {
    const { version, storage: stored, ...one } = await grow(size, signal);
    grown.push(one);
    postgres = version;
    storage = stored;
  }
  return { sizes: grown, storage, postgres };
}

type Held = {
  orders: number;
  table_bytes: number;
  index_bytes: number;
  wal_bytes: number;
  month: string;
  project: string;
  version: string;
};

const heldSql = (walBefore: string): string => `
  select (select count(*)::int from archive.orders) as orders,
         (sum(pg_table_size(oid)))::float8          as table_bytes,
         (sum(pg_indexes_size(oid)))::float8        as index_bytes,
         pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '${walBefore}')::float8 as wal_bytes,
         (select date_trunc('month', max(slice_day)::timestamp)::date::text from archive.orders) as month,
         (select project_id from sync.projects) as project,
         current_setting('server_version') as version
    from pg_class
   where relkind = 'r' and relnamespace in ('archive'::regnamespace, 'sync'::regnamespace)`;

async function grow(
  size: number,
  signal: AbortSignal,
): Promise<Grown & { version: string; storage: Storage }> {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-bench-'));
  // Run by root, the server has another user, who must be able to pass through.
  await chmod(folder, 0o755);
  const closers: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const platform = await simulate(size, 0);
    closers.push(() => platform.close());
    const embedded = await openEmbedded({ dataDir: join(folder, 'data'), log: silentLog() });
    closers.push(() => embedded.close());
    const { connectionString } = embedded;
    const env = { ...platform.env, DATABASE_URL: connectionString };
    await runCommand(['migrate'], env, signal);
    const client = new pg.Client({ connectionString });
    await client.connect();
    closers.push(() => client.end());
    const ask = async <R extends pg.QueryResultRow>(
      sql: string,
      given: unknown[] = [],
    ): Promise<R> => {
      const { rows } = await client.query<R>(sql, given);
      const [row] = rows;
      if (row === undefined) throw new Error('the archive cannot be counted');
      return row;
    };
    const { lsn } = await ask<{ lsn: string }>('select pg_current_wal_insert_lsn()::text as lsn');
    const loadBefore = load();
    const sync = await runCommand(['sync', '--json', '--resource', 'orders'], env, signal);
    const held = await ask<Held>(heldSql(lsn));
    const requests = await platform.requested();
    await client.query('vacuum (analyze) archive.orders');
    const page = await pages(connectionString, held.project, signal);
    const month = await time(
      { what: 'orders by month' },
      Array.from({ length: 20 }, () => held.month),
      async (of) =>
        (await client.query('select * from analytics.orders_by_month where month = $1', [of])).rows
          .length,
      signal,
    );
    const storage = await measureStorage(client);
    return {
      orders: held.orders,
      seconds: sync.seconds,
      peakMb: sync.peakMb,
      requests,
      walBytes: held.wal_bytes,
      tableBytes: held.table_bytes,
      indexBytes: held.index_bytes,
      pageMs: { median: page.medianMs, p99: page.p99Ms },
      monthMs: month.medianMs,
      upkeep: await measureUpkeep(client, folder, env, signal),
      loadBefore,
      version: held.version,
      storage,
    };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

/** Two hundred pages of 50, one after the other, newest first. */
async function pages(
  connectionString: string,
  project: string,
  signal: AbortSignal,
): Promise<Timed> {
  const archive = await openArchive({ connectionString });
  let cursor: string | null = null;
  try {
    return await time(
      { what: 'page of 50' },
      Array.from({ length: 200 }),
      async () => {
        const page = await archive.orders.list({
          project,
          limit: 50,
          order: 'desc',
          ...(cursor === null ? {} : { cursor }),
        });
        cursor = page.next;
        return page.items.length;
      },
      signal,
    );
  } finally {
    await archive.close();
  }
}

const round = (number: number, digits = 0): number => Number(number.toFixed(digits));

export const growthTables = ({ sizes, storage }: Growth): Table[] => [
  {
    name: 'growth',
    head: [
      'orders',
      'µs an order',
      'requests an order',
      'WAL, bytes an order',
      'tables',
      'indexes',
      'peak MB',
      'page p50 ms',
      'page p99 ms',
      'a month, ms',
      'load before',
    ],
    rows: sizes.map((one) => [
      one.orders,
      round((one.seconds * 1e6) / one.orders),
      round(one.requests / one.orders, 3),
      round(one.walBytes / one.orders),
      round(one.tableBytes / one.orders),
      round(one.indexBytes / one.orders),
      round(one.peakMb),
      round(one.pageMs.median, 2),
      round(one.pageMs.p99, 2),
      round(one.monthMs, 1),
      round(one.loadBefore, 1),
    ]),
    notes: ['Tables and indexes in bytes an order: records, journal, ledger and pages walked.'],
  },
  upkeepTable(sizes),
  ...storageTables(storage),
];

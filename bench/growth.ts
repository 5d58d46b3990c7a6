// What an order costs as the archive grows: archives of ten times as many orders each are filled by `outlast sync`,
// read and kept up. What should be flat and is not is a defect.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { openArchive } from '../src/query/archive.ts';
import { runCommand, simulate } from './children.ts';
import { ask, withServer, type BenchServer } from './server.ts';
import { round, type Table } from './tables.ts';
import { load, time, type Timed } from './timing.ts';

/** Seconds, and the peak memory of the process in MB; `bytes`: of the files that it wrote. */
type Done = { seconds: number; peakMb: number; bytes: number };

type Grown = {
  orders: number;
  sync: Done;
  requests: number;
  walBytes: number;
  /** Of the archive's tables, the journal and the ledger; TOAST included. */
  tableBytes: number;
  indexBytes: number;
  page: Timed;
  month: Timed;
  verify: Done;
  follow: Done;
  csv: Done;
  parquet: Done;
  vacuumSeconds: number;
  loadBefore: number;
};

export type Growth = { sizes: Grown[]; postgres: string };

export async function measureGrowth(sizes: number[], signal: AbortSignal): Promise<Growth> {
  const grown: Grown[] = [];
  let postgres = 'unknown';
  for (const size of sizes) {
    await withServer(async (server) => {
      postgres = server.version;
      grown.push(await grow(server, size, signal));
    });
  }
  return { sizes: grown, postgres };
}

type Held = Pick<Grown, 'orders' | 'tableBytes' | 'indexBytes' | 'walBytes'> & {
  month: string;
  project: string;
};

const heldSql = `
  select (select count(*)::int from archive.orders)    as orders,
         (sum(pg_table_size(oid)))::float8             as "tableBytes",
         (sum(pg_indexes_size(oid)))::float8           as "indexBytes",
         pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::pg_lsn)::float8 as "walBytes",
         (select date_trunc('month', max(slice_day)::timestamp)::date::text from archive.orders) as month,
         (select project_id from sync.projects)        as project
    from pg_class
   where relkind = 'r' and relnamespace in ('archive'::regnamespace, 'sync'::regnamespace)`;

async function grow(server: BenchServer, size: number, signal: AbortSignal): Promise<Grown> {
  const { connectionString } = server;
  const platform = await simulate(size, 0);
  server.atEnd(() => platform.close());
  const env = { ...platform.env, DATABASE_URL: connectionString };
  await runCommand(['migrate'], env, signal);
  const client = new pg.Client({ connectionString });
  await client.connect();
  server.atEnd(() => client.end());
  const [before] = await ask<{ lsn: string }>(
    connectionString,
    'select pg_current_wal_insert_lsn()::text as lsn',
  );
  const loadBefore = load();
  const sync = await runCommand(['sync', '--json', '--resource', 'orders'], env, signal);
  const [held] = await ask<Held>(connectionString, heldSql, [before?.lsn]);
  if (held === undefined) throw new Error('the archive cannot be counted');
  const { month: newest, project, ...measured } = held;
  const requests = await platform.requested();
  await client.query('vacuum (analyze) archive.orders');
  const page = await pages(connectionString, project, signal);
  const month = await time(
    { what: 'orders by month' },
    Array.from({ length: 20 }, () => newest),
    async (of) =>
      (await client.query('select * from analytics.orders_by_month where month = $1', [of])).rows
        .length,
    signal,
  );
  const exported = async (format: string): Promise<Done> => {
    const to = join(server.folder, 'export');
    const done = await runCommand(['export', to, '--format', format, '--json'], env, signal);
    const { files } = JSON.parse(await readFile(join(to, 'manifest.json'), 'utf8')) as {
      files: { bytes: number }[];
    };
    await rm(to, { recursive: true });
    return { ...done, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  };
  return {
    ...measured,
    sync: { ...sync, bytes: 0 },
    requests,
    page,
    month,
    verify: { ...(await runCommand(['verify', '--json'], env, signal)), bytes: 0 },
    follow: { ...(await runCommand(['follow', '--once'], env, signal)), bytes: 0 },
    csv: await exported('csv'),
    parquet: await exported('parquet'),
    vacuumSeconds: await vacuum(client),
    loadBefore,
  };
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

/** Of a table of which one row in twenty is dead. */
async function vacuum(client: pg.Client): Promise<number> {
  // Not by another process meanwhile.
  await client.query('alter table archive.orders set (autovacuum_enabled = off)');
  await client.query(
    'update archive.orders set changed_at = changed_at where hashtext(operation_id) % 20 = 0',
  );
  await client.query('checkpoint');
  const begun = performance.now();
  await client.query('vacuum archive.orders');
  return (performance.now() - begun) / 1000;
}

export const growthTables = ({ sizes }: Growth): Table[] => [
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
      round((one.sync.seconds * 1e6) / one.orders),
      round(one.requests / one.orders, 3),
      round(one.walBytes / one.orders),
      round(one.tableBytes / one.orders),
      round(one.indexBytes / one.orders),
      round(one.sync.peakMb),
      round(one.page.medianMs, 2),
      round(one.page.p99Ms, 2),
      round(one.month.medianMs, 1),
      round(one.loadBefore, 1),
    ]),
    notes: ['Tables and indexes in bytes an order: records, journal, ledger and pages walked.'],
  },
  {
    name: 'upkeep',
    head: [
      'orders',
      'verify, µs',
      'verify, peak MB',
      'follow, µs',
      'follow, peak MB',
      'CSV, µs',
      'CSV, bytes',
      'CSV, peak MB',
      'Parquet, µs',
      'Parquet, bytes',
      'Parquet, peak MB',
      'VACUUM, µs',
    ],
    rows: sizes.map(({ orders, verify, follow, csv, parquet, vacuumSeconds }) => {
      const us = (seconds: number): number => round((seconds * 1e6) / orders, 1);
      const exported = ({ seconds, bytes, peakMb }: Done): number[] => [
        us(seconds),
        round(bytes / orders),
        round(peakMb),
      ];
      return [
        orders,
        us(verify.seconds),
        round(verify.peakMb),
        us(follow.seconds),
        round(follow.peakMb),
        ...exported(csv),
        ...exported(parquet),
        us(vacuumSeconds),
      ];
    }),
    notes: ['Microseconds by the clock, and bytes of files, an order.'],
  },
];

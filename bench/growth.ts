// What an order costs as the archive grows: archives of ten times as many orders each are filled by `outlast sync`,
// read and kept up. What should be flat and is not is a defect.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openArchive } from '../src/query/archive.ts';
import { queryAt, withClient } from '../test/support/client.ts';
import { runCommand, simulate, type Ended } from './children.ts';
import { withServer, type BenchServer } from './server.ts';
import { round, tableOf, type Column, type Measured } from './tables.ts';
import { time, used, type Timed } from './timing.ts';

export async function measureGrowth(most: number, signal: AbortSignal): Promise<Measured> {
  const sizes: Grown[] = [];
  for (const size of [most / 1000, most / 100, most / 10, most]) {
    if (size < Math.min(most, 10_000)) continue;
    sizes.push(await withServer((server) => grow(server, Math.round(size), signal)));
  }
  const tables = [
    tableOf('growth', sizes, growth, [
      'Tables and indexes in bytes an order: records, journal, ledger and pages walked.',
    ]),
    tableOf('upkeep', sizes, upkeep, ['Microseconds by the clock, and bytes of files, an order.']),
  ];
  return { results: sizes, tables };
}

/** Bytes of the archive's tables, the journal and the ledger; TOAST included. */
type Held = {
  orders: number;
  tableBytes: number;
  indexBytes: number;
  walBytes: number;
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

type Grown = Awaited<ReturnType<typeof grow>>;
type Exported = Ended & { bytes: number };

async function grow(server: BenchServer, size: number, signal: AbortSignal) {
  const { connectionString } = server;
  const platform = await simulate(server, size, 0);
  const env = { ...platform.env, DATABASE_URL: connectionString };
  const command = (...args: string[]): Promise<Ended> => runCommand(args, env, signal);
  await command('migrate');
  const [before] = await queryAt<{ lsn: string }>(
    connectionString,
    'select pg_current_wal_insert_lsn()::text as lsn',
  );
  const sync = await used(() => command('sync', '--json', '--resource', 'orders'));
  const [held] = await queryAt<Held>(connectionString, heldSql, [before?.lsn]);
  if (held === undefined) throw new Error('the archive cannot be counted');
  const { month: newest, project, ...measured } = held;
  const requests = await platform.requested();
  await queryAt(connectionString, 'vacuum (analyze) archive.orders');
  const exported = async (format: string): Promise<Exported> => {
    const to = join(server.folder, 'export');
    const done = await command('export', to, '--format', format, '--json');
    const { files } = JSON.parse(await readFile(join(to, 'manifest.json'), 'utf8')) as {
      files: { bytes: number }[];
    };
    await rm(to, { recursive: true });
    return { ...done, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  };
  return {
    ...measured,
    sync: sync.of,
    requests,
    page: await pages(connectionString, project, signal),
    month: await months(connectionString, newest, signal),
    verify: await command('verify', '--json'),
    follow: await command('follow', '--once'),
    csv: await exported('csv'),
    parquet: await exported('parquet'),
    vacuumSeconds: await vacuum(connectionString),
    loadBefore: sync.loadBefore,
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
  const next = async (): Promise<number> => {
    const from = cursor === null ? {} : { cursor };
    const page = await archive.orders.list({ project, limit: 50, order: 'desc', ...from });
    cursor = page.next;
    return page.items.length;
  };
  try {
    return await time({ what: 'page of 50' }, Array(200).fill(null), next, signal);
  } finally {
    await archive.close();
  }
}

const months = (connectionString: string, newest: string, signal: AbortSignal): Promise<Timed> =>
  withClient(connectionString, (client) =>
    time(
      { what: 'orders by month' },
      Array<string>(20).fill(newest),
      async (of) => {
        const sql = 'select * from analytics.orders_by_month where month = $1';
        return (await client.query(sql, [of])).rows.length;
      },
      signal,
    ),
  );

/** Of a table of which one row in twenty is dead. */
const vacuum = (connectionString: string): Promise<number> =>
  withClient(connectionString, async (client) => {
    // Not by another process meanwhile.
    await client.query('alter table archive.orders set (autovacuum_enabled = off)');
    await client.query(
      'update archive.orders set changed_at = changed_at where hashtext(operation_id) % 20 = 0',
    );
    await client.query('checkpoint');
    const begun = performance.now();
    await client.query('vacuum archive.orders');
    return (performance.now() - begun) / 1000;
  });

const growth: Column<Grown>[] = [
  ['orders', (one) => one.orders],
  ['µs an order', (one) => round((one.sync.seconds * 1e6) / one.orders)],
  ['requests an order', (one) => round(one.requests / one.orders, 3)],
  ['WAL, bytes an order', (one) => round(one.walBytes / one.orders)],
  ['tables', (one) => round(one.tableBytes / one.orders)],
  ['indexes', (one) => round(one.indexBytes / one.orders)],
  ['peak MB', (one) => round(one.sync.peakMb)],
  ['page p50 ms', (one) => round(one.page.medianMs, 2)],
  ['page p99 ms', (one) => round(one.page.p99Ms, 2)],
  ['a month, ms', (one) => round(one.month.medianMs, 1)],
  ['load before', (one) => round(one.loadBefore, 1)],
];

const us = (seconds: number, { orders }: Grown): number => round((seconds * 1e6) / orders, 1);

const upkeep: Column<Grown>[] = [
  ['orders', (one) => one.orders],
  ['verify, µs', (one) => us(one.verify.seconds, one)],
  ['verify, peak MB', (one) => round(one.verify.peakMb)],
  ['follow, µs', (one) => us(one.follow.seconds, one)],
  ['follow, peak MB', (one) => round(one.follow.peakMb)],
  ['CSV, µs', (one) => us(one.csv.seconds, one)],
  ['CSV, bytes', (one) => round(one.csv.bytes / one.orders)],
  ['CSV, peak MB', (one) => round(one.csv.peakMb)],
  ['Parquet, µs', (one) => us(one.parquet.seconds, one)],
  ['Parquet, bytes', (one) => round(one.parquet.bytes / one.orders)],
  ['Parquet, peak MB', (one) => round(one.parquet.peakMb)],
  ['VACUUM, µs', (one) => us(one.vacuumSeconds, one)],
];

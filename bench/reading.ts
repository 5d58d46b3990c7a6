// `npm run bench -- --reading`: an archive of many orders is made, then pages, reports and exports of it are timed, one
// after the other. What the figures mean: docs/benchmarks.md.
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { formatCount } from '../src/cli/print.ts';
import { silentLog } from '../src/log.ts';
import { openDb } from '../src/store/db.ts';
import { queryAt } from '../test/support/client.ts';
import {
  fill,
  fillingSettings,
  halfYearOf,
  openBenchArchive,
  rest,
  yearsOf,
  type BenchArchive,
  type Filling,
} from './archive.ts';
import { startModule } from './children.ts';
import { exportsTable, measureExports } from './exports.ts';
import { measureHttp } from './http-pages.ts';
import { withServer, type BenchServer } from './server.ts';
import { round, tableOf, type Measured, type Table } from './tables.ts';
import { load, time, type Timed } from './timing.ts';

export type Reading = Awaited<ReturnType<typeof read>>;

export async function measureReading(
  orders: number,
  runs: number,
  signal: AbortSignal,
): Promise<Measured> {
  await checkRoom(orders);
  return withServer(async (server) => {
    const results = await read(server, orders, runs, signal);
    return { results, tables: readingTables(results) };
  }, fillingSettings);
}

async function read(server: BenchServer, orders: number, runs: number, signal: AbortSignal) {
  const archive = await openBenchArchive(server);
  const say = (what: string): void =>
    void process.stderr.write(`${what} (load ${load().toFixed(1)})\n`);
  const filling = yearsOf(orders);
  say(`making ${formatCount(orders)} orders`);
  const begun = performance.now();
  await fill(archive, filling, signal);
  await fill(archive, halfYearOf(orders), signal);
  await rest(archive);
  const fillSeconds = (performance.now() - begun) / 1000;
  const [size] = await queryAt<{ mb: number }>(
    server.connectionString,
    'select (pg_database_size(current_database()) / 1000000)::int as mb',
  );
  say('pages through the library');
  const library = await startModule(
    'library-pages.js',
    { BENCH_DATABASE: archive.connectionString, BENCH_FILLING: JSON.stringify(filling) },
    // As docs/library.md advises whoever answers somebody.
    ['--max-semi-space-size=1'],
  );
  const timed = JSON.parse(library.line) as Timed[];
  say('pages over HTTP');
  timed.push(...(await measureHttp(archive, filling, signal)));
  say('reports');
  timed.push(...(await measureReports(archive, filling, signal)));
  say('exports');
  const exported = await measureExports(archive, halfYearOf(orders), runs, signal);
  return { orders, fillSeconds, databaseMb: size?.mb ?? Number.NaN, timed, ...exported };
}

/** An archive, and the files made of a part of it: 1.5 kB an order, and a gigabyte whatever their number. */
async function checkRoom(orders: number): Promise<void> {
  const { bsize, bavail } = await statfs(tmpdir());
  const needed = orders * 1_500 + 1e9;
  if (bsize * bavail > needed) return;
  throw new Error(
    `${tmpdir()} has no ${Math.ceil(needed / 1e9)} GB left: name another folder by TMPDIR, or fewer orders by --orders.`,
  );
}

/** Reports as a BI tool asks for them: SQL over the views for people, through the reader's role. */
async function measureReports(
  { connectionString }: BenchArchive,
  { project }: Filling,
  signal: AbortSignal,
): Promise<Timed[]> {
  const db = await openDb({ connectionString, max: 1, role: 'outlast_reader', log: silentLog() });
  const { rows: months } = await db.query<{ month: string }>(
    'select month from analytics.orders_by_month where project_id = $1',
    [project],
  );
  const report = (what: string, view: string, aimMs: number | null): Promise<Timed> => {
    const sql = `select * from analytics.${view} where project_id = $1 and month = $2`;
    const ask = async ({ month }: { month: string }): Promise<number> =>
      (await db.query(sql, [project, month])).rows.length;
    return time({ what: `${what}, one month`, aimMs }, months, ask, signal);
  };
  try {
    return [
      await report('orders by month', 'orders_by_month', 200),
      await report('orders by day', 'orders_by_day', 200),
      await report('spend by account', 'spend_by_account', null),
    ];
  } finally {
    await db.close();
  }
}

const readingTables = (found: Reading): Table[] => [
  tableOf(
    'reading',
    found.timed,
    [
      ['', (one) => one.what],
      ['times', (one) => one.times],
      ['records', (one) => round(one.records)],
      ['median ms', (one) => round(one.medianMs, 2)],
      ['p99 ms', (one) => round(one.p99Ms, 2)],
      ['max ms', (one) => round(one.maxMs, 2)],
      [
        'aim for p99',
        ({ aimMs, p99Ms }) =>
          aimMs === null ? '' : `${aimMs}: ${p99Ms <= aimMs ? 'met' : 'missed'}`,
      ],
      ['load before', (one) => round(one.loadBefore, 1)],
    ],
    [
      `${formatCount(found.orders)} orders of three years, ${formatCount(found.databaseMb)} MB, made in ${round(found.fillSeconds)} s.`,
    ],
  ),
  exportsTable(found.csvMb, found.exports),
];

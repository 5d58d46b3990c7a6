// `npm run bench -- --reading`: an archive of many orders is made, then pages, reports and exports of it are timed, one
// after the other. What the figures mean: docs/benchmarks.md.
import { statfs } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { formatCount } from '../src/cli/print.ts';
import { fill, halfYearOf, openBenchArchive, rest, yearsOf } from './archive.ts';
import { startModule } from './children.ts';
import { measureExports, type Exported } from './exports.ts';
import { measureHttp } from './http-pages.ts';
import { measureReports } from './reports.ts';
import type { Table } from './tables.ts';
import { load, type Timed } from './timing.ts';

export type Reading = {
  orders: number;
  fillSeconds: number;
  databaseMb: number;
  postgres: string;
  timed: Timed[];
  csvMb: number;
  exports: Exported[];
};

export async function measureReading(
  orders: number,
  runs: number,
  signal: AbortSignal,
): Promise<Reading> {
  await checkRoom(orders);
  const archive = await openBenchArchive();
  const say = (what: string): void =>
    void process.stderr.write(`${what} (load ${load().toFixed(1)})\n`);
  try {
    const filling = yearsOf(orders);
    say(`making ${formatCount(orders)} orders`);
    const begun = performance.now();
    await fill(archive, filling, signal);
    await fill(archive, halfYearOf(orders), signal);
    await rest(archive);
    const fillSeconds = (performance.now() - begun) / 1000;
    const { rows } = await archive.db.query<{ mb: number; postgres: string }>(
      `select (pg_database_size(current_database()) / 1000000)::int as mb, current_setting('server_version') as postgres`,
    );
    const timed: Timed[] = [];
    say('pages through the library');
    const library = await startModule(
      'library-pages.js',
      { BENCH_DATABASE: archive.connectionString, BENCH_FILLING: JSON.stringify(filling) },
      // As docs/library.md advises whoever answers somebody.
      ['--max-semi-space-size=1'],
    );
    timed.push(...(JSON.parse(library.line) as Timed[]));
    say('pages over HTTP');
    timed.push(...(await measureHttp(archive, filling, signal)));
    say('reports');
    timed.push(...(await measureReports(archive, filling, signal)));
    say('exports');
    const { csvMb, exports } = await measureExports(archive, halfYearOf(orders), runs, signal);
    return {
      orders,
      fillSeconds,
      databaseMb: rows[0]?.mb ?? Number.NaN,
      postgres: rows[0]?.postgres ?? 'unknown',
      timed,
      csvMb,
      exports,
    };
  } finally {
    await archive.close();
  }
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

const to = (number: number, digits: number): number => Number(number.toFixed(digits));

export function readingTables({ orders, fillSeconds, databaseMb, ...reading }: Reading): Table[] {
  const { seconds, processor } = ratios(reading.exports);
  return [
    {
      name: 'reading',
      head: ['', 'times', 'records', 'median ms', 'p99 ms', 'max ms', 'aim for p99', 'load before'],
      rows: reading.timed.map((one) => [
        one.what,
        one.times,
        Math.round(one.records),
        to(one.medianMs, 2),
        to(one.p99Ms, 2),
        to(one.maxMs, 2),
        one.aimMs === null ? '' : `${one.aimMs}: ${one.p99Ms <= one.aimMs ? 'met' : 'missed'}`,
        to(one.loadBefore, 1),
      ]),
      notes: [
        `${formatCount(orders)} orders of three years, ${formatCount(databaseMb)} MB, made in ${to(fillSeconds, 0)} s.`,
      ],
    },
    {
      name: 'exports',
      head: [
        '',
        'rows',
        's',
        'processor s',
        'rows/s',
        'rows/s a core',
        'Parquet MB',
        'peak MB',
        'load before',
      ],
      rows: reading.exports.map((one) => [
        one.what,
        one.rows,
        to(one.seconds, 1),
        to(one.processorSeconds, 1),
        Math.round(one.rows / one.seconds),
        Math.round(one.rows / one.processorSeconds),
        Math.round(one.parquetMb),
        Math.round(one.peakMb),
        to(one.loadBefore, 1),
      ]),
      notes: [
        `\`outlast export\` took ${to(seconds, 2)} of DuckDB's time and ${to(processor, 2)} of its processor time (medians), Postgres included; ${formatCount(Math.round(reading.csvMb))} MB of CSV, ${availableParallelism()} cores.`,
      ],
    },
  ];
}

/** Ours over DuckDB's, medians. */
export function ratios(exports: Exported[]): { seconds: number; processor: number } {
  const median = (what: Exported['what'], field: 'seconds' | 'processorSeconds'): number => {
    const all = exports.filter((one) => one.what === what).map((one) => one[field]);
    return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
  };
  const ratio = (field: 'seconds' | 'processorSeconds'): number =>
    median('outlast export', field) / median('DuckDB from CSV', field);
  return { seconds: ratio('seconds'), processor: ratio('processorSeconds') };
}

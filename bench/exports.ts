// `outlast export` to Parquet beside DuckDB making Parquet of the same rows from CSV, in turns. Each in a process of
// its own.
import { createWriteStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { to as copyTo } from 'pg-copy-streams';
import { formatCount } from '../src/cli/print.ts';
import type { BenchArchive, Filling } from './archive.ts';
import { withClient } from '../test/support/client.ts';
import { fileOf, run, runCommand, type Ended } from './children.ts';
import { round, spread, tableOf, type Spread, type Table } from './tables.ts';
import { used } from './timing.ts';

/** DuckDB twice: how much the same thing varies. */
const contenders = ['outlast export', 'DuckDB from CSV', 'DuckDB again'] as const;

/** `peakMb`: of the process alone. */
type Exported = Ended & {
  what: (typeof contenders)[number];
  rows: number;
  /** Of the process and of Postgres, which reads the rows for ours. */
  processorSeconds: number;
  parquetMb: number;
  loadBefore: number;
};

export async function measureExports(
  { connectionString, folder }: BenchArchive,
  { project, orders: rows }: Filling,
  runs: number,
  signal: AbortSignal,
): Promise<{ csvMb: number; exports: Exported[] }> {
  const [csv, parquet, to] = ['orders.csv', 'orders.parquet', 'export'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await writeCsv(connectionString, project, csv);
  const byOutlast = (): Promise<Ended> => {
    const args = ['export', to, '--project', project, '--json'];
    return runCommand(args, { DATABASE_URL: connectionString }, signal);
  };
  const byDuckDb = (): Promise<Ended> =>
    run([fileOf('./duckdb.js'), csv, parquet, String(rows)], {}, signal);
  const exports: Exported[] = [];
  for (let round = 0; round < runs; round++) {
    for (const what of contenders) {
      const isOurs = what === 'outlast export';
      const { of, own, loadBefore } = await used(isOurs ? byOutlast : byDuckDb);
      const bytes = isOurs ? await bytesExported(to, rows) : await sizeOf(parquet);
      const figures = { ...of, processorSeconds: own, parquetMb: bytes / 1e6, loadBefore };
      exports.push({ what, rows, ...figures });
      await rm(isOurs ? to : parquet, { recursive: true });
    }
  }
  const csvMb = (await sizeOf(csv)) / 1e6;
  await rm(csv);
  return { csvMb, exports };
}

/** All columns, as an export has them. */
const writeCsv = (connectionString: string, project: string, csv: string): Promise<void> =>
  withClient(connectionString, async (client) => {
    const rows = copyTo(
      `copy (select * from archive.orders where project_id = '${project}' order by slice_day) to stdout (format csv, header)`,
    );
    await pipeline(client.query(rows), createWriteStream(csv));
  });

/** Throws unless it has so many orders. */
async function bytesExported(to: string, rows: number): Promise<number> {
  const { files } = JSON.parse(await readFile(join(to, 'manifest.json'), 'utf8')) as {
    files: { table: string; rows: number; bytes: number }[];
  };
  const orders = files.filter(({ table }) => table === 'archive.orders');
  const sum = (field: 'rows' | 'bytes'): number =>
    orders.reduce((all, file) => all + file[field], 0);
  if (sum('rows') !== rows) throw new Error(`${sum('rows')} of ${rows} rows were exported`);
  return sum('bytes');
}

const sizeOf = async (file: string): Promise<number> => (await stat(file)).size;

export function exportsTable(csvMb: number, exports: Exported[]): Table {
  type Figure = Exclude<keyof Exported, 'what'>;
  const of = (what: Exported['what'], field: Figure, digits = 1): Spread =>
    spread(
      exports.filter((one) => one.what === what).map((one) => one[field]),
      digits,
    );
  const ratio = (field: Figure): number =>
    round(of('outlast export', field, 3).median / of('DuckDB from CSV', field, 3).median, 2);
  return tableOf(
    'exports',
    contenders,
    [
      ['', (what) => what],
      ['rows', (what) => of(what, 'rows', 0)],
      ['s', (what) => of(what, 'seconds')],
      ['processor s', (what) => of(what, 'processorSeconds')],
      ['Parquet MB', (what) => of(what, 'parquetMb', 0)],
      ['peak MB', (what) => of(what, 'peakMb', 0)],
      ['load before', (what) => of(what, 'loadBefore')],
    ],
    [
      `\`outlast export\` took ${ratio('seconds')} of DuckDB's time and ${ratio('processorSeconds')} of its processor time, Postgres included; ${formatCount(Math.round(csvMb))} MB of CSV, ${availableParallelism()} cores.`,
    ],
  );
}

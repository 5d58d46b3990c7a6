// `outlast export` to Parquet beside DuckDB making Parquet of the same rows from CSV, in turns. Each in a process of
// its own.
import { createWriteStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { BenchArchive, Filling } from './archive.ts';
import { runCommand, runModule } from './children.ts';
import { load, processorSeconds } from './timing.ts';

export type Exported = {
  what: 'outlast export' | 'DuckDB from CSV';
  rows: number;
  seconds: number;
  /** Of the process and of Postgres, which reads the rows for ours. */
  processorSeconds: number;
  parquetMb: number;
  /** Of the process; Postgres, which reads the rows for ours, is not in it. */
  peakMb: number;
  loadBefore: number;
};

export async function measureExports(
  archive: BenchArchive,
  { project, orders }: Filling,
  runs: number,
  signal: AbortSignal,
): Promise<{ csvMb: number; exports: Exported[] }> {
  const csv = join(archive.folder, 'orders.csv');
  await writeCsv(archive, project, csv);
  const exports: Exported[] = [];
  for (let run = 0; run < runs; run++) {
    exports.push(
      await ours(archive, project, orders, signal),
      await duckDb(archive.folder, csv, orders, signal),
    );
  }
  const csvMb = await mbOf(csv);
  await rm(csv);
  return { csvMb, exports };
}

/** All columns, as an export has them. */
async function writeCsv(
  { connectionString }: BenchArchive,
  project: string,
  csv: string,
): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const rows = copyTo(
      `copy (select * from archive.orders where project_id = '${project}' order by slice_day) to stdout (format csv, header)`,
    );
    await pipeline(client.query(rows), createWriteStream(csv));
  } finally {
    await client.end();
  }
}

async function ours(
  { connectionString, folder }: BenchArchive,
  project: string,
  rows: number,
  signal: AbortSignal,
): Promise<Exported> {
  const to = join(folder, 'export');
  const loadBefore = load();
  const before = processorSeconds(process.pid);
  const { seconds, peakMb } = await runCommand(
    ['export', to, '--project', project, '--json'],
    { DATABASE_URL: connectionString },
    signal,
  );
  const manifest = JSON.parse(await readFile(join(to, 'manifest.json'), 'utf8')) as {
    files: { table: string; rows: number; bytes: number }[];
  };
  const files = manifest.files.filter(({ table }) => table === 'archive.orders');
  const sum = (field: 'rows' | 'bytes'): number =>
    files.reduce((all, file) => all + file[field], 0);
  if (sum('rows') !== rows) throw new Error(`${sum('rows')} of ${rows} rows were exported`);
  await rm(to, { recursive: true });
  return {
    what: 'outlast export',
    rows,
    seconds,
    processorSeconds: processorSeconds(process.pid) - before,
    parquetMb: sum('bytes') / 1e6,
    peakMb,
    loadBefore,
  };
}

async function duckDb(
  folder: string,
  csv: string,
  rows: number,
  signal: AbortSignal,
): Promise<Exported> {
  const parquet = join(folder, 'orders.parquet');
  const loadBefore = load();
  const before = processorSeconds(process.pid);
  const { seconds, peakMb } = await runModule('duckdb.js', [csv, parquet, String(rows)], signal);
  const used = processorSeconds(process.pid) - before;
  const parquetMb = await mbOf(parquet);
  await rm(parquet);
  return {
    what: 'DuckDB from CSV',
    rows,
    seconds,
    processorSeconds: used,
    parquetMb,
    peakMb,
    loadBefore,
  };
}

const mbOf = async (file: string): Promise<number> => (await stat(file)).size / 1e6;

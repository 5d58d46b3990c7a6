// Parquet: the engine that writes and reads it, and columns between Postgres' CSV and it, both ways, as SQL of that
// engine. It runs in this process with bounded memory, and is an optional package, for it is 70 MB: whoever exports CSV
// or JSON lines does without. What went in comes out byte for byte: an import checks that. docs/export.md says what each
// type is for a reader.
import { join } from 'node:path';
import type { DuckDBInstance } from '@duckdb/node-api';
import { fatal, settingsError } from '../errors.ts';
import type { CopiedOut } from '../store/copy-stream.ts';
import type { ExportedColumn } from './exported-tables.ts';

export type Engine = {
  /** How many rows the statement wrote. */
  run(sql: string): Promise<number>;
  close(): void;
};

/** `folder` takes what does not fit into memory. Throws settings `duckdb_missing`. */
export async function openEngine(folder: string): Promise<Engine> {
  const { DuckDBInstance: Instance } = await load();
  const instance = await Instance.create(':memory:', {
    memory_limit: '512MB',
    // Faster than Postgres hands out rows. A second thread would wait for the first without resting (a month of 50,000
    // rows lies in one buffer: 8 instead of 6 µs of processor time a row).
    threads: '1',
    // What is freed goes back to the system: else 100 MB of it stay (of 180 MB otherwise, beside ours).
    allocator_bulk_deallocation_flush_threshold: '4MB',
    temp_directory: join(folder, 'spill'),
    // Nothing is fetched from anywhere.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await instance.connect();
  await connection.run(`set TimeZone = 'UTC'`);
  return {
    run: async (sql) => {
      try {
        return (await connection.run(sql)).rowsChanged;
      } catch (error) {
        throw fatal('parquet_failed', 'Parquet could not be written or read', error);
      }
    },
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function load(): Promise<{ DuckDBInstance: typeof DuckDBInstance }> {
  try {
    return await import('@duckdb/node-api');
  } catch (error) {
    throw settingsError(
      'duckdb_missing',
      'Parquet needs the optional package @duckdb/node-api, which is not installed here: install it (`npm install --include=optional`), or export with --format csv or --format jsonl, which need nothing.',
      error,
    );
  }
}

/** Digits behind the point of an amount; with 38 in all, 29 are left before it. */
const decimal = 'decimal(38, 9)';

const quoted = (name: string): string => `"${name}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
/** Characters that would make a pattern of a path stand for themselves. */
const path = (file: string): string => literal(file.replaceAll(/[[*?]/g, '[$&]'));

/** Types that DuckDB reads from CSV by itself. */
const readAs: Record<string, string> = {
  integer: 'integer',
  bigint: 'bigint',
  date: 'date',
  'timestamp with time zone': 'timestamptz',
};

/** Decimal text without the zeros at its end. */
const trimmed = (text: string): string =>
  `(case when contains(${text}, '.') then rtrim(rtrim(${text}, '0'), '.') else ${text} end)`;

/**
 * An amount is a decimal where it fits exactly, else null; what the decimal would not give back as it was stands in a
 * column of text beside it. Whole numbers take a short cut: reading 38 digits costs ten times as much.
 */
function fromNumeric(name: string): string[] {
  const text = quoted(name);
  const isWhole = `regexp_full_match(${text}, '-?[0-9]{1,18}')`;
  const value = `try_cast(${text} as ${decimal})`;
  const again = trimmed(`${value}::varchar`);
  return [
    `case when ${isWhole} then try_cast(${text} as bigint)::${decimal} when ${again} = ${trimmed(text)} then ${value} end as ${text}`,
    `case when ${isWhole} or ${again} = ${text} then null else ${text} end as ${quoted(`${name}_text`)}`,
  ];
}

/** Postgres' form of an array: elements in quotation marks where they need them. */
const fromArray = (list: string): string =>
  `case when ${list} = '{}' then []::varchar[] else
     list_transform(regexp_extract_all(${list}[2:-2], '"(?:[^"\\\\]|\\\\.)*"|[^,]+'), lambda x:
       case when x[1] = '"' then regexp_replace(x[2:-2], '(?s)\\\\(.)', '\\1', 'g') when x <> 'NULL' then x end) end`;

function intoParquet({ name, type }: ExportedColumn): string[] {
  const column = quoted(name);
  if (type === 'numeric') return fromNumeric(name);
  if (type === 'bytea') return [`unhex(${column}[3:]) as ${column}`];
  if (type === 'boolean') return [`${column} = 't' as ${column}`];
  if (type.endsWith('[]')) return [`${fromArray(column)} as ${column}`];
  return [column];
}

function outOfParquet({ name, type }: ExportedColumn): string {
  const column = quoted(name);
  if (type === 'numeric') {
    return `coalesce(${quoted(`${name}_text`)}, ${trimmed(`${column}::varchar`)}) as ${column}`;
  }
  if (type === 'bytea') return `'\\x' || lower(hex(${column})) as ${column}`;
  if (type === 'boolean') return `case when ${column} then 't' else 'f' end as ${column}`;
  if (type.endsWith('[]')) {
    const element = `coalesce('"' || replace(replace(x, '\\', '\\\\'), '"', '\\"') || '"', 'NULL')`;
    return `case when ${column} is not null then
      '{' || coalesce(array_to_string(list_transform(${column}, lambda x: ${element}), ','), '') || '}' end as ${column}`;
  }
  return column;
}

export function toParquetSql(
  columns: ExportedColumn[],
  csv: string,
  { rows, bytes, longest }: CopiedOut,
  file: string,
): string {
  const types = columns.map(({ name, type }) => `${literal(name)}: '${readAs[type] ?? 'varchar'}'`);
  // DuckDB gives up on a line that is longer than it was told.
  const most = Math.max(2 ** 21, 2 * longest);
  const source = `read_csv(${path(csv)}, header = false, auto_detect = false, delim = ',', quote = '"', escape = '"',
    nullstr = '', allow_quoted_nulls = false, new_line = '\\n', max_line_size = ${most}, buffer_size = ${2 * most},
    columns = {${types.join(', ')}})`;
  return `copy (select ${columns.flatMap(intoParquet).join(', ')} from ${source})
    to ${literal(file)} (format parquet, compression zstd, row_group_size ${rowsAtOnce(rows, bytes)})`;
}

/**
 * Rows are held by the group until they are written: about 20 MB of them, and as many as DuckDB takes by default at
 * most. With 64 MB of them, and 32 at a time read, a month of two million orders took 474 MB instead of 240; the file was
 * 2 % smaller.
 */
const rowsAtOnce = (rows: number, bytes: number): number =>
  Math.max(2048, Math.min(122_880, Math.floor((20e6 * rows) / bytes)));

export function fromParquetSql(columns: ExportedColumn[], file: string, csv: string): string {
  // Quotation marks tell empty text from null, as Postgres reads it.
  const texts = columns
    .filter(({ type }) => readAs[type] === undefined)
    .map(({ name }) => quoted(name));
  return `copy (select ${columns.map(outOfParquet).join(', ')} from read_parquet(${path(file)}))
    to ${literal(csv)} (format csv, header false, delim ',', quote '"', escape '"', nullstr ''${
      texts.length > 0 ? `, force_quote (${texts.join(', ')})` : ''
    })`;
}

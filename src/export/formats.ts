// All that differs from one file format to the other: how rows come out of Postgres, become a file, and are brought in
// again. Another format is another entry.
import { createReadStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fatal } from '../errors.ts';
import { linesOf } from '../files.ts';
import { copyFrom } from '../store/copy-stream.ts';
import type { Tx } from '../store/db.ts';
import { copyHashed, type PartContent } from './content.ts';
import { fromParquetSql, openEngine, toParquetSql, type Engine } from './parquet.ts';
import type { FileFormat } from '../model.ts';
import {
  columnNames,
  partRowsSql,
  type ExportedColumn,
  type ExportedTable,
  type ExportPart,
} from './exported-tables.ts';

type CopiedOut = { columns: ExportedColumn[]; source: string; content: PartContent };
type Incoming = { of: ExportedTable; columns: ExportedColumn[]; path: string; scratch: string };

type Format = {
  /** The line that rows are copied out behind, as CSV; null: they come out by `copyOut`. */
  csvHead: ((columns: ExportedColumn[]) => string) | null;
  copyOut?: (tx: Tx, part: ExportPart, columns: ExportedColumn[], to: string) => Promise<unknown>;
  /** Makes the file `to` of the rows that were copied out. Throws fatal `rows_missing`. */
  make: (engine: Engine | null, copied: CopiedOut, to: string) => Promise<void>;
  bringIn: (engine: Engine | null, tx: Tx, incoming: Incoming) => Promise<void>;
};

/** Characters of JSON lines that are handed over at once. */
const linesLength = 1024 * 1024;

const asItCame: Format['make'] = (_engine, { source }, to) => rename(source, to);

export const formats: Record<FileFormat, Format> = {
  parquet: {
    csvHead: () => '',
    make: async (engine, { columns, source, content }, to) => {
      const rows = await opened(engine).run(toParquetSql(columns, source, content, to));
      if (rows !== content.rows) {
        throw fatal('rows_missing', `${to} has ${rows} rows instead of ${content.rows}`);
      }
      await rm(source, { force: true });
    },
    bringIn: async (engine, tx, { of, columns, path, scratch }) => {
      const csv = join(scratch, 'rows.csv');
      await opened(engine).run(fromParquetSql(columns, path, csv));
      await copyFrom(tx, csvInSql(of, columns, false), createReadStream(csv));
      await rm(csv);
    },
  },
  csv: {
    csvHead: (columns) => `${columns.map(({ name }) => name).join(',')}\n`,
    make: asItCame,
    bringIn: async (_engine, tx, { of, columns, path }) => {
      await copyFrom(tx, csvInSql(of, columns, true), createReadStream(path));
    },
  },
  jsonl: {
    csvHead: null,
    copyOut: (tx, part, columns, to) => copyHashed(tx, jsonSql(part, columns), to),
    make: asItCame,
    bringIn: async (_engine, tx, { of, columns, path }) => {
      const sql = jsonInSql(of, columns);
      for await (const list of listsOf(path)) await tx.query(sql, [list]);
    },
  },
};

/** What an export or import in this format needs beside Postgres. The caller closes it. */
export const openEngineFor = (format: FileFormat, scratch: string): Promise<Engine | null> =>
  format === 'parquet' ? openEngine(scratch) : Promise.resolve(null);

function opened(engine: Engine | null): Engine {
  if (engine === null) throw fatal('duckdb_closed', 'Parquet needs an open DuckDB');
  return engine;
}

/** JSON lines as lists that are not too long. */
async function* listsOf(path: string): AsyncGenerator<string> {
  let list = '';
  for await (const line of linesOf(path)) {
    list += `${list === '' ? '[' : ','}${line}`;
    if (list.length < linesLength) continue;
    yield `${list}]`;
    list = '';
  }
  if (list !== '') yield `${list}]`;
}

/**
 * A part's content with one JSON object a line. Exact numbers are text. JSON holds no control characters: nothing is
 * quoted.
 */
function jsonSql(part: ExportPart, columns: ExportedColumn[]): string {
  const selected = columns.map(({ name, type }) =>
    type === 'numeric' || type === 'bigint' ? `${name}::text as ${name}` : name,
  );
  return `copy (select row_to_json(r)::text from (${partRowsSql(part, selected.join(', '))}) r)
            to stdout (format csv, delimiter E'\\x01', quote E'\\x02', escape E'\\x02')`;
}

const csvInSql = (of: ExportedTable, columns: ExportedColumn[], hasHeader: boolean): string =>
  `copy ${of.table} (${columnNames(columns)}) from stdin (format csv${hasHeader ? ', header match' : ''})`;

/** Takes a JSON list of rows as its parameter. */
const jsonInSql = (of: ExportedTable, columns: ExportedColumn[]): string =>
  `insert into ${of.table} (${columnNames(columns)})
   select ${columnNames(columns)} from json_populate_recordset(null::${of.table}, $1::json)`;

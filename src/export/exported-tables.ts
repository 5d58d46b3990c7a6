// What an export carries: every table with its parts, and the statements that read a part in one fixed order and
// spelling, so that equal contents are equal bytes whichever database they lie in. Columns are the database's; those of
// `outlast query` and HTTP stand in catalogue.ts and resources.ts. Builds SQL, runs only reads of the catalog.
import type { FileFormat, ProjectId } from '../model.ts';
import type { Queryable } from '../store/db.ts';

export type ExportedTable = {
  /** The folder or file in an export. */
  name: string;
  table: string;
  /**
   * The day by whose month the table is cut into parts; null: one part. What a version says never changes: it goes by
   * its own time.
   */
  day: string | null;
  /** A total order, by an index where there is one. */
  order: string;
  /** What belongs to a running process and is of no use elsewhere. */
  without?: readonly string[];
  /** Rows of megabytes, which Parquet would have to hold by the thousand: such a table is CSV in its place. */
  isBulky?: true;
};

const observedDay = `(observed_at at time zone 'UTC')::date`;

// prettier-ignore
export const exportedTables: readonly ExportedTable[] = [
  { name: 'projects', table: 'sync.projects', day: null, order: 'project_id', without: ['clock_ahead', 'clock_noted_at'] },
  { name: 'orders', table: 'archive.orders', day: 'slice_day', order: `slice_day, coalesce(created_at, 'infinity'::timestamptz), operation_id` },
  { name: 'order_versions', table: 'archive.order_versions', day: observedDay, order: 'operation_id, observed_at, raw_sha256' },
  { name: 'nft_classes', table: 'archive.nft_classes', day: 'slice_day', order: `slice_day, coalesce(created_at, 'infinity'::timestamptz), id` },
  { name: 'nft_class_versions', table: 'archive.nft_class_versions', day: observedDay, order: 'id, observed_at, raw_sha256' },
  { name: 'transactions', table: 'archive.transactions', day: `(first_seen_at at time zone 'UTC')::date`, order: 'api_version, operation_id' },
  { name: 'transaction_versions', table: 'archive.transaction_versions', day: observedDay, order: 'api_version, operation_id, observed_at, raw_sha256' },
  { name: 'certificate_files', table: 'archive.certificate_files', day: `(fetched_at at time zone 'UTC')::date`, order: 'operation_id', isBulky: true },
  { name: 'tokens', table: 'archive.tokens', day: null, order: 'symbol' },
  { name: 'token_versions', table: 'archive.token_versions', day: observedDay, order: 'symbol, observed_at, raw_sha256' },
  { name: 'slices', table: 'sync.slices', day: null, order: 'resource, owner, day' },
  { name: 'pages', table: 'sync.pages', day: 'day', order: 'resource, owner, day, walk, page' },
  { name: 'readings', table: 'sync.readings', day: null, order: 'resource, owner, day, no' },
  { name: 'books', table: 'sync.books', day: null, order: 'resource, owner, no' },
  { name: 'rejects', table: 'sync.rejects', day: null, order: 'resource, sha256' },
  { name: 'chains', table: 'sync.chains', day: null, order: 'project_id' },
  { name: 'journal', table: 'sync.journal', day: 'day', order: 'no', isBulky: true },
  { name: 'facts', table: 'sync.facts', day: null, order: 'fact' },
  { name: 'certificates', table: 'sync.certificates', day: null, order: 'resource, month, issue' },
  { name: 'runs', table: 'sync.runs', day: null, order: 'run_id' },
  { name: 'rebuilds', table: 'sync.rebuilds', day: null, order: 'resource' },
  { name: 'alerts', table: 'sync.alerts', day: null, order: 'kind, subject', without: ['telling_until'] },
  { name: 'token_snapshots', table: 'sync.token_snapshots', day: null, order: 'project_id' },
  { name: 'watched_operations', table: 'sync.watched_operations', day: null, order: 'operation_id' },
];

/**
 * What an export leaves out: who writes, and how fast, is of a running process, the schema comes with a
 * release, and a request is soon forgotten.
 */
export const leftOut: readonly string[] = [
  'sync.asks',
  'sync.holders',
  'sync.rate',
  'sync.reported_problems',
  'sync.migrations',
  'sync.taken_requests',
];

/** A column with its SQL type, as Postgres names it. */
export type ExportedColumn = { name: string; type: string };

/** One file of an export; `month` is `yyyy-MM`, null for a table that is not cut. */
export type ExportPart = { of: ExportedTable; project: ProjectId; month: string | null };

/** Whether an index has each month of a table in its order. */
export const isIndexed = ({ day, order }: ExportedTable): boolean =>
  day !== null && order.startsWith(`${day}, `);

/** How a table is written in an export of this format. */
export const formatFor = (of: ExportedTable, format: FileFormat): FileFormat =>
  format === 'parquet' && of.isBulky === true ? 'csv' : format;

export function pathOf({ of, project, month }: ExportPart, format: FileFormat): string {
  const file = `${project}/${of.name}${month === null ? '' : `/${month}`}`;
  return `${file}.${formatFor(of, format)}`;
}

/**
 * How a file is called where no file may take the place of another, as in a bucket: by what it holds. Equal names have
 * equal rows.
 */
export const contentPath = (path: string, contentSha256: string): string =>
  path.replace(/\.(\w+)$/, `.${contentSha256.slice(0, 16)}.$1`);

/**
 * The columns of every table as this database has them: one that a later release adds is carried without a word here.
 */
export async function exportedColumnsOf(db: Queryable): Promise<Map<string, ExportedColumn[]>> {
  const { rows } = await db.query<{ table: string; columns: ExportedColumn[] }>(
    `select n.nspname || '.' || c.relname as table,
            json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum) as columns
       from pg_attribute a
       join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
       join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('archive', 'sync')
      where a.attnum > 0 and not a.attisdropped
      group by 1`,
  );
  const columnsOf = new Map(rows.map(({ table, columns }) => [table, columns]));
  return new Map(
    exportedTables.map(({ name, table, without = [] }) => [
      name,
      (columnsOf.get(table) ?? []).filter((column) => !without.includes(column.name)),
    ]),
  );
}

/**
 * The months of a table that hold anything, `yyyy-MM`. By way of its days: a day is found faster than it is written
 * out.
 */
export async function monthsOf(
  db: Queryable,
  of: ExportedTable,
  project: ProjectId,
): Promise<string[]> {
  const { rows } = await db.query<{ month: string }>(
    `select distinct to_char(day, 'YYYY-MM') as month
       from (select distinct ${of.day} as day from ${of.table} where project_id = $1) days
      order by 1`,
    [project],
  );
  return rows.map(({ month }) => month);
}

/** The rows of a part in their order. The project's name and the month are of our own making: nothing to escape. */
export function partRowsSql({ of, project, month }: ExportPart, selected: string): string {
  const within =
    month === null || of.day === null
      ? ''
      : ` and ${of.day} >= '${month}-01' and ${of.day} < ('${month}-01'::date + interval '1 month')::date`;
  return `select ${selected} from ${of.table} where project_id = '${project}'${within} order by ${of.order}`;
}

export const columnNames = (columns: ExportedColumn[]): string =>
  columns.map(({ name }) => name).join(', ');

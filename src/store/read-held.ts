// What is held of a resource, read to be verified: rows and versions as they stand, ids with their digests. One
// statement a function; it judges nothing.
import type { Day, DayRange, ListedResource, ProjectId } from '../model.ts';
import { noStatementTimeout, withTx, type Db, type Row, type Tx } from './db.ts';
import { readInPages } from './snapshot.ts';
import { ofKey, shapeOf, derivedColumns, type Archived, type TableShape } from './record-tables.ts';

export type ProjectList = { projectId: ProjectId; resource: ListedResource };

/** What a record said: `raw` is what jsonb prints, `sha256` its raw_sha256 in hex. */
export type HeldContent = { id: string; raw: string; raw_bytes: Buffer | null; sha256: string };

/** A content with its typed columns by name, as Postgres prints them. */
export type HeldTyped = Row & HeldContent & { unread: string[] };

/** Only what is listed by day has a `slice_day`. */
export type HeldRow = HeldTyped & { slice_day?: Day };

/** Days that a reading is narrowed to; null: everything, also what stands under no real day. */
export type Narrowed = DayRange | null;

/** A condition on the days narrowed to, which are parameters 2 and 3. */
export const within = (column: string): string =>
  `($2::date is null or ${column} >= $2) and ($3::date is null or ${column} < $3)`;

export const daysParameters = (days: Narrowed): unknown[] => [days?.from ?? null, days?.to ?? null];

/** What is selected of a row to make a `HeldRow`. */
export const rowColumns = (shape: TableShape): string => typedColumns(shape, shape.columns);

const typedColumns = ({ key }: TableShape, columns: TableShape['columns']): string =>
  // As text: what jsonb holds would be parsed, and its numbers rounded.
  `${key} as id, ${columns.map(([name, type]) => (type === 'jsonb' ? `${name}::text as ${name}` : name)).join(', ')},
   raw::text as raw, raw_bytes, encode(raw_sha256, 'hex') as sha256, unread`;

/** How many rows there are, however long it takes to count them. */
export async function countRows(db: Db, of: Archived): Promise<number> {
  const shape = shapeOf(of);
  const sql = `select count(*)::int as rows from ${shape.table} o where ${ofKey(shape, 'o')}`;
  const { rows } = await withTx(
    db,
    (tx) => tx.query<{ rows: number }>(sql, [of.projectId]),
    noStatementTimeout,
  );
  return rows[0]?.rows ?? 0;
}

type HeldVersion = HeldTyped & { observed_at: string };

/** `version`: when an earlier version was observed; null: it is what the row says. */
type HeldUnderDay = HeldTyped & { version: string | null; slice_day: Day | null };

/**
 * Every content of the days' records, the rows first and else in no particular order, with the day that its record
 * stands under. What has no day is of none.
 */
export function readContents(
  tx: Tx,
  of: Archived,
  days: Narrowed,
  onContents: (contents: HeldUnderDay[]) => Promise<void>,
): Promise<void> {
  const shape = shapeOf(of);
  const { table, versions, key } = shape;
  const columns = typedColumns(shape, derivedColumns(shape));
  const day = shape.day === 'slice_day' ? 'slice_day' : 'null::date';
  const ofDays = within(shape.day ?? 'null::date');
  const row = `from ${table} o where ${ofKey(shape, 'o')} and o.${key} = v.${key}`;
  return readInPages(
    tx,
    `select ${columns}, null::timestamptz as version, ${day} as slice_day
       from ${table} o
      where ${ofKey(shape, 'o')} and ${ofDays}
      union all
     select ${columns}, observed_at, (select ${day} ${row})
       from ${versions} v
      where ${ofKey(shape, 'v')} and (${days === null} or exists (select ${row} and ${ofDays}))`,
    [of.projectId, ...daysParameters(days)],
    onContents,
  );
}

/** The versions of some records that were observed by a moment (RFC 3339), or all of them. */
export async function versionsOf(
  tx: Tx,
  of: Archived,
  ids: string[],
  observedBy: string | null,
): Promise<HeldVersion[]> {
  const shape = shapeOf(of);
  const { versions, key } = shape;
  const { rows } = await tx.query<HeldVersion>(
    `select ${typedColumns(shape, derivedColumns(shape))}, observed_at
       from ${versions} v
      where ${ofKey(shape, 'v')} and ${key} = any ($2::text[])
        and ($3::timestamptz is null or observed_at <= $3)
      order by ${key}, observed_at, raw_sha256`,
    [of.projectId, ids, observedBy],
  );
  return rows;
}

// What a rebuild of a resource's typed columns reads and writes: rows and versions, written only where they differ from
// what was derived afresh and only while they are locked, so that what a sync commits meanwhile is never overwritten; and
// sync.rebuilds, how far it has come, so that one that was cut off goes on (P3). One statement a function.
import type { ParsedRecord } from '../model.ts';
import { onlyRow, type Queryable, type Tx } from './db.ts';
import { rowColumns, type HeldRow } from './read-held.ts';
import {
  archivedName,
  derivedColumns,
  inJson,
  ofKey,
  shapeOf,
  type Archived,
  type TableShape,
} from './record-tables.ts';

export type Rebuild = {
  /** RFC 3339 to the microsecond; names this rebuild among others of the same list. */
  startedAt: string;
  /** The key up to which everything is done; null: nothing yet. */
  doneUpTo: string | null;
  rowsRead: number;
  /** Versions included. */
  rowsChanged: number;
  /** How often each column changed, by name. */
  changes: Record<string, number>;
};
const columns = `started_at as "startedAt", done_up_to as "doneUpTo", rows_read::float8 as "rowsRead",
                 rows_changed::float8 as "rowsChanged", changes`;

const ofList = 'project_id = $1 and resource = $2';
const listOf = (of: Archived): unknown[] => [of.projectId, archivedName(of)];

/** The rebuild of a list that was cut off; null where there is none. */
export async function unfinishedRebuild(db: Queryable, of: Archived): Promise<Rebuild | null> {
  const { rows } = await db.query<Rebuild>(
    `select ${columns} from sync.rebuilds where ${ofList} and ended_at is null`,
    listOf(of),
  );
  return rows[0] ?? null;
}

/** Begins at the first key. The last one's figures go. */
export async function beginRebuild(db: Queryable, of: Archived): Promise<Rebuild> {
  const begun = await db.query<Rebuild>(
    `insert into sync.rebuilds (project_id, resource, started_at) values ($1, $2, statement_timestamp())
         on conflict (project_id, resource) do update
        set started_at = excluded.started_at, ended_at = null, done_up_to = null,
            rows_read = 0, rows_changed = 0, changes = '{}'
     returning ${columns}`,
    listOf(of),
  );
  return onlyRow(begun);
}

/**
 * Moves a rebuild on from where `before` left it. False when another process has moved it: nothing may be written then.
 */
export async function moveRebuild(
  tx: Tx,
  of: Archived,
  before: Rebuild,
  { doneUpTo, rowsRead, rowsChanged, changes }: Rebuild,
): Promise<boolean> {
  const { rows } = await tx.query(
    `update sync.rebuilds set done_up_to = $5, rows_read = $6, rows_changed = $7, changes = $8
      where ${ofList} and ended_at is null and started_at = $3 and done_up_to is not distinct from $4
     returning 1`,
    [...listOf(of), before.startedAt, before.doneUpTo, doneUpTo, rowsRead, rowsChanged, changes],
  );
  return rows.length === 1;
}

export async function endRebuild(db: Queryable, of: Archived, at: Rebuild): Promise<void> {
  await db.query(
    `update sync.rebuilds set ended_at = statement_timestamp() where ${ofList} and started_at = $3`,
    [...listOf(of), at.startedAt],
  );
}

/** Rows by key, from the one behind `after` on (from the first: ''). */
export async function rowsAfter(
  db: Queryable,
  of: Archived,
  after: string,
  limit: number,
): Promise<HeldRow[]> {
  const shape = shapeOf(of);
  const { rows } = await db.query<HeldRow>(
    `select ${rowColumns(shape)} from ${shape.table} o
      where ${ofKey(shape, 'o')} and ${shape.key} > $2
      order by ${shape.key} limit $3`,
    [of.projectId, after, limit],
  );
  return rows;
}

/** How many rows or versions changed, and how often each column did. */
export type Applied = { rows: number; changes: Record<string, number> };

/** What one content of a record says. */
type Derived = Pick<ParsedRecord, 'id' | 'rawSha256' | 'columns' | 'unread'>;

/**
 * Those of these rows that say something else than what was derived, or are of another record by now, as they are now;
 * they stay so until the transaction ends.
 */
export async function lockDiffering(tx: Tx, of: Archived, derived: Derived[]): Promise<HeldRow[]> {
  const shape = shapeOf(of);
  const { table, key } = shape;
  const { given, differing } = piecesOf(derivedColumns(shape));
  const { rows } = await tx.query<HeldRow>(
    `select ${rowColumns(shape)}
       from (select o.*
               from (${given}) d
               join ${table} o on ${ofKey(shape, 'o')} and o.${key} = d.id
              where o.raw_sha256 <> d.sha or cardinality(${differing}) > 0
              order by o.${key}
                for no key update of o) o`,
    [of.projectId, asJson(derived)],
  );
  return rows;
}

/**
 * Writes what differs of the rows with these contents, which are locked; `changedAt` (RFC 3339) is what they then say.
 * Null: of the versions with these contents. What agrees is not touched.
 */
export async function applyDerived(
  tx: Tx,
  of: Archived,
  derived: Derived[],
  changedAt: string | null,
): Promise<Applied> {
  const shape = shapeOf(of);
  const { key } = shape;
  const held = changedAt === null ? shape.versions : shape.table;
  const { given, differing, assigned } = piecesOf(derivedColumns(shape));
  // One content of a version may have been observed twice.
  const contents = new Map(derived.map((one) => [`${one.id}\n${one.rawSha256}`, one]));
  const { rows } = await tx.query<{ names: string[] }>(
    `with derived as materialized (${given}
     ),
     -- In the order of the keys, as every statement that locks them.
     seen as materialized (
       select o.${key} as id, o.raw_sha256 as sha, o.observed_at, ${differing} as names
         from ${held} o
         join derived d on d.id = o.${key} and d.sha = o.raw_sha256
        where ${ofKey(shape, 'o')} and cardinality(${differing}) > 0
        order by o.${key}, o.observed_at, o.raw_sha256
          for no key update of o
     )
     update ${held} o
        set ${assigned}${changedAt === null ? '' : ', changed_at = $3::timestamptz'}
       from derived d
       join seen s using (id, sha)
      where ${ofKey(shape, 'o')} and o.${key} = d.id and o.raw_sha256 = d.sha and o.observed_at = s.observed_at
     returning s.names`,
    [of.projectId, asJson([...contents.values()]), ...(changedAt === null ? [] : [changedAt])],
  );
  const changes: Applied['changes'] = {};
  for (const name of rows.flatMap(({ names }) => names)) changes[name] = (changes[name] ?? 0) + 1;
  return { rows: rows.length, changes };
}

const asJson = (derived: Derived[]): string =>
  JSON.stringify(
    derived.map(({ id, rawSha256: sha, columns, unread }) => ({ ...columns, id, sha, unread })),
  );

/** The pieces of a statement about these columns: `d` is what was derived, parameter 2, `o` what is held. */
function piecesOf(columns: TableShape['columns']): {
  given: string;
  differing: string;
  assigned: string;
} {
  const { typed, values } = inJson([...columns, ['unread', 'text[]']]);
  const names = [...columns.map(([name]) => name), 'unread'];
  const cases = names.map(
    (name) => `case when o.${name} is distinct from d.${name} then '${name}' end`,
  );
  return {
    given: `
      select id collate "C" as id, decode(sha, 'hex') as sha, ${values}
        from json_to_recordset($2::json) as e(id text, sha text, ${typed})`,
    differing: `array_remove(array[${cases.join(', ')}], null)`,
    assigned: names.map((name) => `${name} = d.${name}`).join(', '),
  };
}

/**
 * The moment that rows changed now carry: never before one that a sync has written by the platform's clock, as far as
 * the runs tell. RFC 3339.
 */
export async function momentOfChange(db: Queryable, projectId: string): Promise<string> {
  const { rows } = await db.query<{ at: string }>(
    `select greatest(statement_timestamp(), max(ended_at), max(started_at)) as at
       from sync.runs where project_id = $1`,
    [projectId],
  );
  return rows[0]?.at ?? new Date(0).toISOString();
}

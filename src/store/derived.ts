// Typed columns that were derived afresh from what their records say: written only where they differ, and only while the
// record is still the one they were derived from. What a sync commits meanwhile is never overwritten.
import type { ParsedRecord } from '../model.ts';
import type { HeldRow, Listed } from './contents.ts';
import type { Queryable, Tx } from './db.ts';
import { tableShapes, type TableShape } from './tables.ts';

/** Rows by key, from the one behind `after` on (from the first: ''). */
export async function rowsAfter(
  db: Queryable,
  { projectId, resource }: Listed,
  after: string,
  limit: number,
): Promise<HeldRow[]> {
  const shape = tableShapes[resource];
  const { rows } = await db.query<HeldRow>(
    `select ${held(shape)} from ${shape.table}
      where project_id = $1 and ${shape.key} > $2
      order by ${shape.key} limit $3`,
    [projectId, after, limit],
  );
  return rows;
}

/** How many rows a list has. */
export async function countRows(db: Queryable, { projectId, resource }: Listed): Promise<number> {
  const { rows } = await db.query<{ rows: number }>(
    `select count(*)::int as rows from ${tableShapes[resource].table} where project_id = $1`,
    [projectId],
  );
  return rows[0]?.rows ?? 0;
}

/** These rows as they are now; they stay so until the transaction ends. */
export async function lockedRows(
  tx: Tx,
  { projectId, resource }: Listed,
  ids: string[],
): Promise<HeldRow[]> {
  const shape = tableShapes[resource];
  const { rows } = await tx.query<HeldRow>(
    `select ${held(shape)} from ${shape.table}
      where project_id = $1 and ${shape.key} = any ($2::text[])
      order by ${shape.key}
        for no key update`,
    [projectId, ids],
  );
  return rows;
}

const held = ({ key, columns }: TableShape): string =>
  `${key} as id, ${columns.map(([name]) => name).join(', ')}, raw::text as raw, raw_bytes,
   encode(raw_sha256, 'hex') as sha256, unread`;

export type Applied = {
  /** How many rows changed, and how often each column did. */
  rows: number;
  changes: Record<string, number>;
  /** Records that say something else by now: they must be read again. */
  overtaken: string[];
};

/** Writes what differs of these rows; `changedAt` (RFC 3339) is what they then say. A row that agrees is not touched. */
export async function applyDerived(
  tx: Tx,
  { projectId, resource }: Listed,
  derived: Pick<ParsedRecord, 'id' | 'rawSha256' | 'columns' | 'unread'>[],
  changedAt: string,
): Promise<Applied> {
  const applied: Applied = { rows: 0, changes: {}, overtaken: [] };
  if (derived.length === 0) return applied;
  const given = derived.map(({ id, rawSha256, columns, unread }) => ({
    ...columns,
    id,
    sha: rawSha256,
    unread,
  }));
  const { rows } = await tx.query<{ id: string; names: string[] | null }>(
    applySql(tableShapes[resource]),
    [projectId, JSON.stringify(given), changedAt],
  );
  for (const { id, names } of rows) {
    if (names === null) applied.overtaken.push(id);
    else {
      applied.rows += 1;
      for (const name of names) applied.changes[name] = (applied.changes[name] ?? 0) + 1;
    }
  }
  return applied;
}

/** Returns a row for each record that changed, with the names of its columns, and for each that was overtaken, without. */
function applySql({ table, key, columns }: TableShape): string {
  const names = [...columns.map(([name]) => name), 'unread'];
  const typed = [...columns.map(([name, type]) => `${name} ${type}`), 'unread text[]'].join(', ');
  const differing = names
    .map((name) => `case when o.${name} is distinct from d.${name} then '${name}' end`)
    .join(', ');
  return `
    with derived as materialized (
      select id collate "C" as id, decode(sha, 'hex') as sha, ${names.join(', ')}
        from json_to_recordset($2::json) as e(id text, sha text, ${typed})
    ),
    seen as materialized (
      select d.id, array_remove(array[${differing}], null) as names
        from derived d
        join ${table} o on o.project_id = $1 and o.${key} = d.id and o.raw_sha256 = d.sha
    ),
    -- In the order of the keys, as every statement that locks them; and the digest once more, on what is committed by
    -- now: a row that a sync has replaced since is left to it.
    mine as materialized (
      select o.${key} as id
        from ${table} o
        join derived d on d.id = o.${key}
       where o.project_id = $1 and o.raw_sha256 = d.sha
         and o.${key} in (select id from seen where cardinality(names) > 0)
       order by o.${key}
         for no key update of o
    ),
    changed as (
      update ${table} o
         set ${names.map((name) => `${name} = d.${name}`).join(', ')}, changed_at = $3::timestamptz
        from derived d
        join mine using (id)
       where o.project_id = $1 and o.${key} = d.id
      returning o.${key} as id
    )
    select d.id, case when c.id is not null then s.names end as names
      from derived d
      left join seen s using (id)
      left join changed c using (id)
     where s.id is null or cardinality(s.names) > 0
     order by d.id`;
}

/**
 * The moment that rows changed now carry: never before one that a sync has written by the platform's clock, as far as
 * the runs tell. RFC 3339.
 */
export async function momentOfChange(db: Queryable, projectId: string): Promise<string> {
  const { rows } = await db.query<{ at: string }>(
    `select greatest(clock_timestamp(), max(ended_at), max(started_at)) as at
       from sync.runs where project_id = $1`,
    [projectId],
  );
  return rows[0]?.at ?? new Date(0).toISOString();
}

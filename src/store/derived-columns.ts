// Typed columns, of rows and of versions, that were derived afresh from what their records say: written only where they
// differ, and only while the record is still the one they were derived from. What a sync commits meanwhile is never
// overwritten.
import type { ParsedRecord } from '../model.ts';
import { rowColumns, type HeldRow } from './held-for-proof.ts';
import { unhurried, withTx, type Db, type Queryable, type Tx } from './db.ts';
import { derivedColumns, ofKey, shapeOf, type Archived, type TableShape } from './tables.ts';

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

/** How many rows there are, however long it takes to count them. */
export async function countRows(db: Db, of: Archived): Promise<number> {
  const shape = shapeOf(of);
  const sql = `select count(*)::int as rows from ${shape.table} o where ${ofKey(shape, 'o')}`;
  const { rows } = await withTx(
    db,
    (tx) => tx.query<{ rows: number }>(sql, [of.projectId]),
    unhurried,
  );
  return rows[0]?.rows ?? 0;
}

/** These rows as they are now; they stay so until the transaction ends. */
export async function lockedRows(tx: Tx, of: Archived, ids: string[]): Promise<HeldRow[]> {
  const shape = shapeOf(of);
  const { rows } = await tx.query<HeldRow>(
    `select ${rowColumns(shape)} from ${shape.table} o
      where ${ofKey(shape, 'o')} and ${shape.key} = any ($2::text[])
      order by ${shape.key}
        for no key update`,
    [of.projectId, ids],
  );
  return rows;
}

export type Applied = {
  /** How many rows or versions changed, and how often each column did. */
  rows: number;
  changes: Record<string, number>;
  /** Records that say something else by now: they must be read again. */
  overtaken: string[];
};

/** What one content of a record says. */
type Derived = Pick<ParsedRecord, 'id' | 'rawSha256' | 'columns' | 'unread'>;

/**
 * Writes what differs of these rows; `changedAt` (RFC 3339) is what they then say. A row that agrees is not touched.
 */
export async function applyDerived(
  tx: Tx,
  of: Archived,
  derived: Derived[],
  changedAt: string,
): Promise<Applied> {
  return applied(tx, of, rowsSql(shapeOf(of)), derived, [changedAt]);
}

/** The same for versions with these contents. They are only ever added, so that none is overtaken. */
export async function applyToVersions(tx: Tx, of: Archived, derived: Derived[]): Promise<Applied> {
  // One content may have been observed twice.
  const contents = new Map(derived.map((one) => [`${one.id}\n${one.rawSha256}`, one]));
  return applied(tx, of, versionsSql(shapeOf(of)), [...contents.values()], []);
}

async function applied(
  tx: Tx,
  of: Archived,
  sql: string,
  derived: Derived[],
  further: unknown[],
): Promise<Applied> {
  const done: Applied = { rows: 0, changes: {}, overtaken: [] };
  if (derived.length === 0) return done;
  const given = derived.map(({ id, rawSha256, columns, unread }) => ({
    ...columns,
    id,
    sha: rawSha256,
    unread,
  }));
  const { rows } = await tx.query<{ id: string; names: string[] | null }>(sql, [
    of.projectId,
    JSON.stringify(given),
    ...further,
  ]);
  for (const { id, names } of rows) {
    if (names === null) done.overtaken.push(id);
    else {
      done.rows += 1;
      for (const name of names) done.changes[name] = (done.changes[name] ?? 0) + 1;
    }
  }
  return done;
}

/** The pieces of a statement that writes these columns: `d` is what was derived, `o` what is held. */
function piecesOf(columns: TableShape['columns']): {
  derived: string;
  differing: string;
  assigned: string;
} {
  const names = [...columns.map(([name]) => name), 'unread'];
  // A jsonb value travels as text, like in records.ts.
  const typed = [
    ...columns.map(([name, type]) => `${name} ${type === 'jsonb' ? 'text' : type}`),
    'unread text[]',
  ].join(', ');
  const values = columns.map(([name, type]) =>
    type === 'jsonb' ? `${name}::jsonb as ${name}` : name,
  );
  const cases = names.map(
    (name) => `case when o.${name} is distinct from d.${name} then '${name}' end`,
  );
  return {
    derived: `
      select id collate "C" as id, decode(sha, 'hex') as sha, ${[...values, 'unread'].join(', ')}
        from json_to_recordset($2::json) as e(id text, sha text, ${typed})`,
    differing: `array_remove(array[${cases.join(', ')}], null)`,
    assigned: names.map((name) => `${name} = d.${name}`).join(', '),
  };
}

/**
 * Returns a row for each record that changed, with the names of its columns, and for each that was overtaken, without.
 */
function rowsSql(shape: TableShape): string {
  const { table, key } = shape;
  const { derived, differing, assigned } = piecesOf(derivedColumns(shape));
  return `
    with derived as materialized (${derived}
    ),
    seen as materialized (
      select d.id, ${differing} as names
        from derived d
        join ${table} o on ${ofKey(shape, 'o')} and o.${key} = d.id and o.raw_sha256 = d.sha
    ),
    -- In the order of the keys, as every statement that locks them; and the digest once more, on what is committed by
    -- now: a row that a sync has replaced since is left to it.
    mine as materialized (
      select o.${key} as id
        from ${table} o
        join derived d on d.id = o.${key}
       where ${ofKey(shape, 'o')} and o.raw_sha256 = d.sha
         and o.${key} in (select id from seen where cardinality(names) > 0)
       order by o.${key}
         for no key update of o
    ),
    changed as (
      update ${table} o
         set ${assigned}, changed_at = $3::timestamptz
        from derived d
        join mine using (id)
       where ${ofKey(shape, 'o')} and o.${key} = d.id
      returning o.${key} as id
    )
    select d.id, case when c.id is not null then s.names end as names
      from derived d
      left join seen s using (id)
      left join changed c using (id)
     where s.id is null or cardinality(s.names) > 0
     order by d.id`;
}

/** Returns a row for each version that changed, with the names of its columns. */
function versionsSql(shape: TableShape): string {
  const { versions, key } = shape;
  const { derived, differing, assigned } = piecesOf(derivedColumns(shape));
  return `
    with derived as materialized (${derived}
    ),
    seen as materialized (
      select o.${key} as id, o.raw_sha256 as sha, o.observed_at, ${differing} as names
        from ${versions} o
        join derived d on d.id = o.${key} and d.sha = o.raw_sha256
       where ${ofKey(shape, 'o')} and cardinality(${differing}) > 0
       order by o.${key}, o.observed_at, o.raw_sha256
         for no key update of o
    )
    update ${versions} o
       set ${assigned}
      from derived d
      join seen s using (id, sha)
     where ${ofKey(shape, 'o')} and o.${key} = d.id and o.raw_sha256 = d.sha and o.observed_at = s.observed_at
    returning d.id, s.names`;
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

// Where a walk ended, as its pages and the archive remember it: whether a page read the other way round begins there.
import type { Queryable } from './db.ts';
import type { Slice } from './ledger.ts';
import { tableShapes } from './tables.ts';

/**
 * How the ids of the first page of a list read in `order` stand to a walk that was read the other way round: how many
 * the walk did not show, and whether the page begins at the walk's end. It does where its first record is the walk's
 * last or is of its last moment, or where it shows a record of the walk's last moment and none of its first: records of
 * one second may stand in any order, and so may those of a page. Of a list of one record, or none, either end is the
 * other.
 */
export async function compareWithWalk(
  db: Queryable,
  slice: Slice,
  walk: number,
  ids: string[],
  order: 'asc' | 'desc',
): Promise<{ unshown: number; begins: boolean }> {
  const { table, key } = tableShapes[slice.resource];
  const last = order === 'desc' ? 'max' : 'min';
  const { rows } = await db.query<{ unshown: number; begins: boolean | null }>(
    `with shown as (
       select page, place, id from sync.pages, unnest(ids) with ordinality s (id, place)
        where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk = $5
     ),
     asked as (
       select asked.id, o.created_at as at
         from unnest($6::text[]) asked (id) left join ${table} o on o.project_id = $1 and o.${key} = asked.id
     ),
     ends as (
       select (select id from shown order by page desc, place desc limit 1) as last_shown,
              (select count(distinct id) from shown)                        as records,
              (select ${last} (o.created_at) from shown join ${table} o on o.project_id = $1 and o.${key} = shown.id)
                as last_at,
              -- As the walk showed it, whatever it was asked for: a platform may not sort at all.
              (select o.created_at from shown join ${table} o on o.project_id = $1 and o.${key} = shown.id
                order by page, place limit 1) as first_at
     )
     select (select count(*)::int from asked where not exists (select from shown where shown.id = asked.id)) as unshown,
            records <= 1
            or last_shown = ($6::text[])[1]
            -- The last page of a walk in parts is not the list's.
            or (last_at <> first_at and (select at from asked where id = ($6::text[])[1]) = last_at)
            or (exists (select from asked where at = last_at) and not exists (select from asked where at = first_at))
              as begins
       from ends`,
    [slice.projectId, slice.resource, slice.owner, slice.day, walk, ids],
  );
  return { unshown: rows[0]?.unshown ?? 0, begins: rows[0]?.begins === true };
}

/** How many of these ids a walk did not show. */
export async function countUnshown(
  db: Queryable,
  slice: Slice,
  walk: number,
  ids: string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const { rows } = await db.query<{ unshown: number }>(
    `select count(*)::int as unshown from unnest($6::text[]) asked (id)
      where not exists (select from sync.pages
                         where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk = $5
                           and asked.id = any (ids))`,
    [slice.projectId, slice.resource, slice.owner, slice.day, walk, ids],
  );
  return rows[0]?.unshown ?? 0;
}

/** How many other days of a list were proved with exactly so many records, and how many with more. */
export async function compareSizes(
  db: Queryable,
  slice: Slice,
  records: number,
): Promise<{ equal: number; larger: number }> {
  const { rows } = await db.query<{ equal: number; larger: number }>(
    `select count(*) filter (where shown_total = $5)::int as equal,
            count(*) filter (where shown_total > $5)::int as larger
       from sync.slices
      where project_id = $1 and resource = $2 and owner = $3 and day <> $4 and proof <> 'none'`,
    [slice.projectId, slice.resource, slice.owner, slice.day, records],
  );
  return rows[0] ?? { equal: 0, larger: 0 };
}

/** Whether any of these ids stands on the pages of a walk numbered from `from` on and below `to`. */
export async function standsOn(
  db: Queryable,
  slice: Slice,
  walk: number,
  ids: string[],
  { from, to }: { from: number; to: number },
): Promise<boolean> {
  const { rows } = await db.query<{ stands: boolean }>(
    `select exists (
       select from sync.pages
        where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk = $5
          and page >= $6 and page < $7 and ids && $8::text[]
     ) as stands`,
    [slice.projectId, slice.resource, slice.owner, slice.day, walk, from, to, ids],
  );
  return rows[0]?.stands === true;
}

/** Rows that the pages of a walk show from number `from` on, repeated ones included. */
export async function rowsFrom(
  db: Queryable,
  slice: Slice,
  walk: number,
  from: number,
): Promise<number> {
  const { rows } = await db.query<{ shown: number }>(
    `select coalesce(sum(cardinality(ids) + cardinality(rejects)), 0)::int as shown from sync.pages
      where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk = $5 and page >= $6`,
    [slice.projectId, slice.resource, slice.owner, slice.day, walk, from],
  );
  return rows[0]?.shown ?? 0;
}

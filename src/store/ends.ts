// Where a walk ended, as its pages and the archive remember it: whether a page read the other way round begins there.
import type { Queryable } from './db.ts';
import type { Slice } from './ledger.ts';
import { tableShapes } from './tables.ts';

/**
 * How the ids of the first page of a list read in `order` stand to a walk that was read the other way round: how many the
 * walk did not show, and whether the page begins at the walk's end. It does where its first record is the walk's last, or
 * was created at the same time as the walk's last while the walk's first was not, for records of one second may stand in
 * any order. Of a list of one record, or none, either end is the other.
 */
export async function compareWithWalk(
  db: Queryable,
  slice: Slice,
  walk: number,
  ids: string[],
  order: 'asc' | 'desc',
): Promise<{ unshown: number; begins: boolean }> {
  const { table, key } = tableShapes[slice.resource];
  const { rows } = await db.query<{ unshown: number; begins: boolean | null }>(
    `with shown as (
       select page, place, id from sync.pages, unnest(ids) with ordinality s (id, place)
        where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk = $5
     ),
     ends as (
       select (select id from shown order by page, place limit 1)           as walk_first,
              (select id from shown order by page desc, place desc limit 1) as walk_last,
              (select count(distinct id) from shown)                        as records
     ),
     -- The walk's last record by its time, whatever page it stood on.
     farthest as (
       select ${order === 'desc' ? 'max' : 'min'} (o.created_at) as at
         from shown join ${table} o on o.project_id = $1 and o.${key} = shown.id
     )
     select (select count(*)::int from unnest($6::text[]) asked (id)
              where not exists (select from shown where shown.id = asked.id)) as unshown,
            records <= 1
            or walk_last = ($6::text[])[1]
            or (begun.created_at = farthest.at and begun.created_at <> (
                 select created_at from ${table} where project_id = $1 and ${key} = walk_first)) as begins
       from ends, farthest
       left join ${table} begun on begun.project_id = $1 and begun.${key} = ($6::text[])[1]`,
    [slice.projectId, slice.resource, slice.owner, slice.day, walk, ids],
  );
  return { unshown: rows[0]?.unshown ?? 0, begins: rows[0]?.begins === true };
}

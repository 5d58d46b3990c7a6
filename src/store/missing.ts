// Absence is recorded, never acted upon (P4): what the last whole walk showed and this one does not is missing
// since now, until it is shown again.
import type { DayRange, Instant } from '../model.ts';
import type { Queryable } from './db.ts';
import type { Slice } from './ledger.ts';
import { tableShapes } from './tables.ts';

/**
 * Marks the records of the slice's own days that walk `before` showed and walk `now` did not. Returns how many were
 * marked. A record counts by its own day: the walks may have asked for different bounds.
 */
export async function markMissing(
  db: Queryable,
  slice: Slice,
  span: DayRange,
  before: number,
  now: number,
  at: Instant,
): Promise<number> {
  const { table, key } = tableShapes[slice.resource];
  const { rows } = await db.query(
    `with shown as (
       select walk, id from sync.pages, unnest(ids) id
        where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk in ($5, $6)
     )
     update ${table} o
        set missing_since = $7, changed_at = $7
       from (select id from shown where walk = $5 except select id from shown where walk = $6) gone
      where o.project_id = $1 and o.${key} = gone.id and o.slice_day >= $8 and o.slice_day < $9 and o.missing_since is null
     returning 1`,
    [
      slice.projectId,
      slice.resource,
      slice.owner,
      slice.day,
      before,
      now,
      new Date(at).toISOString(),
      span.from,
      span.to,
    ],
  );
  return rows.length;
}

// Absence is recorded, never acted upon (P4): what the last whole walk showed and this one does not is missing
// since now, until it is shown again.
import type { DayRange, Instant } from '../model.ts';
import type { Queryable } from './db.ts';
import type { Slice } from './ledger.ts';
import { tableShapes } from './tables.ts';

/** Two walks of a slice that are compared: the last whole one and the one just read. */
export type Walks = { before: number; now: number };

const shownBy = `
       select walk, id from sync.pages, unnest(ids) id
        where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk in ($5, $6)`;
const gone = 'select id from shown where walk = $5 except select id from shown where walk = $6';

const keysOf = (slice: Slice, { before, now }: Walks): unknown[] => [
  slice.projectId,
  slice.resource,
  slice.owner,
  slice.day,
  before,
  now,
];

/** The ids that walk `before` showed and walk `now` did not. */
export async function goneIds(db: Queryable, slice: Slice, walks: Walks): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with shown as (${shownBy}) ${gone} order by 1`,
    keysOf(slice, walks),
  );
  return rows.map((row) => row.id);
}

/** Whether two walks showed exactly the same ids and rejects (proof rule 2). */
export async function showTheSame(db: Queryable, slice: Slice, walks: Walks): Promise<boolean> {
  const { rows } = await db.query<{ differ: boolean }>(
    `with shown as (${shownBy}
       union all
       select walk, encode(sha, 'hex') from sync.pages, unnest(rejects) sha
        where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk in ($5, $6)
     )
     select exists (${gone})
         or exists (select id from shown where walk = $6 except select id from shown where walk = $5) as differ`,
    keysOf(slice, walks),
  );
  return rows[0]?.differ === false;
}

/**
 * Marks the records of the slice's own days that walk `before` showed and walk `now`, begun at `at`, did not; `except`
 * are those found elsewhere. A record counts by its own day: the walks may have asked for different bounds.
 */
export async function markMissing(
  db: Queryable,
  slice: Slice,
  span: DayRange,
  walks: Walks,
  except: readonly string[],
  at: Instant,
): Promise<void> {
  const { table, key } = tableShapes[slice.resource];
  await db.query(
    `with shown as (${shownBy})
     update ${table} o
        set missing_since = $7, changed_at = $7
       from (${gone}) gone
      where o.project_id = $1 and o.${key} = gone.id and o.slice_day >= $8 and o.slice_day < $9
        and o.missing_since is null and o.${key} <> all ($10::text[])`,
    [...keysOf(slice, walks), new Date(at).toISOString(), span.from, span.to, except],
  );
}

/** How many records of these days were noticed as missing after `since` and are missing still (proof rule 3). */
export async function countMissing(
  db: Queryable,
  slice: Slice,
  span: DayRange,
  since: Instant,
): Promise<number> {
  const { table } = tableShapes[slice.resource];
  const { rows } = await db.query<{ missing: number }>(
    `select count(*)::int as missing from ${table}
      where project_id = $1 and slice_day >= $2 and slice_day < $3 and missing_since > $4`,
    [slice.projectId, span.from, span.to, new Date(since).toISOString()],
  );
  return rows[0]?.missing ?? 0;
}

// Absence is recorded, never acted upon (P4): what was shown before and is not by a whole walk is missing since now,
// until it is shown again.
import type { Instant, Span } from '../model.ts';
import type { Queryable, Tx } from './db.ts';
import { enterMissing } from './journal/journal.ts';
import type { Slice } from './ledger.ts';
import { andOwn, ownDays } from './own-time.ts';
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

/**
 * What was shown of these days before and is not shown by walk `now`. Walks in between that came to nothing have left
 * no pages, nor have those before a whole one that proved nothing: what only they showed is found among the records
 * held, unless the days beside this one show it.
 */
function goneSince(
  { resource, owner, attempts }: Slice,
  span: Span,
  { before, now }: Walks,
): string {
  if (now <= before + 1 && attempts === 0) return gone;
  const { table, key } = tableShapes[resource];
  return `${gone}
        union
       (select ${key} from ${table} o
         where project_id = $1 and slice_day >= $7 and slice_day < $8${andOwn(span)} and missing_since is null
           ${owner === '' ? '' : 'and owner = $3'}
        except select id from shown where walk = $6
        except select id from sync.pages, unnest(ids) id
                where project_id = $1 and resource = $2 and (owner, day) <> ($3, $4::date)
                  and day >= $7::date - 1 and day <= $8::date)`;
}

/** The ids of these days that were shown before and are not by walk `now`. */
export async function goneIds(
  db: Queryable,
  slice: Slice,
  span: Span,
  walks: Walks,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with shown as (${shownBy}),
          -- Gives the days a type where nothing else asks for them.
          days as (select $7::date as day_from, $8::date as day_to)
     ${goneSince(slice, span, walks)} order by 1`,
    [...keysOf(slice, walks), ownDays(span).from, ownDays(span).to],
  );
  return rows.map((row) => row.id);
}

/** How many ids walk `now` shows that the one before did not. */
export async function countNew(db: Queryable, slice: Slice, walks: Walks): Promise<number> {
  const { rows } = await db.query<{ new: number }>(
    `with shown as (${shownBy})
     select count(*)::int as new
       from (select id from shown where walk = $6 except select id from shown where walk = $5) only_now`,
    keysOf(slice, walks),
  );
  return rows[0]?.new ?? 0;
}

/** When the oldest record was created that a walk showed and that is no older than `from`; null for none. */
export async function oldestShown(
  db: Queryable,
  slice: Slice,
  walk: number,
  from: Instant,
): Promise<Instant | null> {
  const { table, key } = tableShapes[slice.resource];
  const { rows } = await db.query<{ at: string | null }>(
    `select min(o.created_at) as at
       from sync.pages p, unnest(p.ids) shown (id) join ${table} o on o.project_id = $1 and o.${key} = shown.id
      where p.project_id = $1 and p.resource = $2 and p.owner = $3 and p.day = $4 and p.walk = $5
        and o.created_at >= $6`,
    [slice.projectId, slice.resource, slice.owner, slice.day, walk, new Date(from).toISOString()],
  );
  const at = rows[0]?.at ?? null;
  return at === null ? null : Date.parse(at);
}

/**
 * Whether a walk showed a record of the slice's own days, or a reject: more may have been asked for than these days.
 */
export async function showsOwnDays(
  db: Queryable,
  slice: Slice,
  walk: number,
  span: Span,
): Promise<boolean> {
  const { table, key } = tableShapes[slice.resource];
  const { from, to } = ownDays(span);
  const { rows } = await db.query<{ own: boolean }>(
    `with asked as (
       select ids, rejects from sync.pages
        where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk = $5
     )
     select exists (select from asked where cardinality(rejects) > 0)
         or exists (select from asked, unnest(ids) shown (id) join ${table} o on o.project_id = $1 and o.${key} = shown.id
                     where o.slice_day >= $6 and o.slice_day < $7${andOwn(span)}) as own`,
    [slice.projectId, slice.resource, slice.owner, slice.day, walk, from, to],
  );
  return rows[0]?.own === true;
}

/**
 * Whether two walks showed exactly the same records of the slice's own days, and the same rejects (proof rule 2). What
 * belongs to other days may have grown between them: the walks may have asked for more, or the platform may have
 * ignored the dates.
 */
export async function showTheSame(
  db: Queryable,
  slice: Slice,
  span: Span,
  walks: Walks,
): Promise<boolean> {
  const { table, key } = tableShapes[slice.resource];
  const { rows } = await db.query<{ differ: boolean }>(
    `with shown as (${shownBy}),
     rejected as (
       select walk, sha from sync.pages, unnest(rejects) sha
        where project_id = $1 and resource = $2 and owner = $3 and day = $4 and walk in ($5, $6)
     ),
     once as (
       select id from shown group by id having count(distinct walk) = 1
     )
     select exists (select from once join ${table} o on o.project_id = $1 and o.${key} = once.id
                     where o.slice_day >= $7 and o.slice_day < $8${andOwn(span)})
         or exists (select from rejected group by sha having count(distinct walk) = 1) as differ`,
    [...keysOf(slice, walks), ownDays(span).from, ownDays(span).to],
  );
  return rows[0]?.differ === false;
}

/**
 * Marks the records of the slice's own days that were shown before and are not by walk `now`, begun at `at`; `except`
 * are those found elsewhere. A record counts by its own day: the walks may have asked for different bounds.
 */
export async function markMissing(
  tx: Tx,
  slice: Slice,
  span: Span,
  walks: Walks,
  except: readonly string[],
  at: Instant,
): Promise<void> {
  const { table, key } = tableShapes[slice.resource];
  const { from, to } = ownDays(span);
  const { rows } = await tx.query<{ id: string }>(
    // Materialized: mostly there is none, and a plan that joins the other way round would look for them once a record.
    `with shown as (${shownBy}),
     gone as materialized (${goneSince(slice, span, walks)})
     update ${table} o
        set missing_since = $9, changed_at = $9
       from gone
      where o.project_id = $1 and o.${key} = gone.id and o.slice_day >= $7 and o.slice_day < $8${andOwn(span)}
        and o.missing_since is null and o.${key} <> all ($10::text[])
     returning o.${key} as id`,
    [...keysOf(slice, walks), from, to, new Date(at).toISOString(), except],
  );
  const ids = rows.map((row) => row.id).toSorted();
  await enterMissing(tx, slice, ids, at);
}

/** How many records of these days were noticed as missing after `since` and are missing still (proof rule 3). */
export async function countMissing(
  db: Queryable,
  slice: Slice,
  span: Span,
  since: Instant,
): Promise<number> {
  const { table } = tableShapes[slice.resource];
  const { from, to } = ownDays(span);
  const { rows } = await db.query<{ missing: number }>(
    `select count(*)::int as missing from ${table} o
      where project_id = $1 and slice_day >= $2 and slice_day < $3${andOwn(span)} and missing_since > $4`,
    [slice.projectId, from, to, new Date(Math.max(0, since)).toISOString()],
  );
  return rows[0]?.missing ?? 0;
}

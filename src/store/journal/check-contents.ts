// What the journal says must be held, against what is: contents, when a record was first seen, its day, and what is
// missing. One statement a function, each a full comparison in Postgres; it judges nothing. None uses a function of the database's
// own: whoever alters rows could alter those as well.
import type { Day } from '../../model.ts';
import type { Tx } from '../db.ts';
import { readInPages } from '../snapshot.ts';
import { archivedName, ofKey, shapeOf, type Archived } from '../record-tables.ts';

/** Contents of records as the journal tells them, one row each. `$1` is the project. */
const saidOf = (of: Archived): string => `
    select u.id collate "C" as id, substring(j.shas from 32 * (r.after + u.k::int - 1) + 1 for 32) as sha, r.at as observed_at, r.after + u.k <= (j.said ->> 'first')::int as is_first,
           j.owner, j.day, j.no
      -- Fetched once an entry (offset 0): by substring alone it would be once a content.
      from (select no, owner, day, ids, shas || ''::bytea as shas, body::jsonb as said
              from sync.journal
             where project_id = $1 and resource = '${archivedName(of)}' and shas is not null offset 0) j
     cross join lateral (select (run ->> 0)::timestamptz as at,
                                (sum((run ->> 1)::int) over (order by k) - (run ->> 1)::int)::int as after,
                                (sum((run ->> 1)::int) over (order by k))::int as upto
                           from jsonb_array_elements(j.said -> 'observed') with ordinality o(run, k)) r
     cross join lateral unnest(j.ids[r.after + 1 : r.upto]) with ordinality u(id, k)
    -- Cut out here (offset 0): a join would carry an entry's whole digests along with each of its contents.
    offset 0`;

/** A content that only one side has. `no` is the entry that tells of it; null: none does. */
export type ContentDifference = {
  id: string;
  sha256: string;
  observed_at: string;
  owner: string | null;
  day: Day | null;
  no: number | null;
};

/**
 * Contents that were stored and are not held as a row or a version, and those that are held and were never stored; by
 * id.
 */
export function readContentDifferences(
  tx: Tx,
  of: Archived,
  onRows: (rows: ContentDifference[]) => Promise<void>,
): Promise<void> {
  const shape = shapeOf(of);
  const { table, versions, key } = shape;
  return readInPages(
    tx,
    `with said as (${saidOf(of)}),
     held as (
       select ${key} as id, raw_sha256 as sha, observed_at from ${table} o where ${ofKey(shape, 'o')}
        union all
       select ${key}, raw_sha256, observed_at from ${versions} v where ${ofKey(shape, 'v')}
     )
     select coalesce(s.id, h.id) as id, encode(coalesce(s.sha, h.sha), 'hex') as sha256,
            coalesce(s.observed_at, h.observed_at) as observed_at, s.owner, s.day, s.no::float8 as no
       from said s
       full join held h on h.id = s.id and h.sha = s.sha and h.observed_at = s.observed_at
      where s.id is null or h.id is null
      order by 1, 3`,
    [of.projectId],
    onRows,
  );
}

export type MomentDifference = { id: string; held: string | null; said: string | null };

/** Records whose first_seen_at is not the moment of the content that was stored first. */
export function readFirstSeenDifferences(
  tx: Tx,
  of: Archived,
  onRows: (rows: MomentDifference[]) => Promise<void>,
): Promise<void> {
  const shape = shapeOf(of);
  return readInPages(
    tx,
    `with said as (${saidOf(of)})
     select o.${shape.key} as id, o.first_seen_at as held, said.observed_at as said
       from said
       join ${shape.table} o on ${ofKey(shape, 'o')} and o.${shape.key} = said.id
      where said.is_first and o.first_seen_at <> said.observed_at
      order by 1`,
    [of.projectId],
    onRows,
  );
}

/** Records that do not stand under the day whose list showed them first or moved them last. */
export function readDayDifferences(
  tx: Tx,
  of: Archived,
  onRows: (rows: MomentDifference[]) => Promise<void>,
): Promise<void> {
  const { table, versions, key } = shapeOf(of);
  const utcDay = "(created_at at time zone 'UTC')::date";
  return readInPages(
    tx,
    `with entries as (
       select no, day, ids, body::jsonb as said
         from sync.journal
        where project_id = $1 and resource = '${archivedName(of)}'
          and (strpos(body, '"first":') > 0 or strpos(body, '"moved":') > 0)
     ),
     said as (
       select distinct on (id) id, day
         from (select id collate "C" as id, day, no from entries, unnest(ids[1 : (said ->> 'first')::int]) id
                union all
               select id collate "C", day, no from entries, jsonb_array_elements_text(said -> 'moved') id) told
        order by id, no desc
     )
     select o.${key} as id, o.slice_day as held, nullif(said.day, '0001-01-01') as said
       from ${table} o
       join said on said.id = o.${key}
      where o.project_id = $1 and o.slice_day <> said.day
        -- What no day's list showed stands under the day that it named.
        and not (said.day = '0001-01-01'
                 and (o.created_at is null or o.slice_day = ${utcDay.replace('created', 'o.created')}
                      or exists (select from ${versions} v
                                  where v.project_id = $1 and v.${key} = o.${key} and o.slice_day = ${utcDay.replace('created', 'v.created')})))
      order by 1`,
    [of.projectId],
    onRows,
  );
}

/** Records whose missing_since is not what was marked and not taken back. */
export function readMissingDifferences(
  tx: Tx,
  of: Archived,
  onRows: (rows: MomentDifference[]) => Promise<void>,
): Promise<void> {
  const shape = shapeOf(of);
  return readInPages(
    tx,
    `with entries as (
       select kind, ids, body::jsonb as said
         from sync.journal
        where project_id = $1 and resource = '${archivedName(of)}'
          and (kind = 'missing' or strpos(body, '"found":') > 0)
     ),
     marks as (
       select id collate "C" as id, (said ->> 'at')::timestamptz as since, 1 as n
         from entries, unnest(ids) id where kind = 'missing'
        union all
       select (found ->> 0) collate "C", (found ->> 1)::timestamptz, -1
         from entries, jsonb_array_elements(said -> 'found') found where kind <> 'missing'
     ),
     said as (select id, since from marks group by id, since having sum(n) <> 0),
     held as (
       select ${shape.key} as id, missing_since as since from ${shape.table} o
        where ${ofKey(shape, 'o')} and missing_since is not null
     )
     select coalesce(said.id, held.id) as id, max(held.since) as held, max(said.since) as said
       from said
       full join held on held.id = said.id and held.since = said.since
      where said.id is null or held.id is null
      group by 1
      order by 1`,
    [of.projectId],
    onRows,
  );
}

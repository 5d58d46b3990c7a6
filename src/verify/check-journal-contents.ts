// What the journal says must be held, against what is: contents, when a record was first seen, its day, and what is
// missing. Statements whose rows are findings, for check-journal.ts; `$1` is the project. None uses a function of the
// database's own: whoever alters rows could alter those as well.
import { isListed } from '../model.ts';
import type { Tx } from '../store/db.ts';
import { archivedName, ofKey, shapeOf, type Archived } from '../store/record-tables.ts';
import { reportRows, type Report } from './finding.ts';

/** What the journal says must be held of these records, against what is. */
export async function checkContents(tx: Tx, of: Archived, report: Report): Promise<void> {
  const checks = [otherContents(of), otherMissing(of)];
  if (isListed(of.resource)) checks.push(otherDays(of));
  for (const sql of checks) await reportRows(tx, sql, [of.projectId], report);
}

/** A moment as text: RFC 3339, with no more digits than it needs. */
const rfc3339 = (at: string): string => `replace(replace(${at}::text, ' ', 'T'), '+00', 'Z')`;

/** What a column of a record says, and what it should. */
const otherwise = (column: string, held: string, said: string): string =>
  `format('${column} is %s, and %s is in the journal', coalesce(${held}, 'not set'), coalesce(${said}, 'nothing'))`;

/** Contents of records as the journal tells them, one row each. `$1` is the project. */
const saidOf = (of: Archived): string => `
    select u.id collate "C" as id, substring(j.shas from 32 * (r.after + u.k::int - 1) + 1 for 32) as sha, r.at as observed_at, r.after + u.k <= (j.said ->> 'first')::int as is_first,
           j.owner, j.day, j.no, r.after + u.k as nth
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

const shownAtMost = 3;

/**
 * Contents that were stored and are not held as a row or a version, those that are held and were never stored, those
 * that should be the row and are a version, and records with another first_seen_at or day; by id. All in one pass over
 * both sides: a pass each took 7.5 instead of 3 µs of Postgres a record. Of a record what its contents are is told
 * first: it says more than its moments.
 */
export function otherContents(of: Archived): string {
  const shape = shapeOf(of);
  const { table, versions, key } = shape;
  const hasDays = isListed(of.resource);
  const dayHeld = hasDays
    ? `case when s.is_first and h.day is distinct from s.day and s.id not in (select id from moved)
                  then (${otherDay(of, 's')}) end`
    : 'null::date';
  const content = `format('a content observed at %s (raw_sha256 %s)', ${rfc3339('observed_at')}, encode(sha, 'hex'))`;
  const entry = `format(' by entry %s of %s%s', no, day, case owner when '' then '' else ' of ' || owner end)`;
  const all = (what: string, where: string): string =>
    `array_agg(${what} order by observed_at) filter (where ${where})`;
  const isGone = 'is_alone and no is not null';
  const listed = (list: string): string =>
    `(array_to_string(${list}[1:${shownAtMost}], ' and ')
       || case when cardinality(${list}) > ${shownAtMost} then format(' and %s more', cardinality(${list}) - ${shownAtMost}) else '' end)`;
  return `
    with said as (${saidOf(of)}),
    held as (
      select ${key} as id, raw_sha256 as sha, observed_at, first_seen_at, ${hasDays ? 'slice_day' : 'null::date'} as day, false as is_version
        from ${table} o where ${ofKey(shape, 'o')}
       union all
      select ${key}, raw_sha256, observed_at, null, null, true from ${versions} v where ${ofKey(shape, 'v')}
    ),
    ${movedOf(of)},
    ${replacingOf(of)},
    compared as (
      select coalesce(s.id, h.id) as id, coalesce(s.sha, h.sha) as sha, coalesce(s.observed_at, h.observed_at) as observed_at,
             s.owner, s.day, s.no, s.id is null or h.id is null as is_alone,
             -- Looked up only where the content that was stored first is not in force any more.
             case when s.is_first and h.first_seen_at is distinct from s.observed_at
                  then (select o.first_seen_at from ${table} o
                         where ${ofKey(shape, 'o')} and o.${key} = s.id and o.first_seen_at <> s.observed_at)
              end as first_seen_held,
             ${dayHeld} as day_held,
             (h.is_version and s.is_first and r.id is null or r.no = s.no and r.nth = s.nth) is true as is_displaced
        from said s
        full join held h on h.id = s.id and h.sha = s.sha and h.observed_at = s.observed_at
        -- Of versions only, which are few: a key that is null is looked up nowhere.
        left join replacing r on r.id = case when h.is_version then s.id end
      offset 0),
    found as (
      select id, ${all(content, isGone)} as gone, ${all(content, 'is_alone and no is null')} as extra,
             (${all(entry, isGone)})[1] as entry, (${all(hasDays ? 'day' : 'null::date', isGone)})[1] as day,
             (${all(`${content} || ' is in force' || ${entry}`, 'is_displaced')})[1] as displaced,
             ${all(otherwise('first_seen_at', rfc3339('first_seen_held'), rfc3339('observed_at')), 'first_seen_held is not null')} as first_seen,
             ${all(otherwise('slice_day', 'day_held::text', "nullif(day, '0001-01-01')::text"), 'day_held is not null')} as other_day
        from compared
       where is_alone or first_seen_held is not null or day_held is not null or is_displaced
       group by id
       order by id
    )
    select kind, told.day as when, id, says
      from found
     cross join lateral (
       select 'missing' as kind, day, case when extra is null then ${listed('gone')} || ' was archived' || entry || ', and is no longer held' end as says
        union all
       select 'extra', null, case when gone is null then ${listed('extra')} || ' is held, and nothing in the journal stored it' end
        union all
       select 'altered', day, 'archived' || entry || ' was ' || ${listed('gone')} || ', held is ' || ${listed('extra')}
        union all
       select 'altered', null, case when gone is null and extra is null then displaced || ', and is held as an earlier version' end
        union all
       select 'altered', null, unnest(first_seen || other_day)
     ) told
     where says is not null`;
}

/**
 * Which content of a record came into force last in place of another one, by its place in the journal. `$1` is the
 * project. Of most records nothing did: the first one is in force.
 */
const replacingOf = (of: Archived): string => `replacing as (
       select distinct on (id) id, no, nth
         from (select u.id collate "C" as id, j.no, u.nth, (body::jsonb ->> 'first')::int as first, (body::jsonb ->> 'changed')::int as changed
                 from sync.journal j
                cross join lateral unnest(j.ids) with ordinality u(id, nth)
                where project_id = $1 and resource = '${archivedName(of)}' and strpos(body, '"changed":') > 0) told
        where nth > first and nth <= first + changed
        order by id, no desc, nth desc
     )`;

/** Records that moved to another day, and to which day last. `$1` is the project. */
const movedOf = (of: Archived): string => `moved as (
       select distinct on (id) id, day
         from (select id collate "C" as id, day, no
                 from sync.journal, jsonb_array_elements_text(body::jsonb -> 'moved') id
                where project_id = $1 and resource = '${archivedName(of)}' and strpos(body, '"moved":') > 0) told
        order by id, no desc
     )`;

/** The day that a record stands under, if that is not what `said` has as its `day`. */
function otherDay(of: Archived, said: string): string {
  const { table, versions, key } = shapeOf(of);
  const utcDay = (row: string): string => `(${row}.created_at at time zone 'UTC')::date`;
  return `select o.slice_day from ${table} o
           where o.project_id = $1 and o.${key} = ${said}.id and o.slice_day <> ${said}.day
             -- What no day's list showed stands under the day that it named.
             and not (${said}.day = '0001-01-01'
                      and (o.created_at is null or o.slice_day = ${utcDay('o')}
                           or exists (select from ${versions} v
                                       where v.project_id = $1 and v.${key} = o.${key} and o.slice_day = ${utcDay('v')})))`;
}

/** Records that moved and do not stand under the day whose list showed them last. */
const otherDays = (of: Archived): string => `
    with ${movedOf(of)}
    select 'altered' as kind, null as when, id, ${otherwise('slice_day', 'held::text', 'said::text')} as says
      from (select id, day as said, (${otherDay(of, 'moved')}) as held from moved offset 0) m
     where held is not null
     order by id`;

/** Records whose missing_since is not what was marked and not taken back. */
function otherMissing(of: Archived): string {
  const shape = shapeOf(of);
  return `
    with entries as (
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
    select 'altered' as kind, null as when, coalesce(said.id, held.id) as id,
           ${otherwise('missing_since', rfc3339('max(held.since)'), rfc3339('max(said.since)'))} as says
      from said
      full join held on held.id = said.id and held.since = said.since
     where said.id is null or held.id is null
     group by 3
     order by 3`;
}

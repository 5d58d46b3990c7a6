// Records of which a list shows another content than is in force, for another list shows that one, or a later update
// time speaks for it. A record is one row, so one of the contents is in force and the other a version: the list that
// shows the other one claims no proof. What each list shows is noted from the moment a content returns, comes under
// another day or is older than what is held; nearly always there is nothing to note. What the platform stands by for a
// day, and contradicts nowhere, is in force again.
import type { Instant } from '../model.ts';
import type { Queryable, Tx } from './db.ts';
import { inOrder, type Slice } from './ledger.ts';
import { tableShapes, type TableShape } from './tables.ts';

/** A record that came with another content than is held, or one whose contents are noted. */
export type Differing = {
  id: string;
  /** Of the content that came. */
  sha: string;
  /** The day the row stands under, where what came stands under another one. */
  movesFrom: string | null;
  isContested: boolean;
  /** Of an order that came: whether it is still pending, and its update time as a timestamptz; null without one. */
  isPending: boolean;
  updatedAt: string | null;
  observedAt: Instant;
};

/**
 * Of the records in question: those of which another list shows something else of the same rank, and those to be
 * corrected.
 */
export type Noted = { contested: string[]; corrected: string[] };

/**
 * So long a list must have shown nothing else before an older content is in force again; less two seconds: see
 * policy.ts.
 */
const correctsAfter = '24 hours - 2 seconds';

const resourceOf = ({ table }: TableShape): string => table.slice('archive.'.length);
const isList = (shape: TableShape): boolean => resourceOf(shape) in tableShapes;

/** Whether a record's contents are noted: a condition, for what no list shows false. */
export function isContested(shape: TableShape, id: string): string {
  return isList(shape)
    ? `exists (select from sync.contested
                where project_id = $1 and resource = '${resourceOf(shape)}' and id = ${id})`
    : 'false';
}

/** Only orders say when they changed; of others what is observed later is in force at once. */
const isRanked = ({ precedence }: TableShape): boolean => precedence.length > 0;
const heldOf = ({ table, key }: TableShape, id: string): string =>
  `select from ${table} o where o.project_id = $1 and o.${key} = ${id}`;

/** Whether what came comes before what is held, by the precedence of tables.ts. */
const isOlder = (shape: TableShape): string =>
  isRanked(shape)
    ? `exists (${heldOf(shape, 's.id')}
                  and (coalesce(s.updated_at, '-infinity'), not s.is_pending)
                      < (coalesce(o.updated_at, '-infinity'), o.status is distinct from 1))`
    : 'false';

const isCorrectable = (shape: TableShape): string =>
  isRanked(shape)
    ? `not (n.is_pending and exists (${heldOf(shape, 'n.id')} and o.status <> 1))`
    : 'false';

/**
 * Notes what a list shows of the records in question. The day that a row moves from is noted as one to be asked. A
 * settled order is never corrected to a pending one (P2).
 */
export async function noteContents(
  tx: Tx,
  shape: TableShape,
  { resource, owner, day, projectId }: Slice,
  inQuestion: Differing[],
): Promise<Noted> {
  if (inQuestion.length === 0 || !isList(shape)) return { contested: [], corrected: [] };
  const sorted = inQuestion.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const { rows } = await tx.query<{ id: string; isContested: boolean; isCorrected: boolean }>(
    `with shown as (
       select id, decode(sha, 'hex') as sha, moves_from, is_contested, is_pending, updated_at, observed_at
         from unnest($5::text[], $6::text[], $7::date[], $8::boolean[], $9::boolean[], $10::timestamptz[], $11::timestamptz[])
              as s (id, sha, moves_from, is_contested, is_pending, updated_at, observed_at)
     ),
     -- A content that returns was either said again, or it is another list's, or an older one. The versions know it.
     ranked as materialized (select *, ${isOlder(shape)} as is_older from shown s),
     noted as materialized (
       select * from ranked s
        where (is_contested
               and exists (select from sync.contested c
                            where c.project_id = $1 and c.resource = $2 and c.id = s.id
                              and (not c.is_older or (c.owner, c.day) = ($3, $4::date))))
           or moves_from is not null or is_older
           or exists (select from ${shape.versions} v
                       where v.project_id = $1 and v.${shape.key} = s.id and v.raw_sha256 = s.sha)
     ),
     lists as (
       select id, $4::date as day, sha, observed_at as since, is_older from noted
       union all
       select n.id, l.day, null, null, false from noted n
         join sync.slices l on l.project_id = $1 and l.resource = $2 and l.owner = $3 and l.day = n.moves_from
        where l.day <> $4::date and l.state not in ('final', 'lost')
     ),
     written as (
       insert into sync.contested as c (project_id, resource, id, owner, day, raw_sha256, since, is_older)
       select $1, $2, id, $3, day, sha, since, is_older from lists order by id, day
           on conflict (project_id, resource, id, owner, day) do update
          set raw_sha256 = excluded.raw_sha256, since = excluded.since, is_older = excluded.is_older
        where excluded.raw_sha256 is not null and c.raw_sha256 is distinct from excluded.raw_sha256
     ),
     others as (
       select n.id, bool_or(c.raw_sha256 <> n.sha) is true                    as contradict,
              bool_or(c.raw_sha256 <> n.sha and not c.is_older) is true as contradict_alike,
              bool_or(c.raw_sha256 is null)                              as are_to_be_asked
         from noted n
         join sync.contested c on c.project_id = $1 and c.resource = $2 and c.id = n.id
        where (c.owner, c.day) <> ($3, $4::date)
        group by n.id
     )
     select n.id, coalesce(others.contradict_alike, false) as "isContested",
            others.contradict is not true and others.are_to_be_asked is not true
              and ${isCorrectable(shape)}
              and own.raw_sha256 = n.sha and own.since <= n.observed_at - interval '${correctsAfter}' as "isCorrected"
       from noted n
       left join others on others.id = n.id
       left join sync.contested own
              on own.project_id = $1 and own.resource = $2 and own.id = n.id and (own.owner, own.day) = ($3, $4::date)`,
    [
      projectId,
      resource,
      owner,
      day,
      sorted.map((one) => one.id),
      sorted.map((one) => one.sha),
      sorted.map((one) => one.movesFrom),
      sorted.map((one) => one.isContested),
      sorted.map((one) => one.isPending),
      sorted.map((one) => one.updatedAt),
      sorted.map((one) => new Date(one.observedAt).toISOString()),
    ],
  );
  return {
    contested: rows.filter((row) => row.isContested).map((row) => row.id),
    corrected: rows.filter((row) => row.isCorrected).map((row) => row.id),
  };
}

const ofList = 'c.project_id = $1 and c.resource = $2 and c.owner = $3 and c.day = $4';
const keyOf = ({ projectId, resource, owner, day }: Slice): unknown[] => [
  projectId,
  resource,
  owner,
  day,
];

/** The list has left the window: it says nothing any more. */
export async function dropList(db: Queryable, slice: Slice): Promise<void> {
  await db.query(`delete from sync.contested c where ${ofList}`, keyOf(slice));
}

/**
 * After a whole walk of a list: what is noted of records that it did not show is dropped, for it has no say in them.
 * Returns how many are noted, and of how many the list shows another content than is in force: another list, or a later
 * update time, contradicts it, and what this one shows is a version (P6).
 */
export async function heedShown(
  db: Queryable,
  slice: Slice,
  walk: number,
): Promise<{ noted: number; contested: number }> {
  const { table, key } = tableShapes[slice.resource];
  const { rows } = await db.query<{ noted: number; contested: number }>(
    `with unshown as (
       delete from sync.contested c
        where ${ofList}
          and not exists (select from sync.pages p
                           where p.project_id = $1 and p.resource = $2 and p.owner = $3 and p.day = $4
                             and p.walk = $5 and c.id = any (p.ids))
       returning c.id
     )
     select count(*)::int as noted, count(*) filter (where c.raw_sha256 <> o.raw_sha256)::int as contested
       from sync.contested c
       left join ${table} o on o.project_id = $1 and o.${key} = c.id
      where ${ofList} and c.id not in (select id from unshown)`,
    [...keyOf(slice), walk],
  );
  return rows[0] ?? { noted: 0, contested: 0 };
}

/**
 * Ends the proofs of other lists that showed what is not in force any more, or were not asked since: they are due now.
 * Those without a proof are due anyhow. Returns how many.
 */
export async function reopenOthers(db: Queryable, slice: Slice, at: string): Promise<number> {
  const { table, key } = tableShapes[slice.resource];
  const { rows } = await db.query(
    `with was as materialized (
       select s.owner, s.day, sync.ledger_of(row(s.*)::sync.slices) as said
         from sync.slices s
        where s.project_id = $1 and s.resource = $2 and s.state in ('walked', 'sealed') and s.proof <> 'none'
          and (s.owner, s.day) in (
                select other.owner, other.day
                  from sync.contested c
                  join sync.contested other using (project_id, resource, id)
                  join ${table} o on o.project_id = c.project_id and o.${key} = c.id
                 where ${ofList} and (other.owner, other.day) <> (c.owner, c.day)
                   and other.raw_sha256 is distinct from o.raw_sha256)
        order by s.owner, s.day
          for no key update of s
     ),
     done as (
       update sync.slices s
          set state = 'walked', proof = 'none', due_at = least(s.due_at, $5::timestamptz)
         from was
        where s.project_id = $1 and s.resource = $2 and s.owner = was.owner and s.day = was.day
       returning s.*
     )
     select sync.journal_ledger(was.said, s) from ${inOrder('done')} join was using (owner, day)`,
    [...keyOf(slice), at],
  );
  return rows.length;
}

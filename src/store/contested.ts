// Ids that two lists show with different contents, at the same time. A record is one row, so one of the contents is in force
// and the other a version: the list that shows the other one claims no proof. What each list last showed is noted from the
// moment a content returns or comes under another day; nearly always there is nothing to note.
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
};

const resourceOf = ({ table }: TableShape): string => table.slice('archive.'.length);
const isList = (shape: TableShape): boolean => resourceOf(shape) in tableShapes;

/** Whether a record's contents are noted: a condition, for what no list shows false. */
export function isContested(shape: TableShape, id: string): string {
  return isList(shape)
    ? `exists (select from sync.contested
                where project_id = $1 and resource = '${resourceOf(shape)}' and id = ${id})`
    : 'false';
}

/**
 * Notes what a list shows of the records in question, and returns the ids of which another list shows something else. The
 * day that a row moves from is noted as one to be asked.
 */
export async function noteContents(
  tx: Tx,
  shape: TableShape,
  { resource, owner, day, projectId }: Slice,
  inQuestion: Differing[],
): Promise<string[]> {
  if (inQuestion.length === 0 || !isList(shape)) return [];
  const sorted = inQuestion.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const { rows } = await tx.query<{ id: string }>(
    `with shown as (
       select id, decode(sha, 'hex') as sha, moves_from, is_contested
         from unnest($5::text[], $6::text[], $7::date[], $8::boolean[]) as s (id, sha, moves_from, is_contested)
     ),
     -- A content that returns was either said again, or it is another list's. The versions know it.
     noted as materialized (
       select * from shown s
        where is_contested or moves_from is not null
           or exists (select from ${shape.versions} v
                       where v.project_id = $1 and v.${shape.key} = s.id and v.raw_sha256 = s.sha)
     ),
     lists as (
       select id, $4::date as day, sha from noted
       union all
       select n.id, l.day, null from noted n
         join sync.slices l on l.project_id = $1 and l.resource = $2 and l.owner = $3 and l.day = n.moves_from
        where l.day <> $4::date and l.state not in ('final', 'lost')
     ),
     written as (
       insert into sync.contested as c (project_id, resource, id, owner, day, raw_sha256)
       select $1, $2, id, $3, day, sha from lists order by id, day
           on conflict (project_id, resource, id, owner, day) do update
          set raw_sha256 = excluded.raw_sha256
        where excluded.raw_sha256 is not null and c.raw_sha256 is distinct from excluded.raw_sha256
     )
     select distinct n.id
       from noted n
       join sync.contested c on c.project_id = $1 and c.resource = $2 and c.id = n.id
      where (c.owner, c.day) <> ($3, $4::date) and c.raw_sha256 <> n.sha`,
    [
      projectId,
      resource,
      owner,
      day,
      sorted.map((one) => one.id),
      sorted.map((one) => one.sha),
      sorted.map((one) => one.movesFrom),
      sorted.map((one) => one.isContested),
    ],
  );
  return rows.map((row) => row.id);
}

const ofList = 'c.project_id = $1 and c.resource = $2 and c.owner = $3 and c.day = $4';
const keyOf = ({ projectId, resource, owner, day }: Slice): unknown[] => [
  projectId,
  resource,
  owner,
  day,
];

/** A whole walk of a list has no say in what it did not show. */
export async function dropUnshown(db: Queryable, slice: Slice, walk: number): Promise<void> {
  await db.query(
    `delete from sync.contested c
      where ${ofList}
        and not exists (select from sync.pages p
                         where p.project_id = $1 and p.resource = $2 and p.owner = $3 and p.day = $4
                           and p.walk = $5 and c.id = any (p.ids))`,
    [...keyOf(slice), walk],
  );
}

/** The list has left the window: it says nothing any more. */
export async function dropList(db: Queryable, slice: Slice): Promise<void> {
  await db.query(`delete from sync.contested c where ${ofList}`, keyOf(slice));
}

/**
 * How many records the list shows with another content than is in force, for another list shows that one: then the two lists
 * contradict each other, and what this one shows is a version (P6).
 */
export async function countContested(db: Queryable, slice: Slice): Promise<number> {
  const { table, key } = tableShapes[slice.resource];
  const { rows } = await db.query<{ contested: number }>(
    `select count(*)::int as contested
       from sync.contested c
       join ${table} o on o.project_id = $1 and o.${key} = c.id
      where ${ofList} and c.raw_sha256 is distinct from o.raw_sha256
        and exists (select from sync.contested other
                     where other.project_id = $1 and other.resource = $2 and other.id = c.id
                       and (other.owner, other.day) <> ($3, $4::date)
                       and other.raw_sha256 is distinct from c.raw_sha256)`,
    keyOf(slice),
  );
  return rows[0]?.contested ?? 0;
}

/**
 * Ends the proofs of other lists that showed what is not in force any more, or were not asked since: they are due now.
 * Those without a proof are due anyhow. Returns how many.
 */
export async function reopenOthers(db: Queryable, slice: Slice, at: string): Promise<number> {
  const { table, key } = tableShapes[slice.resource];
  const { rows } = await db.query(
    `with was as materialized (
       select s.owner, s.day, sync.ledger_of(s) as said
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

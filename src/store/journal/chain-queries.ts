// The journal's chains against themselves: is each entry's head made of what stands there, is none gone, and is what
// heads of the project once covered still there? As in check-contents.ts no function of the database's own is used.
import type { Day, ProjectId } from '../../model.ts';
import type { Tx } from '../db.ts';

export type EntryPlace = { resource: string; owner: string; day: Day; seq: number };

/** The first entry of each chain that does not follow from the one before it. */
export async function brokenEntries(tx: Tx, projectId: ProjectId): Promise<EntryPlace[]> {
  const { rows } = await tx.query<EntryPlace>(
    `with entries as (
       select *, lag(seq) over chain as seq_before, lag(head) over chain as head_before
         from sync.journal
        where project_id = $1
       window chain as (partition by resource, owner, day order by seq)
     )
     select resource, owner, day, min(seq) as seq
       from entries
      where seq <> coalesce(seq_before, 0) + 1
         or head <> sha256(
              coalesce(head_before, sha256(convert_to(concat_ws(E'\\t', project_id, resource, owner, to_char(day, 'YYYY-MM-DD')), 'UTF8')))
              || convert_to(concat_ws(E'\\t', seq, to_char(entered_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), kind, body)
                            || E'\\n' || coalesce(array_to_string(ids, E'\\n'), ''), 'UTF8')
              || coalesce(shas, ''))
      group by resource, owner, day
      order by resource, day, owner`,
    [projectId],
  );
  return rows;
}

/**
 * Chains whose last entries are gone, or that have entries which they do not end with; `seq` is where they should end.
 */
export async function cutChains(tx: Tx, projectId: ProjectId): Promise<EntryPlace[]> {
  const { rows } = await tx.query<EntryPlace>(
    `with newest as (
       select distinct on (resource, owner, day) resource, owner, day, seq, head
         from sync.journal
        where project_id = $1
        order by resource, owner, day, seq desc
     )
     select resource, owner, day, coalesce(c.seq, newest.seq) as seq
       from newest
       full join (select * from sync.chains where project_id = $1) c using (resource, owner, day)
      where (c.seq, c.head) is distinct from (newest.seq, newest.head)
      order by resource, day, owner`,
    [projectId],
  );
  return rows;
}

export type Miscounted = Omit<EntryPlace, 'seq'> & { records: number; stored: number };

/** Chains that say of another number of records that their entries stored them for the first time. */
export async function miscountedChains(tx: Tx, projectId: ProjectId): Promise<Miscounted[]> {
  const { rows } = await tx.query<Miscounted>(
    // By the text: a body that was altered may be no JSON, and in one that is, a quote inside a text is escaped.
    `with entered as (
       select resource, owner, day,
              sum(substring(body, '[,{]"first":(\\d{1,9})')::int) as stored
         from sync.journal
        where project_id = $1
        group by resource, owner, day
     )
     select resource, owner, day, c.records::float8 as records, coalesce(stored, 0)::float8 as stored
       from sync.chains c
       left join entered using (resource, owner, day)
      where c.project_id = $1 and c.records <> coalesce(stored, 0)
      order by resource, day, owner`,
    [projectId],
  );
  return rows;
}

/** Entries that are not in the journal with these heads (lower-case hex). */
export async function entriesUnlike(
  tx: Tx,
  { projectId, resource }: { projectId: ProjectId; resource: string },
  named: (Omit<EntryPlace, 'resource'> & { head: string })[],
): Promise<EntryPlace[]> {
  const { rows } = await tx.query<EntryPlace>(
    `select $2 as resource, e.owner, e.day, e.seq
       from unnest($3::text[], $4::date[], $5::int[], $6::text[]) as e(owner, day, seq, head)
       left join sync.journal j on j.project_id = $1 and j.resource = $2 and j.owner = e.owner and j.day = e.day and j.seq = e.seq
      where j.head is distinct from decode(e.head, 'hex')
      order by e.day, e.owner`,
    [
      projectId,
      resource,
      named.map(({ owner }) => owner),
      named.map(({ day }) => day),
      named.map(({ seq }) => seq),
      named.map(({ head }) => head),
    ],
  );
  return rows;
}

export type HeldHead = { n: number; at: string; head: string };

/** Every head of the project in its order, and whether it follows from the one before it. */
export async function headsOf(
  tx: Tx,
  projectId: ProjectId,
): Promise<(HeldHead & { follows: boolean })[]> {
  const { rows } = await tx.query<HeldHead & { follows: boolean }>(
    `select n, at, encode(head, 'hex') as head,
            n = coalesce(lag(n) over w, 0) + 1
            and head = sha256(coalesce(lag(head) over w, sha256(convert_to(project_id, 'UTF8'))) || convert_to(body, 'UTF8')) as follows
       from sync.heads
      where project_id = $1
     window w as (order by n)
      order by n`,
    [projectId],
  );
  return rows;
}

/** Entries that a head of the project covers and that are not there as they were, each with the first such head. */
export async function uncoveredEntries(
  tx: Tx,
  projectId: ProjectId,
): Promise<(EntryPlace & { n: number })[]> {
  const { rows } = await tx.query<EntryPlace & { n: number }>(
    // As texts: a body that was altered may hold anything.
    `with covered as (
       select n, split_part(line, E'\\t', 1) as resource, split_part(line, E'\\t', 2) as owner, split_part(line, E'\\t', 3) as day,
              split_part(line, E'\\t', 4) as seq, split_part(line, E'\\t', 5) as head
         from sync.heads, regexp_split_to_table(rtrim(body, E'\\n'), E'\\n') line
        where project_id = $1
     )
     select resource, owner, day, case when seq ~ '^\\d{1,9}$' then seq::int else 0 end as seq, min(c.n) as n
       from covered c
       left join (select resource, owner, to_char(day, 'YYYY-MM-DD') as day, seq::text as seq, encode(head, 'hex') as head
                    from sync.journal where project_id = $1) j using (resource, owner, day, seq)
      where j.head is distinct from c.head
      group by resource, owner, day, seq
      order by n, resource, day, owner`,
    [projectId],
  );
  return rows;
}

// Heads of a project's journal: each covers all of it as it stood. They are worth something where the archive's
// administrators cannot reach: whoever keeps one can tell later that everything up to it still stands. And the chain
// against itself: is each entry's head made of what stands there, and is none gone? As in check-contents.ts no function
// of the database's own is used.
import type { Day, ProjectId } from '../../model.ts';
import type { Queryable, Tx } from '../db.ts';

/** The head of entry `no`, lower-case hex; `at`: when it was entered, RFC 3339 by the database's clock. */
export type Head = { no: number; at: string; head: string };

/** The newest head; null before anything was written. */
export async function newestHead(db: Queryable, projectId: ProjectId): Promise<Head | null> {
  const { rows } = await db.query<Head>(
    `select no::float8 as no, entered_at as at, encode(head, 'hex') as head
       from sync.journal where project_id = $1
      order by sync.journal.no desc limit 1`,
    [projectId],
  );
  return rows[0] ?? null;
}

/** Whether the journal's entry has this head. */
export async function isHeadHeld(
  db: Queryable,
  projectId: ProjectId,
  { no, head }: Pick<Head, 'no' | 'head'>,
): Promise<boolean> {
  const { rows } = await db.query(
    `select from sync.journal where project_id = $1 and no = $2 and head = decode($3, 'hex')`,
    [projectId, no, head],
  );
  return rows.length > 0;
}

/** Those of these heads, lower-case hex, that an entry of the journal has. */
export async function headsHeld(
  db: Queryable,
  projectId: ProjectId,
  heads: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ head: string }>(
    `select encode(head, 'hex') as head from sync.journal
      where project_id = $1 and head in (select decode(h, 'hex') from unnest($2::text[]) h)`,
    [projectId, heads],
  );
  const held = new Set(rows.map(({ head }) => head));
  return heads.filter((head) => held.has(head));
}

/** Heads of several projects as they are told to others: where nothing was written yet there is none. */
export type NamedHead = Head & { project: ProjectId };

export async function newestHeads(
  db: Queryable,
  projectIds: readonly ProjectId[],
): Promise<NamedHead[]> {
  const found: NamedHead[] = [];
  for (const project of projectIds) {
    const head = await newestHead(db, project);
    if (head !== null) found.push({ project, ...head });
  }
  return found;
}

export type JournalEntry = { no: number; resource: string; owner: string; day: Day };

/** The entries that do not follow from the ones before them, in their order; at most a hundred. */
export async function brokenEntries(tx: Tx, projectId: ProjectId): Promise<JournalEntry[]> {
  const { rows } = await tx.query<JournalEntry>(
    `with entries as (
       select *, lag(no) over chain as no_before, lag(head) over chain as head_before
         from sync.journal
        where project_id = $1
       window chain as (order by no)
     )
     select no::float8 as no, resource, owner, day
       from entries
      where no <> coalesce(no_before, 0) + 1
         or head <> sha256(
              coalesce(head_before, sha256(convert_to(project_id, 'UTF8')))
              || convert_to(concat_ws(E'\\t', no, resource, owner, to_char(day, 'YYYY-MM-DD'),
                                      to_char(entered_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), kind, body)
                            || E'\\n' || coalesce(array_to_string(ids, E'\\n'), ''), 'UTF8')
              || coalesce(shas, ''))
      order by entries.no
      limit 100`,
    [projectId],
  );
  return rows;
}

/** What the chain says of its end and its records, and what the entries come to; null: there is no such row, or none. */
export type ChainEnd = Record<'no' | 'orders' | 'nft_classes', number> & { head: string };

export async function chainEnds(
  tx: Tx,
  projectId: ProjectId,
): Promise<{ said: ChainEnd | null; is: ChainEnd | null }> {
  // By the text: a body that was altered may be no JSON, and in one that is, a quote inside a text is escaped.
  const stored = (resource: string): string =>
    `coalesce(sum(substring(body, '[,{]"first":(\\d{1,9})')::int) filter (where resource = '${resource}'), 0)::float8 as ${resource}`;
  const [chain, entries] = await Promise.all([
    tx.query<ChainEnd>(
      `select no::float8 as no, encode(head, 'hex') as head, orders::float8 as orders, nft_classes::float8 as nft_classes
         from sync.chains where project_id = $1`,
      [projectId],
    ),
    tx.query<ChainEnd>(
      `with newest as (select no, head from sync.journal where project_id = $1 order by no desc limit 1)
       select newest.no::float8 as no, encode(newest.head, 'hex') as head, counted.*
         from newest
        cross join (select ${stored('orders')}, ${stored('nft_classes')} from sync.journal where project_id = $1) counted`,
      [projectId],
    ),
  ]);
  return { said: chain.rows[0] ?? null, is: entries.rows[0] ?? null };
}

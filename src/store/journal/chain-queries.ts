// The journal's chain against itself: is each entry's head made of what stands there, and is none gone? As in
// check-contents.ts no function of the database's own is used.
import type { Day, ProjectId } from '../../model.ts';
import type { Tx } from '../db.ts';

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

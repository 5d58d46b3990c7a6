// What the journal says of the ledger, its pages, its rejects and its certificates, against what stands there. One
// statement a function; it judges nothing. As in check-contents.ts no function of the database's own is used.
import type { Day, ListedResource, ProjectId, Resource } from '../../model.ts';
import type { Row, Tx } from '../db.ts';
import { pageDigest } from '../walked-pages.ts';
import { readInPages } from '../snapshot.ts';

type Of = { projectId: ProjectId; resource: Resource };
type OfSlice = { owner: string; day: Day };

/**
 * What of a ledger's row is journalled, as an expression on the row `s`: as the migration's `sync.ledger_of` has it.
 */
const utc = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
const ledgerOf = `jsonb_build_object(
    'state', s.state, 'proof', s.proof, 'whole_walk', s.whole_walk,
    'platform_total', s.platform_total, 'shown_total', s.shown_total, 'unresolved', s.unresolved,
    'deadline_at', ${utc('s.deadline_at')},
    'proved_at', case when s.state <> 'open' then ${utc('s.proved_at')} end,
    'walked_at', case when s.state <> 'open' then ${utc('s.walked_at')} end)`;

/** Ledger fields by name; null: no such row. */
export type LedgerSaid = Record<string, string | number | null> | null;
export type LedgerDifference = OfSlice & { held: LedgerSaid; said: LedgerSaid };

/**
 * Rows of the ledger that are not what was last said of them, that are gone, or that nobody entered. What was first shown
 * of a day (`news_no`) is said by the entries of its pages.
 */
export async function ledgerDifferences(tx: Tx, of: Of): Promise<LedgerDifference[]> {
  return rowsOf(
    tx,
    `with news as (
       select owner, day, max(no) as news_no from sync.journal
        where project_id = $1 and resource = $2 and kind = 'pages'
          and (body ~ '[,{]"first":[1-9]' or strpos(body, '"moved":') > 0 or strpos(body, '"rejects":') > 0)
        group by 1, 2
     ),
     said as (
       select owner, day, case when kind = 'ledger'
                               then (body::jsonb - 'was') || jsonb_build_object('news_no', coalesce(news_no, 0)) end as ledger
         from (select distinct on (owner, day) owner, day, kind, body
                 from sync.journal
                where project_id = $1 and resource = $2 and kind in ('ledger', 'dropped')
                order by owner, day, no desc) newest
         left join news using (owner, day)
     ),
     held as (
       select owner, day, ${ledgerOf} || jsonb_build_object('news_no', news_no) as ledger
         from sync.slices s where project_id = $1 and resource = $2
     )
     select owner, day, held.ledger as held, said.ledger as said
       from said full join held using (owner, day)
      where said.ledger is distinct from held.ledger
      order by day, owner`,
    of,
  );
}

export type LedgerOvertaken = OfSlice & { no: number; was: LedgerSaid; said: LedgerSaid };

/** Rows that said something else than the journal when they were written next. */
export async function ledgerOvertaken(tx: Tx, of: Of): Promise<LedgerOvertaken[]> {
  return rowsOf(
    tx,
    `with entries as (
       select owner, day, no, body::jsonb as said, lag(body::jsonb - 'was') over (partition by owner, day order by no) as before
         from sync.journal
        where project_id = $1 and resource = $2 and kind in ('ledger', 'dropped')
     )
     select owner, day, no::float8 as no, nullif(said -> 'was', 'null') as was, before as said
       from entries where said ? 'was'
      order by day, owner, no`,
    of,
  );
}

/** Days of a list that nothing accounts for between its first and its newest, from the project's first day on (P7). */
export async function unaccountedDays(tx: Tx, of: Of): Promise<OfSlice[]> {
  return rowsOf(
    tx,
    `with lists as (
       select s.owner, greatest(min(s.day), min(p.first_day)) as first, max(s.day) as newest
         from sync.slices s join sync.projects p using (project_id)
        where s.project_id = $1 and s.resource = $2 and s.day > '0001-01-01'
        group by s.owner
     )
     select owner, d::date as day
       from lists
      cross join generate_series(first::timestamp, newest::timestamp, interval '1 day') d
      where not exists (select from sync.slices s
                         where s.project_id = $1 and s.resource = $2 and s.owner = lists.owner and s.day = d::date)
        and not exists (select from sync.journal j
                         where j.project_id = $1 and j.resource = $2 and j.owner = lists.owner and j.day = d::date
                           and j.kind = 'dropped')
      order by 2, 1`,
    of,
  );
}

export type PageDifference = OfSlice & {
  walk: number;
  page: number;
  held: string | null;
  said: string | null;
};

/** Pages of the walks that count, the last whole one and the one in progress, that are not as they were written. */
export function readPageDifferences(
  tx: Tx,
  { projectId, resource }: Of,
  onRows: (rows: PageDifference[]) => Promise<void>,
): Promise<void> {
  return readInPages(
    tx,
    `with said as (
       select distinct on (owner, day, walk, page) owner, day, (said ->> 'walk')::int as walk,
              (one ->> 0)::int as page, one ->> 1 as digest
         from (select no, owner, day, body::jsonb as said
                 from sync.journal where project_id = $1 and resource = $2 and kind = 'pages') j
        cross join jsonb_array_elements(said -> 'pages') one
        order by owner, day, walk, page, no desc
     ),
     held as (
       select owner, day, walk, page, ${pageDigest} as digest
         from sync.pages p where project_id = $1 and resource = $2
     )
     select d.owner, d.day, d.walk, d.page, d.held, d.said
       from (select owner, day, walk, page, held.digest as held, said.digest as said
               from said full join held using (owner, day, walk, page)
              where held.digest is distinct from said.digest) d
       left join sync.slices s on s.project_id = $1 and s.resource = $2 and s.owner = d.owner and s.day = d.day
      where d.held is not null or d.walk in (s.whole_walk, s.walk)
      order by d.day, d.owner, d.walk, d.page`,
    [projectId, resource],
    onRows,
  );
}

export type EvidenceDifference = OfSlice & { no: number; is_held: boolean; is_said: boolean };

/** Readings, or books, that were added and are not there as they were, or that nobody added. */
export async function evidenceDifferences(
  tx: Tx,
  of: Of,
  kind: 'reading' | 'books',
): Promise<EvidenceDifference[]> {
  const [table, day] = kind === 'reading' ? ['sync.readings', 'day'] : ['sync.books', 'null::date'];
  return rowsOf(
    tx,
    `with said as (
       select no, owner, ${day} as day, body::jsonb as said from sync.journal
        where project_id = $1 and resource = $2 and kind = '${kind}'
     ),
     held as (
       select no, owner, ${day} as day,
              to_jsonb(e) - 'project_id' - 'resource' - 'owner' - 'no'${kind === 'reading' ? " - 'day'" : ''} as held
         from ${table} e where project_id = $1 and resource = $2
     )
     select coalesce(held.owner, said.owner) as owner, coalesce(said.day, held.day) as day, no::float8 as no,
            held is not null as is_held, said is not null as is_said
       from said full join held using (no)
      where (said, said.owner, said.day) is distinct from (held, held.owner, held.day)
      order by 2, 1, 3`,
    of,
  );
}

export type RejectDifference = OfSlice & { sha256: string; is_held: boolean; is_said: boolean };

/**
 * Rejects that were kept and are not there as they were, or that nobody kept. One that became a record is gone rightly.
 */
export async function rejectDifferences(tx: Tx, of: Of): Promise<RejectDifference[]> {
  return rowsOf(
    tx,
    `with entries as (
       select owner, day, kind, body::jsonb as said
         from sync.journal
        where project_id = $1 and resource = $2
          and (kind = 'returned' or strpos(body, '"rejects"') > 0)
     ),
     said as (
       select owner, day, one ->> 0 as sha256, (one ->> 1)::timestamptz as seen_at, one ->> 2 as reason, one ->> 3 as kept
         from entries
        cross join jsonb_array_elements(said -> 'rejects') one
        where kind <> 'returned'
          and not exists (select from entries back where back.kind = 'returned' and back.said ->> 'reject' = one ->> 0)
     ),
     held as (
       -- As it was entered: of bytes that are all there, sha256 is the digest (readRejects).
       select owner, day, encode(sha256, 'hex') as sha256, seen_at, reason,
              case when whole_length is not null then encode(sha256(bytes), 'hex') end as kept
         from sync.rejects where project_id = $1 and resource = $2
     )
     select coalesce(said.owner, held.owner) as owner, coalesce(said.day, held.day) as day, sha256,
            held.day is not null as is_held, said.day is not null as is_said
       from said
       full join held using (sha256)
      where said.day is null or held.day is null
         or (said.owner, said.day, said.seen_at, said.reason, said.kept)
            is distinct from (held.owner, held.day, held.seen_at, held.reason, held.kept)
      order by 2, 1, 3`,
    of,
  );
}

export type CertificateDifference = { day: Day; issue: number; is_held: boolean; is_said: boolean };

/**
 * When a project was last looked after, on the platform's clock: what should have been done by then can be told without
 * asking anybody. Null: never.
 */
export async function lastLookedAfter(tx: Tx, projectId: ProjectId): Promise<string | null> {
  const { rows } = await tx.query<{ at: string | null }>(
    // A run that was killed, or ended by an error, came to no certificate: only one that was done says what is owed.
    `select case when exists (select from sync.runs where project_id = $1)
                 then (select max(started_at) from sync.runs
                        where project_id = $1 and outcome in ('done', 'quiet', 'part', 'idle'))
                 else (select max(observed_at) from sync.slices where project_id = $1)
            end as at`,
    [projectId],
  );
  return rows[0]?.at ?? null;
}

/** Certificates that were issued and are not there as they were, or that nobody issued. */
export async function certificateDifferences(
  tx: Tx,
  of: { projectId: ProjectId; resource: ListedResource },
): Promise<CertificateDifference[]> {
  return rowsOf(
    tx,
    `with said as (
       select day, (body::jsonb ->> 'issue')::int as issue, body::jsonb ->> 'sha256' as sha256
         from sync.journal where project_id = $1 and resource = $2 and kind = 'certified'
     ),
     held as (
       select month as day, issue, encode(sha256(convert_to(certificate::text, 'UTF8')), 'hex') as sha256
         from sync.certificates where project_id = $1 and resource = $2
     )
     select day, issue, held.sha256 is not null as is_held, said.sha256 is not null as is_said
       from said full join held using (day, issue)
      where said.sha256 is distinct from held.sha256
      order by day, issue`,
    of,
  );
}

async function rowsOf<R extends Row>(tx: Tx, sql: string, of: Of): Promise<R[]> {
  const { rows } = await tx.query<R>(sql, [of.projectId, of.resource]);
  return rows;
}

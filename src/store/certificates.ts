// sync.certificates, and what goes into one besides the records. A certificate is entered once and never changed. One
// statement a function.
import type { BalanceCounts, Day, ListedResource, ProjectId } from '../model.ts';
import type { ProjectList } from './read-held.ts';
import { withTx, type Db, type Queryable } from './db.ts';
import { enterCertified } from './journal/journal.ts';

/** A month by its first day. */
export type MonthKey = { resource: ListedResource; month: Day };

/** One certificate of a month. */
export type Issued = MonthKey & { issue: number };

/** A certificate as it is held: `text` is what jsonb prints of it; digests are lower-case hex, the time RFC 3339. */
export type HeldCertificate = {
  month: Day;
  /** 1 for the first of the month, 2 for the one that replaces it. */
  issue: number;
  certifiedAt: string;
  digest: string;
  leavesSha256: string;
  text: string;
};

/** All of a list's certificates, or those of one month; of a month in the order they were issued. */
export async function certificatesOf(
  db: Queryable,
  { projectId, resource }: ProjectList,
  month: Day | null = null,
): Promise<HeldCertificate[]> {
  const { rows } = await db.query<HeldCertificate>(
    `select month, issue, certified_at as "certifiedAt", encode(digest, 'hex') as digest,
            encode(leaves_sha256, 'hex') as "leavesSha256", certificate::text as text
       from sync.certificates
      where project_id = $1 and resource = $2 and ($3::date is null or month = $3)
      order by month, issue`,
    [projectId, resource, month],
  );
  return rows;
}

/** Which months have certificates: what a look at the files needs. */
export async function certifiedMonths(db: Queryable, projectId: ProjectId): Promise<Issued[]> {
  const { rows } = await db.query<Issued>(
    'select resource, month, issue from sync.certificates where project_id = $1 order by month, resource, issue',
    [projectId],
  );
  return rows;
}

/**
 * Months before `windowFrom` that have no certificate although every slice is final or lost, and whose newest page was
 * asked for by `observedBy` (RFC 3339); the earliest first. A month before the first one that is accounted for (P7) has
 * been asked for by a person: it counts once each of its days has. It is asked at the end of every run: where every
 * month has its certificate this touches an index a few times for each list, however long the ledger is.
 */
export async function monthsToCertify(
  db: Queryable,
  projectId: ProjectId,
  windowFrom: Day,
  observedBy: string,
): Promise<MonthKey[]> {
  const { rows } = await db.query<MonthKey>(
    `with recursive lists as (
       (select resource, owner from sync.slices where project_id = $1 order by resource, owner limit 1)
       union all
       select next.resource, next.owner
         from lists
        cross join lateral (select s.resource, s.owner
                              from sync.slices s
                             where s.project_id = $1 and (s.resource, s.owner) > (lists.resource, lists.owner)
                             order by s.resource, s.owner
                             limit 1) next
     ),
     beginnings as (
       select resource, date_trunc('month', min(first))::date as month
         from (select lists.resource,
                      (select min(s.day) from sync.slices s
                        where s.project_id = $1 and s.resource = lists.resource and s.owner = lists.owner
                          and s.day > '0001-01-01') as first
                 from lists) firsts
        where first is not null
        group by resource
     ),
     uncertified as (
       select b.resource, m::date as month
         from beginnings b
        cross join generate_series(b.month::timestamp, $2::timestamp - interval '1 month', interval '1 month') m
        where not exists (select from sync.certificates c
                           where c.project_id = $1 and c.resource = b.resource and c.month = m::date)
     )
     select u.resource, u.month
       from uncertified u
      cross join lateral (select bool_and(s.state in ('final', 'lost')) as is_over,
                                 coalesce(max(s.observed_at) <= $3, true) as is_quiet,
                                 count(distinct s.day) as days
                            from lists
                            join sync.slices s on s.project_id = $1 and s.resource = lists.resource and s.owner = lists.owner
                           where lists.resource = u.resource
                             and s.day >= u.month and s.day < (u.month + interval '1 month')::date) held
      where held.is_over and held.is_quiet
        and (u.month >= (select date_trunc('month', first_day) from sync.projects where project_id = $1)
             or held.days = extract(day from u.month + interval '1 month' - interval '1 day'))
      order by u.month, u.resource`,
    [projectId, windowFrom, observedBy],
  );
  return rows;
}

/** A certificate that is no longer held: SHA-256 of its file. */
export type Gone = { issue: number; sha256: string };

/** The last certificate of a month that the journal tells of; null: there was none. */
export async function lastIssued(
  db: Queryable,
  { projectId, resource }: ProjectList,
  month: Day,
): Promise<Gone | null> {
  const { rows } = await db.query<Gone>(
    `select (body::jsonb ->> 'issue')::int as issue, body::jsonb ->> 'file_sha256' as sha256
       from sync.journal
      where project_id = $1 and resource = $2 and owner = '' and day = $3 and kind = 'certified'
      order by 1 desc
      limit 1`,
    [projectId, resource, month],
  );
  return rows[0] ?? null;
}

/**
 * False when there is one for the month and issue already: it stays as it is. The journal tells of it. `fileSha256` is
 * of its file.
 */
export function enterCertificate(
  db: Db,
  { projectId, resource }: ProjectList,
  certificate: HeldCertificate,
  fileSha256: string,
): Promise<boolean> {
  return withTx(db, async (tx) => {
    const { rows } = await tx.query<{ sha256: string }>(
      `insert into sync.certificates (project_id, resource, month, issue, certified_at, certificate, digest, leaves_sha256)
       values ($1, $2, $3, $4, $5, $6::jsonb, decode($7, 'hex'), decode($8, 'hex'))
           on conflict do nothing
       -- As Postgres prints it.
       returning encode(sha256(convert_to(certificate::text, 'UTF8')), 'hex') as sha256`,
      [
        projectId,
        resource,
        certificate.month,
        certificate.issue,
        certificate.certifiedAt,
        certificate.text,
        certificate.digest,
        certificate.leavesSha256,
      ],
    );
    const [entered] = rows;
    if (entered === undefined) return false;
    const place = { projectId, resource, owner: '', day: certificate.month };
    const { issue } = certificate;
    await enterCertified(tx, place, { issue, ...entered, file_sha256: fileSha256 });
    return true;
  });
}

/** A slice of the month as analytics.coverage shows it, with every reservation. */
export type CoveredSlice = {
  day: Day;
  /** '' for the whole list. */
  owner: string;
  state: string;
  proof: string;
  proved_at: string | null;
  walked_at: string | null;
  platform_total: number | null;
  shown_total: number | null;
  unresolved: number;
  rejected: number;
  reservations: string[];
  is_held: boolean;
  is_settled: boolean;
};

export async function coverageOf(
  db: Queryable,
  { projectId, resource }: ProjectList,
  month: Day,
): Promise<CoveredSlice[]> {
  const { rows } = await db.query<CoveredSlice>(
    // Counts of records: far below 2^53.
    `select day, owner, state, proof, proved_at, walked_at, platform_total::float8 as platform_total,
            shown_total::float8 as shown_total, unresolved, rejected::float8 as rejected, reservations,
            is_held, is_settled
       from analytics.coverage
      where project_id = $1 and resource = $2
        and day >= $3 and day < ($3::date + interval '1 month')::date
      order by day, owner`,
    [projectId, resource, month],
  );
  return rows;
}

/** What the platform counted of a span of days, first and last day included, beside what its lists had shown. */
export type CertifiedBooks = BalanceCounts & {
  owner: string;
  from: Day;
  to: Day;
  asked_at: string;
};

/** The newest books by then that count days of a month: one span, or the parts of it that did not balance, too. */
export async function booksOf(
  db: Queryable,
  { projectId, resource }: ProjectList,
  month: Day,
  by: string,
): Promise<CertifiedBooks[]> {
  const { rows } = await db.query<CertifiedBooks>(
    `select owner, day_from as "from", day_to - 1 as "to", asked_at, total::float8 as total, pending::float8 as pending,
            succeeded::float8 as succeeded, failed::float8 as failed, shown::float8 as shown, balance
       from (select *, max(asked_at) over (partition by owner) as newest
               from analytics.books
              where project_id = $1 and resource = $2 and asked_at <= $4
                and day_from < ($3::date + interval '1 month')::date and day_to > $3) b
      where asked_at = newest
      order by owner, day_from, day_to`,
    [projectId, resource, month, by],
  );
  return rows;
}

export type DatedFact = { fact: string; value: string; confirmed_at: string; changed_at: string };

/** What was observed of how the platform answers for a resource: what its proofs rest on. */
export async function factsOf(
  db: Queryable,
  { projectId, resource }: ProjectList,
): Promise<DatedFact[]> {
  const { rows } = await db.query<DatedFact>(
    `select fact, value, confirmed_at, changed_at
       from sync.facts
      where project_id = $1 and split_part(fact, '.', 1) = $2
      order by fact`,
    [projectId, resource],
  );
  return rows;
}

// sync.certificates: which months are to be certified, and what was certified. A certificate is entered once and never
// changed. One statement a function.
import type { Day, ListedResource, ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';
import type { Listed } from './contents.ts';

/** A month by its first day. */
export type Month = { resource: ListedResource; month: Day };

/**
 * Months before `windowFrom` that have no certificate although every slice is final or lost, and whose newest page was
 * asked for by `observedBy` (RFC 3339); the earliest first. A month before the first one that is accounted for (P7) has been
 * asked for by a person: it counts once each of its days has. Where every month has its certificate this touches
 * an index a few times for each list, however long the ledger is.
 */
export async function monthsToCertify(
  db: Queryable,
  projectId: ProjectId,
  windowFrom: Day,
  observedBy: string,
): Promise<Month[]> {
  const { rows } = await db.query<Month>(
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
       select lists.resource, date_trunc('month', min(first.day))::date as month
         from lists
        cross join lateral (select s.day
                              from sync.slices s
                             where s.project_id = $1 and s.resource = lists.resource and s.owner = lists.owner
                               and s.day > '0001-01-01'
                             order by s.day
                             limit 1) first
        group by lists.resource
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

/** A certificate as it is held: `text` is what jsonb prints of it; digests are lower-case hex, the time RFC 3339. */
export type HeldCertificate = {
  month: Day;
  certifiedAt: string;
  digest: string;
  leavesSha256: string;
  text: string;
};

/** All of a list's certificates, or that of one month. */
export async function certificatesOf(
  db: Queryable,
  { projectId, resource }: Listed,
  month: Day | null = null,
): Promise<HeldCertificate[]> {
  const { rows } = await db.query<HeldCertificate>(
    `select month, certified_at as "certifiedAt", encode(digest, 'hex') as digest,
            encode(leaves_sha256, 'hex') as "leavesSha256", certificate::text as text
       from sync.certificates
      where project_id = $1 and resource = $2 and ($3::date is null or month = $3)
      order by month`,
    [projectId, resource, month],
  );
  return rows;
}

/** Which months have a certificate: what a look at the files needs. */
export async function certifiedMonths(db: Queryable, projectId: ProjectId): Promise<Month[]> {
  const { rows } = await db.query<Month>(
    'select resource, month from sync.certificates where project_id = $1 order by month, resource',
    [projectId],
  );
  return rows;
}

/** The certificate that was entered last. */
export async function newestCertificate(
  db: Queryable,
  { projectId, resource }: Listed,
): Promise<{ month: Day; text: string } | null> {
  const { rows } = await db.query<{ month: Day; text: string }>(
    `select month, certificate::text as text
       from sync.certificates
      where project_id = $1 and resource = $2
      order by certified_at desc, month desc
      limit 1`,
    [projectId, resource],
  );
  return rows[0] ?? null;
}

/** False when there is one for the month already: it stays as it is. */
export async function enterCertificate(
  db: Queryable,
  { projectId, resource }: Listed,
  certificate: HeldCertificate,
): Promise<boolean> {
  const { rows } = await db.query(
    `insert into sync.certificates (project_id, resource, month, certified_at, certificate, digest, leaves_sha256)
     values ($1, $2, $3, $4, $5::jsonb, decode($6, 'hex'), decode($7, 'hex'))
         on conflict do nothing
     returning 1`,
    [
      projectId,
      resource,
      certificate.month,
      certificate.certifiedAt,
      certificate.text,
      certificate.digest,
      certificate.leavesSha256,
    ],
  );
  return rows.length === 1;
}

/** A slice of the month as analytics.coverage shows it, with every reservation. */
export type CoveredSlice = {
  day: Day;
  owner: string;
  state: string;
  proof: string;
  proved_at: string | null;
  walked_at: string | null;
  platform_total: string | null;
  shown_total: string | null;
  unresolved: number;
  rejected: string;
  reservations: string[];
};

export async function coverageOf(
  db: Queryable,
  { projectId, resource }: Listed,
  month: Day,
): Promise<CoveredSlice[]> {
  const { rows } = await db.query<CoveredSlice>(
    `select day, owner, state, proof, proved_at, walked_at, platform_total, shown_total, unresolved, rejected,
            reservations
       from analytics.coverage
      where project_id = $1 and resource = $2
        and day >= $3 and day < ($3::date + interval '1 month')::date
      order by day, owner`,
    [projectId, resource, month],
  );
  return rows;
}

export type DatedFact = { fact: string; value: string; confirmed_at: string; changed_at: string };

/** What was observed of how the platform answers for a resource: what its proofs rest on. */
export async function factsOf(
  db: Queryable,
  { projectId, resource }: Listed,
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

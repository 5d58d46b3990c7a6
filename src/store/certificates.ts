// sync.certificates, and what goes into one besides the records. A certificate is entered once and never changed. One
// statement a function.
import type { Day, ListedResource, ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';
import type { Listed } from './contents.ts';

/** A month by its first day. */
export type Month = { resource: ListedResource; month: Day };

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

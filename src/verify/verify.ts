// Verifying an archive from what it holds alone: of every resource of a project its records, its certificates, and what
// the journal says of them. It writes nothing and asks nobody.
import { causeChain, transient } from '../errors.ts';
import { isListed, resources, type DayRange, type ProjectId, type Resource } from '../model.ts';
import { certificatesOf } from '../store/certificates.ts';
import type { ProjectList } from '../store/read-held.ts';
import type { Db, Queryable, Tx } from '../store/db.ts';
import { projectIds } from '../store/projects.ts';
import { resourceShapes } from '../store/record-tables.ts';
import { withSnapshot } from '../store/snapshot.ts';
import { checkCertificate } from './check-certificate.ts';
import { checkResource, type RecordsChecked, type ResourceChecked } from './check-records.ts';
import { filesOf, type FoundFile } from './certificate-copies.ts';
import type { Finding, Report } from './finding.ts';
import { checkAgainstJournal, checkChains, type ChainsVerified } from './check-journal.ts';

export type Verifying = {
  db: Db;
  projectId: string;
  /** All unless given. */
  resources?: readonly Resource[];
  /** Whole months `[from, to)`; null: everything. Tokens belong to no month: they are left out where one is named. */
  months: DayRange | null;
  certificatesDir: string | null;
  /** Heads of the journal that were kept elsewhere, lower-case hex: each must be one that this archive has passed. */
  heads?: readonly string[];
  signal: AbortSignal;
  onFinding: (finding: Finding) => Promise<void> | void;
  /** While its records are looked at one by one, and then all of them as the journal has them. */
  onProgress: (resource: Resource, sofar: RecordsChecked, at: 'records' | 'journal') => void;
  onVerified?: (list: ListVerified) => void;
};

type CertificateChecked = Awaited<ReturnType<typeof checkCertificate>>;

export type ListVerified = ResourceChecked & {
  project_id: string;
  resource: Resource;
  /** One holds if no finding names its month or a day of it. */
  certificates: (CertificateChecked & { holds: boolean })[];
  findings: number;
};

/**
 * Whether anything at all speaks of these months: a day of the ledger or of the journal, a certificate, a record. Where
 * nothing does there is nothing to verify, which must not be told as if all of it were well.
 */
export async function isAnythingKnown(
  db: Db,
  projects: readonly string[],
  { from, to }: DayRange,
): Promise<boolean> {
  const places = [
    ['sync.slices', 'day'],
    ['sync.journal', 'day'],
    ['sync.certificates', 'month'],
    ['sync.watched_operations', 'created_on'],
    ['archive.orders', 'slice_day'],
    ['archive.nft_classes', 'slice_day'],
  ].map(
    ([table, day]) =>
      `exists (select from ${table} where project_id = any ($1) and ${day} >= $2 and ${day} < $3)`,
  );
  const { rows } = await db.query<{ known: boolean }>(`select ${places.join(' or ')} as known`, [
    projects,
    from,
    to,
  ]);
  return rows[0]?.known === true;
}

/** Where something of a project lies that no list and no journal of another project would miss. */
const held = Object.values(resourceShapes)
  .flatMap(({ table, versions }) => [table, versions])
  .concat('sync.journal', 'sync.slices');

/** Projects of which something is held, and which no line of sync.projects names any more, or ever did. */
export async function unnamedProjects(db: Queryable): Promise<ProjectId[]> {
  const found: ProjectId[] = [];
  const next = held.map(
    (table) => `select min(project_id) as id from ${table} where project_id > $1`,
  );
  // Ends: each step finds a greater name.
  for (let last = ''; ;) {
    const { rows } = await db.query<{ id: ProjectId | null }>(
      `select min(id) as id from (${next.join(' union all ')}) held`,
      [last],
    );
    const id = rows[0]?.id ?? null;
    if (id === null) break;
    found.push((last = id));
  }
  // Asked for last: a project is named before anything of it is held.
  const named = await projectIds(db);
  return found.filter((id) => !named.includes(id));
}

/** Throws transient `aborted` when the signal is, and what the store throws. */
export async function verifyProject(verifying: Verifying): Promise<ListVerified[]> {
  const verified: ListVerified[] = [];
  for (const resource of verifying.resources ?? resources) {
    if (resource === 'tokens' && verifying.months !== null) continue;
    const list = await verifyResource(verifying, resource);
    verifying.onVerified?.(list);
    verified.push(list);
  }
  return verified;
}

/** The journal of a project as a whole. Throws what the store throws. */
export function verifyChains(verifying: Verifying): Promise<ChainsVerified> {
  const { db, projectId, heads = [], onFinding } = verifying;
  return withSnapshot(db, (tx) => checkChains(tx, projectId, heads, onFinding));
}

const namedAtMost = 100_000;

/** What has no day is always told. */
const isWithin = (months: DayRange | null, when: string | null): boolean =>
  months === null ||
  when === null ||
  (when.padEnd(10, '-01') >= months.from && when.padEnd(10, '-01') < months.to);

async function verifyResource(verifying: Verifying, resource: Resource): Promise<ListVerified> {
  const { db, projectId, months, signal, onFinding, onProgress } = verifying;
  let findings = 0;
  const monthsFound = new Set<string>();
  /** Records whose contents were told of: the journal would only say it again. */
  const named = new Set<string>();
  const report: Report = async (finding) => {
    findings += 1;
    if (finding.when !== null) monthsFound.add(finding.when.slice(0, 7));
    const isContent = ['altered', 'missing', 'extra'].includes(finding.kind);
    if (isContent && finding.id !== null && named.size < namedAtMost) named.add(finding.id);
    await onFinding({ project_id: projectId, resource, ...finding });
  };
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const compareJournal = (onTold: Report): Promise<void> =>
    withSnapshot(db, (tx) => checkAgainstJournal(until(ends, tx), projectId, resource, onTold));
  let agrees = Promise.resolve(false);
  try {
    const held = await withSnapshot(db, async (tx) => {
      // On a second connection while this process reads records; where there is none, after them. What it has to tell
      // is told after them as well: it is compared once more then, and so it is where that failed.
      agrees = compareJournal(() => {
        throw new Error('the journal has something to tell');
      }).then(
        () => true,
        () => false,
      );
      const checked = await checkResource(tx, projectId, resource, months, report, (sofar) => {
        goOnUnless(signal);
        onProgress(resource, sofar, 'records');
      });
      // What has no list has no certificates: there is nothing that its completeness could be counted by.
      const certificates = isListed(resource)
        ? await checkCertificates(tx, { projectId, resource }, verifying, report)
        : [];
      return { ...checked, certificates };
    });
    onProgress(resource, held, 'journal');
    // Outside of the snapshot: the server ends a transaction that waits for long.
    if (!(await agrees)) {
      await compareJournal((finding) =>
        named.has(finding.id ?? '') || !isWithin(months, finding.when)
          ? undefined
          : report(finding),
      );
    }
    const certificates = held.certificates.map((one) => ({
      ...one,
      holds: !monthsFound.has(one.month),
    }));
    return { project_id: projectId, resource, ...held, certificates, findings };
  } finally {
    // Where this failed, too, no statement is under way afterwards.
    over.abort();
    await agrees;
  }
}

/** The transaction until the signal is aborted: no further statement of it is begun then. */
const until = (signal: AbortSignal, tx: Tx): Tx => ({
  ...tx,
  query: (sql, parameters) => {
    goOnUnless(signal);
    return tx.query(sql, parameters);
  },
});

async function checkCertificates(
  tx: Tx,
  of: ProjectList,
  { months, certificatesDir: folder, signal }: Verifying,
  report: Report,
): Promise<CertificateChecked[]> {
  const held = await certificatesOf(tx, of);
  const certificates: CertificateChecked[] = [];
  for (const one of held) {
    if (!isWithin(months, one.month)) continue;
    goOnUnless(signal);
    certificates.push(await checkCertificate({ tx, of, held: one, all: held, folder, report }));
  }
  const told = async (error: unknown): Promise<FoundFile[]> => {
    const says = `the folder of the certificates cannot be read: ${causeChain(error)}`;
    await report({ kind: 'file', when: null, id: null, says });
    return [];
  };
  const files = folder === null ? [] : await filesOf(folder, of.projectId).catch(told);
  for (const file of files) {
    const isHeld = held.some(({ month, issue }) => month === file.month && issue === file.issue);
    if (file.resource !== of.resource || isHeld || !isWithin(months, file.month)) continue;
    const says = `${file.name} is there, and the database does not hold that certificate`;
    await report({ kind: 'file', when: file.month.slice(0, 7), id: null, says });
  }
  return certificates;
}

function goOnUnless(signal: AbortSignal): void {
  if (signal.aborted) throw transient('aborted', 'Stopped: not everything was looked at.');
}

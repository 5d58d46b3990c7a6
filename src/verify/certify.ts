// Certifying: a month whose slices are all final or lost gets its certificate, once (docs/design.md, "When a month is
// over"). The row is the certificate; the files are copies of it, and no sync fails for them.
import { windowAt } from '../day.ts';
import type { Day } from '../model.ts';
import { canonicalFile, sha256 } from '../platform/canonical.ts';
import {
  booksOf,
  certificatesOf,
  coverageOf,
  enterCertificate,
  factsOf,
  lastIssued,
  monthsToCertify,
  type CoveredSlice,
  type Gone,
  type HeldCertificate,
  type MonthKey,
} from '../store/certificates.ts';
import type { Tx } from '../store/db.ts';
import type { ProjectList } from '../store/read-held.ts';
import { newestHead } from '../store/journal/heads.ts';
import { withSnapshot } from '../store/snapshot.ts';
import { certificateFormat, type Certificate } from './certificate.ts';
import { createMonthDigest } from './digest.ts';
import {
  lastGivenOut,
  writeOwedFiles,
  type Certifying,
  type FileTrouble,
} from './certificate-copies.ts';
import { leavesInForce } from './leaves.ts';

/**
 * Certified is what had been observed so long ago: whatever was on its way then has been committed by now, or never will
 * be. A page that came in later would otherwise contradict the certificate.
 */
const settledMs = 3_600_000;

/**
 * Certifies the months that are due and makes the files that are missing. Returns what keeps files from being made, if
 * anything does. Throws what the store throws.
 */
export async function certifyMonths(
  certifying: Certifying,
  signal: AbortSignal,
): Promise<FileTrouble | null> {
  const { db, platform, projectId } = certifying;
  if (signal.aborted) return null;
  const { clock } = platform;
  // A certificate is for ever: no clock may contradict that its month is over.
  const earliest = Math.max(0, clock.earliest());
  const at = new Date(earliest - settledMs).toISOString();
  const due = await monthsToCertify(db, projectId, windowAt(earliest).from, at);
  for (const month of due) {
    if (signal.aborted) return null;
    await certifyMonth(certifying, month, at);
  }
  return writeOwedFiles(certifying, clock.now(), signal);
}

async function certifyMonth(
  { db, projectId, certificatesDir, log }: Certifying,
  { resource, month }: MonthKey,
  at: string,
): Promise<void> {
  const of = { projectId, resource };
  const given = await lastGivenOut(certificatesDir, of, month);
  const made = await withSnapshot(db, (tx) => certificateOf(tx, of, month, at, given));
  // A rival may have been first, then and now: then it is the rival's that counts.
  if (made === null) return;
  if (!(await enterCertificate(db, of, made, sha256(canonicalFile(made.text))))) return;
  const fields = { projectId, resource, month: month.slice(0, 7), digest: made.digest };
  if (made.issue === 1) log.info(fields, 'A month is certified');
  else {
    log.error(
      fields,
      'The certificate of a month is no longer held: a new one says so; `outlast verify` tells more',
    );
  }
}

/** What had been observed of a month by then, as a certificate is entered; null where one is held. */
async function certificateOf(
  tx: Tx,
  of: ProjectList,
  month: Day,
  at: string,
  given: Gone | null,
): Promise<HeldCertificate | null> {
  const held = await certificatesOf(tx, of);
  if (held.some((one) => one.month === month)) return null;
  const issued = await lastIssued(tx, of, month);
  // An older backup that was restored knows nothing of the one that was given out since.
  const replaces = (given?.issue ?? 0) > (issued?.issue ?? 0) ? given : issued;
  const byMoment = held.toSorted((a, b) => Date.parse(a.certifiedAt) - Date.parse(b.certifiedAt));
  const previous = byMoment.at(-1) ?? null;
  const coverage = await coverageOf(tx, of, month);
  const daysWith = (isMeant: (slice: CoveredSlice) => boolean): Day[] =>
    [...new Set(coverage.filter(isMeant).map(({ day }) => day))].toSorted();
  const leaves = createMonthDigest(coverage.map(({ day }) => day));
  await leavesInForce(tx, of, month, at, (leaf) => leaves.add(leaf));
  const { days, records, digest, leavesSha256 } = leaves.end();
  const head = await newestHead(tx, of.projectId);
  const issue = (replaces?.issue ?? 0) + 1;
  const certificate: Certificate = {
    format: certificateFormat,
    project: of.projectId,
    resource: of.resource,
    month: month.slice(0, 7),
    certified_at: at,
    records,
    digest,
    leaves_sha256: leavesSha256,
    lost_days: daysWith((slice) => slice.state === 'lost'),
    days_not_held: daysWith((slice) => !slice.is_held),
    days_not_settled: daysWith((slice) => !slice.is_settled),
    books: await booksOf(tx, of, month, at),
    facts: await factsOf(tx, of),
    journal: head && { no: head.no, head: head.head },
    previous: previous && {
      month: previous.month.slice(0, 7),
      sha256: sha256(canonicalFile(previous.text)),
    },
    issue,
    replaces: replaces && { ...replaces, why: 'it is no longer held' },
    days: days.map((one) => ({
      ...one,
      slices: coverage
        .filter(({ day }) => day === one.day)
        .map(({ day: _day, is_held: _isHeld, is_settled: _isSettled, ...slice }) => slice),
    })),
  };
  return { month, issue, certifiedAt: at, digest, leavesSha256, text: JSON.stringify(certificate) };
}

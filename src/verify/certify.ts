// Certifying: a month whose slices are all final or lost gets its certificate, once (docs/design.md, "When a month is
// over"). The row is the certificate; the files are copies of it, and no trouble with them is a trouble of the sync.
import { windowAt } from '../day.ts';
import { sha256 } from '../platform/canonical.ts';
import {
  booksOf,
  coverageOf,
  enterCertificate,
  factsOf,
  lastIssued,
  monthsToCertify,
  newestCertificate,
  type MonthKey,
} from '../store/certificates.ts';
import { newestHead } from '../store/journal/heads.ts';
import { withSnapshot } from '../store/snapshot.ts';
import { bytesOf, certify } from './certificate.ts';
import { createMonthDigest } from './digest.ts';
import { writeOwedFiles, type Certifying, type FileTrouble } from './certificate-files.ts';
import { leavesInForce } from './leaves.ts';

/**
 * Certified is what had been observed so long ago: whatever was on its way then has been committed by now, or never will
 * be. A page that came in later would otherwise belie the certificate.
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
  { db, projectId, log }: Certifying,
  { resource, month }: MonthKey,
  at: string,
): Promise<void> {
  const of = { projectId, resource };
  const held = await withSnapshot(db, async (tx) => {
    const replaces = await lastIssued(tx, of, month);
    // A rival was first.
    if (replaces?.isHeld === true) return null;
    const coverage = await coverageOf(tx, of, month);
    const digest = createMonthDigest(coverage.map(({ day }) => day));
    await leavesInForce(tx, of, month, at, (leaf) => digest.add(leaf));
    const made = certify({
      ...of,
      month,
      certifiedAt: at,
      contents: digest.end(),
      coverage,
      books: await booksOf(tx, of, month, at),
      facts: await factsOf(tx, of),
      head: await newestHead(tx, projectId),
      previous: await newestCertificate(tx, of),
      replaces,
    });
    return { made, replaces };
  });
  // A rival may have been first: then it is the rival's that counts.
  if (held === null) return;
  const { made, replaces } = held;
  if (!(await enterCertificate(db, of, made, sha256(bytesOf(made.text))))) return;
  const fields = { projectId, resource, month: month.slice(0, 7), digest: made.digest };
  if (replaces === null) log.info(fields, 'A month is certified');
  else {
    log.error(
      fields,
      'The certificate of a month is no longer held: a new one says so; `outlast verify` tells more',
    );
  }
}

// Certifying: a month whose slices are all final or lost gets its certificate, once (design: "Digest and certificate").
// The row is the certificate; the files are copies of it, and no trouble with them is a trouble of the sync.
import { windowAt } from '../day.ts';
import {
  coverageOf,
  enterCertificate,
  factsOf,
  newestCertificate,
  type Month,
} from '../store/certificates.ts';
import { monthsToCertify } from '../store/months-over.ts';
import { withSnapshot } from '../store/snapshot.ts';
import { certify } from './certificate.ts';
import { createMonthDigest } from './digest.ts';
import { leavesInForce } from './in-force.ts';
import { writeOwedFiles, type Certifying } from './owed.ts';

/**
 * Certified is what had been observed so long ago: whatever was on its way then has been committed by now, or its slice
 * has gone to another (P8). A page that came in later would otherwise belie the certificate.
 */
const settledMs = 3_600_000;

/** Certifies the months that are due and makes the files that are missing. Throws what the store throws. */
export async function certifyMonths(certifying: Certifying, signal: AbortSignal): Promise<void> {
  const { db, platform, projectId, leaseMs } = certifying;
  if (signal.aborted) return;
  const { clock } = platform;
  // A certificate is for ever: no witness of the time may contradict that its month is over.
  const certain = clock.certain();
  const at = new Date(certain - Math.max(settledMs, 2 * leaseMs)).toISOString();
  const due = await monthsToCertify(db, projectId, windowAt(certain).from, at);
  for (const month of due) {
    if (signal.aborted) return;
    await certifyMonth(certifying, month, at);
  }
  await writeOwedFiles(certifying, clock.now(), signal);
}

async function certifyMonth(
  { db, projectId, log }: Certifying,
  { resource, month }: Month,
  at: string,
): Promise<void> {
  const of = { projectId, resource };
  const made = await withSnapshot(db, async (tx) => {
    const coverage = await coverageOf(tx, of, month);
    const digest = createMonthDigest(coverage.map(({ day }) => day));
    const { moved } = await leavesInForce(tx, of, month, at, (leaf) => digest.add(leaf));
    // It stands between two days until that change is old enough: the next run is the next try.
    if (moved > 0) return null;
    return certify({
      ...of,
      month,
      certifiedAt: at,
      contents: digest.end(),
      coverage,
      facts: await factsOf(tx, of),
      previous: await newestCertificate(tx, of),
    });
  });
  // A rival may have been first: then it is the rival's that counts.
  if (made === null || !(await enterCertificate(db, of, made))) return;
  log.info(
    { projectId, resource, month: month.slice(0, 7), digest: made.digest },
    'A month is certified',
  );
}

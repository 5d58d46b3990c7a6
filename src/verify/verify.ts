// Verifying an archive from what it holds alone: every list of a project on one snapshot, its records first, then its
// certificates. It writes nothing and asks nobody.
import { causeChain, transient } from '../errors.ts';
import { listedResources, type Day, type DayRange, type ListedResource } from '../model.ts';
import { certificatesOf } from '../store/certificates.ts';
import type { Db } from '../store/db.ts';
import { withSnapshot } from '../store/snapshot.ts';
import { checkCertificate, type CertificateChecked } from './check-certificate.ts';
import { filesOf, type FoundFile } from './files.ts';
import type { Finding, Report } from './finding.ts';
import { checkRecords, type RecordsChecked } from './records.ts';

export type Verifying = {
  db: Db;
  projectId: string;
  /** Whole months `[from, to)`; null: everything. */
  months: DayRange | null;
  certificatesDir: string | null;
  signal: AbortSignal;
  onFinding: (finding: Finding) => Promise<void> | void;
  onProgress: (resource: ListedResource, sofar: RecordsChecked) => void;
};

export type ListVerified = RecordsChecked & {
  project: string;
  resource: ListedResource;
  certificates: CertificateChecked[];
  findings: number;
};

/** Throws transient `aborted` when the signal is, and what the store throws. */
export async function verifyProject(verifying: Verifying): Promise<ListVerified[]> {
  const verified: ListVerified[] = [];
  for (const resource of listedResources) verified.push(await verifyList(verifying, resource));
  return verified;
}

async function verifyList(verifying: Verifying, resource: ListedResource): Promise<ListVerified> {
  const { db, projectId, months, certificatesDir: folder, signal } = verifying;
  const { onFinding, onProgress } = verifying;
  const of = { projectId, resource };
  let findings = 0;
  const report: Report = async (finding) => {
    findings += 1;
    await onFinding({ project: projectId, resource, ...finding });
  };
  const isWanted = (month: Day): boolean =>
    months === null || (month >= months.from && month < months.to);
  return withSnapshot(db, async (tx) => {
    const checked = await checkRecords(tx, of, months, report, (sofar) => {
      goOnUnless(signal);
      onProgress(resource, sofar);
    });
    const held = await certificatesOf(tx, of);
    const all = new Map(held.map((one) => [one.month, one]));
    const certificates: CertificateChecked[] = [];
    for (const one of held) {
      if (!isWanted(one.month)) continue;
      goOnUnless(signal);
      certificates.push(await checkCertificate({ tx, of, held: one, all, folder, report }));
    }
    for (const file of await filesIn(folder, projectId, report)) {
      if (file.resource !== resource || all.has(file.month) || !isWanted(file.month)) continue;
      const says = `${file.name} is there, and the database has no certificate of that month`;
      await report({ kind: 'file', when: file.month.slice(0, 7), id: null, says });
    }
    return { project: projectId, resource, ...checked, certificates, findings };
  });
}

function goOnUnless(signal: AbortSignal): void {
  if (signal.aborted) throw transient('aborted', 'Stopped: not everything was looked at.');
}

async function filesIn(
  folder: string | null,
  projectId: string,
  report: Report,
): Promise<FoundFile[]> {
  if (folder === null) return [];
  try {
    return await filesOf(folder, projectId);
  } catch (error) {
    const says = `the folder of the certificates cannot be read: ${causeChain(error)}`;
    await report({ kind: 'file', when: null, id: null, says });
    return [];
  }
}

// Everything held of one resource, from what it says of itself and what should be there: what verifying needs neither a
// certificate nor the platform for. A list should hold every record that a committed page showed, and each reject its
// bytes.
import { isListed, type ProjectId, type Resource } from '../model.ts';
import {
  readRejects,
  readShownUnheld,
  type Listed,
  type Narrowed,
} from '../store/held-for-proof.ts';
import type { Tx } from '../store/db.ts';
import { archivedOf, type Archived } from '../store/tables.ts';
import { checkRecords, type RecordsChecked } from './check-records.ts';
import type { Report } from './finding.ts';
import { checkCertificateFiles, checkOperations, checkTokens } from './operations-and-tokens.ts';

/** `files` are certificate files. */
export type ResourceChecked = RecordsChecked & { rejects: number; files: number };

/** `onPage` is told how far it is. */
export async function checkResource(
  tx: Tx,
  projectId: ProjectId,
  resource: Resource,
  days: Narrowed,
  report: Report,
  onPage: (sofar: RecordsChecked) => void,
): Promise<ResourceChecked> {
  let checked: RecordsChecked = { records: 0, versions: 0 };
  for (const of of archivedOf(projectId, resource)) {
    const before = checked;
    const found = await checkRecords(tx, of, days, reportOf(of, report), (sofar) =>
      onPage(sum(before, sofar)),
    );
    checked = sum(before, found);
  }
  if (isListed(resource)) await checkShown(tx, { projectId, resource }, days, report);
  if (resource === 'tokens') await checkTokens(tx, projectId, report);
  if (resource === 'transactions') {
    await checkOperations(tx, projectId, days, report);
    const files = await checkCertificateFiles(tx, projectId, days, report);
    return { ...checked, rejects: 0, files };
  }
  const rejects = await checkRejects(tx, { projectId, resource }, days, report);
  return { ...checked, rejects, files: 0 };
}

const sum = (a: RecordsChecked, b: RecordsChecked): RecordsChecked => ({
  records: a.records + b.records,
  versions: a.versions + b.versions,
});

/** An operation may have two results: what is said is said of one of them. */
const reportOf = (of: Archived, report: Report): Report =>
  of.resource === 'transactions'
    ? (finding) => report({ ...finding, says: `by ${of.apiVersion}: ${finding.says}` })
    : report;

/** P1: the ledger never claims a row that is not held. */
export async function checkShown(
  tx: Tx,
  of: Listed,
  days: Narrowed,
  report: Report,
): Promise<void> {
  await readShownUnheld(tx, of, days, async (unheld) => {
    for (const { day, id } of unheld) {
      const says = 'a committed page showed it, and no row holds it';
      await report({ kind: 'missing', when: day, id, says });
    }
  });
}

/** Returns how many rejects there are. */
export async function checkRejects(
  tx: Tx,
  of: { projectId: ProjectId; resource: Resource },
  days: Narrowed,
  report: Report,
): Promise<number> {
  let checked = 0;
  await readRejects(tx, of, days, async (rejects) => {
    for (const { day, sha256, is_altered: isAltered } of rejects) {
      checked += 1;
      if (!isAltered) continue;
      const says = `the bytes of reject ${sha256} have another digest`;
      await report({ kind: 'altered', when: day, id: null, says });
    }
  });
  return checked;
}

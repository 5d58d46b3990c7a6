// Everything held of one resource against itself: what verifying needs neither a certificate nor the platform for. That
// nothing is gone and nothing was added the journal says (check-journal.ts).
import type { ProjectId, Resource } from '../model.ts';
import { readRejects, type Narrowed } from '../store/held-for-proof.ts';
import {
  readFiles,
  readFilesUnheld,
  readUnaskedResults,
  type HeldFile,
} from '../store/operations/contents.ts';
import type { Tx } from '../store/db.ts';
import { archivedOf, type Archived } from '../store/tables.ts';
import { checkRecords, type RecordsChecked } from './check-records.ts';
import type { Report } from './finding.ts';

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
  if (resource === 'transactions') {
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

/** The files, and that everything held of an operation is of one that somebody gave. Returns how many files there are. */
async function checkCertificateFiles(
  tx: Tx,
  projectId: ProjectId,
  days: Narrowed,
  report: Report,
): Promise<number> {
  const tell =
    (kind: 'missing' | 'extra', says: string) =>
    async (ids: { id: string }[]): Promise<void> => {
      for (const { id } of ids) await report({ kind, when: null, id, says });
    };
  const unasked = 'something is held of an operation that nobody gave';
  await readUnaskedResults(tx, projectId, days, tell('extra', unasked));
  let checked = 0;
  await readFiles(tx, projectId, days, async (files) => {
    checked += files.length;
    for (const file of files) {
      const says = [...whatIsWrong(file)].join('; ');
      if (says !== '') await report({ kind: 'altered', when: null, id: file.id, says });
    }
  });
  const unheld = 'its certificate file was kept, and is no longer held';
  await readFilesUnheld(tx, projectId, days, tell('missing', unheld));
  return checked;
}

function* whatIsWrong(file: HeldFile): Generator<string> {
  if (file.is_altered) yield 'the bytes of its certificate file have another digest';
  if (file.is_other) yield 'its certificate file is not the one that was kept';
  if (file.is_unnamed) yield 'no result held names the link of its certificate file';
}

// Everything held of one resource against itself: is raw_sha256 that of the record held, and does every typed column
// follow from it? Are rejects and files what their digests say? It needs neither a certificate nor the platform; that
// nothing is gone and nothing was added the journal says (check-journal.ts).
import type { ColumnValue, ParsedRecord, ProjectId, Resource } from '../model.ts';
import {
  readFiles,
  readFilesUnheld,
  readRejects,
  readRows,
  readUnaskedResults,
  readVersions,
  type HeldContent,
  type HeldFile,
  type HeldTyped,
  type Narrowed,
} from '../store/read-held.ts';
import type { Tx } from '../store/db.ts';
import {
  archivedOf,
  derivedColumns,
  shapeOf,
  type Archived,
  type TableShape,
} from '../store/record-tables.ts';
import type { Report } from './finding.ts';
import { isSameColumn, isSameJson, readAgain } from './read-again.ts';

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

export type RecordsChecked = { records: number; versions: number };

/** `onPage` is told how far it is. */
export async function checkRecords(
  tx: Tx,
  of: Archived,
  days: Narrowed,
  report: Report,
  onPage: (sofar: RecordsChecked) => void,
): Promise<RecordsChecked> {
  const shape = shapeOf(of);
  const checked: RecordsChecked = { records: 0, versions: 0 };
  await readRows(tx, of, days, async (rows) => {
    for (const row of rows) {
      const when = row.slice_day ?? null;
      const wrong = wrongWith(of, row, derivedColumns(shape), when);
      if (wrong !== null) await report({ ...wrong, when, id: row.id });
    }
    checked.records += rows.length;
    onPage(checked);
  });
  await readVersions(tx, of, days, async (versions) => {
    for (const version of versions) {
      const when = version.slice_day ?? null;
      const wrong = wrongWith(of, version, derivedColumns(shape), when);
      if (wrong === null) continue;
      const says = `the version observed at ${version.observed_at}: ${wrong.says}`;
      await report({ ...wrong, when, id: version.id, says });
    }
    checked.versions += versions.length;
    onPage(checked);
  });
  return checked;
}

/** What is wrong with a content, or else with what was read of it; null where nothing is. */
function wrongWith(
  of: Archived,
  held: HeldTyped,
  columns: TableShape['columns'],
  day: string | null,
): { kind: 'altered' | 'column'; says: string } | null {
  const record = readAgain(of.resource, held, day ?? '');
  const altered = contentWrong(of, held, record);
  // What the columns say beside it would only be the same finding again.
  if (altered !== null || record === null) return { kind: 'altered', says: altered ?? noRecord };
  const says = columnsWrong(columns, held, record).join('; ');
  return says === '' ? null : { kind: 'column', says };
}

function columnsWrong(
  columns: TableShape['columns'],
  typed: HeldTyped,
  record: ParsedRecord,
): string[] {
  const wrong: string[] = [];
  for (const [name, type] of columns) {
    const held = (typed[name] ?? null) as ColumnValue;
    const follows = record.columns[name] ?? null;
    if (!isSameColumn(type, held, follows)) {
      wrong.push(`${name} is ${shown(held)} and the record says ${shown(follows)}`);
    }
  }
  const [held, follows] = [typed.unread.join(), record.unread.join()];
  if (held !== follows)
    wrong.push(`unread is ${shown(held)} and the record says ${shown(follows)}`);
  return wrong;
}

const noRecord = 'what is held is no record any more';

/** Why a content is not what was archived under this id; null if it is. */
function contentWrong(of: Archived, held: HeldContent, record: ParsedRecord | null): string | null {
  if (record === null) return noRecord;
  if (record.rawSha256 !== held.sha256) {
    return `raw_sha256 is ${held.sha256}, and that of the record held is ${record.rawSha256}`;
  }
  if (record.id !== held.id) {
    return `${shapeOf(of).key} is not the one in the record, ${shown(record.id)}`;
  }
  if (held.raw_bytes === null) {
    // What jsonb holds needs no bytes beside it.
    return record.rawBytes === null ? null : noRecord;
  }
  if (record.rawBytes === null) return 'raw_bytes is set although raw can hold the record';
  return isSameJson(record.rawJson, held.raw) ? null : 'raw does not follow from raw_bytes';
}

/** A value in a sentence: in quotes, and no more of it than says which one it is. */
function shown(value: ColumnValue): string {
  if (value === null) return 'not set';
  const text = String(value);
  return `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`;
}

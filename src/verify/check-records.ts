// Everything held of one resource against itself: is raw_sha256 that of the record held, and does every typed column
// follow from it? Are rejects and files what their digests say? It needs neither a certificate nor the platform; that
// nothing is gone and nothing was added the journal says (check-journal.ts).
import type { ColumnValue, ParsedRecord, ProjectId, Resource } from '../model.ts';
import {
  daysParameters,
  readContents,
  within,
  type HeldContent,
  type HeldTyped,
  type Narrowed,
} from '../store/read-held.ts';
import { onlyRow, type Tx } from '../store/db.ts';
import {
  archivedOf,
  derivedColumns,
  shapeOf,
  type Archived,
  type TableShape,
} from '../store/record-tables.ts';
import { reportRows, type Report } from './finding.ts';
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
  const checked: ResourceChecked = { records: 0, versions: 0, rejects: 0, files: 0 };
  for (const of of archivedOf(projectId, resource)) {
    await checkRecords(tx, of, days, reportOf(of, report), checked, () => onPage(checked));
  }
  if (resource === 'transactions') {
    checked.files = await checkCertificateFiles(tx, projectId, days, report);
  } else {
    checked.rejects = await checkRejects(tx, { projectId, resource }, days, report);
  }
  return checked;
}

/** An operation may have two results: what is said is said of one of them. */
const reportOf = (of: Archived, report: Report): Report =>
  of.resource === 'transactions'
    ? (finding) => report({ ...finding, says: `by ${of.apiVersion}: ${finding.says}` })
    : report;

/** Returns how many rejects there are. */
export async function checkRejects(
  tx: Tx,
  { projectId, resource }: { projectId: ProjectId; resource: Resource },
  days: Narrowed,
  report: Report,
): Promise<number> {
  const parameters = [projectId, ...daysParameters(days), resource];
  const ofDays = `sync.rejects where project_id = $1 and resource = $4 and ${within('day')}`;
  // The digest of a long one is that of all of it, of which a part is held.
  const altered = `
    select 'altered' as kind, day as when, format('the bytes of reject %s have another digest', encode(sha256, 'hex')) as says
      from ${ofDays}
       and case when whole_length is null then sha256(bytes) <> sha256 else octet_length(bytes) >= whole_length end`;
  await reportRows(tx, altered, parameters, report);
  return countOf(tx, ofDays, parameters);
}

async function countOf(tx: Tx, what: string, parameters: unknown[]): Promise<number> {
  const counted = await tx.query<{ n: number }>(
    `select count(*)::int as n from ${what}`,
    parameters,
  );
  return onlyRow(counted).n;
}

const utcDay = (column: string): string => `(${column} at time zone 'UTC')::date`;

/** Operations first seen in these days of which a result or a file is held, and which nobody ever gave. */
const unasked = `
  select 'extra' as kind, null as when, operation_id as id, 'something is held of an operation that nobody gave' as says
    from (select operation_id from archive.transactions
           where project_id = $1 and ${within(utcDay('first_seen_at'))}
          union
          select operation_id from archive.certificate_files
           where project_id = $1 and ${within(utcDay('fetched_at'))}) t
   where not exists (select from sync.watched_operations w where w.project_id = $1 and w.operation_id = t.operation_id)
   order by operation_id`;

const filesOfDays = `archive.certificate_files f where f.project_id = $1 and ${within(utcDay('f.fetched_at'))}`;

const names = (table: string): string =>
  `exists (select from ${table} r where r.project_id = $1 and r.operation_id = f.operation_id
                                    and r.raw #>> '{record,certificate_url}' = f.url)`;

/** Certificate files fetched in these days that are not what was kept, or that no result held leads to. */
const otherFiles = `
  select * from (
    select 'altered' as kind, null as when, operation_id as id, concat_ws('; ',
             case when sha256(bytes) <> sha256 then 'the bytes of its certificate file have another digest' end,
             case when exists (select from sync.watched_operations w
                                where w.project_id = $1 and w.operation_id = f.operation_id and w.file_sha256 <> f.sha256)
                  then 'its certificate file is not the one that was kept' end,
             case when not ${names('archive.transactions')} and not ${names('archive.transaction_versions')}
                  then 'no result held names the link of its certificate file' end) as says
      from ${filesOfDays}) files
   where says <> ''`;

/** Operations given in these days whose file was kept and is not held any more. */
const unheldFiles = `
  select 'missing' as kind, null as when, operation_id as id, 'its certificate file was kept, and is no longer held' as says
    from sync.watched_operations w
   where project_id = $1 and file_sha256 is not null and ${within(utcDay('added_at'))}
     and not exists (select from archive.certificate_files f where f.project_id = $1 and f.operation_id = w.operation_id)
   order by operation_id`;

/** The files, and that everything held of an operation is of one that somebody gave. Returns how many files there are. */
async function checkCertificateFiles(
  tx: Tx,
  projectId: ProjectId,
  days: Narrowed,
  report: Report,
): Promise<number> {
  const parameters = [projectId, ...daysParameters(days)];
  for (const sql of [unasked, otherFiles, unheldFiles]) {
    await reportRows(tx, sql, parameters, report);
  }
  return countOf(tx, filesOfDays, parameters);
}

export type RecordsChecked = { records: number; versions: number };

/** Adds to what was checked. */
export async function checkRecords(
  tx: Tx,
  of: Archived,
  days: Narrowed,
  report: Report,
  checked: RecordsChecked,
  onPage: () => void,
): Promise<void> {
  const columns = derivedColumns(shapeOf(of));
  await readContents(tx, of, days, async (contents) => {
    for (const held of contents) {
      const { slice_day: when, version } = held;
      const wrong = wrongWith(of, held, columns, when);
      if (version === null) checked.records += 1;
      else checked.versions += 1;
      if (wrong === null) continue;
      const whose = version === null ? '' : `the version observed at ${version}: `;
      await report({ ...wrong, when, id: held.id, says: whose + wrong.says });
    }
    onPage();
  });
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

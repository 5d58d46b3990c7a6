// Every row and version against itself: is raw_sha256 that of the record held, and does every typed column follow from it?
// It needs neither a certificate nor the platform, and cannot know of what was deleted without a trace.
import type { ColumnValue, ParsedRecord } from '../model.ts';
import {
  readRows,
  readVersionsUnheld,
  versionsOf,
  type HeldContent,
  type HeldRow,
  type HeldVersion,
  type Narrowed,
} from '../store/contents.ts';
import type { Tx } from '../store/db.ts';
import { derivedColumns, shapeOf, type Archived } from '../store/tables.ts';
import { isSameColumn, isSameJson } from './columns.ts';
import { readAgain } from './content.ts';
import type { Report } from './finding.ts';

export type RecordsChecked = { records: number; versions: number };

/** `onPage` is told how far it is. */
export async function checkRecords(
  tx: Tx,
  of: Archived,
  days: Narrowed,
  report: Report,
  onPage: (sofar: RecordsChecked) => void,
): Promise<RecordsChecked> {
  const checked: RecordsChecked = { records: 0, versions: 0 };
  await readRows(tx, of, days, async (rows) => {
    const dayOf = new Map(rows.map((row) => [row.id, row.slice_day ?? null]));
    for (const row of rows) await checkRow(of, row, report);
    const versions = await versionsOf(tx, of, [...dayOf.keys()], null);
    for (const version of versions) {
      await checkVersion(of, version, dayOf.get(version.id) ?? null, report);
    }
    checked.records += rows.length;
    checked.versions += versions.length;
    onPage(checked);
  });
  if (days === null) {
    await readVersionsUnheld(tx, of, async (unheld) => {
      for (const { id } of unheld) {
        await report({
          kind: 'missing',
          when: null,
          id,
          says: 'an earlier version of it is held, and no row',
        });
      }
    });
  }
  return checked;
}

async function checkRow(of: Archived, row: HeldRow, report: Report): Promise<void> {
  const { id, slice_day: when = null } = row;
  const record = readAgain(of.resource, row, when ?? '');
  const wrong = contentWrong(of, row, record);
  if (wrong !== null || record === null) {
    // What the columns say beside it would only be the same finding again.
    await report({ kind: 'altered', when, id, says: wrong ?? noRecord });
    return;
  }
  const says = [...columnsWrong(of, row, record)].join('; ');
  if (says !== '') await report({ kind: 'column', when, id, says });
}

function* columnsWrong(of: Archived, row: HeldRow, record: ParsedRecord): Generator<string> {
  for (const [name, type] of derivedColumns(shapeOf(of))) {
    const held = (row[name] ?? null) as ColumnValue;
    const follows = record.columns[name] ?? null;
    if (!isSameColumn(type, held, follows)) {
      yield `${name} is ${shown(held)} and the record says ${shown(follows)}`;
    }
  }
  const [held, follows] = [row.unread.join(), record.unread.join()];
  if (held !== follows) yield `unread is ${shown(held)} and the record says ${shown(follows)}`;
}

async function checkVersion(
  of: Archived,
  version: HeldVersion,
  day: string | null,
  report: Report,
): Promise<void> {
  const wrong = contentWrong(of, version, readAgain(of.resource, version, day ?? ''));
  if (wrong === null) return;
  const says = `the version observed at ${version.observed_at}: ${wrong}`;
  await report({ kind: 'altered', when: day, id: version.id, says });
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

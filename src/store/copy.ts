// COPY of records that are all expected to be new: the fastest way into a table, and the easiest on this process,
// for the verbatim record needs no quoting. It knows no conflict: an id that is held ends it with 23505.
import type { ColumnValue, ObservedRecord, ProjectId } from '../model.ts';
import { copyFrom } from './copy-stream.ts';
import type { Tx } from './db.ts';
import type { TableShape } from './tables.ts';

/** Characters handed to the socket at once: far below where V8 and pg would keep buffers of their own for it. */
const pieceLength = 64 * 1024;

/**
 * Copies records, distinct by id, into their table; `now` is what changed_at says. Returns how many. Throws what
 * Postgres throws, 23505 where one is held already: the transaction must then be rolled back.
 */
export function copyRecords(
  tx: Tx,
  shape: TableShape,
  projectId: ProjectId,
  records: ObservedRecord[],
  now: string,
): Promise<number> {
  const names = shape.columns.map(([name]) => name);
  // Nearly always left to their defaults: reading an empty array costs as much as reading a time.
  const rare: Rare = {
    unread: records.some(({ record }) => record.unread.length > 0),
    raw_bytes: records.some(({ record }) => record.rawBytes !== null),
  };
  const columns = [...names, 'raw', 'raw_sha256', 'observed_at', 'first_seen_at', 'changed_at'];
  if (rare.unread) columns.push('unread');
  if (rare.raw_bytes) columns.push('raw_bytes');
  const sql = `copy ${shape.table} (project_id, ${shape.key}, ${columns.join(', ')}) from stdin`;
  return copyFrom(tx, sql, pieces(names, rare, projectId, sorted(records), now));
}

/** Columns that some of the records say anything about. */
type Rare = { unread: boolean; raw_bytes: boolean };

/** In the byte order of the keys, as every statement that locks keys, or overlapping writers deadlock. */
function sorted(records: ObservedRecord[]): ObservedRecord[] {
  // UTF-16 and UTF-8 order differ only where there are surrogates: then the bytes are compared.
  const isPlain = !records.some(({ record }) => /[\ud800-\udfff]/.test(record.id));
  const compare = isPlain
    ? (a: string, b: string): number => (a < b ? -1 : 1)
    : (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
  return records.toSorted((a, b) => compare(a.record.id, b.record.id));
}

/** The rows in COPY's text format, made piece by piece while Postgres reads the ones before. */
function* pieces(
  names: string[],
  rare: Rare,
  projectId: ProjectId,
  records: ObservedRecord[],
  now: string,
): Generator<Buffer> {
  let text = '';
  let at = Number.NaN;
  let atText = '';
  for (const { record, observedAt } of records) {
    // A page's records share their moment.
    if (observedAt !== at) [at, atText] = [observedAt, new Date(observedAt).toISOString()];
    text += `${projectId}\t${field(record.id)}`;
    for (const name of names) text += `\t${field(record.columns[name] ?? null)}`;
    text += `\t${field(record.rawJson)}\t\\\\x${record.rawSha256}\t${atText}\t${atText}\t${now}`;
    if (rare.unread) text += `\t${field(arrayText(record.unread))}`;
    if (rare.raw_bytes) {
      text += `\t${record.rawBytes === null ? '\\N' : `\\\\x${record.rawBytes.toString('hex')}`}`;
    }
    text += '\n';
    if (text.length >= pieceLength) {
      yield Buffer.from(text, 'utf8');
      text = '';
    }
  }
  yield Buffer.from(text, 'utf8');
}

const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Nearly all have nothing to escape; four searches are faster than one expression. */
function field(value: ColumnValue): string {
  if (value === null) return '\\N';
  if (typeof value !== 'string') return String(value);
  const isPlain = !(
    value.includes('\\') ||
    value.includes('\t') ||
    value.includes('\n') ||
    value.includes('\r')
  );
  return isPlain ? value : value.replaceAll(/[\\\t\n\r]/g, (mark) => escapes[mark] ?? mark);
}

const arrayText = (items: string[]): string =>
  `{${items.map((item) => `"${item.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;

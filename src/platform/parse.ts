// One record at the door: from an element of a list to a record ready for its table, or to a reject. Never
// throws for any JSON: what has a usable id is archived, whatever the rest looks like.
import { toUSVString } from 'node:util';
import { isOutlastError } from '../errors.ts';
import type { Day, ParsedRecord, RejectedRecord } from '../model.ts';
import { byteBounds } from './byte-bounds.ts';
import { encodeUtf8 } from './bytes.ts';
import { canonical, jsonbText, sha256, storable } from './canonical.ts';
import { classColumns } from './classes.ts';
import type { Columns } from './fields.ts';
import type { Json, JsonObject } from './json.ts';
import { orderColumns } from './orders.ts';

/** Reads an element of `order_infos`. `text` is the element's verbatim text, `value` what `parseJson` made of it. */
export const readOrder = (
  value: Json,
  text: string,
  askedDay: Day,
): ParsedRecord | RejectedRecord => readRecord(value, text, 'operation_id', askedDay, orderColumns);

/** Reads an element of `classes`. */
export const readClass = (
  value: Json,
  text: string,
  askedDay: Day,
): ParsedRecord | RejectedRecord => readRecord(value, text, 'id', askedDay, classColumns);

export function isReject(read: ParsedRecord | RejectedRecord): read is RejectedRecord {
  return 'reason' in read;
}

function readRecord(
  value: Json,
  text: string,
  idField: string,
  askedDay: Day,
  columnsOf: (record: JsonObject, askedDay: Day) => Columns,
): ParsedRecord | RejectedRecord {
  const long = longReject(text);
  if (long !== null) return long;
  if (value === null || typeof value !== 'object' || value.type !== 'object') {
    return reject(text, 'the element is not an object');
  }
  const id = readId(value.fields.get(idField));
  if ('wrong' in id) return reject(text, `${idField} ${id.wrong}`);
  try {
    return recordOf(id.id, value, text, columnsOf(value, askedDay));
  } catch (error) {
    if (!isOutlastError(error, 'unusable_answer')) throw error;
    return reject(text, error.message);
  }
}

/**
 * A record with a known id: `text` is its verbatim text, `value` what `parseJson` made of it. Throws transient
 * `unusable_answer` where its canonical text would be too long.
 */
export function recordOf(
  id: string,
  value: Json,
  text: string,
  { columns, unread }: Columns,
): ParsedRecord {
  const { text: canonicalText, fits: valueFits } = canonical(value);
  // The text may hold bytes that are no UTF-8 where the value does not show it: next to an escaped surrogate.
  const fits = valueFits && toUSVString(text) === text;
  return {
    id,
    columns,
    rawJson: fits ? text : jsonbText(value),
    rawBytes: fits ? null : encodeUtf8(text), // P5
    rawSha256: sha256(canonicalText),
    unread,
  };
}

/** Keys are at most this long, so that every index entry with one fits a page of Postgres. */
const maxIdBytes = 512;

export function readId(value: Json | undefined): { id: string } | { wrong: string } {
  if (value === undefined || value === null) return { wrong: 'is missing' };
  let id = value;
  if (typeof id === 'object' && id.type === 'number' && /^-?\d+$/.test(id.text)) {
    // What jsonb prints of it, so that `raw` gives the same id again.
    id = id.text === '-0' ? '0' : id.text;
  }
  if (typeof id !== 'string') return { wrong: 'is not text' };
  if (id === '') return { wrong: 'is empty' };
  if (storable(id) !== id) return { wrong: 'holds characters that cannot be stored' };
  if (Buffer.byteLength(id) > maxIdBytes) return { wrong: `is longer than ${maxIdBytes} bytes` };
  return { id: unpinned(id) };
}

/**
 * A copy. A piece of a page's text keeps the whole page in memory for as long as it lives, and ids and page
 * keys outlive their page: a walk remembers them.
 */
export const unpinned = (text: string): string => ` ${text}`.slice(1);

export function reject(text: string, reason: string): RejectedRecord {
  const bytes = encodeUtf8(text);
  return { bytes, sha256: sha256(bytes), reason, wholeLength: null };
}

/** What is kept of a record that is too long; null for any other. */
export function longReject(text: string): RejectedRecord | null {
  // No text has more than three bytes a unit.
  if (3 * text.length <= byteBounds.record) return null;
  const bytes = encodeUtf8(text);
  const { length } = bytes;
  if (length <= byteBounds.record) return null;
  // A copy: a piece of a buffer keeps the whole of it.
  const beginning = Buffer.from(bytes.subarray(0, byteBounds.beginning));
  return {
    bytes: beginning,
    sha256: sha256(bytes),
    reason: `it is ${length} bytes long, more than a record may have: the first ${beginning.length} are kept`,
    wholeLength: length,
  };
}

// One record at the door: from an element of a list to a record ready for its table, with typed columns, or to a reject.
// Never throws for any JSON: what has a usable id is archived, whatever the rest looks like.
//
// Columns are lenient: what cannot be read is NULL and its name goes into `unread`; absent, null and '' are "not set",
// which is no complaint. They are a function of the value alone and the same for what jsonb prints of it, so that they
// can be derived from `raw` again.
import { isOutlastError } from '../errors.ts';
import type { ColumnValue, Day, ListedResource, ParsedRecord, RejectedRecord } from '../model.ts';
import type { ReadColumns } from '../resources.ts';
import { byteBounds } from './bytes.ts';
import {
  canonical,
  canonicalNumber,
  jsonbText,
  plainDecimal,
  sha256,
  storable,
} from './canonical.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import { readTime } from './times.ts';

export function isReject(read: ParsedRecord | RejectedRecord): read is RejectedRecord {
  return 'reason' in read;
}

/**
 * Reads an element of a list: `text` is its verbatim text, `value` what `parseJson` made of it, `askedDay` its
 * `slice_day` where its own time cannot be read.
 */
export function readListed(
  resource: ListedResource,
  value: Json,
  text: string,
  askedDay: Day,
): ParsedRecord | RejectedRecord {
  const { idField, columnsOf } = listed[resource];
  const long = longReject(text);
  if (long !== null) return long;
  if (!isObject(value)) return reject(text, 'the element is not an object');
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
  const { text: canonicalText, fits } = canonical(value);
  return {
    id,
    columns,
    rawJson: fits ? text : jsonbText(value),
    rawBytes: fits ? null : Buffer.from(text), // P5
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

/** What cannot be a record is kept as the bytes it came as. */
export function reject(record: string | Buffer, reason: string): RejectedRecord {
  const bytes = bytesOf(record);
  return longReject(bytes) ?? { bytes, sha256: sha256(bytes), reason, wholeLength: null };
}

const bytesOf = (record: string | Buffer): Buffer =>
  typeof record === 'string' ? Buffer.from(record) : record;

/** What is kept of a record that is too long, text or bytes; null for any other. */
export function longReject(record: string | Buffer): RejectedRecord | null {
  // No text has more than three bytes a unit.
  if (3 * record.length <= byteBounds.record) return null;
  const bytes = bytesOf(record);
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

// Documented as an integer; some clients still model it as text.
const statusWords = new Map([
  ['pending', 1],
  ['success', 2],
  ['failed', 3],
]);

/** Typed columns of an order (docs/platform.md §2.3). */
function orderColumns(order: JsonObject, askedDay: Day): Columns {
  const fields: ReadFields = { of: order.fields, unread: [] };
  const createdAt = timeOf(fields, 'create_time');
  const columns: ReadColumns<'orders'> = {
    status: statusOf(fields),
    message: textOf(fields, 'message'),
    // Orders of a batch purchase show no account, amount or number: absent, null or ''.
    account: indexedTextOf(fields, 'account') || null,
    amount: amountOf(fields, 'amount'),
    number: amountOf(fields, 'number'),
    created_at: createdAt,
    updated_at: timeOf(fields, 'update_time'),
    order_type: integerOf(fields, 'order_type'),
    slice_day: createdAt?.slice(0, 10) ?? askedDay,
  };
  return { columns, unread: fields.unread };
}

function statusOf(fields: ReadFields): number | null {
  const value = fields.of.get('status');
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return statusWords.get(word) ?? integerOf(fields, 'status');
}

/** Typed columns of a class (docs/platform.md §2.6). */
function classColumns(nftClass: JsonObject, askedDay: Day): Columns {
  const fields: ReadFields = { of: nftClass.fields, unread: [] };
  const createdAt = timeOf(fields, 'timestamp');
  const columns: ReadColumns<'nft_classes'> = {
    name: textOf(fields, 'name'),
    symbol: textOf(fields, 'symbol'),
    nft_count: wholeOf(fields, 'nft_count', 9_223_372_036_854_775_807n),
    uri: textOf(fields, 'uri'),
    owner: indexedTextOf(fields, 'owner'),
    tx_hash: indexedTextOf(fields, 'tx_hash'),
    created_at: createdAt,
    slice_day: createdAt?.slice(0, 10) ?? askedDay,
  };
  return { columns, unread: fields.unread };
}

const listed = {
  orders: { idField: 'operation_id', columnsOf: orderColumns },
  nft_classes: { idField: 'id', columnsOf: classColumns },
};

/** Typed columns by name, and the platform's names of the fields that are NULL because they could not be read. */
export type Columns = { columns: Record<string, ColumnValue>; unread: string[] };

/** A record's fields, and the names of those that turned out unreadable. */
export type ReadFields = { of: JsonObject['fields']; unread: string[] };

/** Texts longer than this are not put into an indexed column: a B-tree entry holds about 2,700 bytes. */
const maxIndexedLength = 512;
/** More digits than this are no amount of anything. */
const maxAmountLength = 1000;
const decimalText = /^[+-]?\d+(?:\.\d+)?$/;
const wholeText = /^[+-]?\d+$/;

/** Names a field that cannot be read: its column is NULL. */
export function unread(fields: ReadFields, name: string): null {
  fields.unread.push(name);
  return null;
}

/** Text; a number is taken as its plain decimal. '' stays ''. */
export function textOf(fields: ReadFields, name: string): string | null {
  const value = fields.of.get(name);
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'object' && value.type === 'number') return canonicalNumber(value.text);
  return unread(fields, name);
}

/** Text for an indexed column. */
function indexedTextOf(fields: ReadFields, name: string): string | null {
  const text = textOf(fields, name);
  return text !== null && text.length > maxIndexedLength ? unread(fields, name) : text;
}

/** Decimal text for a numeric column, from a JSON number of any spelling or from plain decimal text. */
export function amountOf(fields: ReadFields, name: string): string | null {
  const value = numberText(fields.of.get(name));
  if (value === null) return null;
  if (value === undefined || value.length > maxAmountLength || !decimalText.test(value)) {
    return unread(fields, name);
  }
  return value;
}

/** A whole number as plain decimal text if it lies within `[-max - 1, max]`. */
export function wholeOf(fields: ReadFields, name: string, max: bigint): string | null {
  const value = numberText(fields.of.get(name));
  if (value === null) return null;
  if (value === undefined || value.length > maxAmountLength || !wholeText.test(value)) {
    return unread(fields, name);
  }
  // Few digits need no exact arithmetic: both limits in use have more.
  if (value.length < 10) return String(Number(value));
  const whole = BigInt(value.startsWith('+') ? value.slice(1) : value);
  return whole > max || whole < -max - 1n ? unread(fields, name) : String(whole);
}

/** A whole number that fits a Postgres integer. */
export function integerOf(fields: ReadFields, name: string): number | null {
  const whole = wholeOf(fields, name, 2_147_483_647n);
  return whole === null ? null : Number(whole);
}

/** RFC 3339 text in UTC. */
export function timeOf(fields: ReadFields, name: string): string | null {
  const value = fields.of.get(name);
  if (value === undefined || value === null || value === '') return null;
  return readTime(value) ?? unread(fields, name);
}

/** The text of a number given as number or text: null where none is set, undefined where it is neither. */
function numberText(value: Json | undefined): string | null | undefined {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (typeof value === 'boolean' || value.type !== 'number') return undefined;
  return plainDecimal(value.text) ?? undefined;
}

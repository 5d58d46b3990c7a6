// A page of a list, read leniently at the door (docs/platform.md §2.4, §2.6): unknown bytes in, `PlatformPage` out; and
// the envelope that every answer comes in. What is no such answer is a passing fault, thrown for the retry loop, and
// never "no data".
import { isUtf8 } from 'node:buffer';
import { dayOf } from '../day.ts';
import { transient } from '../errors.ts';
import type {
  Day,
  Instant,
  ListedResource,
  PlatformPage,
  ParsedRecord,
  RejectedRecord,
} from '../model.ts';
import { byteBounds, decodeUtf8 } from './bytes.ts';
import { canonicalNumber, storable } from './canonical.ts';
import {
  isObject,
  maxRecordDepth,
  parseJson,
  type Json,
  type JsonArray,
  type JsonObject,
} from './json.ts';
import { isReject, longReject, readListed, reject, unpinned } from './parse.ts';

/** A list's elements have an array, `data` and the envelope around them; a record nests on from there. */
const recordDepthInPage = 3;

const listFields = { orders: 'order_infos', nft_classes: 'classes' };

/**
 * Reads an answer of `/v3/orders` or `/v1beta1/nft/classes`. `askedDay` is the day that was asked for, where it was one.
 * Throws transient `unreadable_page` if the body is no such page, `unusable_answer` if it is one that it would be of no
 * use to ask for again, and `too_long` if a smaller page may be of use.
 */
export function readPage(
  resource: ListedResource,
  body: Buffer,
  askedAt: Instant,
  askedDay: Day = dayOf(askedAt),
): PlatformPage {
  const isText = isUtf8(body);
  // All that JSON is built of is ASCII: read as Latin-1, what is no UTF-8 shows none the less where its records stand.
  const text = body.toString(isText ? 'utf8' : 'latin1');
  const data = envelopeOf(text, recordDepthInPage + maxRecordDepth).get('data');
  if (!isObject(data)) throw unreadable('it has no data object');
  const list = listOf(data, listFields[resource]);
  const records: ParsedRecord[] = [];
  const rejects: RejectedRecord[] = [];
  let first: string | null = null;
  let last: string | null = null;
  for (const [i, value] of list.items.entries()) {
    const element = text.slice(list.spans[2 * i], list.spans[2 * i + 1]);
    const result = isText
      ? readListed(resource, value, element, askedDay)
      : readBytes(resource, Buffer.from(element, 'latin1'), askedDay);
    if (isReject(result)) rejects.push(result);
    else records.push(result);
    last = isReject(result) ? result.sha256 : result.id;
    first ??= last;
  }
  const shown = list.items.length;
  const total = totalOf(data.fields.get('total_count'));
  return {
    resource,
    records,
    rejects,
    shown,
    // A total of 0 beside records says that totals are not given, not that there are none.
    total: total === 0 && shown > 0 ? null : total,
    first,
    last,
    nextKey: resource === 'orders' ? nextKeyOf(data.fields.get('next_page_key')) : null,
    askedAt,
    bytes: body.length,
  };
}

/** A record of a page that is no UTF-8; it may be some itself. */
function readBytes(
  resource: ListedResource,
  bytes: Buffer,
  askedDay: Day,
): ParsedRecord | RejectedRecord {
  const text = decodeUtf8(bytes);
  if (text === '') return reject(bytes, 'it is not UTF-8');
  return readListed(resource, parseJson(text), text, askedDay);
}

/** What came is no answer: a passing fault. */
export const unreadable = (what: string, cause?: unknown): Error =>
  transient('unreadable_page', `the answer cannot be read: ${what}`, cause);

/** Throws transient `unreadable_page`, and `too_long` where there are too many values. */
export function parsedAnswer(text: string, maxDepth: number): Json {
  try {
    return parseJson(text, maxDepth);
  } catch (error) {
    if (error instanceof RangeError) throw transient('too_long', `an answer of ${error.message}`);
    throw unreadable('its body is not JSON', error);
  }
}

/** The members of an answer that is not an error. */
function envelopeOf(text: string, maxDepth: number): JsonObject['fields'] {
  const envelope = parsedAnswer(text, maxDepth);
  if (!isObject(envelope)) throw unreadable('its JSON is not an object');
  const error = envelope.fields.get('error');
  if (error !== undefined && error !== null) throw unreadable('it is an error envelope');
  return envelope.fields;
}

/** The members of an answer; arrays and objects among them are not taken apart, so that their text is at hand. */
export type Envelope = JsonObject['fields'];

export const membersOf = (body: Buffer): Envelope => envelopeOf(decodeUtf8(body), 1);

/** The verbatim text of a member that is an object. */
export function objectIn(envelope: Envelope, name: string): string {
  const member = envelope.get(name);
  const text = typeof member === 'object' && member?.type === 'deep' ? member.text : '[]';
  if (longReject(text) !== null) {
    throw transient('unusable_answer', `its ${name} is longer than a record may be`);
  }
  if (!isObject(parsedAnswer(text, maxRecordDepth))) throw unreadable(`it has no ${name} object`);
  return text;
}

function listOf(data: JsonObject, field: string): JsonArray {
  const list = data.fields.get(field);
  if (list === undefined || list === null) return { type: 'array', items: [], spans: [] };
  if (typeof list !== 'object' || list.type !== 'array') throw unreadable(`${field} is not a list`);
  return list;
}

/**
 * A count given as number or text; null where it is absent, null, negative or anything else. One too great to be true
 * is the greatest there can be: taken for absent, it would not be disagreed with.
 */
function totalOf(value: Json | undefined): number | null {
  const text = tokenOf(value);
  return text !== null && /^\d+$/.test(text)
    ? Math.min(Number(text), Number.MAX_SAFE_INTEGER)
    : null;
}

/** The key of the next page. Absent, null, '' and 0, which is another '', all say that there is none. */
function nextKeyOf(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  const key = tokenOf(value);
  if (key === '' || (key === '0' && typeof value !== 'string')) return null;
  // Taken for "no next page" it would end the walk early.
  if (key === null) throw unreadable('next_page_key is not text');
  if (key.length > byteBounds.string) {
    throw transient('unusable_answer', 'its next_page_key is too long to be sent');
  }
  // What cannot be stored cannot be sent back as it came: the platform refuses what is sent in its place.
  return unpinned(storable(key));
}

function tokenOf(value: Json | undefined): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || value.type !== 'number') return null;
  return canonicalNumber(value.text);
}

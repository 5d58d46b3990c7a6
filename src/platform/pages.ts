// A page of a list, read leniently at the door (docs/platform.md §2.4, §2.6): unknown bytes in, `PlatformPage` out.
// What is no page at all is a passing fault, thrown for the retry loop; it is never "no data".
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
import { byteBounds } from './byte-bounds.ts';
import { decodeUtf8 } from './bytes.ts';
import { storable } from './canonical.ts';
import {
  isObject,
  maxRecordDepth,
  parseJson,
  type Json,
  type JsonArray,
  type JsonObject,
} from './json.ts';
import { canonicalNumber } from './numbers.ts';
import { isReject, readClass, readOrder, unpinned } from './parse.ts';

/** A list's elements have an array, `data` and the envelope around them; a record nests on from there. */
const recordDepthInPage = 3;

type ReadRecord = (value: Json, text: string, askedDay: Day) => ParsedRecord | RejectedRecord;

/**
 * Reads an answer of `/v3/orders`. `askedDay` is the day that was asked for, where it was one. Throws transient
 * `unreadable_page` if the body is no such page, `unusable_answer` if it is one that it would be of no use to ask for
 * again, and `too_long` if a smaller page may be of use.
 */
export const readOrdersPage = (body: Buffer, askedAt: Instant, askedDay?: Day): PlatformPage =>
  readPage('orders', 'order_infos', readOrder, body, askedAt, askedDay);

/** Reads an answer of `/v1beta1/nft/classes`; as `readOrdersPage`. */
export const readClassesPage = (body: Buffer, askedAt: Instant, askedDay?: Day): PlatformPage =>
  readPage('nft_classes', 'classes', readClass, body, askedAt, askedDay);

function readPage(
  resource: ListedResource,
  listField: string,
  read: ReadRecord,
  body: Buffer,
  askedAt: Instant,
  askedDay: Day = dayOf(askedAt),
): PlatformPage {
  const text = decodeUtf8(body).replace(/^\ufeff/, '');
  const data = dataOf(text);
  const list = listOf(data, listField);
  const records: ParsedRecord[] = [];
  const rejects: RejectedRecord[] = [];
  let first: string | null = null;
  let last: string | null = null;
  for (const [i, value] of list.items.entries()) {
    const result = read(value, text.slice(list.spans[2 * i], list.spans[2 * i + 1]), askedDay);
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
    ...(resource === 'orders' ? keyOf(data.fields.get('next_page_key')) : noKey),
    askedAt,
    bytes: body.length,
  };
}

type NextKey = Pick<PlatformPage, 'nextKey' | 'nextKeyForm'>;

const noKey: NextKey = { nextKey: null, nextKeyForm: null };

const unreadable = (what: string, cause?: unknown): Error =>
  transient('unreadable_page', `the answer is no page: ${what}`, cause);

function parsed(text: string): Json {
  try {
    return parseJson(text, recordDepthInPage + maxRecordDepth);
  } catch (error) {
    if (error instanceof RangeError) throw transient('too_long', `an answer of ${error.message}`);
    throw unreadable('its body is not JSON', error);
  }
}

function dataOf(text: string): JsonObject {
  const envelope = parsed(text);
  if (!isObject(envelope)) throw unreadable('its JSON is not an object');
  const error = envelope.fields.get('error');
  if (error !== undefined && error !== null) throw unreadable('it is an error envelope');
  const data = envelope.fields.get('data');
  if (!isObject(data)) throw unreadable('it has no data object');
  return data;
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

/** A page key. That there is none the platform may say in several ways: absent, null, '' or 0, which is another ''. */
function keyOf(value: Json | undefined): NextKey {
  if (value === undefined) return { nextKey: null, nextKeyForm: 'absent' };
  if (value === null) return { nextKey: null, nextKeyForm: 'null' };
  const key = tokenOf(value);
  if (key === '' || (key === '0' && typeof value !== 'string')) {
    return { nextKey: null, nextKeyForm: 'empty' };
  }
  // Taken for "no next page" it would end the walk early.
  if (key === null) throw unreadable('next_page_key is not text');
  if (key.length > byteBounds.string) {
    throw transient('unusable_answer', 'its next_page_key is too long to be sent');
  }
  // What cannot be stored cannot be sent back as it came: the platform refuses what is sent in its place.
  return { nextKey: unpinned(storable(key)), nextKeyForm: 'key' };
}

function tokenOf(value: Json | undefined): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || value.type !== 'number') return null;
  return canonicalNumber(value.text);
}

// One page of a list (docs/platform.md §4.4, §4.7): which records it shows, and the keys that lead on and back. A value
// until it is written, so that faults can be done to it.
import { createHash } from 'node:crypto';
import type { Instant, ListedResource } from '../model.ts';
import type { QueryParameters } from '../platform/target.ts';
import type { ClassFilter } from './classes.ts';
import type { Dialect } from './dialect.ts';
import {
  placeOf,
  type Entry,
  type ListPlace,
  type RecordList,
  type Selection,
} from './simulated-list.ts';
import { statusWords, type OrderFilter } from './simulated-orders.ts';
import {
  BadQuery,
  choiceIn,
  isAscending,
  limitIn,
  rangeIn,
  wholeIn,
  windowStart,
} from './list-query.ts';

export type PageContext = {
  now: Instant;
  dialect: Dialect;
  keySeed: number;
  /** The request's number, by which keys may age. */
  request: number;
};

/** A record as the platform shows it at this moment: its exact JSON text. */
export type ShownRecord = { id: string; text: string };

export type SimulatedPage = {
  resource: ListedResource;
  rows: ShownRecord[];
  total: number;
  write(rows: readonly ShownRecord[], total: number): string;
};

/** Ranks `[first, end)` in the order shown, of a list that ends at `size`; ranks of the selection run upwards in time. */
type Stretch = {
  selection: Selection;
  ascending: boolean;
  size: number;
  first: number;
  end: number;
};

export function simulatedOrdersPage(
  query: QueryParameters,
  list: RecordList<OrderFilter>,
  context: PageContext,
): SimulatedPage {
  const { dialect } = context;
  const limit = limitIn(query, dialect.maxOrders, dialect);
  const filter = orderFilterIn(query, dialect);
  const isAsked = choiceIn(query, 'count_total', ['0', '1']) === 1;
  const asked = query.get('page_key');
  const key = asked === undefined ? null : keyIn(asked, context);
  const selected = selectIn(query, list, filter, dialect.ordersWindow, context);
  const stretch = { ...selected, ...ranksAt(key, selected, limit) };
  const head = `${keysText(stretch, asked, context)}"limit":${limit}`;
  const isCounted = isAsked && !(dialect.totals === 'first' && asked !== undefined);
  return pageOf('orders', list, stretch, head, isCounted, context);
}

export function simulatedClassesPage(
  query: QueryParameters,
  list: RecordList<ClassFilter>,
  context: PageContext,
): SimulatedPage {
  const { dialect } = context;
  const limit = limitIn(query, dialect.maxClasses, dialect);
  const first = wholeIn(query, 'offset', 0, 0);
  const selected = selectIn(query, list, classFilterIn(query), dialect.classesWindow, context);
  const stretch = { ...selected, first, end: first + limit };
  const isCounted = dialect.totals !== 'first' || first === 0;
  const head = `"offset":${first},"limit":${limit}`;
  return pageOf('nft_classes', list, stretch, head, isCounted, context);
}

/** What the dates select of a list, in which order, and where it ends. */
function selectIn<F>(
  query: QueryParameters,
  list: RecordList<F>,
  filter: F | null,
  hasWindow: boolean,
  { now, dialect }: PageContext,
): Pick<Stretch, 'selection' | 'ascending' | 'size'> {
  const earliest = hasWindow ? windowStart(now, dialect) : -Infinity;
  const { from, to } = rangeIn(query, dialect, earliest);
  const selection = list.select(from, to, filter, now);
  const size = cut(selection.total, dialect.listCap);
  return { selection, ascending: isAscending(query, dialect), size };
}

/** `head` is what stands before the total. */
function pageOf<F>(
  resource: ListedResource,
  list: RecordList<F>,
  stretch: Stretch,
  head: string,
  isCounted: boolean,
  context: PageContext,
): SimulatedPage {
  const { now, dialect } = context;
  return {
    resource,
    rows: rowsOf(stretch, list, now),
    total: cut(stretch.selection.total, dialect.totalsCap),
    write: (rows, total) =>
      pageText(resource, isCounted ? head + totalText(total, rows, dialect) : head, rows, context),
  };
}

/** Of so many; a cap of 0 is none. */
const cut = (records: number, cap: number): number => (cap > 0 ? Math.min(records, cap) : records);

function orderFilterIn(query: QueryParameters, dialect: Dialect): OrderFilter | null {
  const { statusFilter, statusUnasked } = dialect;
  const words = statusFilter === 'words' ? statusWords : ['', '1', '2', '3'];
  const status = choiceIn(query, 'status', words);
  if (status === 0) return statusUnasked === 0 ? null : { status: statusUnasked, isNot: true };
  if (statusFilter === 'refused') throw new BadQuery('there is no filter by status');
  if (statusFilter === 'ignored') return null;
  return { status: statusFilter === 'empty' ? 0 : status };
}

function classFilterIn(query: QueryParameters): ClassFilter | null {
  const [id, name] = [query.get('id'), query.get('name')];
  const [owner, txHash] = [query.get('owner'), query.get('tx_hash')];
  const filter = { id, name, owner, txHash };
  return Object.values(filter).every((asked) => asked === undefined) ? null : filter;
}

/** Null: the first page. */
function keyIn(asked: string, context: PageContext): PageKey | 'past the end' | null {
  const { keyLifeRequests, keyExpired } = context.dialect;
  const key = decodeKey(asked, context.keySeed);
  if (key === null) throw new BadQuery('page_key is not valid');
  if (key.kind === 'start' || keyLifeRequests === 0) return key;
  // A key without a number was given before keys aged: nobody can say how old it is, so it counts as expired.
  if (key.request !== null && context.request - key.request <= keyLifeRequests) return key;
  if (keyExpired === 'refuse') throw new BadQuery('page_key has expired');
  return keyExpired === 'empty' ? 'past the end' : null;
}

function ranksAt(
  key: PageKey | 'past the end' | null,
  { selection, ascending }: Pick<Stretch, 'selection' | 'ascending'>,
  limit: number,
): { first: number; end: number } {
  const { total } = selection;
  if (key === 'past the end') return { first: total, end: total };
  // How many are shown before a place, it included or not, in whichever direction.
  const shownBefore = (place: ListPlace, including: boolean): number =>
    ascending ? selection.rankOf(place, including) : total - selection.rankOf(place, !including);
  if (key?.kind === 'prev') {
    const end = shownBefore(key.place, false);
    return { first: Math.max(0, end - limit), end };
  }
  const first = key?.kind === 'next' ? shownBefore(key.place, true) : 0;
  return { first, end: first + limit };
}

const entryAt = ({ selection, ascending }: Stretch, index: number): Entry =>
  selection.at(ascending ? index : selection.total - 1 - index);

function rowsOf<F>(stretch: Stretch, list: RecordList<F>, now: Instant): ShownRecord[] {
  const rows: ShownRecord[] = [];
  for (let i = stretch.first; i < Math.min(stretch.end, stretch.size); i++) {
    const entry = entryAt(stretch, i);
    rows.push({ id: entry.id, text: list.textOf(entry, now) });
  }
  return rows;
}

function keysText(stretch: Stretch, asked: string | undefined, context: PageContext): string {
  const { first, end, size } = stretch;
  const { keySeed, request } = context;
  const { keyLifeRequests, lastKey } = context.dialect;
  const keyText = (key: Omit<PageKey, 'request'>): string =>
    // Keys that do not age are the same whenever they are given.
    encodeKey({ ...key, request: keyLifeRequests > 0 ? request : null }, keySeed);
  const keyAt = (kind: PageKey['kind'], index: number): string =>
    keyText({ kind, place: placeOf(entryAt(stretch, index)) });
  const isEmpty = first >= size;
  const previous = first === 0 || isEmpty ? '' : keyAt('prev', first);
  const next = (): string | null | undefined => {
    if (end < size) return keyAt('next', end - 1);
    if (lastKey === 'repeated') {
      return asked ?? keyText({ kind: 'start', place: { at: 0, seq: 0, id: '' } });
    }
    if (lastKey === 'onward') return isEmpty ? (asked ?? '') : keyAt('next', size - 1);
    if (lastKey === 'null') return null;
    return lastKey === 'absent' ? undefined : '';
  };
  const key = next();
  return `"prev_page_key":"${previous}",${key === undefined ? '' : `"next_page_key":${JSON.stringify(key)},`}`;
}

function totalText(total: number, rows: readonly ShownRecord[], { totals }: Dialect): string {
  if (totals === 'absent') return '';
  const figures = { zero: 0, page: rows.length, present: total, first: total };
  return `,"total_count":${figures[totals]}`;
}

/** The envelope around a list; `head` is what stands before it. */
function pageText(
  resource: ListedResource,
  head: string,
  rows: readonly ShownRecord[],
  { dialect, now }: PageContext,
): string {
  const { emptyList, unknownFields } = dialect;
  const name = resource === 'orders' ? 'order_infos' : 'classes';
  const texts = rows.map(({ text }) => text).join(',');
  const empty = { array: `,"${name}":[]`, null: `,"${name}":null`, absent: '' };
  const list = rows.length > 0 ? `,"${name}":[${texts}]` : empty[emptyList];
  return `{"data":{${head}${list}}${unknownFields ? `,"server_time":${now},"trace":{"id":"t-0"}` : ''}}`;
}

/**
 * Opaque to a client, and awkward on purpose: base64 with `+`, `/` and `=`, which a careless client breaks. A key says
 * where a page begins, not on which page: what is added or hidden elsewhere does not shift it.
 */
type PageKey = {
  /** `next`: what follows `place`; `prev`: what comes before it; `start`: the first page. */
  kind: 'next' | 'prev' | 'start';
  place: ListPlace;
  /** The number of the request it was given on; null for a key that does not age. */
  request: number | null;
};

const checkBytes = 8;

const encodeKey = (key: PageKey, seed: number): string => sealed(JSON.stringify(key), seed);

/** Null for whatever is no key of this world, a damaged one included. */
function decodeKey(key: string, seed: number): PageKey | null {
  const text = Buffer.from(key, 'base64').subarray(checkBytes).toString('utf8');
  return sealed(text, seed) === key ? (JSON.parse(text) as PageKey) : null;
}

/** With a checksum over text and seed: keys of another world are refused as keys of another platform would be. */
function sealed(text: string, seed: number): string {
  const check = createHash('sha256').update(`${seed} ${text}`).digest().subarray(0, checkBytes);
  return Buffer.concat([check, Buffer.from(text)]).toString('base64');
}

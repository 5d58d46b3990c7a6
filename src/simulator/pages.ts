// The two lists as pages (interface.md §4.4, §4.7): which records, with which keys and totals. A page stays a value
// until it is written, so that faults can be done to it.
import type { Instant, ListedResource } from '../model.ts';
import { type Answer, badRequest } from './answers.ts';
import { encodeList } from './bytes.ts';
import { boundsOf, windowStart } from './bounds.ts';
import type { ClassFilter } from './classes.ts';
import type { Dialect } from './dialect.ts';
import { decodeKey, encodeKey, type PageKey } from './keys.ts';
import type { RecordList, Selection } from './list.ts';
import type { OrderFilter } from './orders.ts';
import { isAscending, type Query, wholeIn } from './query.ts';
import { type Place, placeAt, type Shelf } from './shelf.ts';

export type PageContext = {
  now: Instant;
  dialect: Dialect;
  keySeed: number;
  /** The request's number, by which keys may age. */
  request: number;
};

/** One record on a page: its JSON text, and where it comes from. */
export type Row = { text: string; id(): string };

export type ListPage = {
  resource: ListedResource;
  rows: Row[];
  total: number;
  write(rows: readonly Row[], total: number): Buffer;
};

export const isPage = (value: ListPage | Answer): value is ListPage => 'rows' in value;

/** Ranks `[first, end)` in the order shown; ranks of the selection run upwards in time. */
type Stretch<F> = { selection: Selection<F>; ascending: boolean; first: number; end: number };

export function ordersPage(
  query: Query,
  list: RecordList<OrderFilter>,
  context: PageContext,
): ListPage | Answer {
  const { now, dialect } = context;
  const limit = limitIn(query, dialect.maxOrders, dialect);
  const bounds = boundsOf(query, dialect, windowStart(now, dialect));
  const ascending = isAscending(query);
  const status = query.get('status') ?? '';
  const count = query.get('count_total') ?? '0';
  if (typeof limit === 'string') return badRequest(limit);
  if (typeof bounds === 'string') return badRequest(bounds);
  if (ascending === null) return badRequest('sort_by must be DATE_ASC or DATE_DESC');
  if (!['', '1', '2', '3'].includes(status)) return badRequest('status must be 1, 2 or 3');
  if (count !== '0' && count !== '1') return badRequest('count_total must be 0 or 1');

  const asked = query.get('page_key');
  let key = asked === undefined ? null : decodeKey(asked, context.keySeed);
  if (asked !== undefined && key === null) return badRequest('page_key is not valid');
  const isExpired = key !== null && hasExpired(key, context);
  if (isExpired && dialect.keyExpired === 'refuse') return badRequest('page_key has expired');
  if (isExpired) key = null;

  const filter = status === '' ? null : { status: Number(status) };
  const selection = list.select(bounds.from, bounds.to, filter, now);
  const stretch = stretchOf(selection, ascending, key, limit);
  if (isExpired && dialect.keyExpired === 'empty') stretch.first = stretch.end = selection.total;
  const keys = keysText(stretch, asked, context);
  return {
    resource: 'orders',
    rows: rowsOf(stretch, now),
    total: selection.total,
    write: (rows, total) =>
      encodePage(
        `{"data":{${keys}"limit":${limit}${count === '1' ? totalText(total, dialect.totals) : ''}`,
        'order_infos',
        rows,
        context,
      ),
  };
}

export function classesPage(
  query: Query,
  list: RecordList<ClassFilter>,
  context: PageContext,
): ListPage | Answer {
  const { now, dialect } = context;
  const limit = limitIn(query, dialect.maxClasses, dialect);
  const offset = wholeIn(query, 'offset', 0, 0);
  const earliest = dialect.classesWindow ? windowStart(now, dialect) : -Infinity;
  const bounds = boundsOf(query, dialect, earliest);
  const ascending = isAscending(query);
  if (typeof limit === 'string') return badRequest(limit);
  if (typeof offset === 'string') return badRequest(offset);
  if (typeof bounds === 'string') return badRequest(bounds);
  if (ascending === null) return badRequest('sort_by must be DATE_ASC or DATE_DESC');

  const selection = list.select(bounds.from, bounds.to, classFilter(query), now);
  const first = Math.min(offset, selection.total);
  const end = Math.min(first + limit, selection.total);
  return {
    resource: 'nft_classes',
    rows: rowsOf({ selection, ascending, first, end }, now),
    total: selection.total,
    write: (rows, total) =>
      encodePage(
        `{"data":{"offset":${offset},"limit":${limit}${totalText(total, dialect.classTotals)}`,
        'classes',
        rows,
        context,
      ),
  };
}

function classFilter(query: Query): ClassFilter | null {
  const filter: ClassFilter = {};
  const [id, name] = [query.get('id'), query.get('name')];
  const [owner, txHash] = [query.get('owner'), query.get('tx_hash')];
  if (id !== undefined) filter.id = id;
  if (name !== undefined) filter.name = name;
  if (owner !== undefined) filter.owner = owner;
  if (txHash !== undefined) filter.txHash = txHash;
  return Object.keys(filter).length === 0 ? null : filter;
}

/** The rows a page may carry: as asked (10 by default), up to the greatest limit; a sentence if it is refused. */
function limitIn(query: Query, greatest: number, dialect: Dialect): number | string {
  const limit = wholeIn(query, 'limit', 10, 1);
  if (typeof limit === 'string') return limit;
  if (limit > greatest && dialect.overLimit === 'refuse')
    return `limit must not exceed ${greatest}`;
  const clamped = Math.min(limit, greatest);
  return dialect.shortPages > 0 ? Math.min(clamped, dialect.shortPages) : clamped;
}

/** A key without a date was given before keys aged: nobody can say how old it is, so it counts as expired. */
function hasExpired({ issued, kind }: PageKey, { now, dialect, request }: PageContext): boolean {
  const { keyLifeMs, keyLifeRequests } = dialect;
  if (kind === 'start' || (keyLifeMs === 0 && keyLifeRequests === 0)) return false;
  if (issued === null) return true;
  if (keyLifeMs > 0 && now - issued.at > keyLifeMs) return true;
  return keyLifeRequests > 0 && request - issued.request > keyLifeRequests;
}

function stretchOf<F>(
  selection: Selection<F>,
  ascending: boolean,
  key: PageKey | null,
  limit: number,
): Stretch<F> {
  const { total } = selection;
  // How many are shown before a place, it included or not, in whichever direction.
  const shownBefore = (place: Place, including: boolean): number =>
    ascending ? selection.rankOf(place, including) : total - selection.rankOf(place, !including);
  if (key?.kind === 'prev') {
    const end = shownBefore(key.place, false);
    return { selection, ascending, first: Math.max(0, end - limit), end };
  }
  const first = key?.kind === 'next' ? shownBefore(key.place, true) : 0;
  return { selection, ascending, first, end: Math.min(first + limit, total) };
}

const recordAt = <F>(stretch: Stretch<F>, index: number): { shelf: Shelf<F>; k: number } =>
  stretch.selection.at(stretch.ascending ? index : stretch.selection.total - 1 - index);

function rowsOf<F>(stretch: Stretch<F>, now: Instant): Row[] {
  const rows: Row[] = [];
  for (let i = stretch.first; i < stretch.end; i++) {
    const { shelf, k } = recordAt(stretch, i);
    rows.push({ text: shelf.textAt(k, now), id: () => shelf.idAt(k) });
  }
  return rows;
}

function keysText<F>(stretch: Stretch<F>, asked: string | undefined, context: PageContext): string {
  const { first, end } = stretch;
  const { lastKey, prevKey } = context.dialect;
  const keyAt = (kind: PageKey['kind'], index: number): string => {
    const { shelf, k } = recordAt(stretch, index);
    return keyText(kind, placeAt(shelf, k), context);
  };
  let previous = prevKey === 'never' ? '' : endKeyText('prev_page_key', prevKey);
  if (first > 0 && end > first && prevKey !== 'never') {
    previous = `"prev_page_key":"${keyAt('prev', first)}",`;
  }
  if (end < stretch.selection.total)
    return `${previous}"next_page_key":"${keyAt('next', end - 1)}",`;
  if (lastKey === 'repeated') {
    const again = asked ?? keyText('start', { at: 0, seq: 0, id: '' }, context);
    return `${previous}"next_page_key":"${again}",`;
  }
  if (lastKey === 'onward') {
    const onward = end > first ? keyAt('next', end - 1) : (asked ?? '');
    return `${previous}"next_page_key":"${onward}",`;
  }
  return previous + endKeyText('next_page_key', lastKey);
}

function keyText(kind: PageKey['kind'], place: Place, context: PageContext): string {
  const { now, dialect, keySeed, request } = context;
  // Keys that do not age are the same whenever they are given.
  const isAging = dialect.keyLifeMs > 0 || dialect.keyLifeRequests > 0;
  return encodeKey({ kind, place, issued: isAging ? { at: now, request } : null }, keySeed);
}

/** A key where there is no further page. */
const endKeyText = (name: string, form: 'empty' | 'null' | 'absent'): string =>
  form === 'absent' ? '' : `"${name}":${form === 'null' ? 'null' : '""'},`;

function totalText(total: number, form: Dialect['totals']): string {
  if (form === 'absent') return '';
  if (form === 'null') return ',"total_count":null';
  return `,"total_count":${form === 'zero' ? 0 : total}`;
}

/** The envelope closed after its list; `head` is all before that. */
function encodePage(
  head: string,
  listName: string,
  rows: readonly Row[],
  { dialect, now }: PageContext,
): Buffer {
  const { emptyList, unknownFields } = dialect;
  const tail = unknownFields ? `},"server_time":${now},"trace":{"id":"t-0"}}` : '}}';
  if (rows.length > 0 || emptyList === 'array') {
    const texts = rows.map(({ text }) => text);
    return encodeList(`${head},"${listName}":[`, texts, `]${tail}`);
  }
  return Buffer.from(head + (emptyList === 'null' ? `,"${listName}":null` : '') + tail);
}

// The order list (docs/platform.md §4.4): which records a page shows, and the keys that lead on and back.
import type { QueryParameters } from '../platform/target.ts';
import type { Dialect } from './dialect.ts';
import { decodeKey, encodeKey, type PageKey } from './keys.ts';
import type { RecordList, Selection } from './list.ts';
import { statusWords, type OrderFilter } from './orders.ts';
import {
  badRequest,
  countedRecords,
  encodePage,
  limitIn,
  listedRecords,
  recordAt,
  simulatedRowsOf,
  totalText,
  type SimulatedAnswer,
  type SimulatedPage,
  type PageContext,
  type Stretch,
} from './page.ts';
import { dateBoundsOf, isAscending, windowStart } from './query.ts';
import { placeAt, type ListPlace } from './shelf.ts';
import { mix } from './world.ts';

export function simulatedOrdersPage(
  query: QueryParameters,
  list: RecordList<OrderFilter>,
  context: PageContext,
): SimulatedPage | SimulatedAnswer {
  const { now, dialect } = context;
  const limit = limitIn(query, dialect.maxOrders, dialect);
  const earliest = dialect.ordersWindow ? windowStart(now, dialect) : -Infinity;
  const bounds = dateBoundsOf(query, dialect, earliest);
  const ascending = isAscending(query, dialect);
  const statuses = dialect.statusFilter === 'words' ? statusWords : ['', '1', '2', '3'];
  const status = statuses.indexOf(query.get('status') ?? '');
  const count = query.get('count_total') ?? '0';
  if (typeof limit === 'string') return badRequest(limit);
  if (typeof bounds === 'string') return badRequest(bounds);
  if (ascending === null) return badRequest('sort_by must be DATE_ASC or DATE_DESC');
  if (status > 0 && dialect.statusFilter === 'refused')
    return badRequest('there is no filter by status');
  if (status < 0) return badRequest(`status must be one of ${statuses.slice(1).join(', ')}`);
  if (count !== '0' && count !== '1') return badRequest('count_total must be 0 or 1');

  const asked = query.get('page_key');
  let key = asked === undefined ? null : decodeKey(asked, context.keySeed);
  if (asked !== undefined && key === null) return badRequest('page_key is not valid');
  const isExpired = key !== null && hasExpired(key, context);
  if (isExpired && dialect.keyExpired === 'refuse') return badRequest('page_key has expired');
  if (isExpired) key = null;

  const filter = filterOf(status, dialect);
  const selection = list.select(bounds.from, bounds.to, filter, now);
  const size = listedRecords(selection.total, dialect);
  const stretch = stretchOf(selection, ascending, key, limit, size);
  if (isExpired && dialect.keyExpired === 'empty') stretch.first = stretch.end = size;
  const keys = keysText(stretch, size, asked, context);
  const isCounted = count === '1' && !(dialect.totals === 'first' && asked !== undefined);
  return {
    resource: 'orders',
    rows: simulatedRowsOf(stretch, now),
    total: countedRecords(selection.total, dialect),
    write: (rows, total) =>
      encodePage(
        `{"data":{${keys}"limit":${limit}${isCounted ? totalText(total, dialect.totals, rows) : ''}`,
        'order_infos',
        rows,
        context,
      ),
  };
}

/** `status`: 0 where none is asked for. */
function filterOf(status: number, { statusFilter, statusUnasked }: Dialect): OrderFilter | null {
  if (status === 0) return statusUnasked === 0 ? null : { status: statusUnasked, isNot: true };
  if (statusFilter === 'ignored') return null;
  if (statusFilter === 'empty') return { status: 0 };
  return { status };
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
  size: number,
): Stretch<F> {
  const { total } = selection;
  // How many are shown before a place, it included or not, in whichever direction.
  const shownBefore = (place: ListPlace, including: boolean): number =>
    ascending ? selection.rankOf(place, including) : total - selection.rankOf(place, !including);
  if (key?.kind === 'prev') {
    const end = shownBefore(key.place, false);
    return { selection, ascending, first: Math.max(0, end - limit), end };
  }
  const first = key?.kind === 'next' ? shownBefore(key.place, true) : 0;
  return { selection, ascending, first: Math.min(first, size), end: Math.min(first + limit, size) };
}

/** `size`: where the list ends, which may be before the last record selected. */
function keysText<F>(
  stretch: Stretch<F>,
  size: number,
  asked: string | undefined,
  context: PageContext,
): string {
  const { first, end } = stretch;
  const { lastKey } = context.dialect;
  const keyAt = (kind: PageKey['kind'], index: number): string => {
    const { shelf, k } = recordAt(stretch, index);
    return keyText(kind, placeAt(shelf, k), context);
  };
  const isFirst = first === 0 || end === first;
  const previous = `"prev_page_key":"${isFirst ? '' : keyAt('prev', first)}",`;
  if (end < size) return `${previous}"next_page_key":"${keyAt('next', end - 1)}",`;
  if (lastKey === 'repeated') {
    const again = asked ?? keyText('start', { at: 0, seq: 0, id: '' }, context);
    return `${previous}"next_page_key":"${again}",`;
  }
  if (lastKey === 'onward') {
    const onward = end > first ? keyAt('next', end - 1) : (asked ?? '');
    return `${previous}"next_page_key":"${onward}",`;
  }
  if (lastKey === 'around') {
    if (size === 0) return previous + endKeyText('empty');
    // By the request it was given on the key is one that nobody has seen.
    const issued = { at: context.now, request: context.request };
    const { shelf, k } = recordAt(stretch, mix(context.keySeed, context.request) % size);
    const around = { kind: 'next', place: placeAt(shelf, k), issued } as const;
    return `${previous}"next_page_key":"${encodeKey(around, context.keySeed)}",`;
  }
  return previous + endKeyText(lastKey);
}

function keyText(kind: PageKey['kind'], place: ListPlace, context: PageContext): string {
  const { now, dialect, keySeed, request } = context;
  // Keys that do not age are the same whenever they are given.
  const isAging = dialect.keyLifeMs > 0 || dialect.keyLifeRequests > 0;
  return encodeKey({ kind, place, issued: isAging ? { at: now, request } : null }, keySeed);
}

/** The key where there is no further page. */
const endKeyText = (form: 'empty' | 'null' | 'absent'): string =>
  form === 'absent' ? '' : `"next_page_key":${form === 'null' ? 'null' : '""'},`;

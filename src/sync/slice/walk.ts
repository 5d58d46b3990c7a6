// Walks one view of a day, its list or one status of it, from a position to its end, page by page: fetch, hand over to
// the commit, decide whether it goes on. One rule ends every walk (P9): a page that shows nothing new is the last one, but
// for a few that show no row at all and lead on.
import { isOutlastError } from '../../errors.ts';
import type { End, Instant, ListedResource, PlatformPage } from '../../model.ts';
import type { ListQuery, Platform } from '../../platform/platform.ts';
import type { PagePosition } from '../../store/checkpoint.ts';
import type { WalkedPage } from '../../store/walked-pages.ts';
import { endsOf, showsAgain } from '../ask-list.ts';

/** How a view of a day is asked for, its list or one status of it: the same from its first page to its last. */
export type ViewQuery = Pick<ListQuery, 'startDate' | 'endDate' | 'limit' | 'status'> & {
  order: End;
};

export const firstPosition: PagePosition = { number: 0, pageKey: null, offset: 0, overlap: null };

const isBeginning = (at: PagePosition): boolean => at.pageKey === null && at.offset === 0;

/** A view while it is walked. */
export type ViewInProgress = {
  query: ViewQuery;
  /** Ids, and digests of rejects, that it has shown. */
  seen: Set<string>;
  /** The greatest total that came with its pages; null: none. */
  mostTotal: number | null;
  /** When the first and the last of its rows were created; null: not known. */
  first: Instant | null;
  last: Instant | null;
};

export type ViewEnd =
  | { kind: 'whole'; next: number }
  /** The platform refuses to show it: the first page was answered with a 400. */
  | { kind: 'refused'; error: unknown; next: number }
  /** It moved while it was read, or a page key was refused: it is walked again. */
  | { kind: 'lost'; why: string; next: number };

type WalkedList = { resource: ListedResource; owner: string; observedAt: Instant | null };

type Walking = {
  platform: Platform;
  /** Totals were seen to count more than the page they stand on: then one says that a list is all shown. */
  countsBeyond: boolean;
  signal: AbortSignal;
  /** Commits a page; `next`: where the walk goes on after it, null at the end of a view. */
  commit: (page: WalkedPage, next: PagePosition | null) => Promise<void>;
};

/**
 * So many pages without a row are gone beyond, one after another: who filters a page afterwards gives such (Google's
 * AIP-158, DynamoDB), and who counts keys up gives them for ever.
 */
const emptyAtMost = 5;

/**
 * Walks on to the end of the view; `next` is the number of the page after its last. `mustShow`: ids that the first page
 * must show, or the view is lost. Throws what the platform throws.
 */
export async function walkView(
  { platform, countsBeyond, signal, commit }: Walking,
  list: WalkedList,
  view: ViewInProgress,
  from: PagePosition,
  mustShow: string[] = [],
): Promise<ViewEnd> {
  const { query, seen } = view;
  let position = from;
  /** The most rows that a page has shown. */
  let pageSize = 0;
  let emptyInARow = 0;
  let observedAt = afterAll(list);
  // Ends: every page but the last shows something new, or is one of a few in a row that show nothing (P9).
  for (;;) {
    const { number } = position;
    let page: PlatformPage;
    try {
      page = await askPage(platform, list, query, position, signal);
    } catch (error) {
      if (!isOutlastError(error, 'platform_refused')) throw error;
      if (isBeginning(position)) return { kind: 'refused', error, next: number };
      return { kind: 'lost', why: 'a page key was refused', next: number };
    }
    const before = seen.size;
    for (const { id } of page.records) seen.add(id);
    for (const { sha256 } of page.rejects) seen.add(sha256);
    const isNew = seen.size > before;
    if (page.total !== null) view.mostTotal = Math.max(view.mostTotal ?? 0, page.total);
    const ends = endsOf(page);
    view.first ??= ends.first;
    view.last = ends.last ?? view.last;
    // Never before the page it follows, even if the platform's clock was set back (P2).
    observedAt = Math.max(observedAt, page.askedAt);
    // Nor is the next view before this one.
    list.observedAt = observedAt;
    const isFull = page.shown >= query.limit || (pageSize > 0 && page.shown >= pageSize);
    pageSize = Math.max(pageSize, page.shown);
    emptyInARow = page.shown === 0 ? emptyInARow + 1 : 0;
    const mayGoOn =
      isNew || (emptyInARow <= emptyAtMost && isBetween(page, position, view, countsBeyond));
    const lost = lostBy(page, position, number === from.number ? mustShow : []);
    const goesOn = mayGoOn && lost === null;
    const next = goesOn ? after(list.resource, page, position, countsBeyond && !isFull) : null;
    if (isNew || lost !== null || number === from.number) {
      const { pageKey } = position;
      const offset = list.resource === 'orders' ? null : position.offset;
      await commit({ number, pageKey, offset, page, observedAt }, next);
    }
    if (lost !== null) return { kind: 'lost', why: lost, next: number + 1 };
    if (next === null) return { kind: 'whole', next: number + 1 };
    position = next;
  }
}

/**
 * Whether a page shows no row and leads on, in a list that is not known to be all shown: by a total that counts more than
 * its page, and not before something of it was seen.
 */
const isBetween = (
  { shown, nextKey }: PlatformPage,
  { pageKey }: PagePosition,
  { mostTotal, seen }: ViewInProgress,
  countsBeyond: boolean,
): boolean =>
  shown === 0 &&
  nextKey !== null &&
  nextKey !== pageKey &&
  !(countsBeyond && seen.size > 0 && (mostTotal ?? Infinity) <= seen.size);

/** Why the walk has lost its way with this page; null: it has not. */
function lostBy(page: PlatformPage, { overlap }: PagePosition, mustShow: string[]): string | null {
  if (!showsAgain(page, mustShow)) return 'the last page no longer shows what it showed';
  return overlap !== null && page.first !== overlap ? 'the list moved while it was read' : null;
}

/**
 * After everything the list was shown before: what is read later counts as later, also when a clock that was far ahead
 * has been set back (P2).
 */
export const afterAll = ({ observedAt }: Pick<WalkedList, 'observedAt'>): Instant =>
  (observedAt ?? -1) + 1;

/** One page of a view, with the total where it begins. */
export function askPage(
  platform: Platform,
  { resource, owner }: Pick<WalkedList, 'resource' | 'owner'>,
  { order, ...query }: ViewQuery,
  position: PagePosition,
  signal: AbortSignal,
): Promise<PlatformPage> {
  const sortBy = order === 'desc' ? 'DATE_DESC' : 'DATE_ASC';
  const { pageKey, offset } = position;
  const countTotal = isBeginning(position);
  const of = { resource, owner, pageKey, offset, countTotal };
  return platform.page({ ...query, ...of, sortBy }, signal);
}

/** Where a page that showed something new leads to; null: it is the last. */
function after(
  resource: ListedResource,
  page: PlatformPage,
  at: PagePosition,
  mayEndAtTotal: boolean,
): PagePosition | null {
  const number = at.number + 1;
  if (resource === 'orders') {
    return page.nextKey === null ? null : { ...firstPosition, number, pageKey: page.nextKey };
  }
  const seen = at.offset + page.shown;
  // A total is a claim: it ends a list only after a short page, where totals were seen to count beyond their page.
  if (mayEndAtTotal && page.total === seen) return null;
  // Of a page of one row nothing can be shown again on the next one.
  if (page.shown === 1) return { ...firstPosition, number, offset: seen };
  return { number, pageKey: null, offset: seen - 1, overlap: page.last };
}

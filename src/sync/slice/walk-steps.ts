// One step of a walk as pure functions: given the page just read, whether the walk goes on, ends or must start
// over. Every loop over the platform ends here, and says why (P9).
import type { ListedResource, PlatformPage } from '../../model.ts';
import type { PartInProgress, WalkQuery } from '../../store/checkpoint.ts';
import type { ShownByWalk } from '../../store/pages.ts';

/** Where a page stands in its walk. */
export type PagePosition = {
  /** From 0. */
  number: number;
  /** Orders: null for the first page. */
  pageKey: string | null;
  /** Classes: one row of overlap included. */
  offset: number;
  /** Classes: what the first row must be, for the list has moved otherwise. Null for the first page. */
  overlap: string | null;
};

export const firstPosition: PagePosition = { number: 0, pageKey: null, offset: 0, overlap: null };

/** What a walk remembers of the pages behind it: bounded, whatever the size of the day. */
export type Memory = {
  query: WalkQuery;
  /** Elements shown so far, repeated ones included, without the overlap. */
  rows: number;
  totalBefore: number | null;
  usedKeys: Set<string>;
  firstPageIds: Set<string>;
  previousIds: Set<string>;
  /** Totals were seen to count more than the page beside them: only then one may end a list. */
  countsBeyond: boolean;
  /** The most rows a page has shown. */
  pageSize: number;
  /** The last page that showed anything new had as many rows as a page can have: there may be more behind it. */
  endsFull: boolean;
  /** How much was shown when it was last counted, and the page at which it is counted again: see stalled-walk.ts. */
  growth: { counted: ShownByWalk | null; lookAt: number };
  /** The part of a cut list that is read; null where a list is read as a whole. */
  part: PartInProgress | null;
};

export function emptyMemory(query: WalkQuery): Memory {
  return {
    query,
    rows: 0,
    totalBefore: null,
    usedKeys: new Set(),
    firstPageIds: new Set(),
    previousIds: new Set(),
    countsBeyond: false,
    pageSize: 0,
    endsFull: false,
    growth: { counted: null, lookAt: 0 },
    part: null,
  };
}

/**
 * What the end of a walk says of its list: `whole`, it ended by itself; `unsure`, a key led nowhere before the total
 * was reached, so that either the key has expired or the total counts too much: the other end tells which; `given up`,
 * it did not end; `met`, a part came upon what the part from the other end had shown.
 */
export type WalkEnd = 'whole' | 'unsure' | 'given up' | 'met';

export type Step =
  | { kind: 'next'; position: PagePosition }
  | { kind: 'end'; why: string; end: WalkEnd }
  /** The walk shows nothing reliable any more: a fresh one is needed. */
  | { kind: 'restart'; why: string };

/** Far above any honest walk: a platform that gives one row a page still gets through. */
const ceilingSlack = 100;
/** Rows by which the list of today may grow while it is read. */
const growthSlack = 10_000;

export function step(
  resource: ListedResource,
  page: PlatformPage,
  at: PagePosition,
  memory: Memory,
): Step {
  const ceiling = ceilingSlack + 2 * Math.max(memory.totalBefore ?? 0, memory.rows);
  if (at.number - (memory.part?.begins ?? 0) >= ceiling)
    return { kind: 'end', why: 'page ceiling', end: 'given up' };
  // New ids without end: more than any growth of the list explains. Without a total nothing tells this from a long day.
  const isEndless =
    memory.totalBefore !== null && memory.rows > 2 * memory.totalBefore + growthSlack;
  if (isEndless || isBeyondItsPart(memory))
    return { kind: 'end', why: 'far more rows than the total', end: 'given up' };
  return resource === 'orders' ? orderStep(page, at, memory) : classStep(page, at, memory);
}

const ended = (why: string): Step => ({ kind: 'end', why, end: 'whole' });

/** A part shows no more than the list or its total: one that goes on longer shows the same again. */
function isBeyondItsPart({ part, rows, query, totalBefore }: Memory): boolean {
  if (part === null) return false;
  const { size, total } = part.list;
  return rows > 2 * (Math.max(size, total ?? 0, totalBefore ?? 0) + query.limit);
}

/** Whether a page is the first of its list. */
export const isBeginning = (at: PagePosition): boolean =>
  at.pageKey === null && at.offset === 0 && at.overlap === null;

function orderStep(page: PlatformPage, at: PagePosition, memory: Memory): Step {
  const missing = memory.totalBefore !== null && memory.rows < memory.totalBefore;
  if (at.pageKey !== null && page.shown === 0) {
    return missing
      ? { kind: 'end', why: 'a page key was answered with an empty page', end: 'unsure' }
      : ended('empty page');
  }
  if (at.pageKey !== null && page.records.length > 0 && showsNothingNew(page, memory)) {
    return missing
      ? { kind: 'end', why: 'a page key was ignored', end: 'unsure' }
      : ended('no progress');
  }
  if (page.nextKey === null) return ended('no next key');
  if (page.nextKey === at.pageKey || memory.usedKeys.has(page.nextKey)) {
    return ended('repeated key');
  }
  return {
    kind: 'next',
    position: { ...firstPosition, number: at.number + 1, pageKey: page.nextKey },
  };
}

function showsNothingNew(page: PlatformPage, memory: Memory): boolean {
  return page.records.every(
    (record) => memory.previousIds.has(record.id) || memory.firstPageIds.has(record.id),
  );
}

function classStep(page: PlatformPage, at: PagePosition, memory: Memory): Step {
  if (at.overlap !== null && page.first !== at.overlap) {
    return { kind: 'restart', why: 'the list moved while it was read' };
  }
  const seen = at.offset + page.shown;
  // A total is a claim: it ends the list only where the page was short, and totals are known to count beyond their
  // page.
  const isAtTotal = page.total !== null && seen === page.total;
  if (isAtTotal && memory.countsBeyond && !isFull(page, memory)) return ended('total reached');
  // A short page is not the end: only a page with nothing behind the overlap is.
  const fresh = page.shown - (at.overlap === null ? 0 : 1);
  if (fresh <= 0) return ended(at.number === 0 ? 'empty list' : 'nothing behind the last row');
  // Of a page of one row nothing can be shown again on the next one.
  if (page.shown === 1) {
    if (page.first !== null && memory.previousIds.has(page.first)) return ended('no progress');
    return {
      kind: 'next',
      position: { number: at.number + 1, pageKey: null, offset: seen, overlap: null },
    };
  }
  return {
    kind: 'next',
    position: { number: at.number + 1, pageKey: null, offset: seen - 1, overlap: page.last },
  };
}

/** Whether a page has as many rows as were asked for, or as any page before it: more may stand behind it. */
function isFull(page: PlatformPage, { query, pageSize }: Memory): boolean {
  return page.shown >= query.limit || (pageSize > 0 && page.shown >= pageSize);
}

/** Takes a page into the memory, after its step was decided. */
export function remember(memory: Memory, page: PlatformPage, at: PagePosition): void {
  const isNew = page.shown > (at.overlap === null ? 0 : 1);
  if (isNew) memory.endsFull = isFull(page, memory);
  memory.pageSize = Math.max(memory.pageSize, page.shown);
  const ids = new Set(page.records.map((record) => record.id));
  if (isBeginning(at)) memory.firstPageIds = ids;
  memory.previousIds = ids;
  if (at.pageKey !== null) memory.usedKeys.add(at.pageKey);
}

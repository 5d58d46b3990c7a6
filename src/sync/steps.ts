// One step of a walk as pure functions: given the page just read, whether the walk goes on, ends or must start
// over. Every loop over the platform ends here, and says why (P9).
import type { ListedResource, Page } from '../model.ts';
import type { WalkQuery } from '../store/ledger.ts';

/** Where a page stands in its walk. */
export type Position = {
  /** From 0. */
  number: number;
  /** Orders: null for the first page. */
  pageKey: string | null;
  /** Classes: one row of overlap included. */
  offset: number;
  /** Classes: what the first row must be, for the list has moved otherwise. Null for the first page. */
  overlap: string | null;
};

export const firstPosition: Position = { number: 0, pageKey: null, offset: 0, overlap: null };

/** What a walk remembers of the pages behind it: bounded, whatever the size of the day. */
export type Memory = {
  query: WalkQuery;
  /** Elements shown so far, repeated ones included, without the overlap. */
  rows: number;
  totalBefore: number | null;
  usedKeys: Set<string>;
  firstPageIds: Set<string>;
  previousIds: Set<string>;
};

/**
 * What the end of a walk says of its list: `whole`, it ended by itself; `unsure`, a key led nowhere before the total was
 * reached, so that either the key has expired or the total counts too much: the other end tells which; `given up`, it did
 * not end.
 */
export type WalkEnd = 'whole' | 'unsure' | 'given up';

export type Step =
  | { kind: 'next'; position: Position }
  | { kind: 'end'; why: string; end: WalkEnd }
  /** The walk shows nothing reliable any more: a fresh one is needed. */
  | { kind: 'restart'; why: string };

/** Far above any honest walk: a platform that gives one row a page still gets through. */
const ceilingSlack = 100;
/** Rows by which the list of today may grow while it is read. */
const growthSlack = 10_000;

export function step(resource: ListedResource, page: Page, at: Position, memory: Memory): Step {
  const ceiling = ceilingSlack + 2 * Math.max(memory.totalBefore ?? 0, memory.rows);
  if (at.number >= ceiling) return { kind: 'end', why: 'page ceiling', end: 'given up' };
  // New ids without end: more than any growth of the list explains. Without a total nothing tells this from a long day.
  const isEndless =
    memory.totalBefore !== null && memory.rows > 2 * memory.totalBefore + growthSlack;
  if (isEndless) return { kind: 'end', why: 'far more rows than the total', end: 'given up' };
  return resource === 'orders' ? orderStep(page, at, memory) : classStep(page, at);
}

const ended = (why: string): Step => ({ kind: 'end', why, end: 'whole' });

function orderStep(page: Page, at: Position, memory: Memory): Step {
  const missing = memory.totalBefore !== null && memory.rows < memory.totalBefore;
  if (at.number > 0 && page.shown === 0) {
    return missing
      ? { kind: 'end', why: 'a page key was answered with an empty page', end: 'unsure' }
      : ended('empty page');
  }
  if (at.number > 0 && page.records.length > 0 && showsNothingNew(page, memory)) {
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

function showsNothingNew(page: Page, memory: Memory): boolean {
  return page.records.every(
    (record) => memory.previousIds.has(record.id) || memory.firstPageIds.has(record.id),
  );
}

function classStep(page: Page, at: Position): Step {
  if (at.overlap !== null && page.first !== at.overlap) {
    return { kind: 'restart', why: 'the list moved while it was read' };
  }
  const seen = at.offset + page.shown;
  if (page.total !== null && seen >= page.total) return ended('total reached');
  // A short page is not the end: only a page with nothing behind the overlap is.
  const fresh = page.shown - (at.overlap === null ? 0 : 1);
  if (fresh <= 0) return ended(at.number === 0 ? 'empty list' : 'nothing behind the last row');
  if (seen - 1 <= at.offset) return ended('no progress');
  return {
    kind: 'next',
    position: { number: at.number + 1, pageKey: null, offset: seen - 1, overlap: page.last },
  };
}

/** Takes a page into the memory, after its step was decided. */
export function remember(memory: Memory, page: Page, at: Position): void {
  const ids = new Set(page.records.map((record) => record.id));
  if (at.number === 0) memory.firstPageIds = ids;
  memory.previousIds = ids;
  if (at.pageKey !== null) memory.usedKeys.add(at.pageKey);
}

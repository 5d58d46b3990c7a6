// Settle: the platform's list of pending orders points at the days whose orders have settled; their pages are read
// again. The list is only a pointer: what counts is the page that showed the order, or a walk.
import type { DayRange } from '../model.ts';
import type { Platform } from '../platform/platform.ts';
import type { Facts } from '../store/facts.ts';
import { pagesShowing, pendingIds, type RememberedPage } from '../store/pages.ts';
import { boundsOf, limitOf } from './bounds.ts';
import type { Act, ActContext } from './conclude.ts';
import { reread } from './reread.ts';

/** The ids the platform lists as pending; asked for once a run, whoever needs it first. */
export type PendingList = () => Promise<ReadonlySet<string>>;

/** Far above any honest list: whatever lies behind is read again as if it had settled. */
const pagesAtMost = 1_000;

export function createPendingList(
  platform: Platform,
  facts: Facts,
  days: DayRange,
  windowFrom: string,
  signal: AbortSignal,
): PendingList {
  let asked: Promise<ReadonlySet<string>> | null = null;
  const ask = async (): Promise<ReadonlySet<string>> => {
    const ids = new Set<string>();
    const query = {
      ...boundsOf(days, 'orders', facts, windowFrom),
      limit: limitOf(facts, 'orders'),
      status: 1 as const,
      sortBy: 'DATE_ASC' as const,
      countTotal: false,
    };
    let pageKey: string | null = null;
    const used = new Set<string>();
    // Ends: no key, a key used before, a page that adds nothing, or the ceiling (P9).
    for (let i = 0; i < pagesAtMost; i++) {
      const page = await platform.orders(pageKey === null ? query : { ...query, pageKey }, signal);
      const before = ids.size;
      for (const record of page.records) ids.add(record.id);
      if (page.nextKey === null || used.has(page.nextKey) || ids.size === before) break;
      pageKey = page.nextKey;
      used.add(pageKey);
    }
    return ids;
  };
  return () => (asked ??= ask());
}

/**
 * Reads again the pages of a slice that showed orders which are no longer pending. False when a page does not show
 * again what it showed: then the slice must be walked.
 */
export async function settle(context: ActContext, act: Act, list: PendingList): Promise<boolean> {
  const { slice, query } = act;
  const held = await pendingIds(context.db, slice);
  const pending = await list();
  const settled = held.filter((id) => !pending.has(id));
  if (settled.length === 0) return true;
  const pages = await pagesShowing(context.db, slice, slice.wholeWalk, settled);
  if (!showsAll(pages, settled)) return false;
  // A page is found again by the order its walk was read in.
  const asRead = slice.walkOrder === 'desc' ? { ...query, order: slice.walkOrder } : query;
  return reread(context, slice, asRead, pages);
}

function showsAll(pages: RememberedPage[], ids: string[]): boolean {
  const shown = new Set(pages.flatMap((page) => page.ids));
  return ids.every((id) => shown.has(id));
}

// Settle: the platform's list of pending orders points at the days whose orders have settled; their pages are read
// again. The list is only a pointer: what counts is the page that showed the order, or a walk. A platform may ignore
// the filter by status or leave orders out of the list: then the pages that show pending orders are read again, some at
// a time.
import { isOutlastError } from '../../errors.ts';
import type { DayRange, PlatformPage } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import { commitPages } from '../../store/commit.ts';
import { recordFacts, type Facts } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';
import type { WalkQuery } from '../../store/checkpoint.ts';
import { pagesShowing, pendingIds, type RememberedPage } from '../../store/pages.ts';
import { askPage, showsAgain } from '../ask-list.ts';
import { boundsOf, limitOf } from '../list-rules.ts';
import type { Act, ActContext } from './conclude.ts';
import { firstPosition } from './walk-steps.ts';
import { afterAll, type ListRules, type WalkContext } from './walk.ts';

/** What the platform lists as pending; asked for once a run, whoever needs it first. */
export type PendingList = () => Promise<Pending>;

export type Pending = {
  ids: ReadonlySet<string>;
  /** It shows more orders of other statuses than pending ones: the filter does nothing, and it was not read on. */
  ignoresStatus: boolean;
};

/** Far above any honest list: whatever lies behind is read again as if it had settled. */
const pagesAtMost = 1_000;

/**
 * Where the list cannot be relied on, so many pages of a slice are read again at a time, those of longest ago first.
 */
const rereadAtMost = 20;

export function createPendingList(
  platform: Platform,
  facts: Facts,
  days: DayRange,
  windowFrom: string,
  signal: AbortSignal,
): PendingList {
  let asked: Promise<Pending> | null = null;
  const ask = async (): Promise<Pending> => {
    const ids = new Set<string>();
    let others = 0;
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
      for (const record of page.records) {
        // One that settled a moment ago, or that a lagging index still has here, is pending no more.
        const { status = null } = record.columns;
        if (status === 1 || status === null) ids.add(record.id);
        else others += 1;
      }
      if (others > ids.size) return { ids, ignoresStatus: true };
      if (page.nextKey === null || used.has(page.nextKey) || ids.size === before) break;
      pageKey = page.nextKey;
      used.add(pageKey);
    }
    return { ids, ignoresStatus: false };
  };
  return () => (asked ??= ask());
}

/**
 * Reads again the pages of a slice that showed orders which are no longer pending; without a list all that showed
 * pending ones. False when a page does not show again what it showed: then the slice must be walked.
 */
export async function settle(
  context: ActContext,
  act: Act,
  list: PendingList | null,
): Promise<boolean> {
  const { slice, query, span } = act;
  const { db, facts } = context;
  const held = await pendingIds(db, slice, slice.wholeWalk, span);
  const pending = list === null ? null : await ifUsable(list());
  const isIgnored = pending?.ignoresStatus === true;
  if (isIgnored) await learnFilter(context, slice.projectId, 'ignored');
  const settled = held.filter((id) => isIgnored || pending?.ids.has(id) !== true);
  if (settled.length === 0) return true;
  const isUnreliable = isIgnored || facts.get(statusFilter) === 'incomplete';
  const atMost = list !== null && isUnreliable ? rereadAtMost : null;
  const pages = await pagesShowing(db, slice, slice.wholeWalk, settled, atMost);
  if (atMost === null && !showsAll(pages, settled)) return false;
  // A page is found again by the order its walk was read in.
  const asRead = slice.walkOrder === 'desc' ? { ...query, order: slice.walkOrder } : query;
  if (!(await reread(context, slice, asRead, pages))) return false;
  if (pending !== null && !isIgnored) {
    const still = new Set(await pendingIds(db, slice, slice.wholeWalk, span));
    const read = new Set(pages.flatMap(({ ids }) => ids));
    // Its own page shows it pending after the list left it out.
    const isLeftOut = settled.some((id) => still.has(id) && read.has(id));
    if (isLeftOut) await learnFilter(context, slice.projectId, 'incomplete');
    else if (pending.ids.size > 0) await learnFilter(context, slice.projectId, 'honoured');
  }
  return true;
}

const statusFilter = 'orders.status_filter';

/** How the filter by status answers, where it is not what was known. */
export async function learnFilter(
  { db, facts, platform }: Pick<ActContext, 'db' | 'facts' | 'platform'>,
  projectId: string,
  value: 'honoured' | 'ignored' | 'incomplete',
): Promise<void> {
  if (facts.get(statusFilter) === value) return;
  if (value === 'honoured' && !facts.has(statusFilter)) return;
  await recordFacts(db, projectId, { [statusFilter]: value }, platform.clock.now());
}

/** A list that is of no use is as good as none: one poisoned record in it must not keep all days back. */
async function ifUsable<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (isOutlastError(error, 'platform_unusable')) return null;
    throw error;
  });
}

function showsAll(pages: RememberedPage[], ids: string[]): boolean {
  const shown = new Set(pages.flatMap((page) => page.ids));
  return ids.every((id) => shown.has(id));
}

/**
 * Reads given pages of the last whole walk again, each by its own key and under the slice's lease. False when one is
 * refused or does not show again every id it showed; what was read until then is committed.
 */
async function reread(
  context: Omit<WalkContext, keyof ListRules>,
  slice: Slice,
  query: WalkQuery,
  pages: RememberedPage[],
): Promise<boolean> {
  let observedAt = afterAll(slice);
  for (const { number, pageKey, offset, ids } of pages) {
    const position = { ...firstPosition, number, pageKey, offset: offset ?? 0 };
    let page: PlatformPage;
    try {
      page = await askPage(context.platform, slice, query, position, false, context.signal);
    } catch (error) {
      if (isOutlastError(error, 'platform_refused')) return false;
      throw error;
    }
    if (!showsAgain(page, ids)) return false;
    observedAt = Math.max(observedAt, page.askedAt);
    const effects = await commitPages(context.db, {
      slice,
      walk: slice.wholeWalk,
      pages: [{ number, pageKey, offset, page, observedAt }],
      checkpoint: null,
      leaseMs: context.leaseMs,
      writtenAt: context.platform.clock.now(),
    });
    context.onCommit({ ...effects, shown: page.shown });
  }
  return true;
}

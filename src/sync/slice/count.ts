// Count: re-proves what a walk showed in at most four requests, however many records the day has: the total, and
// for orders the total of each status, against what the last whole walk was shown. The records that such answers show
// must be among those the walk showed.
// How often that is done is policy.ts's.
import { isOutlastError } from '../../errors.ts';
import { orderStatuses } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Db } from '../../store/db.ts';
import type { Slice } from '../../store/ledger.ts';
import type { WalkQuery } from '../../store/checkpoint.ts';
import { countStatuses, idsOf } from '../../store/pages.ts';
import { countUnshown } from '../../store/walk-ends.ts';
import { askTotal } from '../ask-list.ts';

export type Recount = {
  agrees: boolean;
  /** The platform's total now; null where it gave none. */
  total: number | null;
  /**
   * An order of another status was shown when one was asked for: the filter does nothing, and such totals count
   * nothing.
   */
  ignoresStatus?: boolean;
  /** By its status more is counted or shown than the list has: its total is not to be believed alone. */
  isBelied?: true;
};

/** Compares the platform's counts with the last whole walk's. Throws what the platform throws. */
export async function recount(
  db: Db,
  platform: Platform,
  slice: Slice,
  query: WalkQuery,
  signal: AbortSignal,
  /** Where lists and totals are known to be cut; null where they are not. */
  cap: number | null = null,
): Promise<Recount> {
  const { order: _order, ...range } = query;
  const whole = await askTotal(platform, slice, range, signal);
  const { total } = whole;
  // A total that was cut says nothing: those of the statuses do, while they are below the cut.
  const isCut = total !== null && total === cap && (slice.shownTotal ?? 0) > total;
  if (total === null || (total !== slice.shownTotal && !isCut)) return { agrees: false, total };
  const unshown = (ids: string[]): Promise<number> => countUnshown(db, slice, slice.wholeWalk, ids);
  if (slice.resource !== 'orders' || total === 0) {
    return { agrees: (await unshown(idsOf(whole))) === 0, total };
  }
  const { totals, ids, ignoresStatus } = await countByStatus(platform, slice, range, signal);
  const isNew = (await unshown([...idsOf(whole), ...ids])) > 0;
  if (ignoresStatus) return { agrees: !isCut && !isNew, total, ignoresStatus };
  if (isNew) return { agrees: false, total, isBelied: true };
  if (isCut && totals.some((one) => (one ?? total) >= total)) return { agrees: false, total };
  const sum = sumOfTotals(totals);
  // Without all three there is nothing to compare: the total has said what it can.
  if (sum === null) return { agrees: true, total };
  // Orders of three statuses are no more than all orders: more of them belie the total, which may have been cut (proof
  // rule 1).
  if (!isCut && sum > total) return { agrees: false, total, isBelied: true };
  // Fewer say nothing: there may be other statuses.
  if (sum < total) return { agrees: true, total };
  const held = await countStatuses(db, slice, slice.wholeWalk);
  const isSame = orderStatuses.every((status, i) => totals[i] === (held.get(status) ?? 0));
  return { agrees: isSame && (!isCut || sum === slice.shownTotal), total: isCut ? sum : total };
}

export type StatusCounts = {
  /** In the order of `orderStatuses`; null where the platform gave none. */
  totals: (number | null)[];
  /** Of the orders shown beside them, one of each status at most. */
  ids: string[];
  /** An order of another status was shown than the one asked for: then nothing is told. */
  ignoresStatus: boolean;
};

/** Asks for the total of each status: three requests. */
export async function countByStatus(
  platform: Platform,
  slice: Slice,
  range: WalkQuery,
  signal: AbortSignal,
): Promise<StatusCounts> {
  const counts: StatusCounts = { totals: [], ids: [], ignoresStatus: false };
  // Pending orders last: one that settles in between is left out, not counted twice.
  for (const status of orderStatuses.toReversed()) {
    const page = await askTotal(platform, slice, { ...range, status }, signal).catch(
      (error: unknown) => {
        // Who does not know the filter tells nothing by it.
        if (isOutlastError(error, 'platform_refused')) return null;
        throw error;
      },
    );
    if (page === null) return { totals: [null], ids: [], ignoresStatus: false };
    const isOther = page.records.some(({ columns: { status: shown } }) => {
      return typeof shown === 'number' && shown !== status;
    });
    if (isOther) return { totals: [], ids: [], ignoresStatus: true };
    counts.totals.unshift(page.total);
    counts.ids.push(...idsOf(page));
  }
  return counts;
}

/** Null unless all are given. */
export const sumOfTotals = (totals: (number | null)[]): number | null =>
  totals.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);

// Count: re-proves what a walk showed in at most four requests, however many records the day has: the total, and
// for orders the total of each status, against what the last whole walk was shown. The records that such answers show
// must be among those the walk showed.
// How often that is done is policy.ts's.
import { orderStatuses } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import type { WalkQuery } from '../../store/checkpoint.ts';
import type { Db } from '../../store/db.ts';
import type { Facts } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';
import { countStatuses, idsOf } from '../../store/pages.ts';
import { countUnshown } from '../../store/walk-ends.ts';
import { askTotal } from '../ask-list.ts';
import { countStatusesOf, isMute, statusTotals, sumOfTotals } from './status-totals.ts';

export type Recount = {
  agrees: boolean;
  /** The platform's total now; null where it gave none. */
  total: number | null;
  /** The filter by status does nothing. */
  ignoresStatus?: boolean;
  /** By its status more is counted or shown than the list has: its total is not to be believed alone. */
  isBelied?: true;
  /** Nothing is told by status that should be: the total proves nothing alone. */
  isMute?: true;
};

/** Compares the platform's counts with the last whole walk's. Throws what the platform throws. */
export async function recount(
  db: Db,
  platform: Platform,
  facts: Facts,
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
  const counts = await countStatusesOf({ platform, facts, signal }, slice, range);
  const { totals } = counts;
  const ignoresStatus = counts.filter === 'ignored';
  if ((await unshown([...idsOf(whole), ...counts.ids])) > 0) {
    return { agrees: false, total, ignoresStatus, isBelied: true };
  }
  const shown = await countStatuses(db, slice, slice.wholeWalk);
  if (!isCut && isMute(facts, facts.get(statusTotals), counts, shown, total)) {
    return { agrees: false, total, ignoresStatus, isMute: true };
  }
  if (ignoresStatus) return { agrees: !isCut, total, ignoresStatus };
  if (isCut && totals.some((one) => (one ?? total) >= total)) return { agrees: false, total };
  const sum = sumOfTotals(totals);
  // Without all three there is nothing to compare: the total has said what it can.
  if (sum === null) return { agrees: true, total };
  // Orders of three statuses are no more than all orders: more of them belie the total, which may have been cut (proof
  // rule 1).
  if (!isCut && sum > total) return { agrees: false, total, isBelied: true };
  // Fewer say nothing: there may be other statuses.
  if (sum < total) return { agrees: true, total };
  const isSame = orderStatuses.every((status, i) => totals[i] === (shown.get(status) ?? 0));
  return { agrees: isSame && (!isCut || sum === slice.shownTotal), total: isCut ? sum : total };
}

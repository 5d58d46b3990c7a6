// Count: re-proves what a walk showed in at most four requests, however many records the day has: the total, and
// for orders the total of each status, against what the last whole walk was shown.
import type { Page } from '../model.ts';
import type { Platform } from '../platform/platform.ts';
import type { Db } from '../store/db.ts';
import type { Slice, WalkQuery } from '../store/ledger.ts';
import { countStatuses } from '../store/pages.ts';

export type Recount = {
  agrees: boolean;
  /** The platform's total now; null where it gave none. */
  total: number | null;
  /** An order of another status was shown when one was asked for: the filter does nothing, and such totals count nothing. */
  ignoresStatus?: true;
  /** The totals of the statuses are more than the total: it is not to be believed alone. */
  isBelied?: true;
};

const statuses = [1, 2, 3] as const;

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
  const { total } = await countOf(platform, slice, query, undefined, signal);
  // A total that was cut says nothing: those of the statuses do, while they are below the cut.
  const isCut = total !== null && total === cap && (slice.shownTotal ?? 0) > total;
  if (total === null || (total !== slice.shownTotal && !isCut)) return { agrees: false, total };
  if (slice.resource !== 'orders' || total === 0) return { agrees: true, total };
  const held = await countStatuses(db, slice, slice.wholeWalk);
  const counted = new Map<number, number>();
  for (const status of statuses) {
    const page = await countOf(platform, slice, query, status, signal);
    const isOther = page.records.some(({ columns: { status: shown } }) => {
      return typeof shown === 'number' && shown !== status;
    });
    if (isOther) return { agrees: !isCut, total, ignoresStatus: true };
    if (isCut && (page.total ?? total) >= total) return { agrees: false, total };
    // Without all three there is nothing to compare: the total has said what it can.
    if (page.total === null) return { agrees: true, total };
    counted.set(status, page.total);
  }
  // Orders of three statuses are no more than all orders: more of them belie the total, which may have been cut (proof rule 1).
  const sum = [...counted.values()].reduce((all, one) => all + one, 0);
  if (!isCut && sum > total) return { agrees: false, total, isBelied: true };
  // Fewer say nothing: there may be other statuses.
  if (sum < total) return { agrees: true, total };
  const isSame = statuses.every((status) => counted.get(status) === (held.get(status) ?? 0));
  return { agrees: isSame && (!isCut || sum === slice.shownTotal), total: isCut ? sum : total };
}

function countOf(
  platform: Platform,
  slice: Slice,
  query: WalkQuery,
  status: 1 | 2 | 3 | undefined,
  signal: AbortSignal,
): Promise<Page> {
  const { order: _order, ...range } = query;
  const common = { ...range, limit: 1, sortBy: 'DATE_ASC' as const };
  return slice.resource === 'orders'
    ? platform.orders(
        { ...common, ...(status === undefined ? {} : { status }), countTotal: true },
        signal,
      )
    : platform.classes(
        { ...common, offset: 0, ...(slice.owner === '' ? {} : { owner: slice.owner }) },
        signal,
      );
}

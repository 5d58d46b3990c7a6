// What is asked again and again whatever the month: today's tails every minute, the list of pending orders, owners'
// whole lists. Pure.
import { wholeList } from '../../model.ts';
import type { Slice } from '../../store/ledger.ts';
import { limitOf, spanOf } from '../bounds.ts';
import { walkRequests, type Terms } from './costs.ts';
import { isOver, settleMs } from '../policy.ts';

/** Today's tail is read about this often, in milliseconds. */
const tailMs = 60_000;

/** Requests a second that go ahead of all months, as far as the rate allows. */
export function standingRate(slices: Slice[], { facts, settings, now }: Terms): number {
  let perMs = 0;
  let pending = 0;
  for (const slice of slices) {
    const { resource, day } = slice;
    pending += slice.unresolved;
    if (day === wholeList) {
      const walk = walkRequests(resource, slice.shownTotal ?? 0, facts);
      perMs += walk / Math.max(1, settings.refreshMs);
    } else if (!isOver(spanOf(day, resource, facts), now)) perMs += 1 / tailMs;
  }
  if (pending > 0) perMs += Math.ceil(pending / limitOf(facts, 'orders')) / settleMs;
  return perMs * 1000;
}

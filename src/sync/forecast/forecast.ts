// What is still to be asked of each month, how long that takes at the allowed rate, and whether it fits before the
// deadline: a pure function of the ledger's rows, the facts, the settings, the rate and now. It decides nothing.
import { addDays, cliffOf, dayOf, monthStart } from '../../day.ts';
import { wholeList, type Day } from '../../model.ts';
import type { Slice } from '../../store/ledger.ts';
import { limitOf } from '../list-rules.ts';
import { noDeadline, settleMs } from '../policy.ts';
import { overAt } from '../verdicts.ts';
import {
  noRequests,
  requestsOf,
  walkRequests,
  type ListDay,
  type Requests,
  type Terms,
} from './costs.ts';
import { fitMonths, type Fit, type MonthForecast } from './fits.ts';
import { sizesOf } from './sizes.ts';

export type Forecast = {
  /**
   * Requests a second allowed, and how many of them go ahead of all months: today's tails, whole lists.
   */
  perSecond: number;
  standingPerSecond: number;
  /** Nearest deadline first. */
  months: (MonthForecast & Fit)[];
};

/** `slices` are those that are neither final nor lost. */
export function forecast(slices: Slice[], perSecond: number, terms: Terms): Forecast {
  const lists = daysByList(slices, terms);
  const months = lists.flatMap((days) => monthsOf(days, terms));
  const standing = standingRate(slices, terms);
  const { standingPerSecond, fits } = fitMonths(months, perSecond, standing, terms);
  return {
    perSecond,
    standingPerSecond,
    months: months
      .map((month, i) => ({ ...month, ...(fits[i] as Fit) }))
      .toSorted(
        (a, b) =>
          (a.deadlineAt ?? noDeadline) - (b.deadlineAt ?? noDeadline) ||
          compare(a.month, b.month) ||
          // Orders before classes, as everywhere.
          compare(b.resource, a.resource) ||
          compare(a.owner, b.owner),
      ),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The days of each list: those of the ledger, those that passed unseen, and the rest of the current month. */
function daysByList(slices: Slice[], { now }: Terms): ListDay[][] {
  const lists = new Map<string, ListDay[]>();
  for (const slice of slices) {
    if (slice.day === wholeList) continue;
    const { resource, owner, day } = slice;
    const days = lists.get(`${resource} ${owner}`) ?? [];
    days.push({ resource, owner, day, slice });
    lists.set(`${resource} ${owner}`, days);
  }
  const monthEnd = monthStart(dayOf(now), 1);
  return [...lists.values()].map((days) => {
    const [{ resource, owner }] = days as [ListDay];
    const newest = days.reduce((day, one) => (one.day > day ? one.day : day), '');
    // P7: days that passed while the service was off are needed like all others.
    for (let day = addDays(newest, 1); day < monthEnd; day = addDays(day, 1)) {
      days.push({ resource, owner, day, slice: null });
    }
    return days;
  });
}

function monthsOf(days: ListDay[], terms: Terms): MonthForecast[] {
  const { now, settings } = terms;
  const sizeOf = sizesOf(days, now);
  const months = new Map<Day, MonthForecast>();
  for (const one of days) {
    const first = monthStart(one.day);
    const cliff = cliffOf(one.day);
    const deadlineAt = one.slice?.deadlineAt ?? cliff - settings.deadlineMarginMs;
    const isEndless = deadlineAt >= noDeadline;
    const until = deadlineAt > now ? deadlineAt : cliff > now ? cliff : null;
    const month = months.get(first) ?? {
      resource: one.resource,
      owner: one.owner,
      month: first,
      needs: noRequests(),
      unread: [],
      sizes: 'known' as const,
      deadlineAt: isEndless ? null : deadlineAt,
      until: isEndless ? null : until,
    };
    months.set(first, month);
    // Nothing can be asked of a month that has left: it waits to be final, or lost.
    if (until === null) {
      if ((one.slice?.wholeWalk ?? 0) === 0) month.unread.push({ day: one.day, requests: 0 });
      continue;
    }
    const size = sizeOf(one);
    const needs = requestsOf(one, size.records, isEndless ? now : until, terms);
    for (const name of Object.keys(needs) as (keyof Requests)[]) month.needs[name] += needs[name];
    if (needs.unread > 0) month.unread.push({ day: one.day, requests: needs.unread });
    if (size.from === 'unknown' || month.sizes === 'known') month.sizes = size.from;
  }
  return [...months.values()];
}

/** Today's tail is read about this often, in milliseconds. */
const tailEveryMs = 60_000;

/**
 * Requests a second that go ahead of all months, as far as the rate allows: today's tails, today's orders while some
 * are pending, whole lists.
 */
function standingRate(slices: Slice[], { facts, settings, now }: Terms): number {
  let perMs = 0;
  let pending = 0;
  for (const slice of slices) {
    const { resource, day } = slice;
    const isToday = now < overAt(slice);
    if (isToday && slice.unresolved > 0) pending += slice.shownTotal ?? 0;
    if (day === wholeList) {
      const walk = walkRequests(resource, slice.shownTotal ?? 0, facts);
      perMs += walk / Math.max(1, settings.refreshMs);
    } else if (isToday) perMs += 1 / tailEveryMs;
  }
  if (pending > 0) perMs += Math.ceil(pending / limitOf(facts, 'orders')) / settleMs;
  return perMs * 1000;
}

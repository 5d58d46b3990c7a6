// In which zone the platform cuts its days, as far as records show it (fact `day_zone`): a slice stands for a day of
// the platform's, which is a UTC day only where that zone is UTC. Pure.
import { addDays, dayOf, monthStart, startOf } from '../day.ts';
import type { Day, Instant, ListedResource, Span } from '../model.ts';
import type { Facts } from '../store/facts.ts';

const hourMs = 3_600_000;
const quarterMs = hourMs / 4;
/** No zone is further from UTC. */
const most = { behindMs: 12 * hourMs, aheadMs: 14 * hourMs };

const text = (aheadMs: number): string => {
  const minutes = Math.abs(aheadMs) / 60_000;
  const rest = minutes % 60 === 0 ? '' : `:${String(minutes % 60).padStart(2, '0')}`;
  return aheadMs === 0 ? 'utc' : `utc${aheadMs < 0 ? '-' : '+'}${Math.floor(minutes / 60)}${rest}`;
};

/** How far the platform's days are ahead of UTC's, milliseconds; null while no record has shown it. */
export function knownAheadMs(facts: Facts, resource: ListedResource): number | null {
  if (facts.get(`${resource}.date_filter`) === 'ignored') return 0;
  const [, sign, hours, minutes = '0'] = /^utc(?:([+-])(\d+)(?::(\d+))?)?$/.exec(
    facts.get(`${resource}.day_zone`) ?? '',
  ) ?? [null];
  if (hours === undefined) return facts.get(`${resource}.day_zone`) === 'utc' ? 0 : null;
  return (sign === '-' ? -1 : 1) * (Number(hours) * hourMs + Number(minutes) * 60_000);
}

/** As `knownAheadMs`, UTC while nothing is known. */
export const aheadMsOf = (facts: Facts, resource: ListedResource): number =>
  knownAheadMs(facts, resource) ?? 0;

/** Whether two values of the fact lie on the same side of UTC, as which an unknown zone counts. */
export function isSameSide(one: string, other: string): boolean {
  const side = (zone: string): string => /^utc([+-])/.exec(zone)?.[1] ?? '';
  return side(one) === side(other);
}

/** The day that it is on the platform's calendar. */
export const todayOf = (facts: Facts, resource: ListedResource, now: Instant): Day =>
  dayOf(now + aheadMsOf(facts, resource));

/**
 * The zone that the records shown for `day` alone tell: the oldest lies in the day, and so does the newest. Of several
 * zones the one known `before` stays, else the one whose day ends last is taken, in whole hours where one fits.
 * `unknown` while UTC is one of many.
 */
export function zoneSeen(
  day: Day,
  oldest: Instant,
  newest: Instant,
  before: number | null,
): string {
  const least = Math.max(startOf(day) - oldest, -most.behindMs);
  const below = Math.min(startOf(addDays(day, 1)) - newest, most.aheadMs + 1);
  const fits = (aheadMs: number): boolean => aheadMs >= least && aheadMs < below;
  if (before !== null && fits(before)) return text(before);
  if (fits(0)) return least > -hourMs && below <= hourMs ? 'utc' : 'unknown';
  const zone = [hourMs, quarterMs].map((step) => Math.ceil(least / step) * step).find(fits);
  return zone === undefined ? 'unknown' : text(zone);
}

/**
 * What a day of the platform's is asked for. Where its zone is not UTC, the hours of a calendar month (UTC) that lie on
 * a day of the month before, or after, are asked for with the month's first day, or its last: so a month whose days are
 * all proved has all its hours, on either clock. What such a question shows of the other month is that month's.
 */
export function spanInZone(day: Day, aheadMs: number): Span {
  const next = addDays(day, 1);
  if (aheadMs === 0) return { from: day, to: next };
  const isFirst = day === monthStart(day);
  const isLast = next === monthStart(day, 1);
  return {
    from: isFirst && aheadMs < 0 ? addDays(day, -1) : day,
    to: isLast && aheadMs > 0 ? addDays(next, 1) : next,
    aheadMs,
    own: {
      from: isFirst ? startOf(day) : startOf(day) - aheadMs,
      to: isLast ? startOf(next) : startOf(next) - aheadMs,
    },
  };
}

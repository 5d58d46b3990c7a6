// How a slice's day is asked for: the one place that speaks the platform's date bounds, and the only one
// where days are not half-open. The fact `day_end` says how the platform reads its end date.
import { addDays, monthStart } from '../day.ts';
import { wholeList } from '../model.ts';
import type { Day, DayRange, Instant, ListedResource, PlatformPage, Span } from '../model.ts';
import type { Facts } from '../store/facts.ts';
import { aheadMsOf, knownAheadMs, spanInZone } from './day-zone.ts';

/** `instant`: the end date is a closed instant, so 00:00:00 of the next day is shown too. */
export type DayEnd = 'inclusive' | 'exclusive' | 'instant' | 'unknown';

export function dayEndOf(facts: Facts, resource: ListedResource): DayEnd {
  const value = facts.get(`${resource}.day_end`);
  return value === 'inclusive' || value === 'exclusive' || value === 'instant' ? value : 'unknown';
}

/** Whether the platform was seen to ignore its date filter: then a slice stands for its whole month (proof rule 4). */
export function ignoresDates(facts: Facts, resource: ListedResource): boolean {
  return facts.get(`${resource}.date_filter`) === 'ignored';
}

/** Whether the platform was seen to answer for days before its window. */
export function answersOlder(facts: Facts, resource: ListedResource): boolean {
  return facts.get(`${resource}.older_days`) === 'answered';
}

/** The day that names a slice: its own, or the first of its month where the platform does not filter by date. */
export const sliceDayOf = (day: Day, resource: ListedResource, facts: Facts): Day =>
  ignoresDates(facts, resource) ? monthStart(day) : day;

/** The days a slice stands for: its own as the platform counts them, or its month where it does not filter by date. */
export function spanOf(day: Day, resource: ListedResource, facts: Facts): Span {
  if (day === wholeList) return { from: wholeList, to: '9999-12-31' };
  return ignoresDates(facts, resource)
    ? { from: monthStart(day), to: monthStart(day, 1) }
    : spanInZone(day, aheadMsOf(facts, resource));
}

/**
 * Dates that show the whole span under every reading that is still possible: while the fact is unknown the next day is
 * asked for as well, so that no record falls between two days (proof rule 4). The last hours of the day before the
 * window are asked for with its first day, where a platform's months end before UTC's, which shows them too, and where
 * its days may end after UTC's: then they hold the window's first hours. A platform that refuses that day is not asked
 * for it.
 */
export function boundsOf(
  span: DayRange,
  resource: ListedResource,
  facts: Facts,
  windowFrom: Day,
): { startDate?: Day; endDate?: Day } {
  if (span.from === wholeList) return {};
  const dayBefore = addDays(windowFrom, -1);
  const older = facts.get(`${resource}.older_days`);
  const aheadMs = knownAheadMs(facts, resource);
  const mayEndLater = aheadMs === null ? older === 'not shown' : aheadMs < 0;
  const showsMore = facts.get(`${resource}.month_end`) === 'before_utc' || mayEndLater;
  const isRefused = older === 'refused' && span.from === dayBefore && span.to > windowFrom;
  const isExtended = span.from === windowFrom && showsMore && older !== 'refused';
  return {
    startDate: isRefused ? windowFrom : isExtended ? dayBefore : span.from,
    endDate: dayEndOf(facts, resource) === 'inclusive' ? addDays(span.to, -1) : span.to,
  };
}

const greatest: Record<ListedResource, number> = { orders: 50, nft_classes: 200 };

/** The greatest limit the platform honours; until that is known, the documented maximum (docs/platform.md §8). */
export function limitOf(facts: Facts, resource: ListedResource): number {
  const value = Number(facts.get(`${resource}.limit`));
  return Number.isInteger(value) && value > 0 ? value : greatest[resource];
}

/** What a list counts: a total of its page alone is none, nor is one below the records beside it. */
export function listTotal({ resource, total, shown }: PlatformPage, facts: Facts): number | null {
  return rulesOf(facts, resource).ignoresTotals || (total ?? 0) < shown ? null : total;
}

const toleranceMs = 14 * 3_600_000;

/** This far outside the asked days a record does not belong to them, whatever zone they are counted in. */
export function farOutside(createdAt: Instant, from: Instant, to: Instant): boolean {
  return isFarBefore(createdAt, from) || createdAt >= to + toleranceMs;
}

/** A time that no platform of this kind can have meant says nothing of how it filters. */
const plausible = { from: Date.parse('2000-01-01'), to: Date.parse('2200-01-01') };

/**
 * Records far outside the asked days `[from, to)` disprove the date filter (proof rule 4), when most of those shown
 * are: a platform without one shows its whole list, and a single record with an odd time must not cost the others their
 * days.
 */
export function disproveFilter(times: Instant[], from: Instant, to: Instant): boolean {
  const told = times.filter((at) => at >= plausible.from && at < plausible.to);
  return 2 * told.filter((at) => farOutside(at, from, to)).length > told.length;
}

/** Before `from` in every zone. */
export const isFarBefore = (createdAt: Instant, from: Instant): boolean =>
  createdAt < from - toleranceMs;

/** What is known of a list's dates and totals. */
export function rulesOf(
  facts: Facts,
  resource: ListedResource,
): { ignoresDates: boolean; ignoresTotals: boolean; countsBeyond: boolean } {
  const scope = facts.get(`${resource}.total_scope`);
  return {
    ignoresDates: ignoresDates(facts, resource),
    ignoresTotals: facts.get(`${resource}.totals`) === 'inconsistent' || scope === 'page',
    // Totals that were seen to be cut end no list.
    countsBeyond: scope === 'list' && !facts.has(`${resource}.cap`),
  };
}

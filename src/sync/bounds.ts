// How a slice's day is asked for: the one place that speaks the platform's date bounds, and the only one
// where days are not half-open. The fact `day_end` says how the platform reads its end date.
import { addDays } from '../day.ts';
import type { Day, Instant, ListedResource } from '../model.ts';
import type { Facts } from '../store/facts.ts';

/** `instant`: the end date is a closed instant, so 00:00:00 of the next day is shown too. */
export type DayEnd = 'inclusive' | 'exclusive' | 'instant' | 'unknown';

export function dayEndOf(facts: Facts, resource: ListedResource): DayEnd {
  const value = facts.get(`${resource}.day_end`);
  return value === 'inclusive' || value === 'exclusive' || value === 'instant' ? value : 'unknown';
}

/**
 * Dates that show the whole of `day` under every reading that is still possible: while the fact is unknown the
 * next day is asked for as well, so that no record falls between two days (proof rule 4).
 */
export function boundsOf(day: Day, dayEnd: DayEnd): { startDate: Day; endDate: Day } {
  return { startDate: day, endDate: dayEnd === 'inclusive' ? day : addDays(day, 1) };
}

const greatest: Record<ListedResource, number> = { orders: 50, nft_classes: 200 };

/** The greatest limit the platform honours; until that is known, the documented maximum (interface.md §8). */
export function limitOf(facts: Facts, resource: ListedResource): number {
  const value = Number(facts.get(`${resource}.limit`));
  return Number.isInteger(value) && value > 0 ? value : greatest[resource];
}

const toleranceMs = 14 * 3_600_000;

/** A record this far outside the asked days disproves the date filter, whatever zone it counts days in. */
export function farOutside(createdAt: Instant, from: Instant, to: Instant): boolean {
  return createdAt < from - toleranceMs || createdAt >= to + toleranceMs;
}

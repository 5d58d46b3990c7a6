// How a day is asked for: the one place that speaks the platform's date bounds, and the only one where days are not
// half-open.
import { addDays } from '../day.ts';
import { wholeList, type Day, type ListedResource } from '../model.ts';
import type { Facts } from '../store/facts.ts';

/** Whether the platform was seen to answer for days before its window. */
export function answersOlder(facts: Facts, resource: ListedResource): boolean {
  return facts.get(`${resource}.older_days`) === 'answered';
}

/**
 * Dates that show a day, of platforms that read an end date as the whole of that day; those that read it as its beginning
 * are asked for two.
 */
export function boundsOf(day: Day, daysAsked: 1 | 2): { startDate?: Day; endDate?: Day } {
  return day === wholeList ? {} : { startDate: day, endDate: addDays(day, daysAsked - 1) };
}

const greatest: Record<ListedResource, number> = { orders: 50, nft_classes: 200 };

/** The greatest limit the platform honours; until that is known, the documented maximum (docs/platform.md §8). */
export function limitOf(facts: Facts, resource: ListedResource): number {
  const value = Number(facts.get(`${resource}.limit`));
  return Number.isInteger(value) && value > 0 ? value : greatest[resource];
}

/** Whether totals were seen to count more than the page they stand on: then one may end a list of classes. */
export const countsBeyond = (facts: Facts, resource: ListedResource): boolean =>
  facts.get(`${resource}.total_scope`) === 'list';

// What it takes to ask for a page of a list and to read it: the only place that speaks the platform's date bounds, where
// days are not half-open.
import { addDays } from '../day.ts';
import { wholeList } from '../model.ts';
import type { Day, Instant, ListedResource, PlatformPage } from '../model.ts';
import { pageLimits } from '../resources.ts';
import type { Facts } from '../store/facts.ts';
import { idsOf } from '../store/walked-pages.ts';

/** The orders, or the classes of one owner; `''`: of all owners. */
export type List = { resource: ListedResource; owner: string };

/**
 * Dates that show a day, of platforms that read an end date as the whole of that day; those that read it as its beginning
 * are asked for two.
 */
export function boundsOf(day: Day, daysAsked: 1 | 2): { startDate?: Day; endDate?: Day } {
  return day === wholeList ? {} : { startDate: day, endDate: addDays(day, daysAsked - 1) };
}

/** The greatest limit the platform honours; until that is known, the documented maximum (docs/platform.md §8). */
export function limitOf(facts: Facts, resource: ListedResource): number {
  const value = Number(facts.get(`${resource}.limit`));
  return Number.isInteger(value) && value > 0 ? value : pageLimits[resource][0];
}

/** Whether totals were seen to count more than the page they stand on: then one may end a list of classes. */
export const countsBeyond = (facts: Facts, resource: ListedResource): boolean =>
  facts.get(`${resource}.total_scope`) === 'list';

/** Whether the list was ever shown. */
export const wasShown = (facts: Facts, list: ListedResource): boolean =>
  facts.has(`${list}.probed`);

/** Whether the platform was seen to answer for days before its window. */
export function answersOlder(facts: Facts, resource: ListedResource): boolean {
  return facts.get(`${resource}.older_days`) === 'answered';
}

export function showsAgain(page: PlatformPage, mustShow: string[]): boolean {
  const shown = new Set(idsOf(page));
  return mustShow.every((id) => shown.has(id));
}

type Shown = PlatformPage['records'][number];

/** When the first and the last record of a page were created, of those whose time can be read. */
export function endsOf({ records }: PlatformPage): { first: Instant | null; last: Instant | null } {
  const isRead = ({ columns }: Shown): boolean => typeof columns['created_at'] === 'string';
  const at = (record: Shown | undefined): Instant | null =>
    record === undefined ? null : Date.parse(String(record.columns['created_at']));
  return { first: at(records.find(isRead)), last: at(records.findLast(isRead)) };
}

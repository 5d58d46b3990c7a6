// The words that alerts are made of: names of lists and months, counts with their nouns, moments. Pure.
import { wholeList, type Day, type Instant, type ListedResource } from '../model.ts';
import type { Days } from '../store/alert-signs.ts';

type List = { resource: ListedResource; owner: string };

/** `orders 2026-03-05`, `nft_classes of iaa1x 2026-03`. */
export const nameOf = ({ resource, owner }: List, what: string): string =>
  owner === '' ? `${resource} ${what}` : `${resource} of ${owner} ${what}`;

/** `orders 2026-03`; an owner's whole list is no month of the calendar. */
export const monthName = (list: List, month: Day): string =>
  nameOf(list, month === wholeList ? 'as a whole' : month.slice(0, 7));

/** `1 day`, `1,200 days`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;

/** `3 days (2026-03-01, 2026-03-02, 2026-03-03) are`, `12 days (2026-03-01, 2026-03-02, 2026-03-03 and more) are`. */
export function named({ count, first }: Days, one: string, several: string): string {
  const listed = first.filter((day) => day !== wholeList).join(', ');
  const more = count > first.length ? ' and more' : '';
  const which = listed === '' ? '' : ` (${listed}${more})`;
  return `${counted(count, 'day')}${which} ${count === 1 ? one : several}`;
}

/** `2026-04-30 00:00 UTC`. */
export const moment = (at: Instant): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

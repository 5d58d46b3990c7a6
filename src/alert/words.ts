// The words that alerts are made of: names of lists and months, counts with their nouns, moments. Pure.
import {
  wholeList,
  type ClockDisagreement,
  type Day,
  type Instant,
  type ListedResource,
} from '../model.ts';
import type { Days } from '../store/alerts/alert-inputs.ts';

type List = { resource: ListedResource; owner: string };

/** `orders 2026-03-05`, `nft_classes of iaa1x 2026-03`. */
export const subjectName = ({ resource, owner }: List, what: string): string =>
  owner === '' ? `${resource} ${what}` : `${resource} of ${owner} ${what}`;

/** `orders 2026-03`; an owner's whole list is no month of the calendar. */
export const monthName = (list: List, month: Day): string =>
  subjectName(list, month === wholeList ? 'as a whole' : month.slice(0, 7));

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

const waits = 'nothing is sealed, final or lost before every clock says so';

/** Whose clock it is, and by how much. */
export function clockText(machine: string, { of, byMs }: ClockDisagreement): string {
  const by = lasting(Math.abs(byMs));
  return of === 'machine'
    ? `The clock of ${machine} is ${by} ${byMs > 0 ? 'behind' : 'ahead of'} the platform's: ${waits}. Set it right (NTP).`
    : `The platform's answers contradict each other about the time, by ${by}: ${waits}.`;
}

/** `7 minutes`, `3 hours`, `366 days`. */
function lasting(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return counted(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  return hours < 48 ? counted(hours, 'hour') : counted(Math.round(hours / 24), 'day');
}

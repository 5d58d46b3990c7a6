// What a query's parameters ask for, as the document words it, and which time they select: a query's own dates by the
// dialect's reading, cut to the window. Pure.
import { addDays, dayOf, isDay, monthStart, startOf } from '../day.ts';
import type { Instant } from '../model.ts';
import type { QueryParameters } from '../platform/target.ts';
import type { Dialect } from './dialect.ts';

/** A parameter that is a whole number from `least` on; a sentence if it is something else. */
export function wholeIn(
  query: QueryParameters,
  name: string,
  standard: number,
  least: number,
): number | string {
  const text = query.get(name);
  if (text === undefined) return standard;
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < least) {
    return `${name} must be a whole number from ${least} on`;
  }
  return value;
}

/** `sort_by` (docs/platform.md §4.4, §4.7), where it is not ignored; null if it is neither. */
export function isAscending(query: QueryParameters, { sort }: Dialect): boolean | null {
  if (sort === 'ignored') return true;
  const sortBy = query.get('sort_by') ?? 'DATE_DESC';
  return sortBy === 'DATE_ASC' ? true : sortBy === 'DATE_DESC' ? false : null;
}

const eightHoursMs = 8 * 3_600_000;
/** How far a zone is ahead of UTC. */
const aheadMs = { utc: 0, 'utc+8': eightHoursMs, 'utc-8': -eightHoursMs, batches: 0 };
const batches = 9;

/** Half-open, `[from, to)`. */
export type Bounds = { from: Instant; to: Instant };

/** The current and the previous calendar month, by the clock that ends the month. */
export function windowStart(now: Instant, { monthEnd }: Pick<Dialect, 'monthEnd'>): Instant {
  const ahead = aheadMs[monthEnd];
  const start = startOf(monthStart(dayOf(now + ahead), -1)) - ahead;
  if (monthEnd !== 'batches') return start;
  const next = startOf(monthStart(dayOf(now), 0));
  const end = startOf(monthStart(dayOf(now), 1));
  // A batch an hour; the last of them at the end itself.
  const gone = Math.max(0, Math.floor((now - (end - eightHoursMs)) / 3_600_000) + 1);
  return start + (gone * (next - start)) / batches;
}

/** The bounds of `start_date` and `end_date`; a text where one of them is no date. */
export function dateBoundsOf(
  query: ReadonlyMap<string, string>,
  dialect: Dialect,
  earliest: Instant,
): Bounds | string {
  const start = query.get('start_date');
  const end = query.get('end_date');
  if (start !== undefined && !isDay(start)) return 'start_date must be yyyy-MM-dd';
  if (end !== undefined && !isDay(end)) return 'end_date must be yyyy-MM-dd';
  if (dialect.dates === 'ignored') return { from: earliest, to: Infinity };
  const ahead = aheadMs[dialect.dates];
  const from = start === undefined ? earliest : Math.max(earliest, startOf(start) - ahead);
  return { from, to: end === undefined ? Infinity : endOf(end, dialect) - ahead };
}

function endOf(end: string, { dayEnd }: Dialect): Instant {
  if (dayEnd === 'inclusive') return startOf(addDays(end, 1));
  // The first instant of the day, its whole second: the world knows no finer time.
  return dayEnd === 'exclusive' ? startOf(end) : startOf(end) + 1000;
}

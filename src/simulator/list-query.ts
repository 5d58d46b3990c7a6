// What a query's parameters ask for, as the document words it, and which time they select: a query's own dates by the
// dialect's reading, cut to the window. Pure.
import { addDays, dayOf, isDay, monthStart, startOf } from '../day.ts';
import type { Instant } from '../model.ts';
import type { QueryParameters } from '../platform/target.ts';
import type { Dialect } from './dialect.ts';

/** What is asked wrongly is answered 400 with this sentence. */
export class BadQuery extends Error {}

/** A parameter that is a whole number from `least` on. */
export function wholeIn(
  query: QueryParameters,
  name: string,
  standard: number,
  least: number,
): number {
  const text = query.get(name);
  if (text === undefined) return standard;
  if (!/^\d{1,15}$/.test(text) || Number(text) < least) {
    throw new BadQuery(`${name} must be a whole number from ${least} on`);
  }
  return Number(text);
}

/** Which of its values a parameter has; the first where it has none. */
export function choiceIn(query: QueryParameters, name: string, values: readonly string[]): number {
  const choice = values.indexOf(query.get(name) ?? values[0] ?? '');
  if (choice < 0) throw new BadQuery(`${name} must be one of ${values.filter(Boolean).join(', ')}`);
  return choice;
}

/** The rows a page may carry: as asked (10 by default), up to the greatest limit. */
export function limitIn(query: QueryParameters, greatest: number, { overLimit }: Dialect): number {
  const limit = wholeIn(query, 'limit', 10, 1);
  if (limit > greatest && overLimit === 'refuse') {
    throw new BadQuery(`limit must not exceed ${greatest}`);
  }
  return Math.min(limit, greatest);
}

/** `sort_by` (docs/platform.md §4.4, §4.7), where it is not ignored. */
export const isAscending = (query: QueryParameters, { sort }: Dialect): boolean =>
  choiceIn(query, 'sort_by', ['DATE_DESC', 'DATE_ASC']) === 1 || sort === 'ignored';

const eightHoursMs = 8 * 3_600_000;
/** How far a zone is ahead of UTC. */
const aheadMs = { utc: 0, 'utc+8': eightHoursMs, 'utc-8': -eightHoursMs, batches: 0 };
const batches = 9;

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

/** What `start_date` and `end_date` select, `[from, to)`, of what is not older than `earliest`. */
export function rangeIn(
  query: QueryParameters,
  dialect: Dialect,
  earliest: Instant,
): { from: Instant; to: Instant } {
  const start = dayIn(query, 'start_date');
  const end = dayIn(query, 'end_date');
  if (dialect.dates === 'ignored') return { from: earliest, to: Infinity };
  const ahead = aheadMs[dialect.dates];
  return {
    from: start === undefined ? earliest : Math.max(earliest, startOf(start) - ahead),
    to: end === undefined ? Infinity : endOf(end, dialect) - ahead,
  };
}

function dayIn(query: QueryParameters, name: string): string | undefined {
  const day = query.get(name);
  if (day !== undefined && !isDay(day)) throw new BadQuery(`${name} must be yyyy-MM-dd`);
  return day;
}

function endOf(end: string, { dayEnd }: Dialect): Instant {
  if (dayEnd === 'inclusive') return startOf(addDays(end, 1));
  // The first instant of the day, its whole second: the world knows no finer time.
  return dayEnd === 'exclusive' ? startOf(end) : startOf(end) + 1000;
}

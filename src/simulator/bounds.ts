// Which time a query selects: its own dates by the dialect's reading, cut to the window. Pure.
import { isDay, monthStart, startOf, addDays, dayOf } from '../day.ts';
import type { Instant } from '../model.ts';
import type { Dialect } from './dialect.ts';

const eightHoursMs = 8 * 3_600_000;
/** How far a zone is ahead of UTC. */
const aheadMs = { utc: 0, 'utc+8': eightHoursMs, 'utc-8': -eightHoursMs };

/** Half-open, `[from, to)`. */
export type Bounds = { from: Instant; to: Instant };

/** The current and the previous calendar month, by the clock that ends the month. */
export function windowStart(now: Instant, dialect: Dialect): Instant {
  const ahead = aheadMs[dialect.monthEnd];
  return startOf(monthStart(dayOf(now + ahead), -1)) - ahead;
}

/** The bounds of `start_date` and `end_date`; a text where one of them is no date. */
export function boundsOf(
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

// The platform's times, whose text format is unknown (docs/platform.md §2.3): every form seen so far, read
// explicitly. Engines disagree on `new Date(text)`, so no foreign text ever reaches it. Pure.
import type { Instant } from '../model.ts';

// RFC 3339; `yyyy-MM-dd HH:mm:ss[.fff]`, which is UTC; Go's `2022-07-29 11:28:58 +0000 UTC`, where the zone's name says
// nothing that the offset does not.
const form =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?: ?(?:[Zz]|([+-]\d\d:?\d\d)(?: [A-Z]{1,5})?))?$/;
/** The form that all become, and most have. */
const ownForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/**
 * A time as RFC 3339 text in UTC with up to microseconds, e.g. `2026-03-01T10:00:00Z`, `…00.123456Z`; null if
 * it cannot be read or is no real time between the years 1 and 9999. Finer fractions are cut off, not rounded.
 */
export function readTime(given: unknown): string | null {
  if (typeof given !== 'string') return null;
  const text = given.trim();
  if (ownForm.test(text)) {
    return isCalendarDay(text) && isTimeOfDay(text.slice(11, 19)) ? text : null;
  }
  const parts = form.exec(text);
  if (parts === null) return null;
  const [, day = '', time = '', fraction = '', zone] = parts;
  if (!isCalendarDay(day) || !isTimeOfDay(time)) return null;
  const digits = fraction.slice(0, 6).replace(/0+$/, '');
  const rest = digits === '' ? 'Z' : `.${digits}Z`;
  const offset = zone === undefined ? 0 : offsetMinutes(zone);
  if (offset === null) return null;
  if (offset === 0) return `${day}T${time}${rest}`;
  // Our own text by now, in the one form every engine must read alike.
  const utc = new Date(Date.parse(`${day}T${time}Z`) - offset * 60_000).toISOString();
  // Outside the years 1 to 9999 Postgres and `Day` do not write alike.
  return utc.length === 24 && !utc.startsWith('0000') ? utc.slice(0, 19) + rest : null;
}

/** Minutes east of Greenwich; null if there is no such offset. */
function offsetMinutes(zone: string): number | null {
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

function isCalendarDay(day: string): boolean {
  const year = Number(day.slice(0, 4));
  const month = Number(day.slice(5, 7));
  const date = Number(day.slice(8, 10));
  return year > 0 && month > 0 && month < 13 && date > 0 && date <= daysInMonth(year, month);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

const isTimeOfDay = (time: string): boolean =>
  time < '24' && time.slice(3, 5) < '60' && time.slice(6, 8) < '60';

const httpForm =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) GMT$/;
const monthNames = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** The instant in a `Date` or `Retry-After` header (IMF-fixdate of RFC 9110); null if it is none. */
export function readHttpDate(text: string): Instant | null {
  const parts = httpForm.exec(text);
  if (parts === null) return null;
  const [, date = '', monthName = '', year = '', time = ''] = parts;
  const month = String(monthNames.indexOf(monthName) + 1).padStart(2, '0');
  const day = `${year}-${month}-${date}`;
  return isCalendarDay(day) && isTimeOfDay(time) ? Date.parse(`${day}T${time}Z`) : null;
}

// The platform's times, whose text format is unknown (docs/platform.md §2.3): every form seen so far, read
// explicitly. Engines disagree on `new Date(text)`: what it makes of a text must be that text again. Pure.
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
  if (ownForm.test(text)) return instantOf(text) === null ? null : text;
  const parts = form.exec(text);
  if (parts === null) return null;
  const [, day = '', time = '', fraction = '', zone] = parts;
  const at = instantOf(`${day}T${time}Z`);
  if (at === null) return null;
  const digits = fraction.slice(0, 6).replace(/0+$/, '');
  const rest = digits === '' ? 'Z' : `.${digits}Z`;
  const offset = zone === undefined ? 0 : offsetMinutes(zone);
  if (offset === null) return null;
  if (offset === 0) return `${day}T${time}${rest}`;
  const utc = new Date(at - offset * 60_000).toISOString();
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

/** What a text of `ownForm` says; null where there is no such time: a day that its month does not have is carried over. */
function instantOf(text: string): Instant | null {
  const at = new Date(text);
  const isReal = at.getUTCDate() === Number(text.slice(8, 10)) && !text.startsWith('0000');
  return isReal ? at.getTime() : null;
}

/** Years have four digits: no column holds others, nor a `Day`. */
const imfFixdate = 'Sun, 06 Nov 1994 08:49:37 GMT';

/** The instant in a `Date` or `Retry-After` header (IMF-fixdate of RFC 9110); null if it is none. */
export function readHttpDate(text: string): Instant | null {
  const at = Date.parse(text);
  if (Number.isNaN(at) || text.length !== imfFixdate.length) return null;
  // The weekday says nothing that the date does not.
  return new Date(at).toUTCString().slice(4) === text.slice(4) ? at : null;
}

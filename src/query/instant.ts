// Instants as callers write them: RFC 3339, any offset, up to microseconds. Made one text a moment, so that two
// spellings of it mean the same to a cursor and compare as text. Pure.
import { addDays, startOf } from '../day.ts';
import type { Day } from '../model.ts';

const form =
  /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,6}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

/**
 * The instant as RFC 3339 in UTC without trailing zeros, `2026-03-01T10:00:00.5Z`; null for anything but a real moment
 * of the years 1 to 9999. Strict: a leap second, a space instead of `T`, a missing offset or a seventh decimal is
 * refused, not guessed at.
 */
export function readInstant(text: string): string | null {
  const parts = form.exec(text);
  if (parts === null) return null;
  const [, day = '', time = '', fraction = '', sign, hours, minutes] = parts;
  // An impossible date would roll over.
  if (new Date(startOf(day)).toJSON()?.slice(0, 10) !== day) return null;
  const offsetMinutes =
    sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const utc = new Date(Date.parse(`${day}T${time}Z`) - offsetMinutes * 60_000).toISOString();
  // Outside four digits the year is written with a sign, and year 0 is none of Postgres'.
  if (utc.length !== 24 || utc.startsWith('0000')) return null;
  const digits = fraction.replace(/0+$/, '');
  return `${utc.slice(0, 19)}${digits === '' ? '' : `.${digits}`}Z`;
}

/** A real time between the years 1 and 9999 in UTC as it is given out. */
export const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT[\d:]{8}(\.\d{1,6})?Z$/.test(text) && readInstant(text) !== null;

/**
 * The first day under which nothing stood at an instant of what stands there now, but for what is found by its own
 * index (store/schema.ts, `isAhead`): two days for contents that were seen before their record was entered, which leases
 * allow for minutes only, one for zones, one because bounds are half-open. Null: there is no such day.
 */
export function dayBeyond(instant: string): Day | null {
  const day = instant.slice(0, 10);
  return day > '9999-12-27' ? null : addDays(day, 4);
}

/**
 * Whether one instant is no later than another, both as they are written here: without the `Z` they compare as text.
 */
export const isBy = (one: string, other: string): boolean => one.slice(0, -1) <= other.slice(0, -1);

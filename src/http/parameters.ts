// The parameters both lists share (interface.md §4.4, §4.7). Each mistake is answered 400 with what is allowed (P12).
import { addDays, isDay } from '../day.ts';
import type { Day } from '../model.ts';
import { refuse } from './answers.ts';
import type { Query } from '../platform/target.ts';

/** How the platform read an end date; the archive answers as it did (fact `day_end`). */
export type DayEnd = 'inclusive' | 'exclusive' | 'instant';

export const dayEndOf = (fact: string | undefined): DayEnd =>
  fact === 'exclusive' || fact === 'instant' ? fact : 'inclusive';

export function wholeIn(
  query: Query,
  name: string,
  standard: number,
  least: number,
  most: number,
): number {
  const text = query.get(name);
  if (text === undefined) return standard;
  const value = Number(text);
  return /^\d{1,15}$/.test(text) && value >= least && value <= most
    ? value
    : refuse(`${name} must be a whole number from ${least} to ${most}`);
}

export function orderIn(query: Query): 'asc' | 'desc' {
  const sortBy = query.get('sort_by') ?? 'DATE_DESC';
  if (sortBy === 'DATE_ASC') return 'asc';
  return sortBy === 'DATE_DESC' ? 'desc' : refuse('sort_by must be DATE_ASC or DATE_DESC');
}

export type Days = { from?: Day; to?: Day; toInstant?: true };

/** The days asked for, half-open, as the platform reads its two dates. An end before the start selects nothing. */
export function daysIn(query: Query, dayEnd: DayEnd): Days {
  const start = dayIn(query, 'start_date');
  const end = dayIn(query, 'end_date');
  const days: Days = {
    ...(start === undefined ? {} : { from: start }),
    ...(end === undefined ? {} : { to: dayEnd === 'inclusive' ? addDays(end, 1) : end }),
    ...(end !== undefined && dayEnd === 'instant' ? { toInstant: true as const } : {}),
  };
  const { from, to } = days;
  return from !== undefined && to !== undefined && from > to ? { from, to: from } : days;
}

function dayIn(query: Query, name: string): Day | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  const isKnown = isDay(text) && text >= '0001-01-01' && text < '9999-12-31';
  return isKnown ? text : refuse(`${name} must be a day as yyyy-MM-dd`);
}

/** Text for a filter. Postgres has no NUL, and nothing archived matches it. */
export function textIn(query: Query, name: string, maxLength: number): string | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  const isUsable = text.length <= maxLength && !/[\0\p{Surrogate}]/u.test(text);
  return isUsable ? text : refuse(`${name} must be text of at most ${maxLength} characters`);
}

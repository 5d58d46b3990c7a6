// The parameters both lists share (docs/platform.md §4.4, §4.7). Each mistake is answered 400 with what is allowed (P12).
import { addDays, isDay } from '../day.ts';
import type { Day, ListedResource } from '../model.ts';
import type { Archive } from '../query/types.ts';
import { refuse } from './answers.ts';
import type { Query } from '../platform/target.ts';

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

/**
 * The days asked for, half-open, as the platform reads its two dates. An end before the start selects nothing. How the platform
 * reads an end date is a fact (`day_end`), which is looked up where there is one: most pages need no second query.
 */
export async function daysIn(
  query: Query,
  archive: Pick<Archive, 'facts'>,
  project: string,
  resource: ListedResource,
): Promise<Days> {
  const start = dayIn(query, 'start_date');
  const end = dayIn(query, 'end_date');
  const from = start === undefined ? {} : { from: start };
  if (end === undefined) return from;
  const fact = (await archive.facts({ project }))[`${resource}.day_end`];
  // Inclusive while unknown.
  const to = fact === 'exclusive' || fact === 'instant' ? end : addDays(end, 1);
  const days: Days = { ...from, to, ...(fact === 'instant' ? { toInstant: true } : {}) };
  return start !== undefined && start > to ? { from: start, to: start } : days;
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

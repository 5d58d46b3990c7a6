// What a query's parameters ask for, as the document words it.
import type { Query } from '../platform/target.ts';
import type { Dialect } from './dialect.ts';

/** A parameter that is a whole number from `least` on; a sentence if it is something else. */
export function wholeIn(
  query: Query,
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
export function isAscending(query: Query, { sort }: Dialect): boolean | null {
  if (sort === 'ignored') return true;
  const sortBy = query.get('sort_by') ?? 'DATE_DESC';
  return sortBy === 'DATE_ASC' ? true : sortBy === 'DATE_DESC' ? false : null;
}

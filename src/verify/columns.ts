// Whether two values of a typed column are the same, by the column's type. Pure.
import type { ColumnValue } from '../model.ts';
import { canonical } from '../platform/canonical.ts';
import { parseJson } from '../platform/json.ts';
import { plainDecimal } from '../platform/numbers.ts';

/** Whether two texts are the same JSON value. */
export const isSameJson = (a: string, b: string): boolean =>
  a === b || canonical(parseJson(a)).text === canonical(parseJson(b)).text;

/** Whether a column holds what follows from the record. Numbers are compared by value: 1.50 is 1.5. */
export function isSameColumn(type: string, held: ColumnValue, follows: ColumnValue): boolean {
  if (held === null || follows === null) return held === follows;
  // As Postgres prints them; the texts derived have the same form.
  const [a, b] = [String(held), String(follows)];
  if (type === 'jsonb') return isSameJson(a, b);
  return a === b || (type === 'numeric' && numeric(a) === numeric(b));
}

const numeric = (text: string): string | null => plainDecimal(text.replace(/^\+/, ''));

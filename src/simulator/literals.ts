// Records that a test writes out: sent exactly as they stand, whatever that is.
import type { Instant } from '../model.ts';
import { explicitShelf, type Entry, type ListKind, type ShelfSource } from './shelf.ts';
import { dayNumberOf, instantIn, type DayNumber } from './times.ts';

/**
 * A record written by a test: JSON text that is sent as it stands (it need not even be JSON), or a value. `at` says
 * when it appears where the text does not, `id` how it is named in `hide` and `mutate`.
 */
export type Literal =
  | string
  | { text: string; at?: Instant; id?: string }
  | { record: Record<string, unknown>; at?: Instant; id?: string };

/** `fallbackAt` is when a record appears whose time can neither be read nor was given. */
export function entryOf<F>(
  literal: Literal,
  seq: number,
  kind: ListKind<F>,
  fallbackAt: Instant,
): Entry<F> {
  const given = typeof literal === 'string' ? { text: literal } : literal;
  const text = 'record' in given ? JSON.stringify(given.record) : given.text;
  const record = objectIn(text);
  const id = given.id ?? record[kind.idField];
  return {
    at: Math.floor(given.at ?? instantIn(record[kind.timeField]) ?? fallbackAt),
    seq,
    id: typeof id === 'string' || typeof id === 'number' ? String(id) : '',
    text: () => text,
    matches: (filter) => kind.matches(record, filter),
  };
}

/** The object a text holds; an empty one where it holds none. */
export function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A list whose records are all given: literally what a test wants to be shown. */
export function literalSource<F>(
  literals: readonly Literal[],
  kind: ListKind<F>,
  now: Instant,
): ShelfSource<F> {
  const days = new Map<DayNumber, Entry<F>[]>();
  let at = now;
  literals.forEach((literal, i) => {
    const entry = entryOf(literal, i, kind, at);
    // One without a time of its own stands beside the one before it.
    at = entry.at;
    const day = dayNumberOf(entry.at);
    const entries = days.get(day);
    if (entries === undefined) days.set(day, [entry]);
    else entries.push(entry);
  });
  return {
    kind,
    firstDay: Math.min(dayNumberOf(now), ...days.keys()),
    countOn: (day) => days.get(day)?.length ?? 0,
    shelf: (day, ties) => explicitShelf(days.get(day) ?? [], ties),
    stamp: () => 0,
  };
}

// A list of records over days: counts, ranks and pages over a range of time at constant cost whatever the depth.
// A day that is wholly inside a range is counted, never read; a page touches the days its records stand on.
import type { Instant } from '../model.ts';
import { entryOf, objectIn, type Literal } from './literals.ts';
import {
  bisect,
  entriesOf,
  explicitShelf,
  positionOf,
  type Entry,
  type ListPlace,
  type Shelf,
  type ShelfSource,
  type Ties,
} from './shelf.ts';
import { dayMs, dayNumberOf, type DayNumber } from './times.ts';

/** A piece of one day: its positions `[lo, hi)`, of `positions` where a filter chose some. */
type Piece = {
  day: DayNumber;
  lo: number;
  hi: number;
  positions: Uint32Array | null;
  /** How many records of the selection stand before this piece. */
  before: number;
};

/** What a query selects, ascending; a rank is a record's number in it, from 0. */
export type Selection<F> = {
  total: number;
  at(rank: number): { shelf: Shelf<F>; k: number };
  /** How many stand before `place`, the record at it included if `after`. */
  rankOf(place: ListPlace, after: boolean): number;
};

export type RecordList<F> = {
  /** What is visible at `now` with `from <= time < to`. */
  select(from: Instant, to: Instant, filter: F | null, now: Instant): Selection<F>;
  /** The platform stops showing every record of this id; false if none is found in the 70 days before `now`. */
  hide(id: string, now: Instant): boolean;
  insert(literal: Literal, now: Instant): void;
  /** Changes what it shows from now on; the function is given the record as it would have been. */
  mutate(id: string, change: Change, now: Instant): boolean;
  /** Forgets what is cached: after a switch that changes the order. */
  refresh(): void;
};

/** Returns the new record, or its JSON text. */
export type Change = (
  record: Record<string, unknown>,
  text: string,
) => Record<string, unknown> | string;

/** Records held in memory at once over all days, about five bytes each. */
const maxCachedRecords = 8_000_000;
const maxCachedSelections = 200;
const searchedDays = 70;

export function createList<F>(source: ShelfSource<F>, ties: () => Ties): RecordList<F> {
  const edited = new Map<DayNumber, Entry<F>[]>();
  let shelves = new Map<DayNumber, Shelf<F>>();
  let cachedRecords = 0;
  let views = new WeakMap<Shelf<F>, Map<string, { stamp: number; positions: Uint32Array }>>();
  let selections = new Map<string, Selection<F>>();
  let inserted = 0;

  const countOn = (day: DayNumber): number => edited.get(day)?.length ?? source.countOn(day);

  function shelfOf(day: DayNumber): Shelf<F> {
    let shelf = shelves.get(day);
    if (shelf !== undefined) return shelf;
    const entries = edited.get(day);
    shelf = entries === undefined ? source.shelf(day, ties()) : explicitShelf(entries, ties());
    cachedRecords += shelf.size;
    shelves.set(day, shelf);
    for (const [oldest, old] of shelves) {
      if (cachedRecords <= maxCachedRecords || oldest === day) break;
      shelves.delete(oldest);
      cachedRecords -= old.size;
    }
    return shelf;
  }

  /** The day's positions that a filter matches, kept as long as they hold. */
  function positionsOn(day: DayNumber, filter: F, key: string, now: Instant): Uint32Array {
    const shelf = shelfOf(day);
    let kept = views.get(shelf);
    if (kept === undefined) views.set(shelf, (kept = new Map()));
    // Somebody's change may depend on time in any way: an edited day holds for its instant only.
    const stamp = edited.has(day) ? now : source.stamp(day, now, filter);
    const view = kept.get(key);
    if (view?.stamp === stamp) return view.positions;
    const found: number[] = [];
    for (let k = 0; k < shelf.size; k++) if (shelf.matches(k, filter, now)) found.push(k);
    const positions = Uint32Array.from(found);
    if (kept.size > 100) kept.clear();
    kept.set(key, { stamp, positions });
    return positions;
  }

  function piecesOf(from: Instant, to: Instant, filter: F | null, now: Instant): Piece[] {
    const key = filter === null ? '' : JSON.stringify(filter);
    const pieces: Piece[] = [];
    let before = 0;
    const only = filter === null ? null : (source.onlyDay?.(filter) ?? null);
    const lastDay = dayNumberOf(to - 1);
    for (let day = Math.max(firstDay(), dayNumberOf(from)); day <= lastDay; day++) {
      if (only !== null && day !== only && !edited.has(day)) continue;
      const count = countOn(day);
      if (count === 0) continue;
      const positions = filter === null ? null : positionsOn(day, filter, key, now);
      const size = positions?.length ?? count;
      const start = day * dayMs;
      const lo = start >= from ? 0 : firstAt(day, size, positions, from);
      const hi = start + dayMs <= to ? size : firstAt(day, size, positions, to);
      if (hi <= lo) continue;
      pieces.push({ day, lo, hi, positions, before });
      before += hi - lo;
    }
    return pieces;
  }

  function firstAt(
    day: DayNumber,
    size: number,
    positions: Uint32Array | null,
    at: Instant,
  ): number {
    const shelf = shelfOf(day);
    return bisect(size, (i) => shelf.timeAt(positions === null ? i : (positions[i] ?? 0)) < at);
  }

  const firstDay = (): DayNumber => {
    let first = source.firstDay;
    for (const day of edited.keys()) first = Math.min(first, day);
    return first;
  };

  function selectionOf(pieces: Piece[]): Selection<F> {
    const last = pieces.at(-1);
    const total = last === undefined ? 0 : last.before + last.hi - last.lo;
    return {
      total,
      at: (rank) => {
        const piece = pieces[bisect(pieces.length, (i) => (pieces[i]?.before ?? 0) <= rank) - 1];
        if (piece === undefined || rank >= total) throw new RangeError(`no record of rank ${rank}`);
        const position = piece.lo + rank - piece.before;
        return { shelf: shelfOf(piece.day), k: piece.positions?.[position] ?? position };
      },
      rankOf: (place, after) => {
        const day = dayNumberOf(place.at);
        const piece = pieces[bisect(pieces.length, (i) => (pieces[i]?.day ?? 0) < day)];
        if (piece === undefined) return total;
        if (piece.day > day) return piece.before;
        const position = positionOf(shelfOf(day), place, after, ties(), piece.positions);
        return piece.before + Math.min(Math.max(position, piece.lo), piece.hi) - piece.lo;
      },
    };
  }

  function forget(day: DayNumber): void {
    cachedRecords -= shelves.get(day)?.size ?? 0;
    shelves.delete(day);
    selections.clear();
  }

  /** Rewrites the days that show `id`: each of its entries becomes what `rewrite` returns, or nothing. */
  function edit(id: string, now: Instant, rewrite: (entry: Entry<F>) => Entry<F> | null): boolean {
    let found = false;
    const today = dayNumberOf(now);
    const days = new Set([
      ...Array.from({ length: searchedDays }, (_, i) => today - i),
      ...edited.keys(),
    ]);
    for (const day of days) {
      if (countOn(day) === 0) continue;
      const entries = edited.get(day) ?? entriesOf(shelfOf(day));
      if (!entries.some((entry) => entry.id === id)) continue;
      found = true;
      edited.set(
        day,
        entries.flatMap((entry) => (entry.id === id ? (rewrite(entry) ?? []) : entry)),
      );
      forget(day);
    }
    return found;
  }

  return {
    select: (from, to, filter, now) => {
      // A record is visible from its second on.
      const end = Math.min(to, now + 1);
      const isPast = filter === null && to <= now;
      const key = `${from}|${end}|${isPast ? '' : now}|${JSON.stringify(filter)}`;
      let selection = selections.get(key);
      if (selection === undefined) {
        if (selections.size > maxCachedSelections) selections = new Map();
        selections.set(key, (selection = selectionOf(piecesOf(from, end, filter, now))));
      }
      return selection;
    },
    hide: (id, now) => edit(id, now, () => null),
    insert: (literal, now) => {
      const entry = entryOf(literal, 1e9 + inserted++, source.kind, now);
      const day = dayNumberOf(entry.at);
      edited.set(day, [...(edited.get(day) ?? entriesOf(shelfOf(day))), entry]);
      forget(day);
    },
    mutate: (id, change, now) =>
      edit(id, now, (entry) => {
        const text = (at: Instant): string => {
          const was = entry.text(at);
          const changed = change(objectIn(was), was);
          return typeof changed === 'string' ? changed : JSON.stringify(changed);
        };
        const matches = (filter: F, at: Instant): boolean =>
          source.kind.matches(objectIn(text(at)), filter);
        return { ...entry, text, matches };
      }),
    refresh: () => {
      shelves = new Map();
      cachedRecords = 0;
      views = new WeakMap();
      selections = new Map();
    },
  };
}

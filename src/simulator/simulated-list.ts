// A list of records over days. A day that lies wholly inside the asked range is counted and never made, and a page
// touches the days its records stand on: it costs the same at any depth. Records are made from their day and number, or
// written out by whoever holds the simulator; what was written or changed takes the place of its whole day.
import { dayMs } from '../day.ts';
import type { Instant } from '../model.ts';
import { dayNumberOf, instantIn, type createMadeDays, type DayNumber } from './world.ts';

export type Entry = {
  at: Instant;
  /** Order of insertion: tells records of one second apart. */
  seq: number;
  id: string;
  /** All that a made record is made from, beside its time and id. */
  chance: number;
  /** Of one that was written out or changed: its JSON text at that time. */
  written?: (now: Instant) => string;
};

/** Where a list's records come from before anybody changes one. `F` is what the list can be filtered by. */
export type ListSource<F> = ReturnType<typeof createMadeDays> & {
  idField: string;
  timeField: string;
  /** A made record as JSON text, as it stands at `now`. */
  textOf(entry: Entry, now: Instant): string;
  matches(entry: Entry, filter: F, now: Instant): boolean;
  /** The same of a record that was written out. */
  matchesWritten(record: Record<string, unknown>, filter: F): boolean;
  /** While it stays the same, so does what a filter matches on that day. */
  stamp(day: DayNumber, now: Instant, filter: F): number;
};

/**
 * A record written by a test: JSON text that is sent as it stands (it need not even be JSON), or a value. `at` says
 * when it appears where the text does not, `id` how it is named in `hide` and `mutate`.
 */
export type Literal =
  | string
  | { text: string; at?: Instant; id?: string }
  | { record: Record<string, unknown>; at?: Instant; id?: string };

/** Returns the new record, or its JSON text. */
export type Change = (
  record: Record<string, unknown>,
  text: string,
) => Record<string, unknown> | string;

type Ties = 'id' | 'insertion';

/** Where a record stands in its list. An id longer than its key may be is cut: order needs no more. */
export type ListPlace = { at: Instant; seq: number; id: string };

const maxIdLength = 64;
export const placeOf = ({ at, seq, id }: Entry): ListPlace => ({
  at,
  seq,
  id: id.slice(0, maxIdLength),
});

/** What a query selects, ascending; a rank is a record's number in it, from 0. */
export type Selection = {
  total: number;
  at(rank: number): Entry;
  /** How many stand before `place`, the record at it included if `after`. */
  rankOf(place: ListPlace, after: boolean): number;
};

export type RecordList<F> = ReturnType<typeof createList<F>>;

/** Records held in memory at once over all days, a hundred and some bytes each. */
const maxCachedRecords = 2_000_000;
const searchedDays = 70;

/** A day's records in the order shown, and what filters chose of them, for as long as it holds. */
type MadeDay = { entries: Entry[]; chosen: Map<string, { stamp: number; entries: Entry[] }> };

/** A piece of one day: `[lo, hi)` of its records, or of those that a filter chose. */
type Piece = {
  day: DayNumber;
  lo: number;
  hi: number;
  chosen: Entry[] | null;
  /** How many records of the selection stand before this piece. */
  before: number;
};

/** Given `literals`, the list has these and no others. */
export function createList<F>(
  source: ListSource<F>,
  ties: () => Ties,
  literals: readonly Literal[] | undefined,
  createdAt: Instant,
) {
  const edited = new Map<DayNumber, Entry[]>();
  const made = new Map<DayNumber, MadeDay>();
  let cachedRecords = 0;
  let inserted = 0;
  let firstDay = source.firstDay;

  const countOn = (day: DayNumber): number =>
    edited.get(day)?.length ?? (literals === undefined ? source.countOn(day) : 0);

  function on(day: DayNumber): MadeDay {
    const known = made.get(day);
    if (known !== undefined) return known;
    const shown = edited.get(day) ?? (countOn(day) === 0 ? [] : source.entriesOn(day));
    const byId = ties() === 'id';
    const entries = shown.toSorted((a, b) => comparePlaces(a, b, byId));
    const fresh: MadeDay = { entries, chosen: new Map() };
    made.set(day, fresh);
    cachedRecords += entries.length;
    for (const [oldest, { entries: old }] of made) {
      if (cachedRecords <= maxCachedRecords || oldest === day) break;
      made.delete(oldest);
      cachedRecords -= old.length;
    }
    return fresh;
  }

  function chosenOn(day: DayNumber, filter: F, now: Instant): Entry[] {
    const { entries, chosen } = on(day);
    const key = JSON.stringify(filter);
    // Somebody's change may depend on time in any way: an edited day holds for its instant only.
    const stamp = edited.has(day) ? now : source.stamp(day, now, filter);
    const known = chosen.get(key);
    if (known?.stamp === stamp) return known.entries;
    const found = entries.filter((entry) => matches(entry, filter, now));
    if (chosen.size > 100) chosen.clear();
    chosen.set(key, { stamp, entries: found });
    return found;
  }

  /** Its JSON text as it stands at `now`. */
  const textOf = (entry: Entry, now: Instant): string =>
    entry.written === undefined ? source.textOf(entry, now) : entry.written(now);
  const matches = (entry: Entry, filter: F, now: Instant): boolean =>
    entry.written === undefined
      ? source.matches(entry, filter, now)
      : source.matchesWritten(objectIn(entry.written(now)), filter);

  /** What is visible at `now` with `from <= time < to`. */
  function select(from: Instant, to: Instant, filter: F | null, now: Instant): Selection {
    // A record is visible from its second on.
    const end = Math.min(to, now + 1);
    const pieces: Piece[] = [];
    let total = 0;
    for (let day = Math.max(firstDay, dayNumberOf(from)); day <= dayNumberOf(end - 1); day++) {
      const count = countOn(day);
      if (count === 0) continue;
      const chosen = filter === null ? null : chosenOn(day, filter, now);
      const firstAt = (at: Instant): number => {
        const entries = chosen ?? on(day).entries;
        return bisect(entries.length, (i) => (entries[i]?.at ?? 0) < at);
      };
      const start = day * dayMs;
      const lo = start >= from ? 0 : firstAt(from);
      const hi = start + dayMs <= end ? (chosen?.length ?? count) : firstAt(end);
      if (hi <= lo) continue;
      pieces.push({ day, lo, hi, chosen, before: total });
      total += hi - lo;
    }
    const entriesOf = ({ day, chosen }: Piece): Entry[] => chosen ?? on(day).entries;
    return {
      total,
      at: (rank) => {
        const piece = pieces[bisect(pieces.length, (i) => (pieces[i]?.before ?? 0) <= rank) - 1];
        const entry = piece && entriesOf(piece)[piece.lo + rank - piece.before];
        if (entry === undefined) throw new RangeError(`no record of rank ${rank}`);
        return entry;
      },
      rankOf: (place, after) => {
        const day = dayNumberOf(place.at);
        const piece = pieces[bisect(pieces.length, (i) => (pieces[i]?.day ?? 0) < day)];
        if (piece === undefined) return total;
        if (piece.day > day) return piece.before;
        const entries = entriesOf(piece);
        const byId = ties() === 'id';
        const position = bisect(entries.length, (i) => {
          const order = comparePlaces(entries[i] ?? place, place, byId);
          return after ? order <= 0 : order < 0;
        });
        return piece.before + Math.min(Math.max(position, piece.lo), piece.hi) - piece.lo;
      },
    };
  }

  /** Puts other records on a day. */
  function put(day: DayNumber, entries: Entry[]): void {
    edited.set(day, entries);
    firstDay = Math.min(firstDay, day);
    cachedRecords -= made.get(day)?.entries.length ?? 0;
    made.delete(day);
  }

  /** Rewrites the days that show `id`: each of its entries becomes what `rewrite` returns, or nothing. */
  function edit(id: string, now: Instant, rewrite: (entry: Entry) => Entry | null): boolean {
    const today = dayNumberOf(now);
    const searched = Array.from({ length: searchedDays }, (_, i) => today - i);
    const found = [...new Set([...searched, ...edited.keys()])].filter(
      (day) => countOn(day) > 0 && on(day).entries.some((entry) => entry.id === id),
    );
    for (const day of found) {
      put(
        day,
        on(day).entries.flatMap((entry) => (entry.id === id ? (rewrite(entry) ?? []) : entry)),
      );
    }
    return found.length > 0;
  }

  /** `fallbackAt` is when a record appears whose time can neither be read nor was given. */
  function insert(literal: Literal, fallbackAt: Instant): Entry {
    const given = typeof literal === 'string' ? { text: literal } : literal;
    const text = 'record' in given ? JSON.stringify(given.record) : given.text;
    const record = objectIn(text);
    const id = given.id ?? record[source.idField];
    const entry = {
      at: Math.floor(given.at ?? instantIn(record[source.timeField]) ?? fallbackAt),
      // Behind all that were made.
      seq: 1e9 + inserted++,
      id: typeof id === 'string' || typeof id === 'number' ? String(id) : '',
      chance: 0,
      written: () => text,
    };
    const day = dayNumberOf(entry.at);
    put(day, [...(countOn(day) > 0 ? on(day).entries : []), entry]);
    return entry;
  }

  // One without a time of its own stands beside the one before it.
  let at = createdAt;
  for (const literal of literals ?? []) ({ at } = insert(literal, at));

  return {
    select,
    textOf,
    /** The platform stops showing every record of this id; false if none is found in the 70 days before `now`. */
    hide: (id: string, now: Instant): boolean => edit(id, now, () => null),
    insert: (literal: Literal, now: Instant): void => void insert(literal, now),
    /** Changes what it shows from now on; the function is given the record as it would have been. */
    mutate: (id: string, change: Change, now: Instant): boolean =>
      edit(id, now, (entry) => ({
        ...entry,
        written: (later) => {
          const was = textOf(entry, later);
          const changed = change(objectIn(was), was);
          return typeof changed === 'string' ? changed : JSON.stringify(changed);
        },
      })),
    /** Forgets what is cached: after a switch that changes the order. */
    refresh: (): void => {
      made.clear();
      cachedRecords = 0;
    },
  };
}

function comparePlaces(a: ListPlace, b: ListPlace, byId: boolean): number {
  if (a.at !== b.at) return a.at - b.at;
  if (byId && a.id !== b.id) {
    const [x, y] = [a.id.slice(0, maxIdLength), b.id.slice(0, maxIdLength)];
    if (x !== y) return x < y ? -1 : 1;
  }
  return a.seq - b.seq;
}

/** The first index below `size` for which `isBefore` does not hold; it must hold for a beginning only. */
function bisect(size: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
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

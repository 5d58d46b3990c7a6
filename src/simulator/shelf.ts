// A shelf: the records of one UTC day of one list, in the order the platform shows them ascending. Generated
// shelves make their texts on demand; explicit ones hold records that a test wrote or changed. A source is where they
// come from before anybody changes one.
import type { Instant } from '../model.ts';
import type { DayNumber } from './times.ts';

/** `F` is the filter of its list. */
export type Shelf<F> = {
  readonly size: number;
  timeAt(k: number): Instant;
  /** Order of insertion: tells records of one second apart. */
  seqAt(k: number): number;
  idAt(k: number): string;
  /** The record as JSON text, as it stands at `now`. */
  textAt(k: number, now: Instant): string;
  matches(k: number, filter: F, now: Instant): boolean;
};

/** Where a record stands in its list. An id longer than its key may be is cut: order needs no more. */
export type ListPlace = { at: Instant; seq: number; id: string };

export type Ties = 'id' | 'insertion';
const maxIdLength = 64;

export const placeAt = <F>(shelf: Shelf<F>, k: number): ListPlace => ({
  at: shelf.timeAt(k),
  seq: shelf.seqAt(k),
  id: shelf.idAt(k).slice(0, maxIdLength),
});

/** The first position that does not stand before `place`, or with `after` the first that stands behind it. */
export function positionOf<F>(
  shelf: Shelf<F>,
  place: ListPlace,
  after: boolean,
  ties: Ties,
  positions: Uint32Array | null,
): number {
  return bisect(positions?.length ?? shelf.size, (i) => {
    const k = positions === null ? i : (positions[i] ?? 0);
    const order = compare(shelf, k, place, ties);
    return after ? order <= 0 : order < 0;
  });
}

function compare<F>(shelf: Shelf<F>, k: number, place: ListPlace, ties: Ties): number {
  const byTime = shelf.timeAt(k) - place.at;
  if (byTime !== 0) return byTime;
  const byId = ties === 'id' ? compareText(shelf.idAt(k).slice(0, maxIdLength), place.id) : 0;
  return byId === 0 ? shelf.seqAt(k) - place.seq : byId;
}

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The first index below `size` for which `isBefore` does not hold; it must hold for a beginning only. */
export function bisect(size: number, isBefore: (index: number) => boolean): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export type Entry<F> = {
  at: Instant;
  seq: number;
  id: string;
  text(now: Instant): string;
  matches(filter: F, now: Instant): boolean;
};

export function explicitShelf<F>(unsorted: readonly Entry<F>[], ties: Ties): Shelf<F> {
  const entries = unsorted.toSorted(
    (a, b) => a.at - b.at || (ties === 'id' ? compareText(a.id, b.id) : 0) || a.seq - b.seq,
  );
  const entry = (k: number): Entry<F> => {
    const found = entries[k];
    if (found === undefined) throw new RangeError(`no record ${k} on this shelf`);
    return found;
  };
  return {
    size: entries.length,
    timeAt: (k) => entry(k).at,
    seqAt: (k) => entry(k).seq,
    idAt: (k) => entry(k).id,
    textAt: (k, now) => entry(k).text(now),
    matches: (k, filter, now) => entry(k).matches(filter, now),
  };
}

/** A shelf's records one by one, to be changed and put back. */
export const entriesOf = <F>(shelf: Shelf<F>): Entry<F>[] =>
  Array.from({ length: shelf.size }, (_, k) => ({
    at: shelf.timeAt(k),
    seq: shelf.seqAt(k),
    id: shelf.idAt(k),
    text: (now) => shelf.textAt(k, now),
    matches: (filter, now) => shelf.matches(k, filter, now),
  }));

/** What a list's records are called and how a record that was written out answers a filter. */
export type ListKind<F> = {
  idField: string;
  timeField: string;
  matches(record: Record<string, unknown>, filter: F): boolean;
};

/** Where a list's records come from before anybody changes one. */
export type ShelfSource<F> = {
  kind: ListKind<F>;
  /** Nothing is older. */
  firstDay: DayNumber;
  /** How many records a day has once it is over. */
  countOn(day: DayNumber): number;
  shelf(day: DayNumber, ties: Ties): Shelf<F>;
  /** While it stays the same, so does what a filter matches on that day. */
  stamp(day: DayNumber, now: Instant, filter: F): number;
  /** The only day that can match, where the filter tells (NaN: none does); null where it does not. */
  onlyDay?(filter: F): DayNumber | null;
};

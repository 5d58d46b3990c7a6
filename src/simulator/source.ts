// Where a list's records come from before anybody changes one: generated, or written out by a test.
import type { Instant } from '../model.ts';
import type { Shelf, Ties } from './shelf.ts';
import type { DayNumber } from './times.ts';

/** What a list's records are called and how a record that was written out answers a filter. */
export type Kind<F> = {
  idField: string;
  timeField: string;
  matches(record: Record<string, unknown>, filter: F): boolean;
  /** Whether a filter goes by what a record became; unless said otherwise it does. */
  seesChanges?(filter: F): boolean;
};

/** Where a list's records come from before anybody changes one. */
export type Source<F> = {
  kind: Kind<F>;
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

// Where a walk in progress goes on, as the ledger keeps it. Types only.
import type { AskedStatus, End, Instant } from '../model.ts';

/** What is known of a reading before it ends. */
export type ReadingInProgress = {
  /** The end of the list at which it was asked to begin. */
  end: End;
  /** When, by each clock; `earliest` is null where there was none. */
  began: { machine: Instant; now: Instant; earliest: Instant | null };
  /** Its day is asked for alone, or with the next one. */
  daysAsked: 1 | 2;
  /** What is walked after the list, and which of them is under way; 0: the list. */
  statuses: AskedStatus[];
  view: number;
  /** Number of the first page of that view. */
  begins: number;
  /** The greatest total that came with its pages; null: none. */
  mostTotal: number | null;
  /** The greatest total that came with the list's; null: none. */
  listTotal: number | null;
  /** By how much the total of an earlier view exceeded what it showed. */
  claims: number;
  /** When the first and the last row of the list were created; null: not known. */
  first: Instant | null;
  last: Instant | null;
};

/** Where a page stands in its walk. */
export type PagePosition = {
  /** From 0, on through all views of a walk. */
  number: number;
  /** Orders: null for the first page of a view. */
  pageKey: string | null;
  /** Classes: one row of overlap included. */
  offset: number;
  /** Classes: what the first row must be, for the list has moved otherwise. Null for the first page. */
  overlap: string | null;
};

/** Where a walk in progress goes on. */
export type Checkpoint = { reading: ReadingInProgress; next: PagePosition };

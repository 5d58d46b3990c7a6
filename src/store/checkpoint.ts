// Where a walk in progress goes on, as the ledger keeps it. Types only.
import type { AskedStatus, Day, End, Instant } from '../model.ts';

/** How a view of a day is asked for, its list or one status of it: the same from its first page to its last. */
export type ViewQuery = {
  /** As the platform reads them; absent for an owner's whole list. */
  startDate?: Day;
  endDate?: Day;
  limit: number;
  order: End;
  status?: AskedStatus | undefined;
};

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

/** Where a walk in progress goes on. */
export type Checkpoint = {
  reading: ReadingInProgress;
  /** Number of the next page, from 0. */
  page: number;
  /** Orders: the key of the next page; null before the first. */
  pageKey: string | null;
  /** Classes: the offset of the next page, one row of overlap included; and the id that row must show. */
  offset: number;
  lastId: string | null;
};

// Where a walk in progress goes on, as the ledger keeps it. Types only.
import type { Day } from '../model.ts';

/** How a walk is asked for: fixed from its first page to its last. */
export type WalkQuery = {
  /** As the platform reads them; absent for an owner's whole list. */
  startDate?: Day;
  endDate?: Day;
  limit: number;
  /** Newest first; absent: oldest first, as every walk that a tail may follow. */
  order?: 'desc';
  /** Orders of one status, where a list is cut and read in parts. */
  status?: 1 | 2 | 3;
};

/**
 * A list that ends before all its records were shown: what is known of it while it is read in parts, all of one walk.
 */
export type CutList = {
  /** The end from which its first part was read. */
  first: 'asc' | 'desc';
  /** The total before the walk; null where there was none. */
  total: number | null;
  /** The platform does not show it from its other end. */
  isBlind: boolean;
  /** Records of the first part: so many are shown at a time. */
  size: number;
  /** A part was left whose two ends did not meet. */
  hasGap: boolean;
  /** A part was left at a key that was answered with nothing: keys may have expired, and the list is not read whole. */
  isUnsure?: true;
  /** It leaves out what is shown when its status is asked for. */
  hides?: true;
  /** It may do so: its statuses are read as well, and asked for a witness. */
  mayHide?: true;
  /** So many rows were shown by their status. */
  statusRows?: number;
};

export type PartInProgress = {
  list: CutList;
  /** Number of its first page. */
  begins: number;
  /**
   * A record that stands on one of these pages of the walk ends the part: the ends have met. Null: it is read to its
   * end.
   */
  meets: { from: number; to: number } | null;
};

/** Where a walk in progress goes on. */
export type Checkpoint = {
  query: WalkQuery;
  /** Number of the next page, from 0. */
  page: number;
  /** Orders: the key of the next page; null before the first. */
  pageKey: string | null;
  /** Classes: the offset of the next page, one row of overlap included; and the id that row must show. */
  offset: number;
  lastId: string | null;
  /** The total of the first page; null where the platform gave none. */
  totalBefore: number | null;
  /** The part in progress, where a list is read in parts. */
  part?: PartInProgress;
};

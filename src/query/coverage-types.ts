// What coverage takes and gives: how sure each slice of the ledger is. Plain data, as in types.ts.
import type { Day, ListedResource, ProjectId, Proof, SliceState } from '../model.ts';

/** What is not certain about a slice (docs/design.md, "States"). */
export type Reservation = 'lost' | 'no_proof' | 'proved_before_closing' | 'unresolved_orders';

/** One slice of the ledger: what is held of a UTC day and how sure that is. */
export type CoverageDay = {
  project: ProjectId;
  resource: ListedResource;
  /** The owner whose classes these are; '' for the whole list. */
  owner: string;
  day: Day;
  state: SliceState;
  proof: Proof;
  provedAt: string | null;
  walkedAt: string | null;
  /** What the platform said there is, and what the last walk was shown; null where unknown. */
  platformTotal: number | null;
  shownTotal: number | null;
  /** Orders still pending. */
  unresolved: number;
  /** Records without a usable id, kept as bytes and in no list. */
  rejected: number;
  deadlineAt: string;
  /** Empty for a claim without reservations. */
  reservations: Reservation[];
  lastError: string | null;
};

export type CoverageQuery = {
  project: ProjectId;
  resource?: ListedResource;
  /** UTC days `[from, to)`. */
  from?: Day;
  to?: Day;
};

// What one looks at first: what goes on, one day with all that is known of it, and what came in. Plain data, as in
// types.ts.
import type { Day, ListedResource, ProjectId, Proof, SliceState } from '../model.ts';
import type { CoverageDay } from '../catalogue.ts';

export type DayQuery = {
  project: ProjectId;
  resource: ListedResource;
  day: Day;
  /**
   * '' is the whole list. Unless told the whole list, or else the first of the owners whose lists stand for the day.
   */
  owner?: string;
};

/** How many there are, and some of them. */
export type Counted<Item> = { count: number; items: Item[] };

/** A whole reading of a past day: two of them, from either end of the list, prove it (docs/guarantee.md). */
export type DayReading = {
  beginsAt: 'oldest' | 'newest';
  beganAt: string;
  endedAt: string;
  /** Distinct records, rejects included. */
  shown: number;
  /** Records held of the day that it did not show. */
  lacks: number;
  /** How many more records a total of it counted than it showed. */
  claims: number;
};

/** One entry of a day's journal (docs/verify.md). */
export type DayEntry = {
  /** Its number in the project's journal. */
  entry: number;
  /** On the database's clock. */
  enteredAt: string;
  kind:
    'pages' | 'contents' | 'reading' | 'ledger' | 'dropped' | 'missing' | 'returned' | 'certified';
  /** Records of which it stored a content, or that it marked as missing. */
  records: number;
  /** What the day became; all null unless the kind is `ledger`. */
  state: SliceState | null;
  proof: Proof | null;
  platformTotal: number | null;
  shownTotal: number | null;
  unresolved: number | null;
};

/** Everything that is known of one day of a list: what coverage says of it, and what that rests on. */
export type DayReport = CoverageDay & {
  /** The owners whose lists stand for the day, by name; '' is the whole list. This report is of one of them. */
  owners: string[];
  /** When the newest page held was asked for. */
  newestPageAt: string | null;
  /** When it is looked at next; null: it is final or lost. */
  dueAt: string | null;
  /** Records held under the day, of an owner's list those that are the owner's now. */
  records: number;
  /** Of them, orders that are pending. */
  pending: number;
  /** Of them, those that the platform shows no more; the newest 100. */
  missing: Counted<{ id: string; since: string }>;
  /** Earlier contents of these records; the newest 100 by when they were first seen. */
  changes: Counted<{ id: string; observedAt: string }>;
  /** The newest 100. */
  rejects: Counted<{ sha256: string; reason: string; seenAt: string }>;
  /** The newest 100, the newest first. */
  readings: Counted<DayReading>;
  /** The newest 200, the newest first. */
  history: Counted<DayEntry>;
};

/** What goes on now. */
export type Progress = {
  project: ProjectId;
  /** Another text whenever something of the ledger, the runs, the alerts or what is held may have changed. */
  revision: string;
  /** The run in progress; null: none is. */
  run: {
    runId: string;
    startedAt: string;
    /** Slices it has read or counted so far. */
    slicesDone: number;
    /** What the slices it has read whole so far have shown. */
    recordsShown: number;
  } | null;
  /** Slices that are being read at this moment. */
  inHand: {
    resource: ListedResource;
    owner: string;
    /** Null: an owner's whole list. */
    day: Day | null;
    /** How many pages of it were read so far. */
    pages: number;
  }[];
  /** Slices to be looked at now, those in hand included. */
  slicesDue: number;
  /** Slices that will be looked at again at all, those due included. */
  slicesWaiting: number;
  /** When the next of the others is due. */
  nextDueAt: string | null;
  /** When the newest run ended that did all that was due. */
  succeededAt: string | null;
  /** The newest. */
  certificate: {
    resource: ListedResource;
    /** Its first day. */
    month: Day;
    certifiedAt: string;
    digest: string;
  } | null;
  /** Since when the platform refuses the project, what it said, and when it is asked again; null while it answers. */
  parked: { at: string; reason: string | null; askAgainAt: string | null } | null;
  /** The database's clock. */
  archiveNow: string;
};

export type RecentQuery = {
  project: ProjectId;
  resource: ListedResource;
  /** 1 to 100; 20 by default. */
  limit?: number;
};

/** A record that came in lately. */
export type Recent = {
  project: ProjectId;
  resource: ListedResource;
  id: string;
  day: Day;
  createdAt: string | null;
  firstSeenAt: string;
  /** Of an order its status, of a class null. */
  status: number | null;
  /** Of an order its amount in fen as decimal text, of a class null. */
  amount: string | null;
  /** Of a class its name, of an order its account. */
  name: string | null;
};

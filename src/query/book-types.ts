// What the archive's own books give: coverage, operations watched, certificates, runs, rejects. Plain data, as in
// types.ts.
import type {
  ApiVersion,
  BalanceCounts,
  Day,
  ListedResource,
  ProjectId,
  Proof,
  Resource,
  SliceState,
  WatchedState,
  Why,
} from '../model.ts';

/**
 * A page of a list that is read forwards: `limit` is 1 to 10,000, 100 by default; `cursor` the `next` of a page of the
 * same query.
 */
export type PagedForward = { limit?: number; cursor?: string };

export type WatchedQuery = PagedForward & { project: ProjectId; state?: WatchedState };

/** An operation whose results are asked for (docs/transactions.md). */
export type WatchedOperation = {
  project: ProjectId;
  operationId: string;
  /** The one lookup that is asked; null: both. */
  apiVersion: ApiVersion | null;
  /** The UTC day it was begun, where that was given. */
  createdOn: Day | null;
  addedAt: string;
  /** `open`: asked for still. `done`: the result is final. `lost`: its month left the window before that. */
  state: WatchedState;
  foundBy: ApiVersion[];
  /** The final status, 1 succeeded or 2 failed; null while there is none. */
  status: number | null;
  hasCertificateFile: boolean;
  /** Null until a run has entered it. */
  deadlineAt: string | null;
  /** When it is asked for next; null when it is not. */
  dueAt: string | null;
  attempts: number;
  lastError: string | null;
};

export type CertificateQuery = {
  project: ProjectId;
  resource?: Resource;
  /** `yyyy-MM`. */
  month?: string;
};

/** What is certified of a month that has left the window (docs/verify.md). */
export type MonthCertificate = {
  project: ProjectId;
  resource: ListedResource;
  /** Its first day. */
  month: Day;
  /** The instant whose contents are certified: an `asOf` for reading them. */
  certifiedAt: string;
  records: number;
  /** The month's digest, lower-case hex. */
  digest: string;
  /** The certificate itself as JSON text: every day with its count, digest, state, proof and reservations. */
  certificateJson: string;
};

export type RunQuery = PagedForward & { project: ProjectId };

/** One pass of the worker over what was due. Of quiet ones in a row only the last is kept. */
export type Run = {
  project: ProjectId;
  runId: string;
  startedAt: string;
  /** Null while it goes on, or where it was cut off. */
  endedAt: string | null;
  outcome: string | null;
  requests: number;
  slicesDone: number;
  recordsShown: number;
  recordsNew: number;
  recordsChanged: number;
  recordsRejected: number;
  lastError: string | null;
};

export type RejectQuery = PagedForward & {
  project: ProjectId;
  resource?: Resource;
  /** UTC days `[from, to)` that were asked for. */
  from?: Day;
  to?: Day;
};

/** A record without a usable id: in no table and in no figure. */
export type Reject = {
  project: ProjectId;
  resource: Resource;
  /** The owner whose list showed it; '' for the whole list. */
  owner: string;
  /** The day that was asked for; null where none was. */
  day: Day | null;
  reason: string;
  seenAt: string;
  /** Of its bytes, lower-case hex. */
  sha256: string;
  byteCount: number;
};

export type RejectWithBytes = Reject & { bytes: Uint8Array };

/** What is not certain about a slice (docs/guarantee.md). */
export const reservationNames = ['lost', 'no_proof', 'unresolved_orders'] as const;
export type Reservation = (typeof reservationNames)[number];

/** One slice of the ledger: what is held of a UTC day and how sure that is. */
export type CoverageDay = {
  project: ProjectId;
  resource: ListedResource;
  /** The owner whose classes these are; '' for the whole list. */
  owner: string;
  day: Day;
  state: SliceState;
  proof: Proof;
  /** What keeps it from being proved (docs/guarantee.md); null: nothing. */
  why: Why | null;
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
  /** Whether all of it is held: read whole and proved, no record without a usable id. */
  isHeld: boolean;
  /** Whether it is, and nothing is pending. */
  isSettled: boolean;
  /** When it is looked at next; null when it is not: it is final or lost. */
  dueAt: string | null;
  lastError: string | null;
};

export type CoverageQuery = {
  project: ProjectId;
  resource?: ListedResource;
  /** UTC days `[from, to)`. */
  from?: Day;
  to?: Day;
};

export type BalanceQuery = { project: ProjectId; resource?: ListedResource };

/** The newest books of a list: what the platform counts of all days that are over, beside what its lists showed. */
export type Balance = BalanceCounts & {
  project: ProjectId;
  resource: ListedResource;
  /** The owner whose classes are counted; '' for the whole list. */
  owner: string;
  /** The first and the last UTC day that are counted. */
  firstDay: Day;
  lastDay: Day;
  askedAt: string;
  /**
   * The parts that do not balance, `from` and `to` included: what the platform counts there, and what it showed. Where
   * these are the same, it counts more of a status.
   */
  more: { from: Day; to: Day; counted: number | null; shown: number }[];
  /** Since when there have been such parts; null: there are none. */
  moreSince: string | null;
};

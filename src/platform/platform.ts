// The platform as the rest of the house sees it: what can be asked, and what comes back.
// Types only; client.ts speaks HTTP, pages.ts and parse.ts read the answers.
import type {
  ApiVersion,
  ClockDisagreement,
  Day,
  Instant,
  PlatformPage,
  ParsedRecord,
  RejectedRecord,
} from '../model.ts';
import type { Semaphore } from '../semaphore.ts';

/** Filters of `/v3/orders` (docs/platform.md §4.4). Dates go on the wire as given. Absent means "not sent". */
export type OrdersQuery = {
  pageKey?: string;
  limit: number;
  status?: 1 | 2 | 3;
  startDate?: Day;
  endDate?: Day;
  sortBy: 'DATE_ASC' | 'DATE_DESC';
  countTotal: boolean;
};

/** Filters of `/v1beta1/nft/classes` (docs/platform.md §4.7). */
export type ClassesQuery = {
  offset: number;
  limit: number;
  id?: string;
  owner?: string;
  startDate?: Day;
  endDate?: Day;
  sortBy: 'DATE_ASC' | 'DATE_DESC';
};

/** A transaction result, and when it was asked for; `record` is null where the platform knows no such operation. */
export type FoundTransaction = { record: ParsedRecord | null; askedAt: Instant };

/** The node's whole list of tokens (docs/platform.md §4.2), without fees. */
export type NodeTokenList = {
  /** The height it was answered at, decimal text; null where that cannot be read. */
  height: string | null;
  tokens: ListedToken[];
  rejects: RejectedRecord[];
  askedAt: Instant;
};

/** A token as the node gave it: its element of the list, verbatim. */
export type ListedToken = { symbol: string; text: string };

/**
 * One project's door to its platform. Every call takes a permit of the rate limit per attempt, signs afresh,
 * retries transient faults within bounds and honours the signal. It throws `OutlastError`:
 *   transient `platform_unavailable`  faults lasted through all attempts (time-outs, 429, 5xx, text 404, bad JSON …)
 *   transient `platform_unusable`     answers came, and none of them could be read: others may fare better
 *   fatal     `platform_forbidden`    a final 401 or 403: the key is refused
 *   fatal     `platform_refused`      400 or another 4xx; `refusal` on the error holds status, code and message
 *   transient `aborted`               the signal was aborted
 */
export type Platform = {
  readonly clock: PlatformClock;
  /**
   * `slots` bounds how many requests are under way, of all calls that share it. An attempt holds one until its page has
   * arrived; reading the page and waiting to ask again need none.
   */
  orders(query: OrdersQuery, signal?: AbortSignal, slots?: Semaphore): Promise<PlatformPage>;
  classes(query: ClassesQuery, signal?: AbortSignal, slots?: Semaphore): Promise<PlatformPage>;
  /** The result of an operation by one of the two lookups. `operationId` is sent as it is, percent-encoded. */
  transaction(
    version: ApiVersion,
    operationId: string,
    signal?: AbortSignal,
  ): Promise<FoundTransaction>;
  /**
   * All tokens, asked of the node interface without a key; null where the node knows no such path. A node's refusal,
   * 401 and 403 included, is `platform_refused`: it says nothing about the project's key.
   */
  tokens(signal?: AbortSignal): Promise<NodeTokenList | null>;
  /** The `result` of a token's fees as verbatim JSON text; null where the node knows neither `/fee` nor `/fees`. */
  tokenFees(symbol: string, signal?: AbortSignal): Promise<string | null>;
  /** Lets so many milliseconds pass before the next question; rejects when the signal is aborted. */
  sleep(forMs: number, signal?: AbortSignal): Promise<void>;
  /** Requests sent so far, retries included. */
  requests(): number;
  close(): Promise<void>;
};

/** The platform's time: monotonic time plus the offset that several answers' `Date` headers agree on (see clock.ts). */
export type PlatformClock = {
  /** The best estimate of now on the platform's clock; before anything is believed, this machine's wall clock. */
  now(): Instant;
  /**
   * The earliest of what the witnesses show: certainly past is only what lies before it. What cannot be taken back
   * (`lost`, `final`, a seal, a certificate) asks this and never `now`. This machine's clock alone while no answer is
   * dated.
   */
  certain(): Instant;
  /** The latest of what the witnesses show: what has not come by then has certainly not come. */
  possible(): Instant;
  /** Whether anything is believed by now, and not only this machine's clock. */
  isSettled(): boolean;
  /** This machine slept, or its clock was set, since an answer confirmed the belief: ask before relying on it. */
  isStale(): boolean;
  /** What an earlier process believed, as the platform's time of this moment: it counts if an answer confirms it. */
  recall(platformNow: Instant): void;
  /** Null while this machine's clock and a clear majority of the newest answers agree with what is believed. */
  disagreement(): ClockDisagreement | null;
  /** Platform minus local, milliseconds (±500: the header has whole seconds); null before anything is believed. */
  offsetMs(): number | null;
  /** The newest `Date` header within reason; null before the first answer. */
  lastDate(): Instant | null;
};

/** The rate limit of one project, shared by all its slices and replicas (P11). */
export type Limiter = {
  /** Resolves when one request may be sent. Rejects with `aborted` when the signal is. */
  permit(signal?: AbortSignal): Promise<void>;
  /** The platform asked for quiet (429, Retry-After): nobody asks again before so many milliseconds from now. */
  pause(forMs: number): Promise<void>;
};

// The platform as the rest of the house sees it: what can be asked, and what comes back.
// Types only; client.ts speaks HTTP, pages.ts and parse.ts read the answers.
import type {
  ApiVersion,
  AskedStatus,
  ClockDisagreement,
  Day,
  Instant,
  ListedResource,
  PlatformPage,
  ParsedRecord,
  RejectedRecord,
} from '../model.ts';
import type { Semaphore } from '../semaphore.ts';

/**
 * A question for a page of a list, `/v3/orders` or `/v1beta1/nft/classes` (docs/platform.md §4.4, §4.7). Dates go on the
 * wire as given. Absent means "not sent".
 */
export type ListQuery = {
  resource: ListedResource;
  limit: number;
  startDate?: Day;
  endDate?: Day;
  sortBy: 'DATE_ASC' | 'DATE_DESC';
  /** Of orders alone, as the next two: classes come with their total always. */
  countTotal?: boolean;
  pageKey?: string | null;
  status?: AskedStatus | undefined;
  /** Of classes alone, as the next one; '' is all owners. */
  owner?: string;
  /** 0 unless given. */
  offset?: number;
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
  page(query: ListQuery, signal?: AbortSignal, slots?: Semaphore): Promise<PlatformPage>;
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
  /** Requests sent so far, retries included. */
  requests(): number;
  close(): Promise<void>;
};

/** The platform's time, by the answers' `Date` headers and this machine's clock (see clock.ts). */
export type PlatformClock = {
  /** The best estimate: this machine's clock plus the median difference of the newest answers; that clock before any. */
  now(): Instant;
  /**
   * The earliest that this machine or an answer of the last ten minutes shows; `-Infinity`, which means "wait", where
   * there is none. What cannot be taken back (`lost`, `final`, a seal, a certificate) asks this and never `now`.
   */
  earliest(): Instant;
  /** The latest of the same; this machine's clock where there is no such answer. */
  latest(): Instant;
  /** Platform minus this machine, milliseconds (±500: the header has whole seconds); null before an answer. */
  offsetMs(): number | null;
  /** Clocks that are more than five minutes apart, and for how long they have been so; null while they agree. */
  disagreement(): (ClockDisagreement & { forMs: number }) | null;
  /** The newest `Date` header; null before the first answer. */
  lastDate(): Instant | null;
};

/** The rate limit of one project, shared by all its slices and replicas (P11). */
export type Limiter = {
  /** Resolves when one request may be sent. Rejects with `aborted` when the signal is. */
  permit(signal?: AbortSignal): Promise<void>;
  /** The platform asked for quiet (429, Retry-After): nobody asks again before so many milliseconds from now. */
  pause(forMs: number): Promise<void>;
};

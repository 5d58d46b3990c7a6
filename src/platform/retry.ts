// After which status to ask again, how often, and how long to wait before. Pure; the one loop that uses it stands in client.ts.
import type { Instant } from '../model.ts';
import { readHttpDate } from './times.ts';

/** A passing fault: what the platform did instead of answering. */
export type Fault = {
  /** Stable name for logs. */
  code: string;
  /** What happened, as the end of a sentence. */
  text: string;
  status: number | null;
  /** What Retry-After asked for, capped; null without one. */
  retryAfterMs: number | null;
  /** True when asking again would only bring the same. */
  final: boolean;
  /** The platform did answer, in its own way: other questions may fare better. */
  isAnswer?: boolean;
};

/**
 * Statuses that pass. 404 is one: lists have been answered with a bare `404 page not found` now and then, and a
 * list that is not there at all shows soon enough.
 */
export const isPassing = (status: number): boolean =>
  status === 404 || status === 408 || status === 425 || status === 429 || status >= 500;

/** Requests for one call, the first included. */
export const attemptsAtMost = 5;

/**
 * A call waits no longer than this, whether for an answer or out of a silence that the platform asked for: then it ends,
 * and its slice is due again later.
 */
export const maxPatienceMs = 60_000;

/** Longer requests for quiet are taken for this long: one mistaken header must not cost days of a month that closes. */
export const maxQuietMs = 3_600_000;
const firstWaitMs = 250;
const maxWaitMs = 8000;

/** Exponential with jitter: attempt 1 is followed by 125–250 ms, each further one by twice that, up to 4–8 s. */
export function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(firstWaitMs * 2 ** (attempt - 1), maxWaitMs);
  return Math.round(full * (0.5 + random() / 2));
}

/** `Retry-After` (RFC 9110): seconds or an HTTP date on the platform's clock; null if absent or unreadable. */
export function readRetryAfter(header: string | undefined, platformNow: Instant): number | null {
  if (header === undefined) return null;
  const date = readHttpDate(header);
  if (date === null && !/^\d+$/.test(header)) return null;
  const forMs = date === null ? Number(header) * 1000 : date - platformNow;
  return Math.min(Math.max(forMs, 0), maxQuietMs);
}

// The platform's clock as we see it: monotonic time plus an offset learned from `Date` headers. It follows the
// platform wherever that goes, forwards and back; this machine's wall clock counts only until the first answer.
import type { Instant } from '../model.ts';
import type { PlatformClock } from './platform.ts';
import { readHttpDate } from './times.ts';

export type LearningClock = PlatformClock & {
  /** Learns from an answer's `Date`; `sentAt` and `receivedAt` are monotonic milliseconds. */
  observe(dateHeader: string | undefined, sentAt: number, receivedAt: number): void;
  /** What the platform's clock showed at a monotonic moment, by what is known now. */
  at(monotonic: number): Instant;
};

/** What a platform's `Date` may lag behind its clock: servers keep the header's text for a while. */
const slackMs = 100;
/** A disagreement beyond this is a moved clock, to be followed at once and in full. */
const jumpMs = 2000;

export function createClock(time: {
  monotonicNow: () => number;
  wallNow: () => number;
}): LearningClock {
  // Platform minus monotonic, and between which bounds all headers since the last disagreement put it.
  let offset: number | null = null;
  let low = -Infinity;
  let high = Infinity;
  let lastDate: Instant | null = null;

  const at = (monotonic: number): Instant =>
    Math.floor(
      offset === null ? time.wallNow() + monotonic - time.monotonicNow() : monotonic + offset,
    );
  const now = (): Instant => at(time.monotonicNow());

  function observe(dateHeader: string | undefined, sentAt: number, receivedAt: number): void {
    const date = dateHeader === undefined ? null : readHttpDate(dateHeader);
    if (date === null) return;
    lastDate = date;
    // The header has whole seconds and was written somewhere between sending and receiving.
    const lowest = date - receivedAt - slackMs;
    const highest = date + 1000 - sentAt + slackMs;
    const agrees = Math.max(low, lowest) <= Math.min(high, highest);
    low = agrees ? Math.max(low, lowest) : lowest;
    high = agrees ? Math.min(high, highest) : highest;
    // Moving no farther than a header demands keeps the estimate from swinging by half a second with each.
    const middle = (low + high) / 2;
    if (offset === null || (!agrees && Math.abs(middle - offset) > jumpMs)) offset = middle;
    else offset = Math.min(Math.max(offset, low), high);
  }

  return {
    now,
    at,
    observe,
    offsetMs: () => (offset === null ? null : now() - Math.floor(time.wallNow())),
    lastDate: () => lastDate,
  };
}

/**
 * How far the clock a request was signed with lies outside of what the answer's `Date` allows, milliseconds;
 * positive when the platform is ahead, 0 when they agree or there is no `Date`.
 */
export function clockErrorMs(
  dateHeader: string | undefined,
  signedAt: Instant,
  roundTripMs: number,
): number {
  const date = dateHeader === undefined ? null : readHttpDate(dateHeader);
  if (date === null) return 0;
  const earliest = date - roundTripMs;
  const latest = date + 1000;
  if (signedAt < earliest) return earliest - signedAt;
  return signedAt > latest ? latest - signedAt : 0;
}

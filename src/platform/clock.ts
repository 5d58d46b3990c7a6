// The platform's time. Each answer's `Date` is a clock, and so is this machine's own. Nothing is kept for the next
// process. `now()` is the best estimate and decides which days are asked for. What cannot be taken back waits for
// `earliest()`, the most cautious clock of all, and for an answer of the last ten minutes.
//
// Answers are carried forward by this machine's wall clock: set by less than ten minutes, it misleads by no more than
// that, and every verdict has a margin of a quarter of an hour and more.
import type { Instant } from '../model.ts';
import type { PlatformClock } from './platform.ts';
import { readHttpDate } from './times.ts';

export type LearningClock = PlatformClock & {
  /** Learns from an answer's `Date`; `sentAt` and `receivedAt` are monotonic milliseconds. */
  observe(dateHeader: string | undefined, sentAt: number, receivedAt: number): void;
  /** That monotonic moment by the most cautious clock heard: what was asked then was not asked in a time to come. */
  askedAt(sentAt: number): Instant;
};

/** So many of the newest answers count. */
const answersKept = 9;
/** An older answer says nothing of what is past by now. */
const recentMs = 10 * 60_000;
/** Clocks this close to each other agree. */
export const agreeMs = 5 * 60_000;

/** The `Date` of an answer, when its headers arrived, and the platform's time then minus this machine's. */
type Answer = { date: Instant; wall: number; monotonic: number; offset: number };

export function createClock({
  monotonicNow,
  wallNow,
}: {
  monotonicNow: () => number;
  wallNow: () => number;
}): LearningClock {
  let answers: Answer[] = [];
  let lastDate: Instant | null = null;
  /** Since when clocks have disagreed, monotonic. */
  let disagreeSince: number | null = null;

  /** The answers since which the wall clock was not set, nor this machine asleep. */
  const usable = (): Answer[] => {
    const ahead = wallNow() - monotonicNow();
    return answers.filter(
      ({ wall, monotonic }) => Math.abs(ahead - (wall - monotonic)) <= recentMs,
    );
  };

  /** What the recent answers' clocks show by now. */
  function recent(): Instant[] {
    const now = wallNow();
    return usable()
      .filter(({ wall }) => Math.abs(now - wall) <= recentMs)
      .map(({ date, wall }) => date + now - wall);
  }

  function offsetMs(): number | null {
    const offsets = usable().map(({ offset }) => offset);
    return offsets.toSorted((a, b) => a - b)[offsets.length >> 1] ?? null;
  }

  const now = (): Instant => Math.floor(wallNow() + (offsetMs() ?? 0));
  const latest = (): Instant => Math.floor(Math.max(wallNow(), ...recent()));
  const earliest = (): Instant => {
    const dates = recent();
    return dates.length === 0 ? -Infinity : Math.floor(Math.min(wallNow(), ...dates));
  };

  function disagreement(): ReturnType<PlatformClock['disagreement']> {
    const byMs = offsetMs();
    const apartMs = latest() - earliest();
    if (byMs === null || disagreeSince === null || apartMs === Infinity) return null;
    const forMs = monotonicNow() - disagreeSince;
    const isMachine = Math.abs(byMs) > agreeMs;
    return isMachine ? { of: 'machine', byMs, forMs } : { of: 'answers', byMs: apartMs, forMs };
  }

  return {
    now,
    earliest,
    latest,
    offsetMs,
    disagreement,
    lastDate: () => lastDate,
    askedAt: (sentAt) =>
      Math.floor(Math.min(now(), wallNow(), ...recent()) - (monotonicNow() - sentAt)),
    observe(dateHeader, sentAt, receivedAt) {
      const date = dateHeader === undefined ? null : readHttpDate(dateHeader);
      if (date === null) return;
      lastDate = date;
      const wall = wallNow() - (monotonicNow() - receivedAt);
      // The header has whole seconds, and was written somewhere between sending and receiving.
      const offset = date + 500 + (receivedAt - sentAt) / 2 - wall;
      answers = [...usable(), { date, wall, monotonic: receivedAt, offset }].slice(-answersKept);
      if (latest() - earliest() <= agreeMs) disagreeSince = null;
      else disagreeSince ??= receivedAt;
    },
  };
}

/**
 * How far the clock a request was signed with lies outside of what the answer's `Date` allows, milliseconds; 0 when they
 * agree or there is no `Date`.
 */
export function clockErrorMs(
  dateHeader: string | undefined,
  signedAt: Instant,
  roundTripMs: number,
): number {
  const date = dateHeader === undefined ? null : readHttpDate(dateHeader);
  if (date === null) return 0;
  // The header has whole seconds.
  return Math.max(0, date - roundTripMs - signedAt, signedAt - date - 1000);
}

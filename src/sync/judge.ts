// The rule of proof (P6): what a day's readings, the books and the clocks say of it, and what to do next. Pure: it
// knows no clock, no database and no network; verdicts.ts writes what it says into the ledger. Its times are in
// due-times.ts.
import { dayMs } from '../day.ts';
import type { Clocks, DayBooks, End, Instant, Proof, Reading, SliceState, Why } from '../model.ts';
import { agreeMs } from '../platform/clock.ts';
import { apartMs, decidedAfterMs, freezeMs, inFreezeMs, retryMs, slackMs } from './due-times.ts';

export type JudgedDay = {
  /** When the day has been over for a quarter of an hour. */
  overAt: Instant;
  /** When its month leaves the window, in UTC; Infinity where none does. */
  goesAt: Instant;
  /** The number of the commit that first showed the newest of its records. */
  newsNo: number;
  /** How many of its orders are pending. */
  pending: number;
  /** Whether any record stands under it. */
  isHolding: boolean;
};

export type Verdict = {
  state: SliceState;
  proof: Proof;
  /** What keeps it from being proved; null: nothing. */
  why: Why | null;
  /** When the reading ended by which it is proved; null: it is not. */
  provedAt: Instant | null;
  /** The reading that is due next: the end it begins at, and when; Infinity: none. */
  next: { end: End; at: Instant };
};

/** `all`: readings of the day in the order of their commits. `books`: null where none cover the day. */
export function judge(
  day: JudgedDay,
  all: readonly Reading[],
  books: DayBooks | null,
  clocks: Clocks,
): Verdict {
  // A reading of a time to come was made by a wrong clock.
  const readings = all.filter(({ ended }) => ended.now <= clocks.now + agreeMs);
  const frozenAt = day.goesAt - freezeMs;
  const decidedAt = day.goesAt + decidedAfterMs;
  const isDecided = clocks.earliest >= decidedAt;
  // Nothing is written of what the platform answers for days before its window.
  const isOlder = day.goesAt === Infinity;
  const isAfterDay = ({ began }: Reading): boolean => began.earliest >= day.overAt;
  const inTime = readings.filter((one) => isAfterDay(one) && one.ended.latest < frozenAt);
  const newest = readings.at(-1);
  const last = inTime.at(-1);
  // Asked together with the next day it may have shown only that one: a record must stand under this one.
  const showsSome =
    day.isHolding &&
    readings.some((one) => isAfterDay(one) && one.shown > 0 && one.ended.now < decidedAt);
  const isRead = inTime.length > 0 || showsSome;

  const flawOf = (one: Reading): Why | null => {
    if (one.no < day.newsNo || one.lacks > 0) return 'showed less';
    return one.claims > 0 ? 'counts more' : null;
  };
  const complete = inTime.filter((one) => flawOf(one) === null);
  // That nothing is there is believed after a day.
  const gapOf = (one: Reading): number => (one.shown > 0 && !isOlder ? apartMs : dayMs);
  const partnerOf = (one: Reading): Reading | undefined =>
    complete.includes(one)
      ? complete.find((older) => older.end !== one.end && apart(older, one) >= gapOf(one))
      : undefined;
  // What only confirms takes no proof away: a pair proves the day as long as all later readings are complete, too.
  const provingAt = inTime.findLastIndex((one) => partnerOf(one) !== undefined);
  const isConfirmed = inTime.slice(provingAt).every((one) => complete.includes(one));
  const proving = isConfirmed ? inTime[provingAt] : undefined;
  const partner = proving && partnerOf(proving);

  const why = ((): Why | null => {
    if (clocks.now < day.overAt) return 'not over';
    if (last === undefined) {
      if (clocks.now >= frozenAt) return 'month is going';
      return newest === undefined || newest.began.now < day.overAt ? 'not read' : 'clock';
    }
    const flaw = flawOf(last);
    if (flaw !== null) return flaw;
    if (partner === undefined) return 'read once';
    if (isOlder && last.shown === 0) return 'shows nothing';
    // What the older of the two showed was not in books made before it.
    if (books === null || books.no < partner.no || books.isMore) return 'books do not balance';
    return day.pending > 0 ? 'pending' : null;
  })();

  const state = ((): Verdict['state'] => {
    if (isDecided) return isRead ? 'final' : 'lost';
    // No month's end overtakes it, and nothing more is learned of it.
    if (isOlder && (why === null || why === 'shows nothing')) return 'final';
    if (why === null) return 'sealed';
    return isRead ? 'walked' : 'open';
  })();

  const at = ((): Instant => {
    if (state === 'final' || state === 'lost') return Infinity;
    if (clocks.now < day.overAt) return day.overAt;
    const countsMore = books?.isMore === true && books.isDay;
    if (newest === undefined || (countsMore && books.no > newest.no)) return clocks.now;
    // Readings since the last news, or since it was last proved and settled: the fewer.
    const lastProof = readings.findLastIndex((one) => partnerOf(one) && one.pending === 0);
    const sinceNews = readings.filter(({ no }) => no >= day.newsNo).length;
    const tries = Math.min(sinceNews, readings.length - 1 - lastProof);
    const doubledMs = Math.min(dayMs, retryMs * 2 ** (tries - 1));
    if (clocks.latest >= frozenAt) {
      // One that was not read can still be lost: it comes sooner, from half an hour on.
      return newest.ended.now + (isRead ? inFreezeMs : Math.min(inFreezeMs, 2 * doubledMs));
    }
    if (partner && newest === last && day.pending === 0) return newest.ended.now + dayMs;
    // The next one, from the other end, can confirm the first only a gap after it. After the very first a look two hours
    // later tells a fault from a day that shows nothing, though it cannot confirm that yet.
    const first =
      partner === undefined && newest === last && complete.includes(newest)
        ? complete.find(({ end }) => end === newest.end)
        : undefined;
    const gapMs = tries < 2 && !isOlder ? apartMs : gapOf(newest);
    const confirmsAt = first === undefined ? -Infinity : first.ended.now + gapMs + slackMs;
    return Math.max(newest.ended.now + doubledMs, confirmsAt);
  })();

  // That all is held and that all is settled are two things.
  const isProved = why === null || why === 'pending';
  const proof = !isProved ? 'none' : books?.isEqual === true ? 'books' : 'readings';
  const provedAt = isProved ? (proving?.ended.now ?? null) : null;
  return { state, proof, why, provedAt, next: { end: nextEnd(inTime), at } };
}

/**
 * The other end than the last reading's. A list whose rows name times in another order than it stands in is seen from
 * the end that was not asked for: what was seen twice in a row is not asked for a third time.
 */
function nextEnd(readings: readonly Reading[]): End {
  const seen = readings.at(-1)?.end ?? 'desc';
  const inARow = readings.length - 1 - readings.findLastIndex(({ end }) => end !== seen);
  const isSeenAgain = inARow > 0 && inARow % 2 === 0;
  return (seen === 'asc') === isSeenAgain ? 'asc' : 'desc';
}

/**
 * How long after the older reading the younger one began: by each clock for itself, the shorter. A clock that was set
 * back meanwhile makes a reading end before it began: then it ended when it began, at the earliest.
 */
function apart(older: Reading, { began }: Reading): number {
  const by = (clock: 'machine' | 'now'): number =>
    began[clock] - Math.max(older.began[clock], older.ended[clock]);
  return Math.min(by('machine'), by('now'));
}

// The platform's clock as we see it: monotonic time plus an offset that several answers agree on. Two questions are
// asked of it. `now()` is the best estimate: it orders work and says which days are asked for. `certain()` is a moment
// that no witness contradicts: everything irreversible asks that one. Witnesses are the answers' `Date` headers and
// this machine's wall clock; a belief of an earlier process counts only where an answer confirms it.
//
// Why a minority of bad machines behind a balancer cannot steer it: an offset that this machine's clock does not
// confirm is taken only from four fifths of a window of ten minutes, in which a burst weighs no more than the ten
// seconds it took. Why it cannot be starved: what is in the window grows old, so a platform whose clock really was set
// holds those four fifths after eight minutes; and one that this machine's clock confirms is followed as soon as the
// old offset has lost them. No answer is left out for being far off, but for those before 2015 or after 2200, and those
// of another century than a machine's clock that is itself of our time.
import type { Instant } from '../model.ts';
import type { PlatformClock } from './platform.ts';
import { readHttpDate } from './times.ts';

export type LearningClock = PlatformClock & {
  /** Learns from an answer's `Date`; `sentAt` and `receivedAt` are monotonic milliseconds. */
  observe(dateHeader: string | undefined, sentAt: number, receivedAt: number): void;
  /** What the platform's clock showed at a monotonic moment, by what is known now. */
  at(monotonic: number): Instant;
  /** The earliest that any witness has for that moment: what is observed then was not observed in a time to come. */
  certainAt(monotonic: number): Instant;
};

/** What a platform's `Date` may lag behind its clock: servers keep the header's text for a while. */
const slackMs = 100;
/** Clocks this close to each other agree; every verdict has a margin of a quarter of an hour and more. */
export const agreeMs = 5 * 60_000;
/** Within what agrees, a header that demands more than this is followed only with most of the newest ones. */
const stepMs = 2000;
/** The window: so far back, but so many answers at least where they come slowly, and never farther than a day. */
const windowMs = 10 * 60_000;
const fewAnswers = 12;
const longestMs = 24 * 3_600_000;
/** All answers within so long weigh as much as a single one would; so many of them are kept. */
const slotMs = 10_000;
const perSlot = 4;
/** What a clear majority is, and how many answers over how long make one where something else was believed before. */
const majority = 0.8;
const toMove = { answers: 8, overMs: 120_000 };
/** The same while nothing is believed: it decides no verdict, and a single sync must get to work. */
const toBegin = { answers: 5, overMs: 6000 };
/** Dates outside are out of all reason; so are verdicts' witnesses a year away from every other one. */
const plausible = { from: Date.parse('2015-01-01'), to: Date.parse('2200-01-01') };
const yearMs = 366 * 86_400_000;
/** A machine that lost its clock shows a time long before this, or long after: then any `Date` is nearer to the truth. */
const writtenAt = Date.parse('2025-01-01');
const farMs = 20 * yearMs;

/** What an answer says of platform minus monotonic: between `low` and `high`. */
type Answer = { low: number; high: number; offset: number; heardAt: number };

export function createClock(time: {
  monotonicNow: () => number;
  wallNow: () => number;
  /** Told when another offset is believed than before, with the difference in milliseconds. */
  onMove?: (byMs: number) => void;
}): LearningClock {
  const { onMove = () => undefined } = time;
  let answers: Answer[] = [];
  /** What is believed of platform minus monotonic; null before anything is. */
  let offset: number | null = null;
  // Between which bounds the headers since the last step put it.
  let low = -Infinity;
  let high = Infinity;
  /** This machine's wall clock minus monotonic when the belief was last confirmed. */
  let wallThen = 0;
  let recalled: number | null = null;
  let lastDate: Instant | null = null;

  const wallOffset = (): number => time.wallNow() - time.monotonicNow();
  const at = (monotonic: number): Instant => Math.floor(monotonic + (offset ?? wallOffset()));
  const now = (): Instant => at(time.monotonicNow());

  function believe(answer: Answer, others: readonly Answer[] = []): void {
    const before = offset ?? wallOffset();
    ({ low, high } = answer);
    for (const other of others) {
      const isOfOneMind = Math.max(low, other.low) <= Math.min(high, other.high);
      if (isOfOneMind) [low, high] = [Math.max(low, other.low), Math.min(high, other.high)];
    }
    offset = (low + high) / 2;
    wallThen = wallOffset();
    if (!agree(before, offset)) onMove(offset - before);
  }

  /** The answers of the window that agree with an offset: how many, over how long, and their share of its weight. */
  function support(of: number): { answers: number; overMs: number; share: number } {
    const inSlot = new Map<number, number>();
    for (const { heardAt } of answers) {
      inSlot.set(slotOf(heardAt), (inSlot.get(slotOf(heardAt)) ?? 0) + 1);
    }
    const agreeing = answers.filter((one) => agree(one.offset, of));
    const weight = agreeing.reduce(
      (sum, one) => sum + 1 / (inSlot.get(slotOf(one.heardAt)) ?? 1),
      0,
    );
    const overMs = (agreeing.at(-1)?.heardAt ?? 0) - (agreeing[0]?.heardAt ?? 0);
    return {
      answers: agreeing.length,
      overMs,
      share: inSlot.size === 0 ? 1 : weight / inSlot.size,
    };
  }

  const hasMajority = (of: number): boolean => support(of).share >= majority - 1e-9;

  function keep(answer: Answer): void {
    const { heardAt } = answer;
    const last = answers.at(-perSlot);
    if (last !== undefined && slotOf(last.heardAt) === slotOf(heardAt)) return;
    answers.push(answer);
    const isOld = (one: Answer, left: number): boolean => {
      const ageMs = heardAt - one.heardAt;
      return ageMs > longestMs || (ageMs > windowMs && left > fewAnswers);
    };
    const drop = answers.findIndex((one, i) => !isOld(one, answers.length - i));
    if (drop > 0) answers.splice(0, drop);
  }

  /** Machines behind a balancer differ by seconds: of the newest answers that agree, the one in the middle. */
  function middleOf(believed: number): Answer {
    const newest = answers.filter((one) => agree(one.offset, believed)).slice(-9);
    const ordered = newest.toSorted((a, b) => a.offset - b.offset);
    const middle = ordered[Math.floor(ordered.length / 2)];
    return middle ?? { low, high, offset: believed, heardAt: 0 };
  }

  /** An answer that agrees with what is believed makes it more exact. */
  function refine(answer: Answer, believed: number): void {
    const wall = wallOffset();
    if (Math.max(low, answer.low) <= Math.min(high, answer.high)) {
      low = Math.max(low, answer.low);
      high = Math.min(high, answer.high);
    } else if (Math.abs(answer.offset - believed) <= stepMs) {
      ({ low, high } = answer);
    } else {
      // A machine that slept, or a clock in a hurry: monotonic time has missed what this answer and the wall clock
      // tell.
      const hasMissed =
        Math.abs(wall - wallThen) > stepMs &&
        Math.abs(answer.offset - wall) < Math.abs(answer.offset - believed);
      const newest = hasMissed ? answer : middleOf(believed);
      if (Math.abs(newest.offset - believed) > stepMs) believe(newest);
      return;
    }
    wallThen = wall;
    // Moving no farther than a header demands keeps the estimate from swinging by half a second with each.
    offset = Math.min(Math.max(believed, low), high);
  }

  function observe(dateHeader: string | undefined, sentAt: number, receivedAt: number): void {
    const date = dateHeader === undefined ? null : readHttpDate(dateHeader);
    if (date === null || date < plausible.from || date >= plausible.to) return;
    const wall = time.wallNow();
    const isOfOurTime = wall >= writtenAt && wall < writtenAt + farMs;
    if (isOfOurTime && Math.abs(date - wall) > farMs) return;
    lastDate = date;
    // The header has whole seconds and was written somewhere between sending and receiving.
    const lowest = date - receivedAt - slackMs;
    const highest = date + 1000 - sentAt + slackMs;
    const answer: Answer = {
      low: lowest,
      high: highest,
      offset: (lowest + highest) / 2,
      heardAt: receivedAt,
    };
    keep(answer);
    if (offset !== null && agree(answer.offset, offset)) {
      refine(answer, offset);
      return;
    }
    const wallOff = wallOffset();
    if (agree(answer.offset, wallOff)) {
      // Two witnesses. If the wall clock went elsewhere than monotonic time, the machine slept: older answers are void.
      const hasSlept = offset !== null && !agree(wallOff, wallThen);
      if (hasSlept) answers = [answer];
      if (offset === null || hasSlept || !hasMajority(offset)) believe(answer);
      return;
    }
    if (offset === null && recalled !== null && agree(answer.offset, recalled)) {
      believe(answer);
      return;
    }
    const needed = offset === null ? toBegin : toMove;
    const given = support(answer.offset);
    if (
      given.answers >= needed.answers &&
      given.overMs >= needed.overMs &&
      hasMajority(answer.offset)
    ) {
      believe(answer, answers);
    }
  }

  /** Platform minus monotonic, as every witness that a verdict must heed has it. */
  function witnesses(): number[] {
    const wall = wallOffset();
    const main = offset === null ? [wall] : [wall, offset];
    if (offset !== null && agree(wall, offset) && hasMajority(offset)) return [offset];
    const since = time.monotonicNow() - windowMs;
    const others = answers
      .filter((one) => one.heardAt >= since || offset === null)
      .map((one) => one.offset)
      .filter((one) => main.some((other) => Math.abs(one - other) < yearMs) || offset === null);
    return [...main, ...others];
  }

  const certainAt = (monotonic: number): Instant =>
    Math.floor(monotonic + Math.min(...witnesses()));

  return {
    now,
    at,
    observe,
    certain: () => certainAt(time.monotonicNow()),
    certainAt,
    possible: () => Math.floor(time.monotonicNow() + Math.max(...witnesses())),
    isSettled: () => offset !== null,
    isStale: () => offset !== null && !agree(wallOffset(), wallThen),
    recall: (platformNow) => {
      recalled = platformNow - time.monotonicNow();
    },
    disagreement: () => {
      if (offset === null) return null;
      const wall = wallOffset();
      if (!agree(wall, offset)) return { of: 'machine', byMs: Math.round(offset - wall) };
      if (hasMajority(offset)) return null;
      const most = answers.toSorted((a, b) => apart(b, offset) - apart(a, offset))[0];
      return { of: 'answers', byMs: Math.round((most?.offset ?? offset) - offset) };
    },
    offsetMs: () => (offset === null ? null : now() - Math.floor(time.wallNow())),
    lastDate: () => lastDate,
  };
}

const agree = (one: number, other: number): boolean => Math.abs(one - other) <= agreeMs;
const apart = (answer: Answer, offset: number | null): number =>
  Math.abs(answer.offset - (offset ?? answer.offset));
const slotOf = (monotonic: number): number => Math.floor(monotonic / slotMs);

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

// What to do with a slice next, and when: a pure function of the ledger row, what an act showed, settings and
// now. All timing rules live here; the order in which due slices are taken is claimSlice's (store/slice-leases.ts). It
// knows no clock, no database and no network.
import { cliffOf, startOf } from '../day.ts';
import { wholeList, type Instant, type Proof, type SliceState, type Span } from '../model.ts';
import type { Slice } from '../store/ledger.ts';
import { isComparedNow, type RotaSettings } from './comparison-rota.ts';
import { decidedAfterMs, overAfterMs } from './judge.ts';

export type PolicySettings = RotaSettings & {
  deadlineMarginMs: number;
  /** How often classes of the window are walked again: nft_count and owner change without a trace in the date. */
  refreshMs: number;
  /**
   * The platform was seen to answer for days before its window (a fact of the resource): nothing is overtaken there.
   */
  answersOlder?: boolean;
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** From this long before the cliff on, absence proves nothing: the platform may count its months in UTC+14. */
const doubtfulBeforeMs = 14 * hourMs;
/** Proved days are counted again this often: late records are expected. */
export const recountMs = 24 * hourMs;
/** What does not work out is tried again after so long at most. */
export const retryAtMostMs = hourMs;
/** How long before the deadline a month's last walks begin. */
export const closingMs = 72 * hourMs;
/** Pending orders of past days are asked again this often. */
export const settleMs = 15 * minuteMs;
/** Two walks that are to prove each other lie at least this far apart (proof rule 2). */
export const betweenWalksMs = hourMs;
/**
 * Records that vanished block the seal until a whole walk a day after they were missed (proof rule 3); less two
 * seconds, for the platform's `Date` has whole ones.
 */
export const missingBlocksMs = 24 * hourMs - 2_000;
/** Where older days are answered, what is read and unsettled after its cliff has this long before it is final. */
const graceMs = 7 * 24 * hourMs;
/** Stands for "no deadline": of days asked for after they had left the window, and of an owner's whole list. */
export const noDeadline: Instant = Date.parse('9999-12-31T00:00:00Z');

/** The deadline of a day's slice: the cliff of its month minus the margin. It orders the work and never stops it. */
export function deadlineOf(day: string, now: Instant, settings: PolicySettings): Instant {
  const hasCliffAhead = cliffOf(day) + decidedAfterMs > now || settings.answersOlder !== true;
  return day === wholeList || !hasCliffAhead
    ? noDeadline
    : cliffOf(day) - settings.deadlineMarginMs;
}

/** From then on the slices of a dying month are walked once more. */
export function closingOf(day: string, settings: PolicySettings): Instant {
  return cliffOf(day) - settings.deadlineMarginMs - closingMs;
}

/** When the days of a span are over for long enough, on the platform's calendar. */
export function overAt({ to, aheadMs = 0 }: Span): Instant {
  return startOf(to) - aheadMs + overAfterMs;
}

/** Whether the days of a span had been over for long enough when they were read. */
export function isOver(span: Span, at: Instant): boolean {
  return at >= overAt(span);
}

/** From around the cliff on an empty day, a smaller total or a missing record says nothing by itself (proof rule 5). */
export function absenceProves(day: string, at: Instant): boolean {
  return day === wholeList || at < cliffOf(day) - doubtfulBeforeMs;
}

export type Action = 'walk' | 'tail' | 'settle' | 'count' | 'lapse' | 'none';

/**
 * What is to be done with a claimed slice. `now` is the best estimate; `certainAt` is certainly past, by every witness.
 */
export function actionFor(
  slice: Slice,
  span: Span,
  now: Instant,
  certainAt: Instant,
  settings: PolicySettings,
): Action {
  if (slice.state === 'final' || slice.state === 'lost') return 'none';
  if (certainAt >= overtakenAt(slice, slice.walkedAt, settings)) return 'lapse';
  // A walk in progress is finished first; a failed or unproved one is walked again from the start.
  if (slice.checkpoint !== null || slice.wholeWalk === 0 || slice.attempts > 0) return 'walk';
  if (slice.day === wholeList) return 'walk';
  if (!isOver(span, now)) return 'tail';
  const { walkedAt } = slice;
  // What was read while the day lasted, or before the closing of its month began, is read once more.
  // So is what was read in a time to come, by a clock that was wrong.
  if (walkedAt === null || !isOver(span, walkedAt) || walkedAt > now + hourMs) return 'walk';
  const closing = closingOf(slice.day, settings);
  if (now >= closing && walkedAt < closing) return 'walk';
  const isProvedLately = slice.provedAt !== null && now < slice.provedAt + recountMs;
  const isUnproved = slice.proof === 'none';
  if (isUnproved && now >= walkedAt + provesAgainAfterMs(slice.platformTotal)) return 'walk';
  if (slice.unresolved > 0 && (isUnproved || isProvedLately)) return 'settle';
  // Without totals there is nothing to count by: another walk, the other way round, proves it again (proof rule 2).
  if (isUnproved || slice.proof === 'walks') return 'walk';
  const isStale = slice.resource === 'nft_classes' && now >= walkedAt + settings.refreshMs;
  return isStale || isComparedNow(slice, now, settings) ? 'walk' : 'count';
}

/** Whether today's pending orders are looked for with this tail: the first one after each settling moment. */
export function settlesToday(slice: Slice, now: Instant): boolean {
  const last = slice.walkedAt ?? 0;
  return slice.unresolved > 0 && Math.floor(now / settleMs) > Math.floor(last / settleMs);
}

/** When a slice without proof is worth another walk: soon where a second walk is the proof, else daily. */
function provesAgainAfterMs(platformTotal: number | null): number {
  return platformTotal === null ? betweenWalksMs : recountMs;
}

/**
 * When a slice becomes final or lost (P7). Where older days are answered the cliff overtakes nothing: what is open is
 * read all the same, and what is read but unsettled is given a while.
 */
function overtakenAt(
  slice: Pick<Slice, 'day' | 'state'>,
  walkedAt: Instant | null,
  settings: PolicySettings,
): Instant {
  if (slice.day === wholeList) return Infinity;
  const decided = cliffOf(slice.day) + decidedAfterMs;
  if (settings.answersOlder !== true || slice.state === 'sealed') return decided;
  return slice.state === 'open' ? Infinity : Math.max(decided, (walkedAt ?? 0) + graceMs);
}

/** What the cliff makes of a slice: walked whole in time, or lost for ever (P7). */
export function lapsedState(state: SliceState): SliceState {
  return state === 'open' ? 'lost' : 'final';
}

/** What a whole walk, or a count that agrees, came to. */
export type ReadingOutcome = {
  proof: Proof;
  unresolved: number;
  /** Records of the day that vanished, and have not been missed for long enough yet. */
  missing: number;
  /** The platform gave no total: only a second walk can prove it (proof rule 2). */
  withoutTotals?: boolean;
  /** When a whole walk was last begun; the act itself unless it only counted. */
  walkedAt: Instant;
  /** What was certainly past when the act began, by every witness of the time: only a day over by then is sealed. */
  certainAt: Instant;
};

export type Next = { state: SliceState; dueAt: Instant | null; attempts: number };

/** When a slice is due again after an act that began at `askedAt`. Null: nothing is due before the cliff. */
export function afterAct(
  slice: Pick<Slice, 'resource' | 'day' | 'state' | 'attempts'>,
  span: Span,
  outcome: ReadingOutcome,
  askedAt: Instant,
  settings: PolicySettings,
): Next {
  if (slice.day === wholeList) {
    return { state: 'walked', attempts: 0, dueAt: outcome.walkedAt + settings.refreshMs };
  }
  const over = isOver(span, askedAt);
  if (!over) {
    // Today: due at every tick, and for a last walk when the day is over.
    return { state: 'open', attempts: 0, dueAt: askedAt + 1 };
  }
  const closing = closingOf(slice.day, settings);
  // P6: proved, over, nothing pending, and nothing vanished since the walk before (proof rule 3).
  const isProved = outcome.proof !== 'none' && outcome.unresolved === 0 && outcome.missing === 0;
  // A clock that contradicts makes the seal wait until it says so too.
  const isSealed = isProved && isOver(span, outcome.certainAt);
  const certainlyOverAt = startOf(span.to) + overAfterMs + (askedAt - outcome.certainAt);
  const state = isSealed ? 'sealed' : 'walked';
  const isUnproved = outcome.proof === 'none';
  const awaitsSecond = outcome.missing === 0 && outcome.withoutTotals === true;
  return {
    state,
    attempts: 0,
    dueAt: Math.min(
      outcome.unresolved > 0 ? nextSettling(slice.day, askedAt, settings) : Infinity,
      isUnproved ? outcome.walkedAt + (awaitsSecond ? betweenWalksMs : recountMs) : Infinity,
      isUnproved ? Infinity : askedAt + recountMs,
      isProved && !isSealed ? certainlyOverAt : Infinity,
      slice.resource === 'nft_classes' ? outcome.walkedAt + settings.refreshMs : Infinity,
      outcome.walkedAt < closing ? Math.max(closing, askedAt) : Infinity,
      // Whatever else: when the month has gone, the slice becomes final.
      Math.max(askedAt + 1, overtakenAt({ ...slice, state }, outcome.walkedAt, settings)),
    ),
  };
}

/** At the same moments for every day, so that one list of pending orders serves them all; more often in the closing. */
function nextSettling(day: string, askedAt: Instant, settings: PolicySettings): Instant {
  const everyMs = askedAt < closingOf(day, settings) ? settleMs : settleMs / 3;
  return (Math.floor(askedAt / everyMs) + 1) * everyMs;
}

/** How long the first retry waits, and each of them at most. */
export type RetryDelays = { firstMs: number; atMostMs: number };

export const retryDelays: RetryDelays = { firstMs: minuteMs, atMostMs: retryAtMostMs };

/** When a slice is due again that came to nothing: later each time. */
export function afterFailure(
  slice: Pick<Slice, 'attempts'>,
  askedAt: Instant,
  delays?: RetryDelays,
): { attempts: number; dueAt: Instant } {
  const attempts = slice.attempts + 1;
  return { attempts, dueAt: askedAt + retryDelayMs(attempts, delays) };
}

/** A minute, doubling to an hour, unless told otherwise: a slice that does not work out leaves room for the others. */
export function retryDelayMs(
  attempts: number,
  { firstMs, atMostMs }: RetryDelays = retryDelays,
): number {
  return Math.min(atMostMs, firstMs * 2 ** Math.min(attempts - 1, 11));
}

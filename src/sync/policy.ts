// What to do with a slice next, and when: a pure function of the ledger row, what an act showed, settings and
// now. All timing rules live here. It knows no clock, no database and no network.
import { cliffOf, startOf } from '../day.ts';
import type { DayRange, Instant, Proof, SliceState } from '../model.ts';
import type { Slice } from '../store/ledger.ts';

export type PolicySettings = {
  deadlineMarginMs: number;
  /** How often classes of the window are walked again: nft_count and owner change without a trace in the date. */
  refreshMs: number;
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A day is over this long after its end; late records are expected all the same. */
export const overAfterMs = 15 * minuteMs;
/** `lost` or `final` is decided this long after the month's end in UTC: no zone can still show it (proof rule 5). */
const decidedAfterMs = 12 * hourMs;
/** From this long before the cliff on, absence proves nothing: the platform may count its months in UTC+14. */
const doubtfulBeforeMs = 14 * hourMs;
/** Proved days are counted again this often: late records are expected. */
const recountMs = 24 * hourMs;
/** How long before the deadline a month's last walks begin. */
const closingMs = 72 * hourMs;
/** Pending orders of past days are asked again this often. */
const settleMs = 15 * minuteMs;

/** The deadline of a day's slice: the cliff of its month minus the margin. It orders the work and never stops it. */
export function deadlineOf(day: string, settings: PolicySettings): Instant {
  return cliffOf(day) - settings.deadlineMarginMs;
}

/** From then on the slices of a dying month are walked once more. */
export function closingOf(day: string, settings: PolicySettings): Instant {
  return deadlineOf(day, settings) - closingMs;
}

/** Whether the days `[from, to)` had been over for long enough when they were read. */
export function isOver(span: DayRange, at: Instant): boolean {
  return at >= startOf(span.to) + overAfterMs;
}

/** Around the cliff an empty day, a smaller total or a missing record says nothing (proof rule 5). */
export function absenceProves(day: string, at: Instant): boolean {
  return at < cliffOf(day) - doubtfulBeforeMs;
}

export type Action = 'walk' | 'tail' | 'settle' | 'count' | 'lapse' | 'none';

/** What is to be done with a claimed slice. `platformDate` is the platform's own `Date`, not our estimate. */
export function actionFor(
  slice: Slice,
  span: DayRange,
  now: Instant,
  platformDate: Instant | null,
  settings: PolicySettings,
): Action {
  if (slice.state === 'final' || slice.state === 'lost') return 'none';
  if (platformDate !== null && platformDate >= cliffOf(slice.day) + decidedAfterMs) return 'lapse';
  // A walk in progress is finished first; a failed or unproved one is walked again from the start.
  if (slice.checkpoint !== null || slice.wholeWalk === 0 || slice.attempts > 0) return 'walk';
  if (!isOver(span, now)) return 'tail';
  const { walkedAt } = slice;
  // What was read while the day lasted, or before the closing of its month began, is read once more.
  if (walkedAt === null || !isOver(span, walkedAt)) return 'walk';
  const closing = closingOf(slice.day, settings);
  if (now >= closing && walkedAt < closing) return 'walk';
  if (slice.unresolved > 0) return 'settle';
  if (slice.proof === 'none') return 'walk';
  const isStale = slice.resource === 'nft_classes' && now >= walkedAt + settings.refreshMs;
  return isStale ? 'walk' : 'count';
}

/** Whether today's pending orders are looked for with this tail: the first one after each settling moment. */
export function settlesToday(slice: Slice, now: Instant): boolean {
  const last = slice.walkedAt ?? 0;
  return slice.unresolved > 0 && Math.floor(now / settleMs) > Math.floor(last / settleMs);
}

/** What the cliff makes of a slice: walked whole in time, or lost for ever (P7). */
export function lapsedState(state: SliceState): SliceState {
  return state === 'open' ? 'lost' : 'final';
}

/** What a whole walk, or a count that agrees, came to. */
export type Outcome = {
  proof: Proof;
  unresolved: number;
  /** Records that the walk before was shown and this one was not. */
  missing: number;
  /** When a whole walk was last begun; the act itself unless it only counted. */
  walkedAt: Instant;
};

export type Next = { state: SliceState; dueAt: Instant | null; attempts: number };

/** When a slice is due again after an act that began at `askedAt`. Null: nothing is due before the cliff. */
export function afterAct(
  slice: Pick<Slice, 'resource' | 'day' | 'state' | 'attempts'>,
  span: DayRange,
  outcome: Outcome,
  askedAt: Instant,
  settings: PolicySettings,
): Next {
  const over = isOver(span, askedAt);
  if (!over) {
    // Today: due at every tick, and for a last walk when the day is over.
    return { state: 'open', attempts: 0, dueAt: askedAt + 1 };
  }
  const closing = closingOf(slice.day, settings);
  // P6: proved, over, nothing pending, and nothing vanished since the walk before (proof rule 3).
  const isSealed = outcome.proof !== 'none' && outcome.unresolved === 0 && outcome.missing === 0;
  return {
    state: isSealed ? 'sealed' : 'walked',
    attempts: 0,
    dueAt: Math.min(
      outcome.unresolved > 0 ? nextSettling(slice.day, askedAt, settings) : Infinity,
      outcome.proof !== 'none' || outcome.missing > 0 ? askedAt + recountMs : Infinity,
      slice.resource === 'nft_classes' ? outcome.walkedAt + settings.refreshMs : Infinity,
      outcome.walkedAt < closing ? Math.max(closing, askedAt) : Infinity,
      // Whatever else: when the month has gone, the slice becomes final.
      cliffOf(slice.day) + decidedAfterMs,
    ),
  };
}

/** At the same moments for every day, so that one list of pending orders serves them all; more often in the closing. */
function nextSettling(day: string, askedAt: Instant, settings: PolicySettings): Instant {
  const everyMs = askedAt < closingOf(day, settings) ? settleMs : settleMs / 3;
  return (Math.floor(askedAt / everyMs) + 1) * everyMs;
}

/** When a slice is due again that came to nothing: later each time. */
export function afterFailure(
  slice: Pick<Slice, 'attempts'>,
  askedAt: Instant,
): { attempts: number; dueAt: Instant } {
  const attempts = slice.attempts + 1;
  return { attempts, dueAt: askedAt + retryDelayMs(attempts) };
}

/** A minute, doubling to an hour: a slice that does not work out leaves room for the others. */
export function retryDelayMs(attempts: number): number {
  return Math.min(hourMs, minuteMs * 2 ** Math.min(attempts - 1, 10));
}

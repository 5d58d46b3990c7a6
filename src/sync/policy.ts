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
/** Pending orders of past days are asked again this often. */
const settleMs = 15 * minuteMs;

/** The deadline of a day's slice: the cliff of its month minus the margin. It orders the work and never stops it. */
export function deadlineOf(day: string, settings: PolicySettings): Instant {
  return cliffOf(day) - settings.deadlineMarginMs;
}

/** Whether the days `[from, to)` had been over for long enough when they were read. */
export function isOver(span: DayRange, at: Instant): boolean {
  return at >= startOf(span.to) + overAfterMs;
}

/** Around the cliff an empty day, a smaller total or a missing record says nothing (proof rule 5). */
export function absenceProves(day: string, at: Instant): boolean {
  return at < cliffOf(day) - doubtfulBeforeMs;
}

export type Action = 'walk' | 'tail' | 'lapse' | 'none';

/** What is to be done with a claimed slice. `platformDate` is the platform's own `Date`, not our estimate. */
export function actionFor(
  slice: Slice,
  span: DayRange,
  now: Instant,
  platformDate: Instant | null,
): Action {
  if (slice.state === 'final' || slice.state === 'lost') return 'none';
  if (platformDate !== null && platformDate >= cliffOf(slice.day) + decidedAfterMs) return 'lapse';
  // A walk in progress is finished first; a failed or unproved one is walked again from the start.
  if (slice.checkpoint !== null || slice.wholeWalk === 0 || slice.attempts > 0) return 'walk';
  return isOver(span, now) ? 'walk' : 'tail';
}

/** What the cliff makes of a slice: walked whole in time, or lost for ever (P7). */
export function lapsedState(state: SliceState): SliceState {
  return state === 'open' ? 'lost' : 'final';
}

/** What an act on a slice came to. */
export type Outcome = {
  /** Whether the walk was read to its end and agrees with the platform's totals, where it gives any. */
  whole: boolean;
  proof: Proof;
  unresolved: number;
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
  if (!outcome.whole) {
    const attempts = slice.attempts + 1;
    return { state: slice.state, attempts, dueAt: askedAt + retryDelayMs(attempts) };
  }
  if (!over) {
    // Today: due at every tick, and for a last walk when the day is over.
    return { state: 'open', attempts: 0, dueAt: askedAt + 1 };
  }
  return {
    state: 'walked',
    attempts: 0,
    dueAt: Math.min(
      outcome.unresolved > 0 ? askedAt + settleMs : Infinity,
      slice.resource === 'nft_classes' ? askedAt + settings.refreshMs : Infinity,
      // Whatever else: when the month has gone, the slice becomes final.
      cliffOf(slice.day) + decidedAfterMs,
    ),
  };
}

/** A minute, doubling to an hour: a slice that does not work out leaves room for the others. */
export function retryDelayMs(attempts: number): number {
  return Math.min(hourMs, minuteMs * 2 ** Math.min(attempts - 1, 10));
}

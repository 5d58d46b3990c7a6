// Lives through months with the policy's pure functions and nothing else: a ledger in memory, a platform that is only
// a rule of what it shows when. What must hold at every step is checked at every step.
import { addDays, cliffOf, dayOf, daysIn, startOf, windowAt } from '../../src/day.ts';
import type { Day, Instant, ListedResource } from '../../src/model.ts';
import type { Slice } from '../../src/store/ledger.ts';
import { check } from './calendar-checks.ts';
import { unreadSlice } from './ledger.ts';
import {
  absenceProves,
  actionFor,
  afterAct,
  afterFailure,
  deadlineOf,
  isOver,
  lapsedState,
  type Action,
  type PolicySettings,
} from '../../src/sync/policy.ts';

const hourMs = 3_600_000;

export type Life = {
  from: Instant;
  to: Instant;
  resource?: ListedResource;
  settings?: PolicySettings;
  /** How often the worker looks; an hour unless given. */
  tickMs?: number;
  /** Whether the worker runs at that moment. */
  isOn?: (at: Instant) => boolean;
  /** How far the platform's months end before (positive) or after those of UTC. */
  monthsEndAheadMs?: number;
  /** What our clock shows beside the platform's; by a difference of 0 unless given. */
  clockErrorMs?: (at: Instant) => number;
  /** How many orders of a day a walk finds pending. */
  pendingOn?: (day: Day, at: Instant) => number;
  totals?: boolean;
  /** Other rules than the policy's: how a test of these checks sabotages it. */
  rules?: Partial<Rules>;
};

const policy = { actionFor, afterAct, lapsedState };
type Rules = typeof policy;

export type Act = { at: Instant; day: Day; action: Action; state: string };
export type Lived = { slices: Map<Day, Slice>; acts: Act[] };

const standard: PolicySettings = { deadlineMarginMs: 24 * hourMs, refreshMs: 6 * hourMs };

/** Throws at the first step that breaks a rule. */
export function live(life: Life): Lived {
  const { from, to, settings = standard, tickMs = hourMs, clockErrorMs = () => 0 } = life;
  const rules = { ...policy, ...life.rules };
  const slices = new Map<Day, Slice>();
  const acts: Act[] = [];
  let entered = '';
  // Ends: time goes on by ticks.
  for (let at = from; at < to; at += tickMs) {
    if (life.isOn?.(at) === false) continue;
    const now = at + clockErrorMs(at);
    if (dayOf(now) !== entered) enter(slices, now, life.resource ?? 'orders', settings);
    entered = dayOf(now);
    for (const [day, slice] of slices) {
      if (slice.dueAt === null || slice.dueAt > now) continue;
      const span = { from: day, to: addDays(day, 1) };
      const action = rules.actionFor(slice, span, now, Math.floor(at / 1000) * 1000, settings);
      const next = act({ ...life, rules }, slice, action, at, now, settings);
      check(slice, next, action, at, now);
      slices.set(day, next);
      acts.push({ at, day, action, state: next.state });
    }
  }
  return { slices, acts };
}

/** As enter-days.ts enters them: the window, and whatever has passed since the newest. */
function enter(
  slices: Map<Day, Slice>,
  now: Instant,
  resource: ListedResource,
  settings: PolicySettings,
): void {
  const window = windowAt(now);
  const newest = [...slices.keys()].toSorted().at(-1) ?? window.from;
  const from = newest < window.from ? newest : window.from;
  for (const day of daysIn({ from, to: window.to })) {
    if (!slices.has(day)) {
      const deadlineAt = deadlineOf(day, now, settings);
      slices.set(day, unreadSlice({ resource, day, dueAt: startOf(day), deadlineAt }));
    }
  }
}

/** What comes of it, as act.ts and conclude.ts write it; a day that has gone is answered empty. */
function act(
  life: Life & { rules: Rules },
  slice: Slice,
  action: Action,
  at: Instant,
  now: Instant,
  settings: PolicySettings,
): Slice {
  const { day } = slice;
  if (action === 'none') return { ...slice, dueAt: null };
  if (action === 'lapse')
    return { ...slice, state: life.rules.lapsedState(slice.state), dueAt: null };
  const isShown = at < cliffOf(day) - (life.monthsEndAheadMs ?? 0);
  if (!isShown) {
    // Around the cliff an empty answer says nothing; before and after that it must never come to it.
    if (absenceProves(day, now) && Math.abs(now - at) < hourMs)
      throw new Error(`${day} is gone, and believed to be empty`);
    return { ...slice, ...afterFailure(slice, now) };
  }
  const reads = action === 'walk' || action === 'tail';
  const span = { from: day, to: addDays(day, 1) };
  const hasTotals = life.totals !== false;
  const isSecond =
    slice.walkedAt !== null && isOver(span, slice.walkedAt) && now >= slice.walkedAt + hourMs;
  const read = hasTotals ? ('walk' as const) : isSecond ? ('walks' as const) : ('none' as const);
  const proof = action === 'settle' ? slice.proof : action === 'count' ? 'counts' : read;
  const walkedAt = reads ? now : (slice.walkedAt ?? now);
  const unresolved = slice.resource === 'orders' ? (life.pendingOn?.(day, at) ?? 0) : 0;
  const certainAt = Math.min(now, Math.floor(at / 1000) * 1000);
  const outcome = {
    proof,
    unresolved,
    missing: 0,
    walkedAt,
    withoutTotals: !hasTotals,
    certainAt,
  };
  return {
    ...slice,
    ...life.rules.afterAct(slice, span, outcome, now, settings),
    proof,
    provedAt: action === 'settle' || proof === 'none' ? slice.provedAt : now,
    walkedAt,
    wholeWalk: slice.wholeWalk + (reads ? 1 : 0),
    platformTotal: hasTotals ? 3 : null,
    unresolved,
  };
}

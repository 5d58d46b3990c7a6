// One act on one claimed slice: decide, read, judge, and leave the result in the ledger.
import { windowAt } from '../day.ts';
import { OutlastError, causeChain, isOutlastError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { DayRange } from '../model.ts';
import { recordFacts, type Facts } from '../store/facts.ts';
import { withTx } from '../store/db.ts';
import { finishSlice, type Finished, type Slice, type WalkQuery } from '../store/ledger.ts';
import { markMissing } from '../store/missing.ts';
import { countPending, countShown, dropOtherPages } from '../store/pages.ts';
import { boundsOf, dayEndOf, ignoresDates, limitOf, spanOf } from './bounds.ts';
import {
  absenceProves,
  actionFor,
  afterAct,
  isOver,
  lapsedState,
  retryDelayMs,
  type PolicySettings,
} from './policy.ts';
import { judge, type Verdict } from './proof.ts';
import {
  freshStart,
  readOn,
  resumedStart,
  tailStart,
  type Start,
  type WalkContext,
} from './walk.ts';

export type ActContext = Omit<WalkContext, 'ignoresDates'> & {
  facts: Facts;
  settings: PolicySettings;
  log: Log;
};

export type Acted = {
  done: boolean;
  /** In words, when the slice is not done. */
  problem: string | null;
  /** The platform did not answer at all: other slices will fare no better. */
  isUnanswered?: true;
};

/** A walk that has to start over does so at once, this often; then the slice waits its turn. */
const readingsAtMost = 3;

/**
 * Does what is due for a slice and gives its lease back. Throws only what concerns more than this slice: a final 403,
 * an ignored date filter, an abort, the database. Everything else is left in the ledger.
 */
export async function actOn(context: ActContext, slice: Slice): Promise<Acted> {
  const { platform } = context;
  const span = spanOf(slice.day, slice.resource, context.facts);
  const action = actionFor(slice, span, platform.clock.now(), platform.clock.lastDate());
  if (action === 'lapse' || action === 'none') {
    const state = action === 'lapse' ? lapsedState(slice.state) : slice.state;
    await finishSlice(context.db, slice, { ...asItWas(slice), state, dueAt: null, over: true });
    return { done: true, problem: null };
  }
  try {
    return await readAndJudge(context, slice, span, action);
  } catch (error) {
    if (isOutlastError(error, 'lease_lost')) {
      return { done: false, problem: error.message };
    }
    if (isOutlastError(error, 'date_filter_ignored')) {
      const fact = { [`${slice.resource}.date_filter`]: 'ignored' };
      await recordFacts(context.db, slice.projectId, fact, platform.clock.now());
    }
    if (!concernsTheSliceOnly(error)) throw error;
    const now = platform.clock.now();
    const attempts = slice.attempts + 1;
    await finishSlice(context.db, slice, {
      ...asItWas(slice),
      attempts,
      dueAt: now + retryDelayMs(attempts),
      lastError: causeChain(error),
      over: false,
    });
    return {
      done: false,
      problem: causeChain(error),
      ...(error.code === 'platform_unavailable' ? { isUnanswered: true as const } : {}),
    };
  }
}

function concernsTheSliceOnly(error: unknown): error is OutlastError {
  return (
    error instanceof OutlastError &&
    ['platform_unavailable', 'platform_refused'].includes(error.code)
  );
}

async function readAndJudge(
  context: ActContext,
  slice: Slice,
  span: DayRange,
  action: 'walk' | 'tail',
): Promise<Acted> {
  const { db, platform, facts, log, settings } = context;
  const askedAt = platform.clock.now();
  const query: WalkQuery = {
    ...boundsOf(span, slice.resource, facts, windowAt(askedAt).from),
    limit: limitOf(facts, slice.resource),
  };
  let start = await startFor(context, slice, action, query);
  let problem = '';
  for (let reading = 1; reading <= readingsAtMost; reading++) {
    const result = await readOn(
      { ...context, ignoresDates: ignoresDates(facts, slice.resource) },
      slice,
      start,
    );
    if (result.kind === 'restart') {
      problem = result.why;
    } else {
      const shown = await countShown(db, slice, start.walk);
      const growing = !isOver(span, askedAt);
      const verdict = judge({ ...result, distinct: shown.distinct }, growing);
      if (verdict.agrees && trustsAbsence(slice, shown.distinct, platform.clock.now())) {
        if (result.nextKeyForm !== null)
          await learnLastKey(context, slice, result.nextKeyForm, result.why);
        return await conclude(context, slice, span, start, askedAt, {
          ...result,
          ...verdict,
          ...shown,
        });
      }
      problem = verdict.disagreement ?? 'so near the cliff an absence proves nothing';
    }
    log.debug({ resource: slice.resource, day: slice.day, why: problem }, 'A walk starts over');
    start = freshStart(slice, query, start.walk);
  }
  const next = afterAct(
    slice,
    span,
    { whole: false, proof: 'none', unresolved: 0 },
    askedAt,
    settings,
  );
  await finishSlice(db, slice, {
    ...asItWas(slice),
    attempts: next.attempts,
    dueAt: next.dueAt,
    lastError: problem,
    over: true,
  });
  return { done: false, problem };
}

async function startFor(
  context: ActContext,
  slice: Slice,
  action: 'walk' | 'tail',
  query: WalkQuery,
): Promise<Start> {
  if (action === 'tail') {
    const start = await tailStart(context.db, slice, query);
    if (start !== null) return start;
  }
  return slice.checkpoint === null
    ? freshStart(slice, query, slice.walk)
    : resumedStart(context.db, slice, slice.checkpoint);
}

/** Around the cliff fewer records than before, or none, may only mean that the month has gone (proof rule 5). */
function trustsAbsence(slice: Slice, distinct: number, now: number): boolean {
  return absenceProves(slice.day, now) || (distinct > 0 && distinct >= (slice.shownTotal ?? 0));
}

type Whole = Verdict & {
  distinct: number;
  totalBefore: number | null;
  totalAfter: number | null;
};

async function conclude(
  context: ActContext,
  slice: Slice,
  span: DayRange,
  start: Start,
  askedAt: number,
  whole: Whole,
): Promise<Acted> {
  const { db, platform, log, settings, facts } = context;
  const now = platform.clock.now();
  // No empty day is proved while it is unknown how the platform reads an end date (proof rule 4).
  const isProved =
    whole.proof !== 'none' &&
    !(whole.distinct === 0 && dayEndOf(facts, slice.resource) === 'unknown');
  const unresolved =
    slice.resource === 'orders' ? await countPending(db, slice.projectId, span) : 0;
  const proof = isProved ? whole.proof : 'none';
  const next = afterAct(slice, span, { whole: true, proof, unresolved }, askedAt, settings);
  const end: Finished = {
    state: next.state,
    proof,
    provedAt: isProved ? now : slice.provedAt,
    walkedAt: askedAt,
    wholeWalk: start.walk,
    platformTotal: whole.totalAfter,
    shownTotal: whole.distinct,
    unresolved,
    dueAt: next.dueAt,
    attempts: 0,
    lastError: null,
    over: true,
  };
  const missing = await withTx(db, async (tx) => {
    if (!(await finishSlice(tx, slice, end))) return null;
    const isNewWalk = slice.wholeWalk > 0 && start.walk !== slice.wholeWalk;
    const marked =
      isNewWalk && isProved && slice.owner === ''
        ? await markMissing(tx, slice, span, slice.wholeWalk, start.walk, now)
        : 0;
    await dropOtherPages(tx, slice, [start.walk]);
    return marked;
  });
  if (missing === null) return { done: false, problem: 'The slice went on without us' };
  if (missing > 0) {
    log.warn(
      { resource: slice.resource, day: slice.day, missing },
      'The platform no longer shows records it showed before',
    );
  }
  return { done: true, problem: null };
}

/** How the last page says that it is the last: by what stands in place of a key, or else why the walk ended. */
async function learnLastKey(
  context: ActContext,
  slice: Slice,
  form: string,
  why: string,
): Promise<void> {
  const repeats = why === 'repeated key' || why === 'no progress';
  const value = form !== 'key' ? form : repeats ? 'repeated' : 'leads to an empty page';
  if (context.facts.get('orders.last_key') === value) return;
  await recordFacts(
    context.db,
    slice.projectId,
    { 'orders.last_key': value },
    context.platform.clock.now(),
  );
}

function asItWas(slice: Slice): Finished {
  return {
    state: slice.state,
    proof: slice.proof,
    provedAt: slice.provedAt,
    walkedAt: slice.walkedAt,
    wholeWalk: slice.wholeWalk,
    platformTotal: slice.platformTotal,
    shownTotal: slice.shownTotal,
    unresolved: slice.unresolved,
    dueAt: slice.dueAt,
    attempts: slice.attempts,
    lastError: null,
    over: false,
  };
}

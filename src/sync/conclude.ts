// What an act comes to, written into the ledger: the state, the proof, when the slice is due again. The lease is
// given back with it, and nothing is written by whoever lost it (P8).
import { transient } from '../errors.ts';
import type { Log } from '../log.ts';
import { wholeList, type DayRange, type Proof } from '../model.ts';
import { recordFacts, type Facts } from '../store/facts.ts';
import { withTx } from '../store/db.ts';
import { finishSlice, type Finished, type Slice, type WalkQuery } from '../store/ledger.ts';
import { countMissing, markMissing, showTheSame, type Walks } from '../store/missing.ts';
import { countPending, dropOtherPages } from '../store/pages.ts';
import { writeRecords } from '../store/records.ts';
import { dayEndOf } from './bounds.ts';
import { findMoved } from './moved.ts';
import {
  afterAct,
  afterFailure,
  betweenWalksMs,
  isOver,
  lapsedState,
  missingBlocksMs,
  type PolicySettings,
} from './policy.ts';
import type { Verdict } from './proof.ts';
import type { WalkContext } from './walk.ts';
import type { WindowQuestions } from './window.ts';

export type ActContext = Omit<WalkContext, 'ignoresDates'> & {
  facts: Facts;
  settings: PolicySettings;
  log: Log;
  /** The slice was named by a person: it is read even where counting would do. */
  isAskedFor: boolean;
  window: WindowQuestions;
};

export type Acted = {
  done: boolean;
  /** In words, when the slice is not done. */
  problem: string | null;
  /** The platform did not answer at all: other slices will fare no better. */
  isUnanswered?: true;
};

/** An act as it is under way: the slice, the days it stands for, what is asked, and since when. */
export type Act = { slice: Slice; span: DayRange; query: WalkQuery; askedAt: number };

const done: Acted = { done: true, problem: null };

/** The cliff has passed: the slice is final or lost, for ever (P7). */
export async function concludeLapse(
  context: ActContext,
  { slice }: Act,
  action: 'lapse' | 'none',
): Promise<Acted> {
  const state = action === 'lapse' ? lapsedState(slice.state) : slice.state;
  await finishSlice(context.db, slice, { ...asItWas(slice), state, dueAt: null, over: true });
  return done;
}

/** Nothing was proved this time; the slice waits its turn. A disagreement unseals it (P6). */
export async function concludeFailure(
  context: ActContext,
  { slice, askedAt }: Act,
  problem: string,
  { unseals }: { unseals: boolean },
): Promise<Acted> {
  const { attempts, dueAt } = afterFailure(slice, askedAt);
  await finishSlice(context.db, slice, {
    ...asItWas(slice),
    ...(unseals ? { proof: 'none' as const } : {}),
    state: unseals && slice.state === 'sealed' ? 'walked' : slice.state,
    attempts,
    dueAt,
    lastError: problem,
    // A walk that was contradicted is not gone on with; one that was cut off is.
    over: unseals,
  });
  return { done: false, problem };
}

/** The platform's counts are those of the last whole walk: proved again, without reading it. */
export async function concludeCount(
  context: ActContext,
  { slice, span, askedAt }: Act,
  total: number | null,
): Promise<Acted> {
  const { db, platform, settings } = context;
  const walkedAt = slice.walkedAt ?? askedAt;
  const unresolved = slice.unresolved > 0 ? await countPending(db, slice.projectId, span) : 0;
  // An empty day that may not be proved by its own answer keeps the proof it has (proof rule 4).
  const isDoubtful = total === 0 && (await isEmptyInDoubt(context, { slice, span, askedAt }));
  const proof = isDoubtful ? slice.proof : 'counts';
  const outcome = { proof, unresolved, missing: 0, walkedAt };
  const isMine = await finishSlice(db, slice, {
    ...asItWas(slice),
    ...afterAct(slice, span, outcome, askedAt, settings),
    proof,
    provedAt: isDoubtful ? slice.provedAt : platform.clock.now(),
    platformTotal: total,
    unresolved,
  });
  return isMine ? done : { done: false, problem: 'The slice went on without us' };
}

/** Nothing but pending orders was looked at: the proof stays what it was. */
export async function concludeSettled(
  context: ActContext,
  { slice, span, askedAt }: Act,
): Promise<Acted> {
  const { db, settings } = context;
  const unresolved = await countPending(db, slice.projectId, span);
  const walkedAt = slice.walkedAt ?? askedAt;
  const withoutTotals = slice.platformTotal === null;
  const outcome = { proof: slice.proof, unresolved, missing: 0, walkedAt, withoutTotals };
  const isMine = await finishSlice(db, slice, {
    ...asItWas(slice),
    ...afterAct(slice, span, outcome, askedAt, settings),
    unresolved,
  });
  return isMine ? done : { done: false, problem: 'The slice went on without us' };
}

export type Whole = Verdict & {
  why: string;
  nextKeyForm: string | null;
  distinct: number;
  totalAfter: number | null;
  order: 'asc' | 'desc';
  /** Whether what was not shown counts: around the cliff it says nothing (proof rule 5). */
  isAbsenceTrusted: boolean;
};

/** A walk was read to its end and nothing contradicts it. */
export async function concludeWalk(
  context: ActContext,
  act: Act,
  walk: number,
  whole: Whole,
): Promise<Acted> {
  const { db, platform, log, settings } = context;
  const { slice, span, askedAt } = act;
  const now = platform.clock.now();
  if (whole.nextKeyForm !== null) await learnLastKey(context, slice, whole.nextKeyForm, whole.why);
  const unresolved =
    slice.resource === 'orders' ? await countPending(db, slice.projectId, span) : 0;
  const isDoubtful = whole.distinct === 0 && (await isEmptyInDoubt(context, act));
  const withoutTotals = whole.totalAfter === null;
  const walks: Walks = { before: slice.wholeWalk, now: walk };
  const proof = isDoubtful ? 'none' : await proofOf(context, act, walks, whole);
  const isNewWalk = walks.before > 0 && walk !== walks.before && slice.day !== wholeList;
  const mayMiss = isNewWalk && whole.isAbsenceTrusted && (withoutTotals || whole.proof !== 'none');
  const moved = mayMiss && slice.owner !== '' ? await findMoved(context, slice, walks) : [];
  const missing = await withTx(db, async (tx) => {
    if (mayMiss) {
      const except = moved.map(({ record }) => record.id);
      await markMissing(tx, slice, span, walks, except, askedAt);
    }
    const to = { projectId: slice.projectId, resource: slice.resource, expectsNew: null };
    await writeRecords(tx, to, moved, now);
    // Records that vanished leave the day unproved until a walk a day later is without them too (proof rule 3).
    const gone = await countMissing(tx, slice, span, askedAt - missingBlocksMs);
    const proved = gone > 0 ? 'none' : proof;
    const outcome = { proof: proved, unresolved, missing: gone, walkedAt: askedAt, withoutTotals };
    const end: Finished = {
      ...afterAct(slice, span, outcome, askedAt, settings),
      proof: proved,
      provedAt: proved === 'none' ? slice.provedAt : now,
      walkedAt: askedAt,
      wholeWalk: walk,
      walkOrder: whole.order,
      platformTotal: whole.totalAfter,
      shownTotal: whole.distinct,
      unresolved,
      lastError: null,
      over: true,
    };
    if (!(await finishSlice(tx, slice, end))) {
      throw transient('lease_lost', 'The slice went on without us');
    }
    await dropOtherPages(tx, slice, [walk]);
    return gone;
  });
  if (missing > 0) {
    log.warn(
      { resource: slice.resource, day: slice.day, missing },
      'The platform no longer shows records it showed before',
    );
  }
  return done;
}

/**
 * What a whole walk proves: what its totals say; where there are none, two walks after the day, one each way and an hour
 * or more apart, that were shown the same (proof rule 2).
 */
async function proofOf(
  { db }: ActContext,
  { slice, span, askedAt }: Act,
  walks: Walks,
  whole: Whole,
): Promise<Proof> {
  const { walkedAt, walkOrder } = slice;
  if (whole.proof !== 'none' || whole.totalAfter !== null || slice.day === wholeList) {
    return whole.proof;
  }
  const isSecond =
    walks.before > 0 &&
    walkedAt !== null &&
    isOver(span, walkedAt) &&
    walkOrder !== whole.order &&
    askedAt >= walkedAt + betweenWalksMs;
  return isSecond && (await showTheSame(db, slice, walks)) ? 'walks' : 'none';
}

/**
 * No empty day is proved while it is unknown how the platform reads an end date, unless the whole window was shown to be
 * empty when the day was over (proof rule 4).
 */
async function isEmptyInDoubt(
  { facts, window }: ActContext,
  { slice, span, askedAt }: Pick<Act, 'slice' | 'span' | 'askedAt'>,
): Promise<boolean> {
  // A day that is not over yet is proved by nothing.
  if (!isOver(span, askedAt)) return true;
  if (dayEndOf(facts, slice.resource) !== 'unknown') return false;
  const emptyAt = await window.emptyAt(slice);
  return emptyAt === null || !isOver(span, emptyAt);
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
  const now = context.platform.clock.now();
  await recordFacts(context.db, slice.projectId, { 'orders.last_key': value }, now);
}

function asItWas(slice: Slice): Finished {
  return {
    state: slice.state,
    proof: slice.proof,
    provedAt: slice.provedAt,
    walkedAt: slice.walkedAt,
    wholeWalk: slice.wholeWalk,
    walkOrder: slice.walkOrder,
    platformTotal: slice.platformTotal,
    shownTotal: slice.shownTotal,
    unresolved: slice.unresolved,
    dueAt: slice.dueAt,
    attempts: slice.attempts,
    lastError: null,
    over: false,
  };
}

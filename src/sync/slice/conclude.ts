// What an act comes to, written into the ledger: the state, the proof, when the slice is due again. The lease is
// given back with it, and nothing is written by whoever lost it (P8).
import type { Log } from '../../log.ts';
import type { ProjectMeter } from '../../meter.ts';
import type { ListedResource, Span } from '../../model.ts';
import type { Semaphore } from '../../semaphore.ts';
import { dropList } from '../../store/contested.ts';
import type { Facts } from '../../store/facts.ts';
import { finishSlice, type Slice } from '../../store/ledger.ts';
import type { WalkQuery } from '../../store/checkpoint.ts';
import { countMissing } from '../../store/missing.ts';
import { countPending } from '../../store/pages.ts';
import { dayEndOf } from '../list-rules.ts';
import {
  afterAct,
  afterFailure,
  isOver,
  lapsedState,
  missingBlocksMs,
  type PolicySettings,
  type RetryDelays,
} from '../policy.ts';
import type { Worker } from '../worker.ts';
import type { ListRules, WalkContext } from './walk.ts';
import type { WindowQuestions } from './window-questions.ts';

export type ActContext = Omit<WalkContext, keyof ListRules> & {
  facts: Facts;
  settings: PolicySettings;
  log: Log;
  /** The slice was named by a person: it is read even where counting would do. */
  isAskedFor: boolean;
  window: WindowQuestions;
  source: Worker['source'];
  learned: Learned;
  meter?: ProjectMeter | undefined;
};

/** What a run has learned of the platform's lists beyond the facts it began with. */
export type Learned = {
  /** Numbers of records that several days have, and that stood a look from the other end. */
  alike: Set<string>;
  /** Of days with the same number of records one is doubted at a time: what it shows spares the others a look. */
  doubting: Map<string, Semaphore>;
  /** Where lists and totals were found to be cut. */
  caps: Map<ListedResource, number>;
  /** How the last page of a list says so: the fact `orders.last_key` by now. */
  lastKey: string | null;
};

export const nothingLearned = (): Learned => ({
  alike: new Set(),
  doubting: new Map(),
  caps: new Map(),
  lastKey: null,
});

export type Acted = {
  done: boolean;
  /** In words, when the slice is not done. */
  problem: string | null;
  /** The platform did not answer at all: other slices will fare no better. */
  isUnanswered?: true;
  /** What nobody foresaw, in words: other slices may fare better. */
  unforeseen?: string;
};

/** An act as it is under way: the slice, the days it stands for, what is asked, and since when. */
export type Act = {
  slice: Slice;
  span: Span;
  query: WalkQuery;
  askedAt: number;
  /** The totals of the statuses belie the total: it is not believed alone. */
  doubtsTotal?: boolean;
};

const done: Acted = { done: true, problem: null };

const hourMs = 3_600_000;

/** Somebody else has the slice by now, and nothing was written (P8). */
export function leaseLost({ meter }: ActContext, problem = 'The slice went on without us'): Acted {
  meter?.leaseLost();
  return { done: false, problem };
}

/** The cliff has passed: the slice is final or lost, for ever (P7). */
export async function concludeLapse(
  context: ActContext,
  { slice }: Act,
  action: 'lapse' | 'none',
): Promise<Acted> {
  const state = action === 'lapse' ? lapsedState(slice.state) : slice.state;
  await finishSlice(context.db, slice, { state, dueAt: null, over: true });
  await dropList(context.db, slice);
  return done;
}

/** Nothing was proved this time; the slice waits its turn. A disagreement unseals it (P6). */
export async function concludeFailure(
  context: ActContext,
  { slice, askedAt }: Act,
  problem: string,
  {
    unseals,
    givesUp = false,
    delays,
  }: { unseals: boolean; givesUp?: boolean; delays?: RetryDelays },
): Promise<Acted> {
  const { attempts, dueAt } = afterFailure(slice, askedAt, delays);
  await finishSlice(context.db, slice, {
    ...(unseals ? { proof: 'none' as const } : {}),
    state: unseals && slice.state === 'sealed' ? 'walked' : slice.state,
    attempts,
    dueAt,
    lastError: problem,
    // A walk that was contradicted, or given up, is not gone on with; one that was cut off is.
    over: unseals || givesUp,
  });
  return { done: false, problem };
}

/** A count was told less than it needs: what stands is counted again in an hour. */
export async function concludeUntold(
  { db }: ActContext,
  { slice, askedAt }: Act,
  problem: string,
): Promise<Acted> {
  await finishSlice(db, slice, { dueAt: askedAt + hourMs, lastError: problem });
  return { done: false, problem };
}

/** The platform's counts are those of the last whole walk: proved again, without reading it. */
export async function concludeCount(
  context: ActContext,
  { slice, span, askedAt }: Act,
  total: number | null,
): Promise<Acted> {
  const { db, platform, settings } = context;
  const certainAt = Math.min(askedAt, platform.clock.earliest());
  const walkedAt = slice.walkedAt ?? askedAt;
  const unresolved =
    slice.unresolved > 0 ? await countPending(db, slice, slice.wholeWalk, span) : 0;
  // An empty day that may not be proved by its own answer keeps the proof it has (proof rule 4).
  const isDoubtful = total === 0 && (await isEmptyInDoubt(context, { slice, span, askedAt }));
  const proof = isDoubtful ? slice.proof : 'counts';
  const outcome = { proof, unresolved, missing: 0, walkedAt, certainAt };
  const isMine = await finishSlice(db, slice, {
    ...afterAct(slice, span, outcome, askedAt, settings),
    proof,
    provedAt: isDoubtful ? slice.provedAt : platform.clock.now(),
    platformTotal: total,
    unresolved,
  });
  return isMine ? done : leaseLost(context);
}

/** Nothing but pending orders was looked at: the proof stays what it was. */
export async function concludeSettled(
  context: ActContext,
  { slice, span, askedAt }: Act,
): Promise<Acted> {
  const { db, platform, settings } = context;
  const certainAt = Math.min(askedAt, platform.clock.earliest());
  const unresolved = await countPending(db, slice, slice.wholeWalk, span);
  const walkedAt = slice.walkedAt ?? askedAt;
  const withoutTotals = slice.platformTotal === null;
  const missing =
    slice.proof === 'none' ? await countMissing(db, slice, span, certainAt - missingBlocksMs) : 0;
  const outcome = { proof: slice.proof, unresolved, missing, walkedAt, withoutTotals, certainAt };
  const isMine = await finishSlice(db, slice, {
    ...afterAct(slice, span, outcome, askedAt, settings),
    unresolved,
  });
  return isMine ? done : leaseLost(context);
}

/**
 * No empty day is proved while it is unknown how the platform reads an end date, unless the whole window was shown to
 * be empty when the day was over (proof rule 4).
 */
export async function isEmptyInDoubt(
  { facts, window }: ActContext,
  { slice, span, askedAt }: Pick<Act, 'slice' | 'span' | 'askedAt'>,
): Promise<boolean> {
  // A day that is not over yet is proved by nothing.
  if (!isOver(span, askedAt)) return true;
  if (dayEndOf(facts, slice.resource) !== 'unknown') return false;
  const emptyAt = await window.emptyAt(slice);
  return emptyAt === null || !isOver(span, emptyAt);
}

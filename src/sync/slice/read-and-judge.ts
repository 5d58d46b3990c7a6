// Reads a slice and judges what it was shown, once or, where a walk lost its way or was contradicted, again at once.
// What it comes to is written by the conclude files.
import { wholeList } from '../../model.ts';
import { createSemaphore } from '../../semaphore.ts';
import type { Slice } from '../../store/ledger.ts';
import type { CutList, WalkQuery } from '../../store/checkpoint.ts';
import { countNew, goneIds } from '../../store/missing.ts';
import { countPending, countShown } from '../../store/pages.ts';
import { rulesOf } from '../list-rules.ts';
import {
  absenceProves,
  closingOf,
  isOver,
  recountMs,
  retryAtMostMs,
  retryDelays,
} from '../policy.ts';
import {
  isBeyondProof,
  readsDatesOtherwise,
  showsAll,
  showsMonth,
  trustsAbsence,
} from './absent-records.ts';
import { concludeUnproved, concludeWalk, type Whole } from './conclude-walk.ts';
import { concludeFailure, type Act, type ActContext, type Acted } from './conclude.ts';
import { readInParts, readPart, type NewlyCut } from './cut-list.ts';
import { asGiven, judge, lacksTotal } from './proof.ts';
import {
  alikeKey,
  capOf,
  lookFromOtherEnd,
  wantsSecondWitness,
  type Doubt,
  type OtherEnd,
} from './second-witness.ts';
import { compareByStatus, isHiding, saysNothingByStatus } from './status-totals.ts';
import { freshStart, resumedStart, tailStart, type Start } from './walk-start.ts';
import { readOn, type Reading, type WalkContext } from './walk.ts';

/** A walk that has to start over does so at once, this often; then the slice waits its turn. */
const readingsAtMost = 3;

export const nearCliff = 'from around the cliff on an absence proves nothing';
const noTotal = 'the platform gives no total where it is known to give them';

/** What a reading came to: judged, or a problem in words. */
type Judged = {
  problem: string;
  /** Whole, and contradicted by its totals: it stands for its day where nothing better does. */
  unproved: Whole | null;
  /** More was counted or shown than ever before. */
  showsMore: boolean;
  /** The same answer again would say no more. */
  isSettled: boolean;
  /** Whether the problem speaks against what was proved before. */
  contradicts: boolean;
  /** Nothing is told by status that should be. */
  isMute?: true;
  /** Until the month has gone another reading proves no more. */
  isBeyond?: boolean;
};

export async function readAndJudge(context: ActContext, act: Act, isTail: boolean): Promise<Acted> {
  const { facts, log, platform } = context;
  const { slice } = act;
  const growing = !isOver(act.span, act.askedAt);
  const query = orderedQuery(act, growing);
  const walking = { ...context, ...rulesOf(facts, slice.resource) };
  let start = await startFor(context, act, query, isTail);
  let showsMore = false;
  let judged: Judged | null = null;
  // What was read whole and not proved before is not read thrice each time.
  const readings = slice.attempts > 0 && slice.state === 'walked' ? 1 : readingsAtMost;
  for (let reading = 1; reading <= readings; reading++) {
    // A fresh walk drops the pages of the one before.
    if (reading > 1) start = freshStart(slice, query, start.walk);
    const isLast = reading === readings;
    const result = await readSlice(walking, act, start, growing, isLast);
    if ('done' in result) return result;
    judged = result;
    showsMore ||= judged.showsMore || (start.memory.totalBefore ?? 0) > (slice.shownTotal ?? 0);
    const { problem } = judged;
    log.debug({ resource: slice.resource, day: slice.day, why: problem }, 'A walk came to nothing');
    if (judged.isSettled) break;
  }
  const { problem = '', unproved = null, isMute = false, isBeyond = false } = judged ?? {};
  // That nothing is told speaks against nothing; what the list shows may.
  const contradicts = isMute
    ? unproved !== null && (await differs(context, act, start.walk))
    : judged?.contradicts === true;
  // Days are not read whole again at once for a filter that may be gone for weeks.
  const isLate = act.askedAt >= closingOf(slice.day, context.settings);
  const seldom = { firstMs: retryAtMostMs, atMostMs: isLate ? retryAtMostMs : recountMs };
  const delays = isMute || isBeyond ? seldom : retryDelays;
  // P6: whatever contradicts a seal ends it; around the cliff only more than was shown before does.
  const unseals = contradicts && (showsMore || absenceProves(slice.day, platform.clock.latest()));
  if (unproved !== null && !growing && standsUnproved(slice, unproved)) {
    const { distinct, listed } = unproved;
    if (showsAll(slice, distinct) || (await showsMonth(context, slice, listed ?? distinct))) {
      return concludeUnproved(context, act, start.walk, unproved, problem, delays);
    }
  }
  // What is not held yet is lost if its month goes before the next try.
  const isUnheld = isBeyond && slice.state === 'open';
  return concludeFailure(context, act, problem, {
    unseals,
    givesUp: isMute || isBeyond,
    delays: isUnheld ? retryDelays : delays,
  });
}

/** One reading. `isLast`: what it leaves in doubt is not read again, but looked at from its other end. */
async function readSlice(
  walking: WalkContext & ActContext,
  act: Act,
  start: Start,
  growing: boolean,
  isLast: boolean,
): Promise<Acted | Judged> {
  const { slice } = act;
  const { memory, walk } = start;
  const context: ActContext = walking;
  if (memory.part !== null) {
    // Resumed in the midst of its parts.
    const read = await readPart(walking, slice, start);
    if (read.kind === 'restart') return lost(read.why);
    return judgeParts(walking, act, start, memory.part.list, read);
  }
  const result = await readOn(walking, slice, start);
  if (result.kind === 'restart') return lost(result.why);
  const look = (): Promise<OtherEnd> => lookFromOtherEnd(context, slice, memory.query, walk);
  const isOneWay = growing || slice.day === wholeList;
  const inParts = async (sees: OtherEnd): Promise<Acted | Judged> => {
    const first = memory.query.order ?? 'asc';
    // Where its other end shows no more, it leaves out what is not asked for by status.
    const mayHide = act.doubtsTotal === true || (await isHiding(context, slice));
    const found = {
      isBlind: sees === 'unseen',
      ...(sees === 'same' ? { hides: true as const } : {}),
      ...(mayHide ? { mayHide: true as const } : {}),
      ...(result.end === 'unsure' ? { isUnsure: true as const } : {}),
    };
    return judgeParts(walking, act, start, { first, total: memory.totalBefore, ...found }, null);
  };
  if (result.end === 'given up') return lost(result.why);
  if (result.end === 'unsure') {
    const sees = isOneWay ? 'unseen' : await look();
    if (sees === 'more' && isLast) return inParts(sees);
    if (sees !== 'same') return lost(result.why);
  }
  const whole = await judgeWhole(context, act, start, result, growing);
  const { distinct } = whole;
  if (!whole.agrees) {
    // A list may be cut where its total is not, or elsewhere.
    const mayBeCut = isLast && distinct > 0 && !isOneWay && whole.disagreement !== noTotal;
    if (mayBeCut && (await look()) === 'more') return inParts('more');
    return {
      problem: whole.disagreement ?? '',
      unproved: whole,
      showsMore: Math.max(distinct, whole.totalAfter ?? 0) > (slice.shownTotal ?? 0),
      isSettled: whole.disagreement === noTotal,
      contradicts: whole.disagreement !== noTotal,
    };
  }
  const doubted = isOneWay ? null : await doubtInTurn(context, act, start, whole, look);
  if (doubted !== null) return inParts(doubted);
  const byStatus = isOneWay ? 'same' : await compareByStatus(context, act, walk, whole);
  if (byStatus === 'moved') return lost('the list has grown since it was read');
  if (byStatus === 'more') return inParts('same');
  if (byStatus === 'mute') {
    return {
      problem: saysNothingByStatus,
      unproved: whole,
      showsMore: distinct > (slice.shownTotal ?? 0),
      isSettled: true,
      contradicts: false,
      isMute: true,
    };
  }
  if (await readsDatesOtherwise(context, slice, distinct)) {
    return { ...lost('an end date is read differently now'), isSettled: true, contradicts: true };
  }
  // Today is looked at once it is over: until then a doubt is reason enough to claim nothing.
  const isUnseen = memory.endsFull || distinct >= (capOf(context, slice) ?? Infinity);
  const isDoubted = growing && (isUnseen || (await isHiding(context, slice)));
  const claim = isDoubted ? { ...whole, proof: 'none' as const } : whole;
  const { concludes, isHeld } = await worthOf(context, slice, whole);
  if (concludes) return concludeWalk(context, act, walk, claim);
  return {
    ...lost(nearCliff),
    unproved: isHeld ? whole : null,
    isSettled: true,
    contradicts: false,
    isBeyond: isHeld,
  };
}

/**
 * What a walk is worth that nothing contradicts. `isHeld`: if it does not conclude, it stands for its day without proof
 * where nothing better does.
 */
async function worthOf(
  context: ActContext,
  slice: Slice,
  { distinct, isAbsenceTrusted }: Whole,
): Promise<{ concludes: boolean; isHeld: boolean }> {
  if (await isBeyondProof(context, slice)) {
    const isAsProved = slice.proof !== 'none' && distinct >= (slice.shownTotal ?? 0);
    return { concludes: isAsProved, isHeld: true };
  }
  return { concludes: isAbsenceTrusted || showsAll(slice, distinct), isHeld: false };
}

/** A walk that lost its way: nothing is known but that. */
const lost = (problem: string): Judged => ({
  problem,
  unproved: null,
  showsMore: false,
  isSettled: false,
  contradicts: true,
});

async function judgeWhole(
  context: ActContext,
  { slice }: Act,
  { walk, memory }: Start,
  result: Extract<Reading, { kind: 'ended' }>,
  growing: boolean,
): Promise<Whole> {
  const { db, facts, log } = context;
  const { resource, day } = slice;
  const { distinct } = await countShown(db, slice, walk);
  log.debug({ resource, day, why: result.why, distinct }, 'A walk came to its end');
  const evidence = asGiven({ ...result, distinct }, facts, slice);
  const isWithheld = !growing && lacksTotal(evidence, facts, slice);
  const verdict = isWithheld
    ? ({ agrees: false, proof: 'none', disagreement: noTotal } as const)
    : judge(evidence, growing);
  return {
    ...result,
    ...evidence,
    ...verdict,
    order: memory.query.order ?? 'asc',
    isAbsenceTrusted: verdict.agrees && (await trustsAbsence(context, slice, distinct)),
  };
}

/** What the other end shows where it says more than the walk, or nothing of a list that is much in doubt; else null. */
async function doubtInTurn(
  context: ActContext,
  act: Act,
  start: Start,
  whole: Whole,
  look: () => Promise<OtherEnd>,
): Promise<OtherEnd | null> {
  const { alike, doubting } = context.learned;
  const key = alikeKey(act.slice, whole.distinct);
  const turns = doubting.get(key) ?? createSemaphore(1);
  doubting.set(key, turns);
  return turns(async () => {
    const doubt = await doubtOf(context, act, start, whole);
    if (doubt === null) return null;
    const sees = await look();
    if (sees === 'more' || (sees === 'unseen' && doubt === 'strong')) return sees;
    alike.add(key);
    return null;
  });
}

/** Whether what a total vouches for, or would, wants a second witness: the list read from its other end. */
async function doubtOf(
  context: ActContext,
  { slice, span, doubtsTotal }: Act,
  { walk, memory }: Start,
  whole: Whole,
): Promise<Doubt> {
  const { distinct, proof } = whole;
  if (proof !== 'none') {
    if (doubtsTotal === true) return 'strong';
    return wantsSecondWitness(context, slice, distinct, memory.endsFull);
  }
  // Without totals nothing tells a list that was cut from one that has lost records.
  const walks = { before: slice.wholeWalk, now: walk };
  const hasLost = walks.before > 0 && (await goneIds(context.db, slice, span, walks)).length > 0;
  return hasLost ? 'strong' : null;
}

async function judgeParts(
  walking: WalkContext & ActContext,
  act: Act,
  start: Start,
  list: NewlyCut | CutList,
  resumed: Extract<Reading, { kind: 'ended' }> | { kind: 'mute' } | null,
): Promise<Acted | Judged> {
  const context: ActContext = walking;
  const read = await readInParts(walking, act, start, list, resumed);
  if (read.kind === 'restart') return lost(read.why);
  const { distinct } = read.whole;
  const isAbsenceTrusted = read.whole.agrees && (await trustsAbsence(context, act.slice, distinct));
  const whole = { ...read.whole, isAbsenceTrusted };
  const { concludes, isHeld } = await worthOf(context, act.slice, whole);
  if (whole.agrees && concludes) return concludeWalk(context, act, start.walk, whole);
  return {
    problem: whole.disagreement ?? nearCliff,
    // A list that was left at an expired key is not read whole, whatever its parts have shown (P7).
    unproved: (whole.agrees && !isHeld) || read.isUnsure ? null : whole,
    showsMore: distinct > (act.slice.shownTotal ?? 0),
    isSettled: true,
    contradicts: !whole.agrees,
    isBeyond: isHeld && whole.agrees,
    ...(read.isMute ? { isMute: true as const } : {}),
  };
}

/**
 * Whether a walk that nothing is told of by status shows what the last whole one did not, or pending orders, or lacks
 * what that one showed: without its statuses a list that leaves orders out always does.
 */
async function differs(context: ActContext, { slice, span }: Act, walk: number): Promise<boolean> {
  const { db } = context;
  const walks = { before: slice.wholeWalk, now: walk };
  if ((await countNew(db, slice, walks)) > 0) return true;
  if ((await countPending(db, slice, walk, span)) > slice.unresolved) return true;
  if (await isHiding(context, slice)) return false;
  return (await goneIds(db, slice, span, walks)).length > 0;
}

/**
 * Whether a walk that was read whole and not proved is to stand for its day: never in place of one that was proved, nor
 * of one that was shown more.
 */
function standsUnproved(slice: Slice, { distinct }: Whole): boolean {
  if (slice.day === wholeList) return false;
  if (slice.state === 'open') return true;
  return slice.state === 'walked' && slice.proof === 'none' && distinct >= (slice.shownTotal ?? 0);
}

/**
 * Where totals are absent, a past day is walked the other way round each time: two such walks are its proof (proof rule
 * 2).
 */
function orderedQuery({ slice, query }: Act, growing: boolean): WalkQuery {
  const isSecond = slice.wholeWalk > 0 && slice.platformTotal === null && slice.walkOrder === 'asc';
  return !growing && isSecond && slice.day !== wholeList ? { ...query, order: 'desc' } : query;
}

async function startFor(
  context: ActContext,
  act: Act,
  query: WalkQuery,
  isTail: boolean,
): Promise<Start> {
  const { slice } = act;
  if (isTail) {
    const start = await tailStart(context.db, slice, query);
    if (start !== null) return start;
  }
  return slice.checkpoint === null
    ? freshStart(slice, query, slice.walk)
    : resumedStart(context.db, slice, slice.checkpoint);
}

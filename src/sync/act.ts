// One act on one claimed slice: decide, read or count, judge. What it comes to is written by conclude.ts.
import { windowAt } from '../day.ts';
import { causeChain, isOutlastError, OutlastError } from '../errors.ts';
import { wholeList, type ListedResource } from '../model.ts';
import { recordFacts, type Facts } from '../store/facts.ts';
import { withTx } from '../store/db.ts';
import { reopenSlices, type Slice, type WalkQuery } from '../store/ledger.ts';
import { countShown } from '../store/pages.ts';
import { showsAll, trustsAbsence, readsDatesOtherwise } from './absence.ts';
import { boundsOf, ignoresDates, limitOf, spanOf } from './bounds.ts';
import {
  concludeCount,
  concludeFailure,
  concludeLapse,
  concludeSettled,
  type Act,
  type ActContext,
  type Acted,
} from './conclude.ts';
import { concludeUnproved, concludeWalk, type Whole } from './conclude-walk.ts';
import { lookFromOtherEnd } from './other-end.ts';
import { absenceProves, actionFor, isOver, settlesToday } from './policy.ts';
import { settingsOf } from './plan.ts';
import { judge, type WalkEvidence } from './proof.ts';
import { recount } from './recount.ts';
import { learnFilter, settle, type PendingList } from './settle.ts';
import { freshStart, resumedStart, tailStart, type Start } from './starts.ts';
import { certainlyPast } from './remember-time.ts';
import type { WalkEnd } from './steps.ts';
import { concernsAll, unforeseenText } from './unforeseen.ts';
import { readOn } from './walk.ts';

/** A walk that has to start over does so at once, this often; then the slice waits its turn. */
const readingsAtMost = 3;

/**
 * Does what is due for a slice and gives its lease back. Throws only what concerns more than this slice: a final 403,
 * an ignored date filter, an abort, the database. Everything else is left in the ledger, also what nobody foresaw.
 */
export async function actOn(given: ActContext, slice: Slice, pending: PendingList): Promise<Acted> {
  const { platform, facts } = given;
  const settings = settingsOf(given.settings, slice.resource, facts);
  const context = { ...given, settings };
  const askedAt = platform.clock.now();
  const span = spanOf(slice.day, slice.resource, facts);
  const query: WalkQuery = {
    ...boundsOf(span, slice.resource, facts, windowAt(askedAt).from),
    limit: limitOf(facts, slice.resource),
  };
  const act: Act = { slice, span, query, askedAt };
  const action = actionFor(slice, span, askedAt, certainlyPast(platform), settings);
  if (action === 'lapse' || action === 'none') return concludeLapse(context, act, action);
  try {
    if (action === 'count' && !context.isAskedFor) {
      const counted = await countAndJudge(context, act);
      if (counted !== null) return counted;
    }
    if (action === 'settle' && !context.isAskedFor && (await settle(context, act, pending))) {
      return await concludeSettled(context, act);
    }
    let isTail = action === 'tail';
    if (isTail && settlesToday(slice, askedAt)) isTail = await settle(context, act, pending);
    return await readAndJudge(context, act, isTail);
  } catch (error) {
    if (isOutlastError(error, 'lease_lost')) return { done: false, problem: error.message };
    if (isOutlastError(error, 'date_filter_ignored')) {
      await learnIgnoredDates(context, slice);
    }
    if (concernsTheSliceOnly(error)) {
      const failed = await concludeFailure(context, act, causeChain(error), { unseals: false });
      return error.code === 'platform_unavailable' ? { ...failed, isUnanswered: true } : failed;
    }
    if (context.signal.aborted || concernsAll(error)) throw error;
    const unforeseen = unforeseenText(error, context);
    const failed = await concludeFailure(context, act, unforeseen, { unseals: false });
    return { ...failed, unforeseen };
  }
}

/** What was proved of single days was proved of nothing: the platform shows its whole list for each (proof rule 6). */
async function learnIgnoredDates({ db, platform }: ActContext, slice: Slice): Promise<void> {
  await withTx(db, async (tx) => {
    const fact = { [`${slice.resource}.date_filter`]: 'ignored' };
    await recordFacts(tx, slice.projectId, fact, platform.clock.now());
    await reopenSlices(tx, slice.projectId, slice.resource, false);
  });
}

function concernsTheSliceOnly(error: unknown): error is OutlastError {
  return (
    error instanceof OutlastError &&
    ['platform_unavailable', 'platform_refused'].includes(error.code)
  );
}

/** Null when the counts differ: then the slice must be walked. */
async function countAndJudge(context: ActContext, act: Act): Promise<Acted | null> {
  const { db, platform, log } = context;
  const { slice } = act;
  // Counts may not tell that a pending order has settled, nor the list of pending ones: its page does.
  if (slice.unresolved > 0 && !(await settle(context, act, null))) return null;
  const counted = await recount(db, platform, slice, act.query, context.signal);
  if (counted.ignoresStatus === true) await learnFilter(context, slice.projectId, 'ignored');
  if (counted.agrees) return concludeCount(context, act, counted.total);
  const isFewer = (counted.total ?? 0) < (slice.shownTotal ?? 0);
  if (isFewer && !(await trustsAbsence(context, slice, counted.total ?? 0))) {
    return concludeFailure(context, act, nearCliff, { unseals: false });
  }
  log.info(
    { resource: slice.resource, day: slice.day, total: counted.total, shown: slice.shownTotal },
    'A proved day counts differently now: it is walked again',
  );
  return null;
}

const nearCliff = 'from around the cliff on an absence proves nothing';

async function readAndJudge(context: ActContext, act: Act, isTail: boolean): Promise<Acted> {
  const { db, facts, log, platform } = context;
  const { slice, span } = act;
  const growing = !isOver(span, act.askedAt);
  const query = orderedQuery(act, growing);
  const walking = { ...context, ignoresDates: ignoresDates(facts, slice.resource) };
  let start = await startFor(context, act, query, isTail);
  let problem = '';
  let showsMore = false;
  let unproved: { walk: number; whole: Whole } | null = null;
  // What was read whole and not proved before is not read thrice each time.
  const readings = slice.attempts > 0 && slice.state === 'walked' ? 1 : readingsAtMost;
  for (let reading = 1; reading <= readings; reading++) {
    // A fresh walk drops the pages of the one before.
    unproved = null;
    const result = await readOn(walking, slice, start);
    showsMore ||= (start.memory.totalBefore ?? 0) > (slice.shownTotal ?? 0);
    if (result.kind === 'restart') {
      problem = result.why;
    } else if (!(await isReadWhole(context, slice, start, result.end))) {
      problem = result.why;
    } else {
      const { distinct } = await countShown(db, slice, start.walk);
      log.debug(
        { resource: slice.resource, day: slice.day, why: result.why, distinct },
        'A walk came to its end',
      );
      const evidence = asGiven({ ...result, distinct }, facts, slice.resource);
      const verdict = judge(evidence, growing);
      if (verdict.agrees && (await readsDatesOtherwise(context, slice, distinct))) {
        problem = 'an end date is read differently now';
        return concludeFailure(context, act, problem, { unseals: true });
      }
      const isAbsenceTrusted = verdict.agrees && (await trustsAbsence(context, slice, distinct));
      const nothingIsAbsent = showsAll(slice, distinct);
      const order: Slice['walkOrder'] = start.memory.query.order ?? 'asc';
      const whole = { ...result, ...evidence, ...verdict, order, isAbsenceTrusted };
      if (verdict.agrees && (isAbsenceTrusted || nothingIsAbsent)) {
        return concludeWalk(context, act, start.walk, whole);
      }
      if (!verdict.agrees) unproved = { walk: start.walk, whole };
      problem = verdict.disagreement ?? nearCliff;
      showsMore ||= Math.max(distinct, evidence.totalAfter ?? 0) > (slice.shownTotal ?? 0);
      // The same answer again would say no more.
      if (problem === nearCliff) break;
    }
    log.debug({ resource: slice.resource, day: slice.day, why: problem }, 'A walk starts over');
    start = freshStart(slice, query, start.walk);
  }
  // P6: whatever contradicts a seal ends it; around the cliff only more than was shown before does.
  const isContradicted = showsMore || absenceProves(slice.day, platform.clock.possible());
  const unseals = problem !== nearCliff && isContradicted;
  if (unproved !== null && !growing && standsUnproved(slice, unproved.whole)) {
    const { distinct } = unproved.whole;
    if (showsAll(slice, distinct) || (await trustsAbsence(context, slice, distinct))) {
      return concludeUnproved(context, act, unproved.walk, unproved.whole, problem);
    }
  }
  return concludeFailure(context, act, problem, { unseals });
}

async function isReadWhole(
  context: ActContext,
  slice: Slice,
  { walk, memory }: Start,
  end: WalkEnd,
): Promise<boolean> {
  if (end !== 'unsure') return end === 'whole';
  return (await lookFromOtherEnd(context, slice, memory.query, walk)) === 'same';
}

/**
 * Whether a walk that was read whole and not proved is to stand for its day: never in place of one that was proved, nor of
 * one that was shown more.
 */
function standsUnproved(slice: Slice, { distinct }: Whole): boolean {
  if (slice.day === wholeList) return false;
  if (slice.state === 'open') return true;
  return slice.state === 'walked' && slice.proof === 'none' && distinct >= (slice.shownTotal ?? 0);
}

/** Where totals are absent, a past day is walked the other way round each time: two such walks are its proof (rule 2). */
function orderedQuery({ slice, query }: Act, growing: boolean): WalkQuery {
  const isSecond = slice.wholeWalk > 0 && slice.platformTotal === null && slice.walkOrder === 'asc';
  return !growing && isSecond && slice.day !== wholeList ? { ...query, order: 'desc' } : query;
}

/** A platform that gives no totals may say 0 on an empty page as on every other: that counts nothing (proof rule 2). */
function asGiven(evidence: WalkEvidence, facts: Facts, resource: ListedResource): WalkEvidence {
  const isAbsent = facts.get(`${resource}.totals`) === 'absent';
  const given = (total: number | null): number | null => (isAbsent && total === 0 ? null : total);
  return {
    ...evidence,
    totalBefore: given(evidence.totalBefore),
    totalAfter: given(evidence.totalAfter),
  };
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

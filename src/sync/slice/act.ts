// One act on one claimed slice: decide, read or count, judge. What it comes to is written by conclude.ts.
import { windowAt } from '../../day.ts';
import { causeChain, isOutlastError, OutlastError } from '../../errors.ts';
import { withTx } from '../../store/db.ts';
import { recordFacts } from '../../store/facts.ts';
import { reopenSlices, type Slice } from '../../store/ledger.ts';
import type { WalkQuery } from '../../store/checkpoint.ts';
import { boundsOf, limitOf, spanOf } from '../list-rules.ts';
import { settingsOf } from '../enter-days.ts';
import { actionFor, settlesToday } from '../policy.ts';
import { concernsAll, unforeseenText } from '../unforeseen-errors.ts';
import { trustsAbsence } from './absent-records.ts';
import {
  concludeCount,
  concludeFailure,
  concludeLapse,
  concludeSettled,
  concludeUntold,
  leaseLost,
  type Act,
  type ActContext,
  type Acted,
} from './conclude.ts';
import { recount } from './count.ts';
import { nearCliff, readAndJudge } from './read-and-judge.ts';
import { capOf } from './second-witness.ts';
import { learnFilter, settle, type PendingList } from './settle.ts';
import { saysNothingByStatus } from './status-totals.ts';

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
  const action = actionFor(slice, span, askedAt, platform.clock.earliest(), settings);
  if (action === 'lapse' || action === 'none') return concludeLapse(context, act, action);
  try {
    if (action === 'count' && !context.isAskedFor) {
      const counted = await countAndJudge(context, act);
      if ('done' in counted) return counted;
      act.doubtsTotal = counted.doubtsTotal;
    }
    if (action === 'settle' && !context.isAskedFor && (await settle(context, act, pending))) {
      return await concludeSettled(context, act);
    }
    let isTail = action === 'tail';
    if (isTail && settlesToday(slice, askedAt)) isTail = await settle(context, act, pending);
    return await readAndJudge(context, act, isTail);
  } catch (error) {
    if (isOutlastError(error, 'lease_lost')) return leaseLost(context, error.message);
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
    await reopenSlices(tx, slice.projectId, slice.resource);
  });
}

function concernsTheSliceOnly(error: unknown): error is OutlastError {
  return (
    error instanceof OutlastError &&
    ['platform_unavailable', 'platform_refused'].includes(error.code)
  );
}

/** When the counts differ the slice must be walked, and they may tell that its total is not to be believed alone. */
async function countAndJudge(
  context: ActContext,
  act: Act,
): Promise<Acted | { doubtsTotal: boolean }> {
  const { db, platform, log } = context;
  const { slice } = act;
  // Counts may not tell that a pending order has settled, nor the list of pending ones: its page does.
  if (slice.unresolved > 0 && !(await settle(context, act, null))) return { doubtsTotal: false };
  const cap = capOf(context, slice);
  const { facts, signal } = context;
  const counted = await recount(db, platform, facts, slice, act.query, signal, cap);
  if (counted.ignoresStatus === true) await learnFilter(context, slice.projectId, 'ignored');
  if (counted.agrees) return concludeCount(context, act, counted.total);
  if (counted.isMute === true) {
    return concludeUntold(context, act, saysNothingByStatus);
  }
  const isFewer = (counted.total ?? 0) < (slice.shownTotal ?? 0);
  if (isFewer && !(await trustsAbsence(context, slice, counted.total ?? 0))) {
    return concludeFailure(context, act, nearCliff, { unseals: false });
  }
  log.info(
    { resource: slice.resource, day: slice.day, total: counted.total, shown: slice.shownTotal },
    counted.total === slice.shownTotal
      ? 'The totals of the statuses contradict a proved day: it is walked again'
      : 'A proved day counts differently now: it is walked again',
  );
  return { doubtsTotal: counted.isBelied === true };
}

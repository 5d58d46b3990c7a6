// What the totals of the three statuses, and the orders shown beside them, tell of a list of orders: whether it leaves
// some out unless their status is asked for (proof rule 1). When they are asked for, and what it means that they tell
// nothing.
import { dayOf } from '../../day.ts';
import { isOutlastError } from '../../errors.ts';
import { orderStatuses, wholeList, type PlatformPage } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import type { WalkQuery } from '../../store/checkpoint.ts';
import { readFact, recordFacts, type Facts, type KnownFact } from '../../store/facts.ts';
import { reopenSlices, type Slice } from '../../store/ledger.ts';
import { goneIds } from '../../store/missing.ts';
import { countStatuses, idsOf } from '../../store/pages.ts';
import { countUnshown } from '../../store/walk-ends.ts';
import { askTotal } from '../ask-list.ts';
import { hasTurn } from '../comparison-rota.ts';
import { limitOf } from '../list-rules.ts';
import { absenceProves, closingOf, isOver } from '../policy.ts';
import type { Act, ActContext } from './conclude.ts';

/** The fact: what the totals of the statuses come to, beside the total of the same days. The probe finds it. */
export const statusTotals = 'orders.status_totals';
/** More: lists leave orders out. Believed at once, and until the totals add up again. */
export const statusesExceed = 'exceed';
export const statusesAddUp = 'add up';
/** Less, as where there are other statuses or the filter does nothing. */
export const statusesFallShort = 'do not add up';
export const statusesAbsent = 'absent';

/** Whether the filter by status is known to answer: then it is a fault where it tells nothing. */
const answersByStatus = (value: string | undefined): boolean =>
  value === statusesExceed || value === statusesAddUp;

export const saysNothingByStatus =
  'the platform tells nothing by status now, which is to say whether its list leaves orders out';

export type StatusCounts = {
  /** In the order of `orderStatuses`; null where there is none to be believed. */
  totals: (number | null)[];
  /** Of the orders shown beside them, one of each status at most. */
  ids: string[];
  /** `ignored`: an order of another status was shown than the one asked for, so that its totals count nothing. */
  filter: 'honoured' | 'ignored' | 'refused';
};

/** Asks for the total of each status: three requests. Throws what the platform throws, but for refusals. */
export async function countByStatus(
  platform: Platform,
  facts: Facts,
  slice: Slice,
  range: WalkQuery,
  signal: AbortSignal,
): Promise<StatusCounts> {
  const counts: StatusCounts = { totals: [], ids: [], filter: 'honoured' };
  // Pending orders last: one that settles in between is left out, not counted twice.
  for (const status of orderStatuses.toReversed()) {
    const page = await askTotal(platform, slice, { ...range, status }, signal).catch(
      (error: unknown) => {
        // Who does not know the filter tells nothing by it.
        if (isOutlastError(error, 'platform_refused')) return null;
        throw error;
      },
    );
    counts.totals.unshift(page === null ? null : totalOf(page, facts));
    if (page === null) counts.filter = 'refused';
    else counts.ids.push(...idsOf(page));
    if (page !== null && showsOtherStatus(page, status)) counts.filter = 'ignored';
  }
  if (counts.filter === 'ignored') counts.totals.fill(null);
  return counts;
}

export const showsOtherStatus = ({ records }: PlatformPage, status: number): boolean =>
  records.some(({ columns: { status: shown } }) => typeof shown === 'number' && shown !== status);

/** The total of a status. One that what stands beside it contradicts is none; one of nothing may be left out. */
export function totalOf({ total, shown }: PlatformPage, facts: Facts): number | null {
  if (total === null) {
    return shown === 0 && facts.get('orders.empty_total') === 'absent' ? 0 : null;
  }
  return total < shown || (total > 0 && shown === 0) ? null : total;
}

/** Null unless all are given. */
export const sumOfTotals = (totals: (number | null)[]): number | null =>
  totals.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);

/**
 * Whether the filter by status, which is known to answer, tells nothing of a walk: it gives no totals, or counts fewer
 * orders than the walk was shown.
 */
export function isMute(
  known: string | undefined,
  { totals }: StatusCounts,
  shown: ReadonlyMap<number, number>,
): boolean {
  if (!answersByStatus(known)) return false;
  const sum = sumOfTotals(totals);
  return sum === null || sum < orderStatuses.reduce((all, one) => all + (shown.get(one) ?? 0), 0);
}

/**
 * Whether more orders are counted or shown by their status than the walk was shown; `mute`: nothing is told that should
 * be, so that nothing speaks for the list. `more` also where lists are known to leave orders out, and only totals are
 * not given: then the orders themselves tell.
 */
export async function compareByStatus(
  context: ActContext,
  act: Act,
  walk: number,
  distinct: number,
): Promise<'same' | 'more' | 'mute'> {
  const { db, platform, signal, facts } = context;
  const { slice, query } = act;
  if (slice.resource !== 'orders' || slice.day === wholeList) return 'same';
  // Another day of this run, or another process, may have learned it since the run began.
  const known = await readFact(db, slice.projectId, statusTotals);
  if (!(await wantsStatuses(context, act, walk, distinct, known))) return 'same';
  const { order: _order, ...range } = query;
  const counts = await countByStatus(platform, facts, slice, range, signal).catch(
    (error: unknown) => {
      if (tellsNothing(error)) return null;
      throw error;
    },
  );
  if (counts === null) return answersByStatus(known?.value) ? 'mute' : 'same';
  const sum = sumOfTotals(counts.totals);
  const isMore = (sum ?? 0) > distinct || (await countUnshown(db, slice, walk, counts.ids)) > 0;
  if (isMore && counts.filter !== 'ignored') {
    if (known?.value !== statusesExceed) await learnHiding(context, slice);
    return 'more';
  }
  if (isMore) return 'mute';
  if (!isMute(known?.value, counts, await countStatuses(db, slice, walk))) return 'same';
  const onlyTotalsLack = sum === null && counts.filter === 'honoured';
  return onlyTotalsLack && known?.value === statusesExceed ? 'more' : 'mute';
}

/** The platform does not answer, refuses, or answers with what is of no use. */
export const tellsNothing = (error: unknown): boolean =>
  ['platform_unavailable', 'platform_refused', 'platform_unusable'].some((code) =>
    isOutlastError(error, code),
  );

/** Lists leave orders out: what they proved by themselves they did not. */
async function learnHiding({ db, platform, log }: ActContext, slice: Slice): Promise<void> {
  const { projectId, day } = slice;
  await recordFacts(db, projectId, { [statusTotals]: statusesExceed }, platform.clock.now());
  await reopenSlices(db, projectId, 'orders', false);
  log.warn(
    { projectId, day },
    'The platform leaves orders out of its list unless their status is asked for: they are read by status as well',
  );
}

/**
 * Whether a day is to be asked by status, in three requests: wherever a count or the probe found that lists leave orders
 * out, of a day that was not over when the probe compared all past days, where the walk does not show what an earlier
 * one showed, and of a day that is read daily in place of counts when its turn on the rota comes, and in the closing.
 */
async function wantsStatuses(
  { db, facts, settings, platform }: ActContext,
  { slice, span, askedAt, doubtsTotal }: Act,
  walk: number,
  distinct: number,
  known: KnownFact | null,
): Promise<boolean> {
  if (doubtsTotal === true || known?.value === statusesExceed) return true;
  if (known !== null && known.value !== statusesAbsent && isOver(span, askedAt)) {
    const { confirmedAt } = known;
    // The probe compares what is past in UTC, too.
    const isCompared = isOver(span, confirmedAt) && span.to <= dayOf(confirmedAt);
    if (!isCompared) return true;
  }
  const { wholeWalk, walkedAt } = slice;
  if (wholeWalk === 0 || walkedAt === null) return false;
  const closing = closingOf(slice.day, settings);
  const isClosing = askedAt >= closing && walkedAt < closing;
  // Others are counted daily, by status as well.
  const isNeverCounted = distinct < limitOf(facts, 'orders') || slice.platformTotal === null;
  if (isNeverCounted && (isClosing || hasTurn(slice, askedAt, settings))) return true;
  if (!absenceProves(slice.day, platform.clock.possible())) return false;
  return (await goneIds(db, slice, span, { before: wholeWalk, now: walk })).length > 0;
}

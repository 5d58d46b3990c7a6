// What the totals of the three statuses, and the orders shown beside them, tell of a list of orders: whether it leaves
// some out unless their status is asked for (proof rule 1). When they are asked for, and what it means that they tell
// nothing.
import { dayOf, startOf, windowAt } from '../../day.ts';
import { isOutlastError } from '../../errors.ts';
import {
  orderStatuses,
  wholeList,
  type OrderStatus,
  type PlatformPage,
  type ProjectId,
} from '../../model.ts';
import type { WalkQuery } from '../../store/checkpoint.ts';
import { readFact, recordFacts, type Facts, type KnownFact } from '../../store/facts.ts';
import { withTx, type Queryable } from '../../store/db.ts';
import { reopenSlices, type Slice } from '../../store/ledger.ts';
import { goneIds } from '../../store/missing.ts';
import { countStatuses, idsOf } from '../../store/pages.ts';
import { countUnshown } from '../../store/walk-ends.ts';
import { askTotal } from '../ask-list.ts';
import { hasTurn } from '../comparison-rota.ts';
import { listTotal } from '../list-rules.ts';
import { absenceProves, closingOf, isOver } from '../policy.ts';
import type { Whole } from './conclude-walk.ts';
import type { Act, ActContext } from './conclude.ts';

/** The fact: what the totals of the statuses come to, beside the total of the same days. The probe finds it. */
export const statusTotals = 'orders.status_totals';
/** More: lists leave orders out. Believed at once, and until the totals add up again. */
export const statusesExceed = 'exceed';
export const statusesAddUp = 'add up';
/** Less, as where there are other statuses or the filter does nothing. */
export const statusesFallShort = 'do not add up';
export const statusesAbsent = 'absent';
/** There were no orders yet. */
export const statusesOfNone = 'no orders';
/** They told nothing at first: the probe asks again in an hour, and no day is proved until then. */
export const statusesUnknown = 'unknown';

/**
 * Whether the filter by status is known to answer: then it is a fault where it tells nothing. That the totals add up was
 * so as long as there were totals.
 */
const answersByStatus = (known: string | undefined, facts: Facts): boolean =>
  known === statusesExceed || (known === statusesAddUp && facts.get('orders.totals') === 'present');

export const saysNothingByStatus =
  'the platform does not answer by status now: nothing tells whether its list leaves orders out';

export type StatusCounts = {
  /** In the order of `orderStatuses`; null where there is none to be believed. */
  totals: (number | null)[];
  /** Of the orders shown beside them, one of each status at most. */
  ids: string[];
  /**
   * `ignored`: an order of another status was shown than the one asked for. `refused`; and `silent`: it was not
   * answered, or with what is of no use.
   */
  filter: 'honoured' | 'ignored' | 'refused' | 'silent';
};

/**
 * Asks for each status, one record and the total, in three requests as far as they are answered. `doubtsNone`: an answer
 * that shows nothing is asked for twice, for a passing fault looks the same; where totals of none are left out it always
 * is.
 */
export async function countByStatus(
  facts: Facts,
  ask: (status: OrderStatus) => Promise<PlatformPage>,
  doubtsNone: boolean,
): Promise<StatusCounts> {
  const counts: StatusCounts = { totals: [], ids: [], filter: 'honoured' };
  // Pending orders last: one that settles in between is left out, not counted twice.
  for (const status of orderStatuses.toReversed()) {
    const askTwice = async (): Promise<PlatformPage> => {
      const page = await ask(status);
      const isDoubted = doubtsNone ? page.shown === 0 : isNoneLeftOut(page, facts);
      return isDoubted ? ask(status) : page;
    };
    const page = await askTwice().catch((error: unknown) => {
      // Who does not know the filter tells nothing by it, and one that fails keeps nothing from being read.
      if (isOutlastError(error, 'platform_refused')) return 'refused' as const;
      if (isSilent(error)) return 'silent' as const;
      throw error;
    });
    if (typeof page === 'string') {
      return { ...counts, totals: orderStatuses.map(() => null), filter: page };
    }
    counts.totals.unshift(statusTotal(page, facts));
    counts.ids.push(...idsOf(page));
    if (showsOtherStatus(page, status)) counts.filter = 'ignored';
  }
  return counts;
}

/** The statuses of a slice's days. */
export const countStatusesOf = (
  { platform, facts, signal }: Pick<ActContext, 'platform' | 'facts' | 'signal'>,
  slice: Slice,
  range: WalkQuery,
  doubtsNone = false,
): Promise<StatusCounts> => {
  const ask = (status: OrderStatus): Promise<PlatformPage> =>
    askTotal(platform, slice, { ...range, status }, signal);
  return countByStatus(facts, ask, doubtsNone);
};

const isSilent = (error: unknown): boolean =>
  isOutlastError(error, 'platform_unavailable') || isOutlastError(error, 'platform_unusable');

const showsOtherStatus = ({ records }: PlatformPage, status: OrderStatus): boolean =>
  records.some(({ columns: { status: shown } }) => typeof shown === 'number' && shown !== status);

/** One that counts orders and shows none contradicts itself; one of none may be left out. */
function statusTotal(page: PlatformPage, facts: Facts): number | null {
  const total = listTotal(page, facts);
  if (page.shown > 0) return total;
  return total === 0 || isNoneLeftOut(page, facts) ? 0 : null;
}

const isNoneLeftOut = ({ shown, total }: PlatformPage, facts: Facts): boolean =>
  shown === 0 && total === null && facts.get('orders.empty_total') === 'absent';

/** Null unless all are given. */
export const sumOfTotals = (totals: (number | null)[]): number | null =>
  totals.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);

/**
 * How many orders the totals of the statuses count, beside a list of so many (`listed`): their sum, but where the filter
 * does nothing. Then each of them is that of a list that leaves nothing out. Null unless all are given.
 */
export function countedBy(
  { totals, filter }: Pick<StatusCounts, 'totals' | 'filter'>,
  listed: number,
): number | null {
  const sum = sumOfTotals(totals);
  const [one = null] = totals;
  const isThrice = one !== null && one >= listed && totals.every((other) => other === one);
  return filter === 'ignored' && isThrice ? one : sum;
}

/**
 * Whether the filter by status, which is known to answer, tells nothing of a walk that was shown so many orders
 * (`distinct`): it gives no totals, or counts fewer of the three statuses. A filter that knows what orders were when
 * they came shows other statuses; its totals must add up to the list's.
 */
export function isMute(
  facts: Facts,
  known: string | undefined,
  { totals, filter }: StatusCounts,
  shown: ReadonlyMap<number, number>,
  distinct: number,
): boolean {
  if (!answersByStatus(known, facts)) return false;
  const sum = sumOfTotals(totals);
  if (filter === 'ignored') return sum !== distinct;
  return sum === null || sum < knownOf(shown);
}

/** How many orders have a status that can be asked for. */
export const knownOf = (shown: ReadonlyMap<number, number>): number =>
  orderStatuses.reduce((sum, one) => sum + (shown.get(one) ?? 0), 0);

/** Whether lists are known by now to leave orders out; another process may have learned it since the run began. */
export async function isHiding(
  { db }: Pick<ActContext, 'db'>,
  { projectId, resource }: Slice,
): Promise<boolean> {
  if (resource !== 'orders') return false;
  return (await readFact(db, projectId, statusTotals))?.value === statusesExceed;
}

/**
 * What the statuses say of a walk:
 *
 * - `more` orders are counted or shown by their status than the walk was shown. Also where lists are known to leave
 *   orders out, and only totals are not given: then the orders themselves tell.
 * - `moved`: the list has grown since it was read.
 * - `mute`: nothing is told that should be, so that nothing speaks for the list.
 */
export async function compareByStatus(
  context: ActContext,
  act: Act,
  walk: number,
  { distinct, totalAfter }: Pick<Whole, 'distinct' | 'totalAfter'>,
): Promise<'same' | 'more' | 'moved' | 'mute'> {
  const { db, facts } = context;
  const { slice, query } = act;
  if (slice.resource !== 'orders' || slice.day === wholeList) return 'same';
  // Another day of this run, or another process, may have learned it since the run began.
  const known = await readFact(db, slice.projectId, statusTotals);
  if (known?.value === statusesUnknown) return 'mute';
  // The probe has not come to it, as at a first contact with a platform that was out of order.
  const isUnprobed = known === null && totalAfter !== null;
  if (!isUnprobed && !(await wantsStatuses(context, act, walk, distinct, known))) return 'same';
  const { order: _order, ...range } = query;
  // As little is believed of an unprobed list as of one that leaves orders out.
  const assumed = isUnprobed ? statusesExceed : known?.value;
  const counts = await countStatusesOf(context, slice, range, assumed === statusesExceed);
  const isUnshown = (await countUnshown(db, slice, walk, counts.ids)) > 0;
  if (isUnshown || (countedBy(counts, distinct) ?? 0) > distinct) {
    if (known?.value !== statusesExceed) {
      if (await hasMoved(context, slice, range, distinct)) return 'moved';
      await learnHiding(context, slice);
    }
    return 'more';
  }
  const shown = await countStatuses(db, slice, walk);
  if (!isMute(facts, assumed, counts, shown, distinct)) {
    return distinct > 0 || (await isNoneConfirmed(context, slice, range)) ? 'same' : 'mute';
  }
  const onlyTotalsLack = sumOfTotals(counts.totals) === null && counts.filter === 'honoured';
  return onlyTotalsLack && known?.value === statusesExceed ? 'more' : 'mute';
}

/**
 * Whether a day is believed to have no orders that neither its list shows nor its statuses count. Where lists leave
 * orders out nothing speaks for it but a filter that may have gone silent: then it must show an order of the window, and
 * none of the day once more. A window that moved on altogether since lists were seen to do so, and whose list is empty,
 * may have none to show.
 */
export async function isNoneConfirmed(
  context: Pick<ActContext, 'db' | 'platform' | 'facts' | 'signal' | 'window'>,
  slice: Slice,
  range: WalkQuery,
): Promise<boolean> {
  const { db, platform, window } = context;
  const known = await readFact(db, slice.projectId, statusTotals);
  if (slice.resource !== 'orders' || known?.value !== statusesExceed) return true;
  const shows = await window.showsByStatus(slice);
  if (shows === null) return false;
  if (!shows) {
    const windowFrom = startOf(windowAt(Math.max(0, platform.clock.earliest())).from);
    return known.confirmedAt < windowFrom && (await window.emptyAt(slice)) !== null;
  }
  const { totals, ids, filter } = await countStatusesOf(context, slice, range, true);
  return filter === 'honoured' && ids.length === 0 && (sumOfTotals(totals) ?? 0) === 0;
}

/** Whether the list counts another number by now than was shown of it. */
async function hasMoved(
  { platform, signal, facts }: ActContext,
  slice: Slice,
  range: WalkQuery,
  distinct: number,
): Promise<boolean> {
  // Others count the page alone, or nothing.
  if (facts.get('orders.totals') !== 'present') return false;
  const { total } = await askTotal(platform, slice, range, signal);
  return total !== null && total !== distinct;
}

async function learnHiding({ db, platform, log }: ActContext, slice: Slice): Promise<void> {
  const { projectId, day } = slice;
  await withTx(db, async (tx) => {
    await reopenHidden(tx, projectId);
    await recordFacts(tx, projectId, { [statusTotals]: statusesExceed }, platform.clock.now());
  });
  log.warn(
    { projectId, day },
    'The platform leaves orders out of its list unless their status is asked for: they are read by status as well',
  );
}

/**
 * Lists are found to leave orders out: what they proved by themselves, since the totals of the statuses last added up,
 * they did not. What a count has proved was asked by status.
 */
export async function reopenHidden(db: Queryable, projectId: ProjectId): Promise<void> {
  const known = await readFact(db, projectId, statusTotals);
  if (known?.value === statusesExceed) return;
  const walkedSince = known?.value === statusesAddUp ? known.confirmedAt : 0;
  await reopenSlices(db, projectId, 'orders', { walkedSince });
}

/**
 * Whether a day is to be asked by status, in three requests: wherever a count or the probe found that lists leave orders
 * out, of a day that was not over when the probe compared all past days, or that was read and not proved, where the walk
 * does not show what an earlier one showed, when the day's turn on the rota comes, and in the closing.
 */
async function wantsStatuses(
  { db, facts, settings, platform }: ActContext,
  { slice, span, askedAt, doubtsTotal }: Act,
  walk: number,
  distinct: number,
  known: KnownFact | null,
): Promise<boolean> {
  if (doubtsTotal === true || known?.value === statusesExceed) return true;
  // Where fewer are shown than before, what is missing decides.
  const isRetried = slice.attempts > 0 && distinct >= (slice.shownTotal ?? 0);
  if (isRetried && answersByStatus(known?.value, facts)) return true;
  if (known !== null && known.value !== statusesAbsent) {
    const { confirmedAt } = known;
    // The probe compares what is past in UTC, too.
    const isCompared = isOver(span, confirmedAt) && span.to <= dayOf(confirmedAt);
    if (!isCompared && isOver(span, askedAt)) return true;
  }
  const { wholeWalk, walkedAt } = slice;
  if (wholeWalk === 0 || walkedAt === null) return false;
  const closing = closingOf(slice.day, settings);
  const isClosing = askedAt >= closing && walkedAt < closing;
  if (isClosing || hasTurn(slice, askedAt, settings)) return true;
  if (!absenceProves(slice.day, platform.clock.latest())) return false;
  return (await goneIds(db, slice, span, { before: wholeWalk, now: walk })).length > 0;
}

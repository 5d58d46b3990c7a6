// When a total that agrees is not believed by itself: where a list that was cut together with its total would look the
// same, or one that leaves orders out unless their status is asked for. Then a second witness is asked: the list from
// its other end, or the totals of the statuses.
import { wholeList, type ListedResource } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Db } from '../../store/db.ts';
import { recordFacts } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';
import type { WalkQuery } from '../../store/checkpoint.ts';
import { goneIds } from '../../store/missing.ts';
import { idsOf } from '../../store/pages.ts';
import { compareSizes, compareWithWalk, countUnshown } from '../../store/walk-ends.ts';
import { askPage } from '../ask-list.ts';
import { hasTurn } from '../comparison-rota.ts';
import { limitOf } from '../list-rules.ts';
import { absenceProves, closingOf, isOver } from '../policy.ts';
import type { Act, ActContext } from './conclude.ts';
import { countByStatus, sumOfTotals } from './count.ts';
import { firstPosition } from './walk-steps.ts';

/** A total that is a multiple of this may be somebody's limit; one in a hundred is by chance. */
const roundTo = 100;
/** So many other days with the same total are no chance. */
const equalDays = 2;

/** Days with fewer records are alike by chance, and nobody cuts a list so short. */
const fewRecords = 10;

/** A platform that cuts one list may cut the other at the same number. */
const otherList = (resource: ListedResource): ListedResource =>
  resource === 'orders' ? 'nft_classes' : 'orders';

export type Doubt = 'strong' | 'weak' | null;

/** The number at which lists and totals of this platform were seen to be cut; null where none is known. */
export function capOf(
  { facts, learned }: Pick<ActContext, 'facts' | 'learned'>,
  { resource }: Pick<Slice, 'resource'>,
): number | null {
  const cap = learned.caps.get(resource) ?? Number(facts.get(`${resource}.cap`));
  return Number.isSafeInteger(cap) && cap > 0 ? cap : null;
}

/**
 * Whether so many records, which the total counts as well, may be all that the platform shows of more: the last page
 * was full, the number is round, or as many were shown of other days, or the platform is known to list no more, of this
 * list or the other one. Costs a first walk one request where it holds, which is rare. `weak`: small days may be alike
 * by chance, so that a list which shows no other end is believed all the same.
 */
export async function wantsSecondWitness(
  context: ActContext,
  slice: Slice,
  distinct: number,
  endsFull: boolean,
): Promise<Doubt> {
  if (distinct === 0) return null;
  if (endsFull || distinct % roundTo === 0 || distinct >= (capOf(context, slice) ?? Infinity)) {
    return 'strong';
  }
  if (distinct === capOf(context, { resource: otherList(slice.resource) })) return 'strong';
  // Days alike are looked at once a run; small ones where none is larger: whatever cuts a list has cut the largest.
  if (distinct < fewRecords || context.learned.alike.has(alikeKey(slice, distinct))) return null;
  const { equal, larger } = await compareSizes(context.db, slice, distinct);
  if (equal < equalDays) return null;
  if (distinct >= limitOf(context.facts, slice.resource)) return 'strong';
  return larger === 0 ? 'weak' : null;
}

/** Days of one list with the same number of records. */
export const alikeKey = ({ resource, owner }: Slice, distinct: number): string =>
  `${resource} ${owner} ${distinct}`;

/** What the probe found: the totals of the statuses add up to more than the total of the same days. */
export const statusesExceed = 'exceed';
/** They add up to it. */
export const statusesAddUp = 'add up';

/**
 * Whether more orders are counted or shown by their status than the walk was shown. It is asked, in three requests,
 * where a count or the probe found it so, of a day when it is read for the first time after its end, where the
 * walk does not show what an earlier one showed, and of a day that is read daily in place of counts when its turn on the
 * rota comes, and in the closing.
 */
export async function hidesOrders(
  context: ActContext,
  act: Act,
  walk: number,
  distinct: number,
): Promise<boolean> {
  const { db, platform, signal, facts, log } = context;
  const { slice, query } = act;
  if (slice.resource !== 'orders' || slice.day === wholeList) return false;
  if (!(await wantsStatuses(context, act, walk, distinct))) return false;
  const { order: _order, ...range } = query;
  const { totals, ids, ignoresStatus } = await countByStatus(platform, slice, range, signal);
  const sum = sumOfTotals(totals);
  // Where lists are known to leave orders out, a filter that tells nothing says nothing against it.
  const isMute = sum === null || ignoresStatus;
  if (isMute && facts.get(statusTotals) === statusesExceed) return true;
  const isMore = (sum ?? 0) > distinct || (await countUnshown(db, slice, walk, ids)) > 0;
  if (isMore && facts.get(statusTotals) !== statusesExceed) {
    const found = { [statusTotals]: statusesExceed };
    await recordFacts(db, slice.projectId, found, platform.clock.now());
    log.warn(
      { projectId: slice.projectId, day: slice.day },
      'The platform leaves orders out of its list unless their status is asked for: they are read by status as well',
    );
  }
  return isMore;
}

const statusTotals = 'orders.status_totals';

async function wantsStatuses(
  { db, facts, settings, platform }: ActContext,
  { slice, span, askedAt, doubtsTotal }: Act,
  walk: number,
  distinct: number,
): Promise<boolean> {
  if (doubtsTotal === true || facts.get(statusTotals) === statusesExceed) return true;
  const { wholeWalk, walkedAt } = slice;
  if (wholeWalk === 0 || walkedAt === null) return false;
  // It lasted when the probe asked for all past days.
  const isNewlyOver = isOver(span, askedAt) && !isOver(span, walkedAt);
  if (isNewlyOver && facts.get(statusTotals) === statusesAddUp) return true;
  const closing = closingOf(slice.day, settings);
  const isClosing = askedAt >= closing && walkedAt < closing;
  // Others are counted daily, by status as well.
  const isNeverCounted = distinct < limitOf(facts, 'orders') || slice.platformTotal === null;
  const isTurn = isClosing || hasTurn(slice, askedAt, settings);
  if (isNeverCounted && isTurn && distinct > 0) return true;
  if (!absenceProves(slice.day, platform.clock.possible())) return false;
  return (await goneIds(db, slice, span, { before: wholeWalk, now: walk })).length > 0;
}

/**
 * `same`: the other end begins where the walk ended, and shows nothing that the walk did not. `more`: it shows what the
 * walk did not. `unseen`: it does not begin at the other end, so that nothing is known: the platform sorts as it likes.
 */
export type OtherEnd = 'same' | 'more' | 'unseen';

export const opposite = (order: 'asc' | 'desc'): 'asc' | 'desc' =>
  order === 'asc' ? 'desc' : 'asc';

/** `query`: what the walk asked. Nothing that is shown here is archived. Throws what the platform throws. */
export async function lookFromOtherEnd(
  { db, platform, signal }: { db: Db; platform: Platform; signal: AbortSignal },
  slice: Slice,
  query: WalkQuery,
  walk: number,
): Promise<OtherEnd> {
  const order = opposite(query.order ?? 'asc');
  const { order: _asked, ...same } = query;
  const turned: WalkQuery = order === 'desc' ? { ...same, order } : same;
  const page = await askPage(platform, slice, turned, firstPosition, true, signal);
  const { unshown, begins } = await compareWithWalk(db, slice, walk, idsOf(page), order);
  if (unshown > 0) return 'more';
  return begins ? 'same' : 'unseen';
}

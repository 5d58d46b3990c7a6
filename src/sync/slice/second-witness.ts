// When a total that agrees is not believed by itself: where a list that was cut together with its total would look the
// same. Then a second witness is asked: the list from its other end.
import type { ListedResource } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Db } from '../../store/db.ts';
import type { Slice } from '../../store/ledger.ts';
import type { WalkQuery } from '../../store/checkpoint.ts';
import { idsOf } from '../../store/pages.ts';
import { compareSizes, compareWithWalk } from '../../store/walk-ends.ts';
import { askPage } from '../ask-list.ts';
import { limitOf } from '../list-rules.ts';
import type { ActContext } from './conclude.ts';
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

// When a total that agrees is not believed by itself: where a list that was cut together with its total would look the same.
import { countEqual } from '../store/ends.ts';
import type { Slice } from '../store/ledger.ts';
import { limitOf } from './bounds.ts';
import type { ActContext } from './conclude.ts';

/** A total that is a multiple of this may be somebody's limit; one in a hundred is by chance. */
const roundTo = 100;
/** So many other days with the same total are no chance. */
const equalDays = 2;

/** The number at which lists and totals of this platform were seen to be cut; null where none is known. */
export function capOf(
  { facts, learned }: Pick<ActContext, 'facts' | 'learned'>,
  { resource }: Pick<Slice, 'resource'>,
): number | null {
  const cap = learned.caps.get(resource) ?? Number(facts.get(`${resource}.cap`));
  return Number.isSafeInteger(cap) && cap > 0 ? cap : null;
}

/**
 * Whether so many records, which the total counts as well, may be all that the platform shows of more: the last page was
 * full, the number is round, or as many were shown of other days, or the platform is known to list no more. Costs a first
 * walk one request where it holds, which is rare.
 */
export async function wantsSecondWitness(
  context: ActContext,
  slice: Slice,
  distinct: number,
  endsFull: boolean,
): Promise<boolean> {
  if (distinct === 0) return false;
  if (endsFull || distinct % roundTo === 0 || distinct >= (capOf(context, slice) ?? Infinity)) {
    return true;
  }
  // Days alike are looked at once a run.
  if (distinct < limitOf(context.facts, slice.resource)) return false;
  if (context.learned.alike.has(alikeKey(slice, distinct))) return false;
  return (await countEqual(context.db, slice, distinct)) >= equalDays;
}

/** Days of one list with the same number of records. */
export const alikeKey = ({ resource, owner }: Slice, distinct: number): string =>
  `${resource} ${owner} ${distinct}`;

// A list that goes on and on and shows nothing new: by ever new keys that lead to pages shown before. Without a total
// nothing else ends such a walk before its ceiling (P9).
import type { Queryable } from '../../store/db.ts';
import type { Slice } from '../../store/ledger.ts';
import { countShown } from '../../store/pages.ts';
import type { Memory } from './walk-steps.ts';

/** So many pages in a row without a new record are the end of a list; so few of them once its total was exceeded. */
const idlePages = 8;
const idlePagesBeyondTotal = 2;
/** Counting costs as much as the walk is long: it is done again when the walk is longer by an eighth. */
const growthShare = 8;

/**
 * Whether the walk has stopped showing new records by its page `number`: how many it showed is counted in the database
 * now and then, from the pages committed so far, so that it needs no memory. Nothing is asked while the total is not
 * reached.
 */
export async function hasStalled(
  db: Queryable,
  slice: Slice,
  walk: number,
  number: number,
  memory: Memory,
): Promise<boolean> {
  // A part shows again what others have shown; its length is bounded: see walk-steps.ts.
  if (memory.part !== null) return false;
  const { totalBefore, rows, growth } = memory;
  const isBeyond = totalBefore !== null && rows > totalBefore;
  if (totalBefore !== null && !isBeyond) return false;
  const idle = isBeyond ? idlePagesBeyondTotal : idlePages;
  if (number < Math.max(growth.lookAt, idle)) return false;
  const now = await countShown(db, slice, walk);
  const before = growth.counted;
  const isIdle = before !== null && now.distinct === before.distinct;
  if (isIdle && now.pages >= before.pages + idle) return true;
  memory.growth = {
    counted: isIdle ? before : now,
    lookAt: number + Math.max(idle, Math.ceil(number / growthShare)),
  };
  return false;
}

/** What a walk that goes on at page `number` knew of its growth: survives whatever stopped it. */
export async function recallGrowth(
  db: Queryable,
  slice: Slice,
  number: number,
): Promise<Memory['growth']> {
  if (number <= idlePages) return { counted: null, lookAt: 0 };
  return { counted: await countShown(db, slice, slice.walk, number - idlePages), lookAt: number };
}

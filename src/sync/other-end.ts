// A look at a list from its other end, in one request: what a total claims is not believed where a second witness is
// wanted. It tells a list that was read whole from one that was cut, or whose keys had expired.
import type { Platform } from '../platform/platform.ts';
import type { Db } from '../store/db.ts';
import { compareWithWalk } from '../store/ends.ts';
import type { Slice, WalkQuery } from '../store/ledger.ts';
import { idsOf } from '../store/pages.ts';
import { askPage } from './ask-list.ts';
import { firstPosition } from './steps.ts';

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

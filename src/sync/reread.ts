// Reads single pages of the last whole walk again, where an order was pending: each by its own key, under the slice's lease.
import type { Page } from '../model.ts';
import { isOutlastError } from '../errors.ts';
import { commitPages } from '../store/commit.ts';
import type { Slice, WalkQuery } from '../store/ledger.ts';
import type { RememberedPage } from '../store/pages.ts';
import { askPage, showsAgain } from './ask-list.ts';
import { firstPosition } from './steps.ts';
import { afterAll, type ListRules, type WalkContext } from './walk.ts';

/**
 * Reads given pages of the last whole walk again, each by its own key. False when one is refused or does not show again
 * every id it showed; what was read until then is committed.
 */
export async function reread(
  context: Omit<WalkContext, keyof ListRules>,
  slice: Slice,
  query: WalkQuery,
  pages: RememberedPage[],
): Promise<boolean> {
  let observedAt = afterAll(slice);
  for (const { number, pageKey, offset, ids } of pages) {
    const position = { ...firstPosition, number, pageKey, offset: offset ?? 0 };
    let page: Page;
    try {
      page = await askPage(context.platform, slice, query, position, false, context.signal);
    } catch (error) {
      if (isOutlastError(error, 'platform_refused')) return false;
      throw error;
    }
    if (!showsAgain(page, ids)) return false;
    observedAt = Math.max(observedAt, page.askedAt);
    const effects = await commitPages(context.db, {
      slice,
      walk: slice.wholeWalk,
      pages: [{ number, pageKey, offset, page, observedAt }],
      checkpoint: null,
      leaseMs: context.leaseMs,
      writtenAt: context.platform.clock.now(),
    });
    context.onCommit({ ...effects, shown: page.shown });
  }
  return true;
}

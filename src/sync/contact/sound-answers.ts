// A platform that is known to give totals and answers without list and total is out of order, though it says 200: such
// an answer is a passing fault, never "no data" (P6, P7). One door for all that is asked of lists.
import { windowAt } from '../../day.ts';
import { transient } from '../../errors.ts';
import type { ListedResource, PlatformPage } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Facts } from '../../store/facts.ts';

/**
 * The platform, with empty answers that lack the total they were asked for thrown as transient `platform_unavailable`.
 * `isLearning`: whether an empty list comes with a total is what is to be found out.
 */
export function soundly(platform: Platform, facts: Facts, isLearning = false): Platform {
  const isGiven = (resource: ListedResource): boolean =>
    facts.get(`${resource}.totals`) === 'present';

  /** Some leave out a total of none. Then the newest records, asked for right after, must come with theirs. */
  const refuseUnlessSound = async (
    page: PlatformPage,
    newest: () => Promise<PlatformPage>,
  ): Promise<PlatformPage> => {
    if (page.shown > 0 || page.total !== null || !isGiven(page.resource)) return page;
    if (isLearning || facts.get(`${page.resource}.empty_total`) !== 'zero') {
      const { shown, total } = await newest();
      if (shown > 0 && total !== null) return page;
    }
    throw transient(
      'platform_unavailable',
      'The platform answered with nothing at all, not even the total it otherwise gives',
    );
  };

  return {
    ...platform,
    async orders(query, signal) {
      const page = await platform.orders(query, signal);
      // Of one status, or behind a page key, a total may be missing for good.
      if (!query.countTotal || query.status !== undefined || query.pageKey !== undefined)
        return page;
      const since = windowAt(platform.clock.now()).from;
      return refuseUnlessSound(page, () =>
        platform.orders(
          { limit: 1, startDate: since, sortBy: 'DATE_DESC', countTotal: true },
          signal,
        ),
      );
    },
    async classes(query, signal) {
      const page = await platform.classes(query, signal);
      if (query.id !== undefined) return page;
      const since = windowAt(platform.clock.now()).from;
      return refuseUnlessSound(page, () =>
        platform.classes({ offset: 0, limit: 1, startDate: since, sortBy: 'DATE_DESC' }, signal),
      );
    },
  };
}

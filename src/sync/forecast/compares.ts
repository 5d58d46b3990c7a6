// How often the larger days can be compared whole: once a week, or less often where that would take more than a tenth of
// the allowed requests. Pure.
import { wholeList } from '../../model.ts';
import type { Slice } from '../../store/ledger.ts';
import { limitOf } from '../bounds.ts';
import { compareMs, compareShare } from '../rota.ts';
import { walkRequests, type Terms } from './costs.ts';

const dayMs = 86_400_000;

/** In milliseconds, in whole days. */
export function comparePeriod(
  slices: Slice[],
  perSecond: number,
  { facts, settings }: Pick<Terms, 'facts' | 'settings'>,
): number {
  let requests = 0;
  for (const { resource, day, wholeWalk, shownTotal } of slices) {
    // Classes are refreshed far more often, unless somebody set otherwise.
    const isRefreshed = resource === 'nft_classes' && settings.refreshMs <= compareMs;
    if (day === wholeList || wholeWalk === 0 || isRefreshed) continue;
    if ((shownTotal ?? 0) < limitOf(facts, resource)) continue;
    requests += walkRequests(resource, shownTotal ?? 0, facts);
  }
  // A turn comes round in a day less than the period.
  const days = Math.ceil(requests / (compareShare * perSecond * (dayMs / 1000)));
  return Math.max(compareMs, (days + 1) * dayMs);
}

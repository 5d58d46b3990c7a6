// The forecast of a project as its database has it: for the commands, and for the run, which warns of what will be too
// late, and for how often larger days can be compared whole. Reads only.
import { wholeList, type Instant, type ProjectId } from '../../model.ts';
import type { Queryable } from '../../store/db.ts';
import { readFacts, type Facts } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';
import { readOutlook } from '../../store/work-ahead.ts';
import { compareMs, compareShare } from '../comparison-rota.ts';
import { limitOf } from '../list-rules.ts';
import type { PolicySettings } from '../policy.ts';
import { walkRequests, type Terms } from './costs.ts';
import { forecast, type Forecast } from './forecast.ts';

/** What OUTLAST_MAX_RPS is unless set: assumed while no process has asked the platform anything. */
export const assumedPerSecond = 5;

export type Foresight = Forecast & {
  /** True while no process has said at what rate it may ask. */
  isRateAssumed: boolean;
  /** How often days of more than one page are compared whole, in milliseconds. */
  compareEveryMs: number;
  newestRunAt: Instant | null;
  slices: Slice[];
  facts: Facts;
};

/** `perSecond`: the rate to reckon with; unless given, the one the last process was allowed. */
export async function foresee(
  db: Queryable,
  projectId: ProjectId,
  settings: PolicySettings,
  now: Instant,
  perSecond?: number,
): Promise<Foresight> {
  const [outlook, facts] = await Promise.all([
    readOutlook(db, projectId),
    readFacts(db, projectId),
  ]);
  const rate = perSecond ?? outlook.perSecond ?? assumedPerSecond;
  const compareEveryMs = comparePeriod(outlook.slices, rate, { facts, settings });
  const terms = { facts, settings: { ...settings, compareEveryMs }, now };
  return {
    ...forecast(outlook.slices, rate, terms),
    compareEveryMs,
    isRateAssumed: perSecond === undefined && outlook.perSecond === null,
    newestRunAt: outlook.newestRunAt,
    slices: outlook.slices,
    facts,
  };
}

/** How often this project's larger days are compared whole, by what it holds and the rate it is allowed. */
export async function readComparePeriod(
  db: Queryable,
  projectId: ProjectId,
  facts: Facts,
  settings: PolicySettings,
): Promise<number> {
  const { slices, perSecond } = await readOutlook(db, projectId);
  return comparePeriod(slices, perSecond ?? assumedPerSecond, { facts, settings });
}

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

// The forecast of a project as its database has it: for the commands, and for the run, which warns of what will be too
// late. Reads only.
import type { Instant, ProjectId } from '../../model.ts';
import type { Queryable } from '../../store/db.ts';
import { readFacts, type Facts } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';
import { readOutlook } from '../../store/outlook.ts';
import { forecast, type Forecast } from './forecast.ts';
import type { PolicySettings } from '../policy.ts';

/** What OUTLAST_MAX_RPS is unless set: assumed while no process has asked the platform anything. */
export const assumedPerSecond = 5;

export type Foresight = Forecast & {
  /** True while no process has said at what rate it may ask. */
  isRateAssumed: boolean;
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
  return {
    ...forecast(outlook.slices, rate, { facts, settings, now }),
    isRateAssumed: perSecond === undefined && outlook.perSecond === null,
    newestRunAt: outlook.newestRunAt,
    slices: outlook.slices,
    facts,
  };
}

// The forecast of a project as its database has it: for the commands, and for the run, which warns of what will be too
// late. Reads only.
import type { Instant, ProjectId } from '../../model.ts';
import type { Queryable } from '../../store/db.ts';
import { readFacts, type Facts } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';
import { readOutlook } from '../../store/outlook.ts';
import { comparePeriod } from './compares.ts';
import { forecast, type Forecast } from './forecast.ts';
import type { PolicySettings } from '../policy.ts';

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

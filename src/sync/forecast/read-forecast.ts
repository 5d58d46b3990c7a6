// The forecast of a project as its database has it: for the commands, and for the run, which warns of what will be too
// late. Reads only.
import type { Instant, ProjectId } from '../../model.ts';
import type { Queryable } from '../../store/db.ts';
import { readEvidence, type Evidence } from '../../store/evidence.ts';
import { readFacts, type Facts } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';
import { readOutlook } from '../../store/work-ahead.ts';
import type { PolicySettings } from '../policy.ts';
import { evidenceKey } from './costs.ts';
import { forecast, type Forecast } from './forecast.ts';

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
  const { slices, newestRunAt } = outlook;
  const rate = perSecond ?? outlook.perSecond ?? assumedPerSecond;
  const evidence = await evidenceOfAll(db, projectId, slices, now);
  return {
    ...forecast(slices, rate, { facts, settings, now, evidence }),
    isRateAssumed: perSecond === undefined && outlook.perSecond === null,
    newestRunAt,
    slices,
    facts,
  };
}

async function evidenceOfAll(
  db: Queryable,
  projectId: ProjectId,
  slices: Slice[],
  now: Instant,
): Promise<Map<string, Evidence>> {
  const lists = new Map(
    slices.map(({ resource, owner }) => [`${resource} ${owner}`, { projectId, resource, owner }]),
  );
  const all = new Map<string, Evidence>();
  const days = { from: '0001-01-02', to: '9999-12-31' };
  for (const list of lists.values()) {
    for (const [day, evidence] of await readEvidence(db, list, days, { earliest: now })) {
      all.set(evidenceKey({ ...list, day }), evidence);
    }
  }
  return all;
}

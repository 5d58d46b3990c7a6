// Reads the forecast of a project from its database, and names the months that do not fit. Reads only.
import type { Instant, ProjectId } from '../model.ts';
import { monthSubject } from '../problems.ts';
import type { ProblemReport } from '../store/alerts/problem-rows.ts';
import type { Queryable } from '../store/db.ts';
import { readEvidence, type Evidence } from '../store/evidence.ts';
import { readFacts } from '../store/facts.ts';
import type { Slice } from '../store/ledger.ts';
import { readOutlook } from '../store/due.ts';
import type { PolicySettings } from './enter-days.ts';
import { evidenceKey, forecast, type Forecast } from './forecast.ts';

/** What OUTLAST_MAX_RPS is unless set: assumed while no process has asked the platform anything. */
const assumedPerSecond = 5;

export type ProjectForecast = Forecast & {
  /** The moment it is told from. */
  now: Instant;
  /** True while no process has said at what rate it may ask. */
  isRateAssumed: boolean;
  newestRunAt: Instant | null;
  slices: Slice[];
};

/** `perSecond`: the rate to reckon with; unless given, the one the last process was allowed. */
export async function readForecast(
  db: Queryable,
  projectId: ProjectId,
  settings: PolicySettings,
  now: Instant,
  perSecond?: number,
): Promise<ProjectForecast> {
  const [outlook, facts] = await Promise.all([
    readOutlook(db, projectId),
    readFacts(db, projectId),
  ]);
  const { slices, newestRunAt } = outlook;
  const rate = perSecond ?? outlook.perSecond ?? assumedPerSecond;
  const lists = new Map(
    slices.map(({ resource, owner }) => [`${resource} ${owner}`, { projectId, resource, owner }]),
  );
  const evidence = new Map<string, Evidence>();
  const days = { from: '0001-01-02', to: '9999-12-31' };
  for (const list of lists.values()) {
    for (const [day, of] of await readEvidence(db, list, days, { earliest: now })) {
      evidence.set(evidenceKey({ ...list, day }), of);
    }
  }
  return {
    ...forecast(slices, rate, { facts, settings, now, evidence }),
    now,
    isRateAssumed: perSecond === undefined && outlook.perSecond === null,
    newestRunAt,
    slices,
  };
}

/**
 * Months that will not be done by their deadlines at the rate allowed: said weeks ahead, when something can still be
 * done about it. One report for each list; those whose deadline has passed speak for themselves.
 */
export function risksOf({ months, perSecond }: Forecast, now: Instant): ProblemReport[] {
  return months.flatMap((month) => {
    const { fits, deadlineAt, tooLate, mustSend, perSecondNeeded } = month;
    if (fits !== 'no' || deadlineAt === null || deadlineAt <= now) return [];
    return [
      {
        kind: 'deadline_at_risk' as const,
        subject: monthSubject(month, month.month),
        numbers: {
          month: month.month,
          deadline: new Date(deadlineAt).toISOString(),
          tooLate: tooLate.length,
          requests: mustSend,
          perSecond,
          perSecondNeeded,
        },
        until: deadlineAt,
      },
    ];
  });
}

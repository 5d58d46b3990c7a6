// Months that will not be done by their deadlines at the rate allowed, as the forecast reckons: said weeks ahead, when
// something can still be done about it.
import type { Instant, ProjectId } from '../model.ts';
import { monthSubject } from '../problems.ts';
import type { Report } from '../store/alerts/problem-rows.ts';
import type { Queryable } from '../store/db.ts';
import { foresee } from '../sync/foresee.ts';
import type { Forecast } from '../sync/forecast.ts';
import type { PolicySettings } from '../sync/enter-days.ts';

/** A forecast reads every living slice, tens of thousands with many owners, and speaks of days: not at every tick. */
const freshMs = 5 * 60_000;

export type Risks = {
  of(project: { projectId: ProjectId; settings: PolicySettings }, now: Instant): Promise<Report[]>;
};

/** The risks of each project by a forecast of the last minutes. */
export function createRisks(db: Queryable, monotonicNow: () => number): Risks {
  const known = new Map<ProjectId, { atMs: number; risks: Report[] }>();
  return {
    async of({ projectId, settings }, now) {
      const atMs = monotonicNow();
      const last = known.get(projectId);
      if (last !== undefined && atMs - last.atMs < freshMs) return last.risks;
      const risks = risksOf(await foresee(db, projectId, settings, now), now);
      known.set(projectId, { atMs, risks });
      return risks;
    },
  };
}

/** One report for each list and month that does not fit; those whose deadline has passed speak for themselves. */
export function risksOf({ months, perSecond }: Forecast, now: Instant): Report[] {
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

// Months that will not be done by their deadlines at the rate allowed, as the forecast reckons: said weeks ahead, when
// something can still be done about it.
import type { Instant, ProjectId } from '../model.ts';
import type { Queryable } from '../store/db.ts';
import { foresee } from '../sync/foresee.ts';
import type { Forecast } from '../sync/forecast.ts';
import type { PolicySettings } from '../sync/policy.ts';
import type { Condition } from './conditions.ts';
import { counted, moment, monthName } from './words.ts';

/** A forecast reads every living slice, tens of thousands with many owners, and speaks of days: not at every tick. */
const freshMs = 5 * 60_000;

export type Risks = {
  of(
    project: { projectId: ProjectId; settings: PolicySettings },
    now: Instant,
  ): Promise<Condition[]>;
};

/** The risks of each project by a forecast of the last minutes. */
export function createRisks(db: Queryable, monotonicNow: () => number): Risks {
  const known = new Map<ProjectId, { atMs: number; risks: Condition[] }>();
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

/** One condition for each list and month that does not fit; those whose deadline has passed speak for themselves. */
export function risksOf({ months, perSecond }: Forecast, now: Instant): Condition[] {
  return months.flatMap((month) => {
    const { fits, deadlineAt, tooLate, mustSend, perSecondNeeded } = month;
    if (fits !== 'no' || deadlineAt === null || deadlineAt <= now) return [];
    const subject = monthName(month, month.month);
    const what =
      tooLate.length > 0
        ? `${counted(tooLate.length, 'day')} cannot be read`
        : 'not all days can be walked once more and proved';
    const rate = perSecondNeeded === null ? '' : ` ${rounded(perSecondNeeded)} or more would do.`;
    return [
      {
        kind: 'deadline_at_risk' as const,
        subject,
        text: `${subject}: ${what} by ${moment(deadlineAt)}: ${counted(mustSend, 'request')} are too many at ${perSecond} a second (OUTLAST_MAX_RPS).${rate}`,
      },
    ];
  });
}

/** Never less than it was; in whole requests a second where there is at least one. */
const rounded = (perSecond: number): string =>
  (perSecond >= 1 ? Math.ceil(perSecond) : Math.ceil(perSecond * 100) / 100).toLocaleString(
    'en-US',
  );

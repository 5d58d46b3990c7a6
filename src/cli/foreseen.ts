// The forecasts that `status` and `plan` show: read for every project, and as data for programs.
import type { Instant } from '../model.ts';
import type { Settings } from '../settings/settings.ts';
import type { Queryable } from '../store/db.ts';
import { sumOf } from '../sync/forecast/costs.ts';
import { foresee, type Foresight } from '../sync/forecast/foresee.ts';
import { lateLines } from './forecast-text.ts';

/** By project. */
export type Foreseen = ReadonlyMap<string, Foresight>;

/** `perSecond`: the rate to reckon with instead of the one that is allowed. */
export async function foreseeAll(
  db: Queryable,
  projects: string[],
  settings: Pick<Settings, 'deadlineMarginMs' | 'refreshMs'>,
  now: Instant,
  perSecond?: number,
): Promise<Foreseen> {
  const foreseen = new Map<string, Foresight>();
  for (const project of projects) {
    foreseen.set(project, await foresee(db, project, settings, now, perSecond));
  }
  return foreseen;
}

/** Times are RFC 3339, spans are minutes. */
export function forecastJson(foresight: Foresight | undefined, now: Instant): unknown {
  if (foresight === undefined) return null;
  return {
    per_second: foresight.perSecond,
    per_second_assumed: foresight.isRateAssumed,
    compare_every_days: foresight.compareEveryMs / 86_400_000,
    standing_per_minute: rounded(foresight.standingPerSecond * 60),
    too_late: lateLines(foresight, now),
    months: foresight.months.map((month) => ({
      month: month.month,
      resource: month.resource,
      owner: month.owner,
      deadline_at: timeOrNull(month.deadlineAt),
      until: timeOrNull(month.until),
      unread_days: month.unread.length,
      days_too_late: month.tooLate,
      sizes: month.sizes,
      requests: sumOf(month.needs),
      requests_for: month.needs,
      requests_before: month.requestsBefore,
      minutes: rounded(month.takesMs / 60_000),
      fits: month.fits,
      per_second_needed: month.perSecondNeeded,
    })),
  };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
const timeOrNull = (at: Instant | null): string | null =>
  at === null ? null : new Date(at).toISOString();

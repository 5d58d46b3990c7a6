// The forecasts that `status` and `status --plan` show: read for every project, as people read them, and as data for
// programs.
import type { Instant } from '../model.ts';
import { problemText } from '../problems.ts';
import type { Settings } from '../settings/settings.ts';
import type { Queryable } from '../store/db.ts';
import { sumOfRequests, takesMs, type MonthForecast } from '../sync/forecast.ts';
import { readForecast, risksOf, type ProjectForecast } from '../sync/read-forecast.ts';
import {
  formatCount,
  formatSpan,
  formatWhen,
  momentText,
  shortMoment,
  shortSpan,
  type Cell,
} from './print.ts';

/** `5 requests a second`, `0.01 requests a second`. */
export const rateText = (perSecond: number): string =>
  `${perSecond.toLocaleString('en-US', { maximumSignificantDigits: 6 })} ${perSecond === 1 ? 'request' : 'requests'} a second`;

/** What a person must know to read the times: whose clock they are seen from, and which rate they assume. */
function caveatLines(forecast: ProjectForecast): string[] {
  const lines: string[] = [];
  const { now, newestRunAt, isRateAssumed, perSecond, months } = forecast;
  if (newestRunAt !== null && newestRunAt - now > 60_000) {
    lines.push(
      `This machine's clock is at least ${formatSpan(newestRunAt - now)} behind the platform's: so much less time is left.`,
    );
  }
  if (isRateAssumed) {
    lines.push(`No run has told its rate yet: ${rateText(perSecond)} are assumed.`);
  }
  const unread = months.filter((month) => month.unread.length > 0);
  if (unread.some(({ sizes }) => sizes === 'unknown')) {
    lines.push(
      'Nothing of some list has been read yet: one page a day is assumed, it may be far more.',
    );
  } else if (unread.some(({ sizes }) => sizes === 'estimated')) {
    lines.push('Days not read yet are taken to be as large as their neighbours.');
  }
  return lines;
}

/** Requests still needed, how long they take, until when: of a month. */
export function forecastCells(
  { needs, deadlineAt }: MonthForecast,
  forecast: ProjectForecast,
): Cell[] {
  const requests = sumOfRequests(needs);
  const before = deadlineAt === null ? 'any time' : shortMoment(deadlineAt);
  return [requests, requests === 0 ? '' : shortSpan(takesMs(requests, forecast)), before];
}

/** When each living month must be done, and what that takes. */
export function timeLines(forecast: ProjectForecast): string[] {
  const { now, months, perSecond } = forecast;
  const deadlines = [...new Set(months.flatMap(({ deadlineAt: at }) => (at === null ? [] : [at])))];
  return [
    ...deadlines.flatMap((at) => {
      const group = months.filter(({ deadlineAt }) => deadlineAt === at);
      // What is missing now; days to come and daily readings are not.
      const requests = group.reduce((sum, { needs }) => sum + needs.unread + needs.again, 0);
      if (requests === 0) return [];
      const names = [...new Set(group.map(({ month }) => month.slice(0, 7)))].join(', ');
      const tight = group.some(({ fits }) => fits === 'tight')
        ? ': TIGHT, more than half of the time left'
        : '';
      const [are, they] =
        requests === 1 ? ['request is', 'it takes'] : ['requests are', 'they take'];
      const ms = takesMs(requests, forecast);
      // What takes no minute need not be weighed, and fits into a line.
      const takes =
        ms < 60_000 && tight === ''
          ? ''
          : `; ${they} ${formatSpan(ms)} at ${rateText(perSecond)}${tight}`;
      return `${names}: ${formatCount(requests)} ${are} due by ${momentText(at)} (UTC), ${formatWhen(at - now)}${takes}.`;
    }),
    ...caveatLines(forecast),
  ];
}

/** A list's name in a narrow column: owners are long, and told apart by their ends. */
export function shortName({ resource, owner }: { resource: string; owner: string }): string {
  if (owner === '') return resource;
  return `${resource} of ${owner.length > 14 ? `${owner.slice(0, 6)}…${owner.slice(-6)}` : owner}`;
}

/** By project. `perSecond`: the rate to reckon with instead of the one that is allowed. */
export async function readForecasts(
  db: Queryable,
  projects: string[],
  settings: Pick<Settings, 'deadlineMarginMs' | 'refreshMs'>,
  perSecond?: number,
): Promise<ReadonlyMap<string, ProjectForecast>> {
  const forecasts = new Map<string, ProjectForecast>();
  for (const project of projects) {
    forecasts.set(project, await readForecast(db, project, settings, Date.now(), perSecond));
  }
  return forecasts;
}

/** Times are RFC 3339, spans are minutes. */
export function forecastJson(forecast: ProjectForecast): unknown {
  return {
    as_of: new Date(forecast.now).toISOString(),
    per_second: forecast.perSecond,
    per_second_assumed: forecast.isRateAssumed,
    standing_per_minute: rounded(forecast.standingPerSecond * 60),
    too_late: risksOf(forecast, forecast.now).map((risk) => problemText(risk)),
    months: forecast.months.map((month) => ({
      month: month.month,
      resource: month.resource,
      owner: month.owner,
      deadline_at: timeOrNull(month.deadlineAt),
      until: timeOrNull(month.until),
      unread_days: month.unread.length,
      days_too_late: month.tooLate,
      sizes: month.sizes,
      requests: sumOfRequests(month.needs),
      requests_for: month.needs,
      requests_before: month.requestsBefore,
      minutes: rounded(takesMs(sumOfRequests(month.needs), forecast) / 60_000),
      fits: month.fits,
      per_second_needed: month.perSecondNeeded,
    })),
  };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
const timeOrNull = (at: Instant | null): string | null =>
  at === null ? null : new Date(at).toISOString();

// Whether the months fit: the nearest deadline takes its requests first, what is left of the rate is the next one's.
// Pure arithmetic of requests, rates and time left.
import type { Day, Instant, ListedResource } from '../../model.ts';
import { sumOfRequests, type Requests, type Terms } from './costs.ts';

/** One month of one list as far as it still asks for anything. */
export type MonthForecast = {
  resource: ListedResource;
  owner: string;
  /** Its first day. */
  month: Day;
  needs: Requests;
  /** Days that have come and were never read to their ends, with the requests their first walks take. */
  unread: { day: Day; requests: number }[];
  /** Where the sizes of its days come from, the least certain one. */
  sizes: 'known' | 'estimated' | 'unknown';
  /** Null where the platform answers for older days, too: then nothing is ever too late. */
  deadlineAt: Instant | null;
  /** The deadline or, once that has passed, the cliff; null when that has passed, too, or there is none. */
  until: Instant | null;
};

/**
 * `tight`: more than half of the time left is needed, or daily readings will come late; `no`: something is too
 * late.
 */
export type Fits = 'yes' | 'tight' | 'no';

export type Fit = {
  /** Requests that will be sent before the deadline. */
  requests: number;
  /** Of them, what is missing now: first readings of days that are over, second ones, and what is not proved. */
  missing: number;
  missingTakesMs: number;
  /** Requests of nearer deadlines, which go first. */
  requestsBefore: number;
  /** How long its own requests take at what the standing requests leave of the rate, in milliseconds. */
  takesMs: number;
  /** Null where there is no deadline to meet any more. */
  fits: Fits | null;
  /** Days that cannot be read to their ends in time, in the order they are taken. */
  tooLate: Day[];
  /**
   * What decides whether it fits: requests that must be sent, those of nearer deadlines and of all lists included, how
   * long they take, and how long there is for them, both in milliseconds.
   */
  decisive: { requests: number; takesMs: number; leftMs: number };
  /** Requests a second that would do; null where it fits. */
  perSecondNeeded: number | null;
};

/** Standing requests keep to this share of the rate at most: today's tail waits four times as long as it took. */
const standingShare = 0.25;

export function fitMonths(
  months: MonthForecast[],
  perSecond: number,
  standing: number,
  terms: Pick<Terms, 'now'>,
): { standingPerSecond: number; fits: Fit[] } {
  const standingPerSecond = Math.min(standing, standingShare * perSecond);
  const perMs = (perSecond - standingPerSecond) / 1000;
  const fits = new Map<MonthForecast, Fit>();
  let before = 0;
  for (const group of byDeadline(months)) {
    for (const [month, fit] of fitGroup(group, before, perMs, terms)) {
      const rate = withStanding(fit.perSecondNeeded, standing);
      fits.set(month, { ...fit, perSecondNeeded: rate });
    }
    before += group.reduce((sum, month) => sum + sumOfRequests(month.needs), 0);
  }
  return { standingPerSecond, fits: months.map((month) => fits.get(month) as Fit) };
}

/** Months with the same time left share it; those without a deadline come last. */
function byDeadline(months: MonthForecast[]): MonthForecast[][] {
  const groups = new Map<Instant, MonthForecast[]>();
  for (const month of months) {
    const until = month.until ?? Infinity;
    groups.set(until, [...(groups.get(until) ?? []), month]);
  }
  return [...groups].toSorted(([a], [b]) => a - b).map(([, group]) => group);
}

function fitGroup(
  group: MonthForecast[],
  before: number,
  perMs: number,
  { now }: Pick<Terms, 'now'>,
): [MonthForecast, Fit][] {
  const until = group[0]?.until ?? null;
  const tooLate =
    until === null
      ? new Map<MonthForecast, Day[]>()
      : tooLateOf(group, before, perMs * (until - now));
  const hard = group.reduce((sum, month) => sum + hardOf(month), 0);
  const all = group.reduce((sum, month) => sum + sumOfRequests(month.needs), 0);
  const leftMs = until === null ? 0 : until - now;
  const decisive = { requests: before + hard, takesMs: (before + hard) / perMs, leftMs };
  const load = Math.max(decisive.takesMs / decisive.leftMs, (before + all) / perMs / leftMs);
  const isTooMuch = decisive.takesMs > decisive.leftMs;
  return group.map((month) => {
    const requests = sumOfRequests(month.needs);
    const missing = month.needs.unread + month.needs.again;
    const hasDeadline = month.deadlineAt !== null && until !== null;
    const fits = !hasDeadline ? null : isTooMuch ? 'no' : load > 0.5 ? 'tight' : 'yes';
    const fit: Fit = {
      requests,
      missing,
      missingTakesMs: missing / perMs,
      requestsBefore: before,
      takesMs: requests / perMs,
      fits,
      tooLate: tooLate.get(month) ?? [],
      decisive,
      perSecondNeeded: fits === 'no' ? (1000 * decisive.requests) / decisive.leftMs : null,
    };
    return [month, fit];
  });
}

/** What must be done for the days to be held and proved at their end; the rest keeps them fresh. */
const hardOf = ({ needs }: MonthForecast): number => sumOfRequests({ ...needs, daily: 0 });

/** Unread days in the order they are taken: those beyond so many requests come too late. */
function tooLateOf(
  group: MonthForecast[],
  before: number,
  capacity: number,
): Map<MonthForecast, Day[]> {
  const unread = group
    .flatMap((month) => month.unread.map((one) => ({ ...one, month })))
    .toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
  const late = new Map<MonthForecast, Day[]>();
  let taken = before;
  for (const { month, day, requests } of unread) {
    taken += requests;
    if (taken > capacity) late.set(month, [...(late.get(month) ?? []), day]);
  }
  return late;
}

/** The whole rate of which the standing requests leave as much as is needed. */
const withStanding = (needed: number | null, standing: number): number | null =>
  needed === null ? null : Math.min(needed + standing, needed / (1 - standingShare));

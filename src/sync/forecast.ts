// What is still to be asked of each month, how long that takes at the allowed rate, and whether it fits before the
// deadline: `judge` run forward over each day's evidence, as if every reading from now on showed what there is. Pure.
import { addDays, cliffOf, dayOf, minuteMs, monthStart, startOf } from '../day.ts';
import { wholeList } from '../model.ts';
import type { Day, DayBooks, Instant, ListedResource, Reading } from '../model.ts';
import type { Evidence } from '../store/evidence.ts';
import type { Facts } from '../store/facts.ts';
import { noDeadline, type Slice } from '../store/ledger.ts';
import { limitOf } from './ask-list.ts';
import type { PolicySettings } from './enter-days.ts';
import { settleMs } from './due-times.ts';
import { judge } from './judge.ts';
import { overAt } from './verdicts.ts';

/** Requests by what they are for. */
export type Requests = {
  /** First readings of days that were never read to their ends. */
  unread: number;
  /** Readings that are owed besides: the second one, and what is not proved. */
  again: number;
  /** Days of the month that are not over yet: read twice when they are. */
  toCome: number;
  /** Daily readings of what is proved. They keep it fresh; a month is held and proved without them. */
  daily: number;
};

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
  sizes: Size['from'];
  /** Null where the platform answers for older days, too: then nothing is ever too late. */
  deadlineAt: Instant | null;
  /** The deadline or, once that has passed, the cliff; null when that has passed, too, or there is none. */
  until: Instant | null;
  /**
   * `tight`: more than half of the time left is needed, or daily readings will come late; `no`: something is too late;
   * null where there is no deadline to meet any more.
   */
  fits: 'yes' | 'tight' | 'no' | null;
  /** Days that cannot be read to their ends in time, in the order they are taken. */
  tooLate: Day[];
  /** Requests of nearer deadlines, which go first. */
  requestsBefore: number;
  /** What decides whether it fits: what must be sent until then, of nearer deadlines and all lists. */
  mustSend: number;
  /** Requests a second that would do; null where it fits. */
  perSecondNeeded: number | null;
};

export type Forecast = {
  /** Requests a second allowed, and how many of them go ahead of all months: today's tails, whole lists. */
  perSecond: number;
  standingPerSecond: number;
  /** Nearest deadline first. */
  months: MonthForecast[];
};

/** What a forecast goes by. `evidence`: of every day of a list that has some, by `evidenceKey`. */
type Terms = {
  facts: Facts;
  settings: PolicySettings;
  now: Instant;
  evidence: ReadonlyMap<string, Evidence>;
};

/** A day of a list; without a slice while it is not in the ledger, because it has not come or no run has entered it. */
type ListDay = { resource: ListedResource; owner: string; day: Day; slice: Slice | null };

type Size = {
  records: number;
  /** `known`: it was read; `estimated`: from its neighbours; `unknown`: nothing of the list was read. */
  from: 'known' | 'estimated' | 'unknown';
};

export const evidenceKey = ({ resource, owner, day }: Omit<ListDay, 'slice'>): string =>
  `${resource} ${owner} ${day}`;

export const sumOfRequests = (requests: Requests): number =>
  Object.values(requests).reduce((sum, one) => sum + one, 0);

/** How long so many requests take at what the standing ones leave of the rate, in milliseconds. */
export const takesMs = (
  requests: number,
  { perSecond, standingPerSecond }: Pick<Forecast, 'perSecond' | 'standingPerSecond'>,
): number => (requests * 1000) / (perSecond - standingPerSecond);

/** Standing requests keep to this share of the rate at most: today's tail waits four times as long as it took. */
const standingShare = 0.25;

/** `slices` are those that are neither final nor lost. */
export function forecast(slices: Slice[], perSecond: number, terms: Terms): Forecast {
  const standing = standingRate(slices, terms);
  const told: Forecast = {
    perSecond,
    standingPerSecond: Math.min(standing, standingShare * perSecond),
    months: daysByList(slices, terms)
      .flatMap((days) => monthsOf(days, terms))
      .toSorted(
        (a, b) =>
          (a.deadlineAt ?? noDeadline) - (b.deadlineAt ?? noDeadline) ||
          compare(a.month, b.month) ||
          // Orders before classes, as everywhere.
          compare(b.resource, a.resource) ||
          compare(a.owner, b.owner),
      ),
  };
  fitMonths(told, standing, terms.now);
  return told;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The days of each list: those of the ledger, those that passed unseen, and the rest of the current month. */
function daysByList(slices: Slice[], { now }: Terms): ListDay[][] {
  const lists = new Map<string, ListDay[]>();
  for (const slice of slices) {
    if (slice.day === wholeList) continue;
    const { resource, owner, day } = slice;
    const days = lists.get(`${resource} ${owner}`) ?? [];
    days.push({ resource, owner, day, slice });
    lists.set(`${resource} ${owner}`, days);
  }
  const monthEnd = monthStart(dayOf(now), 1);
  return [...lists.values()].map((days) => {
    const [{ resource, owner }] = days as [ListDay];
    const newest = days.reduce((day, one) => (one.day > day ? one.day : day), '');
    // P7: days that passed while the service was off are needed like all others.
    for (let day = addDays(newest, 1); day < monthEnd; day = addDays(day, 1)) {
      days.push({ resource, owner, day, slice: null });
    }
    return days;
  });
}

function monthsOf(days: ListDay[], terms: Terms): MonthForecast[] {
  const { now, settings } = terms;
  const sizeOf = sizesOf(days, now);
  const months = new Map<Day, MonthForecast>();
  for (const one of days) {
    const cliff = cliffOf(one.day);
    const deadlineAt = one.slice?.deadlineAt ?? cliff - settings.deadlineMarginMs;
    const isEndless = deadlineAt >= noDeadline;
    const until = deadlineAt > now ? deadlineAt : cliff > now ? cliff : null;
    const month: MonthForecast = months.get(monthStart(one.day)) ?? {
      resource: one.resource,
      owner: one.owner,
      month: monthStart(one.day),
      needs: { unread: 0, again: 0, toCome: 0, daily: 0 },
      unread: [],
      sizes: 'known',
      deadlineAt: isEndless ? null : deadlineAt,
      until: isEndless ? null : until,
      fits: null,
      tooLate: [],
      requestsBefore: 0,
      mustSend: 0,
      perSecondNeeded: null,
    };
    months.set(month.month, month);
    // Nothing can be asked of a month that has left: it waits to be final, or lost.
    if (until === null) {
      if ((one.slice?.wholeWalk ?? 0) === 0) month.unread.push({ day: one.day, requests: 0 });
      continue;
    }
    const size = sizeOf(one);
    const needs = requestsOf(one, size.records, isEndless ? now : until, terms);
    for (const name of Object.keys(needs) as (keyof Requests)[]) month.needs[name] += needs[name];
    if (needs.unread > 0) month.unread.push({ day: one.day, requests: needs.unread });
    if (size.from === 'unknown' || month.sizes === 'known') month.sizes = size.from;
  }
  return [...months.values()];
}

/** So many of the nearest days that are known make an estimate. */
const neighbours = 7;

/** Says of any day of one list how large it is. A day that is not over yet is no smaller than it was seen. */
function sizesOf(days: ListDay[], now: Instant): (one: ListDay) => Size {
  const hasEnded = ({ day }: ListDay): boolean => now >= overAt({ day });
  const known = days.flatMap((one) => {
    const records = hasEnded(one) ? knownSize(one) : null;
    return records === null ? [] : [{ at: startOf(one.day), records }];
  });
  return (one) => {
    const itsOwn = knownSize(one);
    if (itsOwn !== null && hasEnded(one)) return { records: itsOwn, from: 'known' };
    const at = startOf(one.day);
    const nearest = known
      .toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))
      .slice(0, neighbours);
    const sum = nearest.reduce((records, { records: more }) => records + more, 0);
    return {
      records: Math.max(itsOwn ?? 0, Math.ceil(sum / Math.max(1, nearest.length))),
      from: nearest.length === 0 && itsOwn === null ? 'unknown' : 'estimated',
    };
  };
}

/** What the last whole walk was shown, or what the platform counted when the first one began. */
function knownSize({ slice }: ListDay): number | null {
  if (slice === null) return null;
  return slice.wholeWalk > 0
    ? (slice.shownTotal ?? slice.platformTotal)
    : (slice.checkpoint?.reading.mostTotal ?? null);
}

/** Requests of one walk over so many records: an empty list costs one, too. */
export function walkRequests(resource: ListedResource, records: number, facts: Facts): number {
  const limit = limitOf(facts, resource);
  if (records <= limit) return 1;
  // Every page of classes but the first repeats a row.
  return resource === 'orders'
    ? Math.ceil(records / limit)
    : Math.ceil((records - 1) / Math.max(1, limit - 1));
}

/** What is still to be asked of a day until then, given how many records it has or is thought to have. */
function requestsOf(one: ListDay, records: number, until: Instant, terms: Terms): Requests {
  const { now, facts } = terms;
  const known = terms.evidence.get(evidenceKey(one));
  // A walk of each status as well, where the list was seen to leave some out.
  const views = one.resource === 'orders' && known?.books?.readBy === 'each status' ? 4 : 1;
  const walk = views * walkRequests(one.resource, records, facts);
  const day = {
    overAt: overAt(one),
    goesAt: one.slice === null ? cliffOf(one.day) : Math.max(until, cliffOf(one.day)),
    newsNo: known?.newsNo ?? 0,
    pending: 0,
    isHolding: records > 0,
  };
  const needs: Requests = { unread: 0, again: 0, toCome: 0, daily: 0 };
  const readings: Reading[] = [...(known?.readings ?? [])];
  let books: DayBooks | null = known?.books ?? null;
  let no = Math.max(day.newsNo, books?.no ?? 0, readings.at(-1)?.no ?? 0);
  let at = now;
  let isProved = false;
  // Ends: each reading is due later than the one before.
  for (;;) {
    const clocks = { machine: at, now: at, earliest: at, latest: at };
    const { next, why } = judge(day, readings, books, clocks);
    isProved ||= why === null;
    at = Math.max(at, next.at);
    if (at >= until) return needs;
    if (isProved) needs.daily += walk;
    else if (day.overAt > now) needs.toCome += walk;
    else needs[readings.length === 0 ? 'unread' : 'again'] += walk;
    no += 2;
    readings.push(assumed(no, next.end, at, records));
    books = { no: no + 1, isMore: false, isEqual: true, isDay: false };
    at += 1;
  }
}

const assumed = (no: number, end: Reading['end'], at: Instant, shown: number): Reading => ({
  no,
  end,
  began: { machine: at, now: at, earliest: at },
  ended: { machine: at, now: at, latest: at },
  shown,
  lacks: 0,
  claims: 0,
  pending: 0,
});

/** The nearest deadline takes its requests first; what is left of the rate is the next one's. */
function fitMonths(told: Forecast, standing: number, now: Instant): void {
  const { months } = told;
  const deadlines = new Set(months.flatMap(({ until }) => until ?? []));
  let before = 0;
  for (const until of [...deadlines].toSorted((a, b) => a - b)) {
    const group = months.filter((month) => month.until === until);
    const leftMs = until - now;
    const after = group.reduce((sum, { needs }) => sum + sumOfRequests(needs), before);
    const mustSend = group.reduce((left, { needs }) => left - needs.daily, after);
    const isTooMuch = takesMs(mustSend, told) > leftMs;
    const fits = isTooMuch ? 'no' : takesMs(after, told) > leftMs / 2 ? 'tight' : 'yes';
    const perSecondNeeded = isTooMuch ? (1000 * mustSend) / leftMs + standing : null;
    const unread = group.flatMap((month) => month.unread.map((one) => ({ ...one, month })));
    let taken = before;
    for (const { month, day, requests } of unread.toSorted((a, b) => compare(a.day, b.day))) {
      taken += requests;
      if (takesMs(taken, told) > leftMs) month.tooLate.push(day);
    }
    for (const month of group) {
      Object.assign(month, { fits, requestsBefore: before, mustSend, perSecondNeeded });
    }
    before = after;
  }
}

/** Today's tail is read about this often, in milliseconds. */
const tailEveryMs = minuteMs;

/**
 * Requests a second that go ahead of all months, as far as the rate allows: today's tails, today's orders while some
 * are pending, whole lists.
 */
function standingRate(slices: Slice[], { facts, settings, now }: Terms): number {
  const perMs = slices.map((slice) => {
    const walk = walkRequests(slice.resource, slice.shownTotal ?? 0, facts);
    if (slice.day === wholeList) return walk / Math.max(1, settings.refreshMs);
    if (now >= overAt(slice)) return 0;
    return 1 / tailEveryMs + (slice.unresolved > 0 ? walk / settleMs : 0);
  });
  return 1000 * perMs.reduce((sum, one) => sum + one, 0);
}

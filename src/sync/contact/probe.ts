// Learns how this platform reads what its document leaves open: the greatest limit honoured, whether totals are
// given, how an end date is read (proof rules 4 and 6). A few requests, at first contact and daily.
import { addDays, dayOf, startOf, windowAt } from '../../day.ts';
import { isOutlastError } from '../../errors.ts';
import {
  type Day,
  type Instant,
  type ListedResource,
  type OrderStatus,
  type PlatformPage,
} from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import { timeForm } from '../../platform/times.ts';
import type { Facts } from '../../store/facts.ts';
import { askList, timesOf, type List } from '../ask-list.ts';
import { knownAheadMs, zoneSeen } from '../day-zone.ts';
import { disproveFilter, isFarBefore, type DayEnd } from '../list-rules.ts';
import { decidedAfterMs } from '../judge.ts';
import {
  countByStatus,
  countedBy,
  statusesAddUp,
  statusesExceed,
  statusesFallShort,
  statusesOfNone,
  statusesUnknown,
  sumOfTotals,
} from '../slice/status-totals.ts';
import { longAgo } from '../slice/window-questions.ts';

export type Probed = Record<string, string>;

type Asking = List & { platform: Platform; limit: number; signal: AbortSignal };

/** One page with its total. */
const list = (
  { platform, limit, signal, ...of }: Asking,
  range: { startDate: Day; endDate?: Day },
  sortBy: 'DATE_ASC' | 'DATE_DESC',
  status?: 1 | 2 | 3,
): Promise<PlatformPage> => {
  const query = { ...range, ...(status === undefined ? {} : { status }), limit, sortBy };
  return askList(platform, of, { ...query, countTotal: true }, signal);
};

/** Limits to try, the documented maximum first (docs/platform.md §8; public clients know 50 for classes). */
const limits: Record<ListedResource, readonly number[]> = {
  orders: [50, 20, 10],
  nft_classes: [200, 50, 10],
};

/**
 * Facts of one resource by name, for example `orders.day_end`. Throws what the platform throws. `sound`: the platform
 * as it is known, from which an answer without anything in it is a fault; where records come without their total, it
 * has changed.
 */
export async function probe(
  platform: Platform,
  sound: Platform,
  resource: ListedResource,
  owner: string,
  signal: AbortSignal,
  before: Facts = new Map(),
): Promise<Probed> {
  const now = platform.clock.now();
  const window = windowAt(now);
  // A month that has just ended may still be shown in a zone behind UTC: that says nothing about older days.
  const oldest = windowAt(now - decidedAfterMs).from;
  const { limit, newest } = await findLimit(sound, resource, owner, window.from, signal);
  const isChanged = newest.shown > 0 && newest.total === null;
  const asking: Asking = { platform: isChanged ? platform : sound, resource, owner, limit, signal };
  const aheadBefore = knownAheadMs(before, resource);
  const { counting, ...rules } = await findDateRules(asking, newest, window.from, aheadBefore);
  const known: Probed = {
    limit: String(limit),
    ...rules,
    month_end: await findMonthEnd(asking, oldest),
    ...(await findOlderDays(asking, oldest, newest)),
    ...counting,
  };
  if (newest.shown > 0) {
    known['totals'] = counting?.total_scope === 'page' ? 'inconsistent' : totalsOf(newest);
  }
  const form = formOf(newest);
  if (form !== null) known['time_form'] = form;
  // Where nothing is shown and 0 is counted, everything may be of a status that nobody asked for.
  const isCounted = known['totals'] === 'present' || (newest.shown === 0 && newest.total === 0);
  if (resource === 'orders' && isCounted) {
    const yesterday = addDays(dayOf(now), -1);
    const emptyTotal = known['empty_total'] ?? before.get('orders.empty_total') ?? 'unknown';
    const told = new Map([['orders.empty_total', emptyTotal]]);
    const days = { from: window.from, last: yesterday, dayEnd: rules.day_end };
    const found = await findStatusTotals(asking, told, days);
    if (found !== null) known['status_totals'] = found;
  }
  return Object.fromEntries(
    Object.entries(known).map(([fact, value]) => [`${resource}.${fact}`, value]),
  );
}

/** A total smaller than what stands beside it counts nothing that could be proved by it. */
function totalsOf({ total, shown }: PlatformPage): string {
  if (total === null) return 'absent';
  return total < shown ? 'inconsistent' : 'present';
}

const timeFields: Record<ListedResource, string> = {
  orders: 'create_time',
  nft_classes: 'timestamp',
};

/** How the platform writes times: one form, or `mixed`; null where no record shows one. */
function formOf(page: PlatformPage): string | null {
  const forms = new Set(
    page.records.map(({ rawJson }) => {
      const record = JSON.parse(rawJson) as Record<string, unknown>;
      return timeForm(record[timeFields[page.resource]]);
    }),
  );
  forms.delete('none');
  return forms.size > 1 ? 'mixed' : ([...forms][0] ?? null);
}

/** How often the statuses are asked for until the list's total stands still. */
const roundsAtMost = 3;

/**
 * Whether the totals of the three statuses add up to the total of the same past days: `exceed` where they count more,
 * as they do where lists leave out a status that nobody asks for (proof rule 1). Null where the total does not stand
 * still.
 */
async function findStatusTotals(
  asking: Asking,
  facts: Facts,
  { from, last, dayEnd }: { from: Day; last: Day; dayEnd: DayEnd },
): Promise<string | null> {
  const narrow = { ...asking, limit: 1 };
  const range = { startDate: from, endDate: dayEnd === 'inclusive' ? last : addDays(last, 1) };
  const askTotal = async (): Promise<number | null> =>
    (await list(narrow, range, 'DATE_ASC')).total;
  const ask = (status: OrderStatus): Promise<PlatformPage> =>
    list(narrow, range, 'DATE_ASC', status);
  let before = await askTotal();
  let isTold = false;
  // A total that was wrong, or of a list that has changed meanwhile, may be the sum by chance: it must be the same before
  // and after. And one answer that lacks its total says little.
  for (let round = 1; round <= roundsAtMost; round++) {
    const counts = await countByStatus(facts, ask, true);
    if (counts.filter === 'silent') return statusesUnknown;
    const sum = sumOfTotals(counts.totals);
    const total = await askTotal();
    isTold = sum !== null && total !== null;
    if (sum !== null && total !== null && before !== null) {
      if (sum === 0 && total === 0 && before === 0) return statusesOfNone;
      const most = Math.max(before, total);
      if ((countedBy(counts, most) ?? 0) > most) return statusesExceed;
      if (total === before) return sum === total ? statusesAddUp : statusesFallShort;
    }
    before = total;
  }
  // Of a total that moves nothing is learned.
  return isTold ? null : statusesUnknown;
}

/**
 * Whether days before the window are answered: by the oldest record shown when they are asked for. An empty answer may
 * also come from a platform too young to have any.
 */
async function findOlderDays(asking: Asking, from: Day, newest: PlatformPage): Promise<OlderDays> {
  try {
    const range = { startDate: longAgo, endDate: from };
    const ask = (): Promise<PlatformPage> => list({ ...asking, limit: 1 }, range, 'DATE_ASC');
    const first = await ask();
    // An answer of nothing may be a passing fault: that totals of none are left out is learned of two.
    const page = first.shown === 0 && first.total === null ? await ask() : first;
    const [oldest] = timesOf(page);
    if (oldest === undefined || !isFarBefore(oldest, startOf(from))) {
      // Where a total of none is left out, an empty list without one is no fault: see sound-answers.ts.
      const isEmpty = page.shown === 0 && newest.total !== null;
      const emptyTotal = page.total === null ? 'absent' : 'zero';
      return { older_days: 'not shown', ...(isEmpty ? { empty_total: emptyTotal } : {}) };
    }
    return { older_days: 'answered', oldest_day: dayOf(oldest) };
  } catch (error) {
    if (isOutlastError(error, 'platform_refused')) return { older_days: 'refused' };
    throw error;
  }
}

type OlderDays = {
  older_days: 'answered' | 'not shown' | 'refused';
  oldest_day?: Day;
  empty_total?: 'absent' | 'zero';
};

async function findLimit(
  platform: Platform,
  resource: ListedResource,
  owner: string,
  startDate: Day,
  signal: AbortSignal,
): Promise<{ limit: number; newest: PlatformPage }> {
  for (const limit of limits[resource]) {
    try {
      const asking = { platform, resource, owner, limit, signal };
      const newest = await list(asking, { startDate }, 'DATE_DESC').catch((error: unknown) => {
        // Where the newest records are of no use, the oldest tell as much.
        if (!isOutlastError(error, 'platform_unusable')) throw error;
        return list(asking, { startDate }, 'DATE_ASC');
      });
      // A clamped limit shows in a short page of a longer list.
      const isClamped = newest.total !== null && newest.shown < Math.min(limit, newest.total);
      return { limit: isClamped ? Math.max(newest.shown, 1) : limit, newest };
    } catch (error) {
      const isLast = limit === limits[resource].at(-1);
      if (isLast || !isOutlastError(error, 'platform_refused')) throw error;
    }
  }
  throw new Error('unreachable: the last limit returns or throws');
}

/**
 * Takes a past day with a record, and looks which end date shows it: the day itself (inclusive), or only the next one
 * (exclusive; instant, if that shows 00:00:00 of the next day too). Totals with a start date only confirm it. Records
 * far outside the asked day mean that there is no filter; that there is one is seen where dates make a difference.
 */
async function findDateRules(
  asking: Asking,
  newest: PlatformPage,
  from: Day,
  aheadBefore: number | null,
): Promise<DateRules> {
  const today = dayOf(asking.platform.clock.now());
  const day =
    pastDay(newest, today) ?? pastDay(await list(asking, { startDate: from }, 'DATE_ASC'), today);
  if (day === null) return { day_end: 'unknown', day_zone: 'unknown' };
  const next = addDays(day, 1);
  const own = await list(asking, { startDate: day, endDate: day }, 'DATE_DESC');
  const oldest = await list(asking, { startDate: day, endDate: day }, 'DATE_ASC');
  const isForeign = (page: PlatformPage): boolean =>
    disproveFilter(timesOf(page), startOf(day), startOf(next));
  if (isForeign(own) || isForeign(oldest)) {
    return { day_end: 'unknown', day_zone: 'unknown', date_filter: 'ignored' };
  }
  const both = await list(asking, { startDate: day, endDate: next }, 'DATE_DESC');
  const { counted, counting } = await countOf(
    asking,
    newest,
    Math.max(own.shown, both.shown),
    from,
    day,
  );
  const agrees = (page: PlatformPage): boolean =>
    counted === null || page.total === null || page.total === counted;
  const showsDay = (page: PlatformPage): boolean =>
    timesOn(page, day).some((at) => at > startOf(day));
  const later = timesOn(both, next);
  let dayEnd: DayEnd = 'unknown';
  if (showsDay(own)) dayEnd = agrees(own) ? 'inclusive' : 'unknown';
  else if (!showsDay(both)) dayEnd = 'unknown';
  else if (later.some((at) => at > startOf(next))) {
    // In a zone behind UTC the day goes on there: what is counted of it tells that nothing of the next one is shown.
    dayEnd =
      own.shown === 0 && counted !== null && both.total === counted ? 'exclusive' : 'unknown';
  } else if (later.length > 0) dayEnd = 'instant';
  else if (agrees(both)) dayEnd = 'exclusive';
  const zone = async (): Promise<string> => {
    if (dayEnd === 'unknown') return 'unknown';
    const isInclusive = dayEnd === 'inclusive';
    const first = isInclusive
      ? oldest
      : await list(asking, { startDate: day, endDate: next }, 'DATE_ASC');
    // The first instant of the next day is none of this one's.
    const shown = [...timesOf(first), ...timesOf(isInclusive ? own : both)].filter(
      (at) => isInclusive || at !== startOf(next),
    );
    return zoneSeen(day, Math.min(...shown), Math.max(...shown), aheadBefore);
  };
  const isFiltered = !isSameList(own, newest) || !isSameList(own, both);
  return {
    day_end: dayEnd,
    day_zone: await zone(),
    counting,
    ...(isFiltered ? { date_filter: 'days' } : {}),
  };
}

type DateRules = {
  day_end: DayEnd;
  day_zone: string;
  date_filter?: 'days' | 'ignored';
  counting?: Counting;
};

/**
 * What totals count: the `list` or its `page`; and `cap`, the number beyond which they were seen to count no further.
 */
type Counting = { total_scope?: 'list' | 'page'; cap?: string };

/**
 * Whether two answers show and count the same: then the dates that tell their questions apart may have been ignored.
 */
function isSameList(one: PlatformPage, other: PlatformPage): boolean {
  const ids = (page: PlatformPage): string => page.records.map(({ id }) => id).join('\n');
  return one.total === other.total && ids(one) === ids(other);
}

/**
 * Whether the last hours of the day before the window are shown: then the platform's months end before UTC's, as they
 * do in UTC+8, and so does the month at the cliff.
 */
async function findMonthEnd(asking: Asking, from: Day): Promise<'before_utc' | 'utc' | 'unknown'> {
  try {
    const page = await list(asking, { startDate: addDays(from, -1), endDate: from }, 'DATE_ASC');
    if (page.shown === 0) return 'unknown';
    return timesOf(page).some((at) => at < startOf(from)) ? 'before_utc' : 'utc';
  } catch (error) {
    // A platform may refuse days outside its window, which tells nothing.
    if (isOutlastError(error, 'platform_refused')) return 'unknown';
    throw error;
  }
}

/** The newest day before today that a page shows a record of, not exactly at its first instant. */
function pastDay(page: PlatformPage, today: Day): Day | null {
  const days = timesOf(page)
    .filter((at) => at > startOf(dayOf(at)))
    .map(dayOf)
    .filter((day) => day < today);
  return days.toSorted().at(-1) ?? null;
}

/**
 * Records of one day as the difference of two totals without an end date, null where they do not tell; and what totals
 * count. Two parts of the window hold no more than the whole: where they count more, totals stop at a cap.
 */
async function countOf(
  asking: Asking,
  newest: PlatformPage,
  shownOf: number,
  from: Day,
  day: Day,
): Promise<{ counted: number | null; counting: Counting }> {
  const narrow = { ...asking, limit: 1 };
  const since = await list(narrow, { startDate: day }, 'DATE_ASC');
  const after = await list(narrow, { startDate: addDays(day, 1) }, 'DATE_ASC');
  if (since.total === null || after.total === null) return { counted: null, counting: {} };
  const range = { startDate: from, endDate: addDays(day, -1) };
  const before = day > addDays(from, 1) ? await list(narrow, range, 'DATE_ASC') : null;
  const counting: Counting = {};
  const isBeyond = [since, before].some((page) => (page?.total ?? 0) > (page?.shown ?? 0));
  if (isBeyond) counting.total_scope = 'list';
  else if (shownOf > since.shown) counting.total_scope = 'page';
  if (!isBeyond || before === null) return { counted: since.total - after.total, counting };
  const parts = (before.total ?? 0) + since.total;
  if (parts > (newest.total ?? parts)) {
    // Records may have come since: the whole is counted after its parts.
    const whole = (await list(narrow, { startDate: from }, 'DATE_ASC')).total;
    if (whole !== null && parts > whole) counting.cap = String(whole);
  }
  // Totals that were cut tell no difference.
  const isCut = counting.cap !== undefined && since.total >= Number(counting.cap);
  return { counted: isCut ? null : since.total - after.total, counting };
}

const timesOn = (page: PlatformPage, day: Day): Instant[] =>
  timesOf(page).filter((at) => dayOf(at) === day);

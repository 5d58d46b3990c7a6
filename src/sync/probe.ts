// Learns how this platform reads what its document leaves open: the greatest limit honoured, whether totals are
// given, how an end date is read (proof rules 4 and 6). A few requests, at first contact and daily.
import { addDays, dayOf, startOf, windowAt } from '../day.ts';
import { isOutlastError } from '../errors.ts';
import type { Day, Instant, ListedResource, Page } from '../model.ts';
import type { Platform } from '../platform/platform.ts';
import { farOutside, type DayEnd } from './bounds.ts';

export type Probed = Record<string, string>;

/** Limits to try, the documented maximum first (interface.md §8; public clients know 50 for classes). */
const limits: Record<ListedResource, readonly number[]> = {
  orders: [50, 20, 10],
  nft_classes: [200, 50, 10],
};

type Asking = {
  platform: Platform;
  resource: ListedResource;
  owner: string;
  limit: number;
  signal: AbortSignal;
};

type Range = { startDate: Day; endDate?: Day };

/** Facts of one resource by name, for example `orders.day_end`. Throws what the platform throws. */
export async function probe(
  platform: Platform,
  resource: ListedResource,
  owner: string,
  signal: AbortSignal,
): Promise<Probed> {
  const window = windowAt(platform.clock.now());
  const { limit, newest } = await findLimit(platform, resource, owner, window.from, signal);
  const asking: Asking = { platform, resource, owner, limit, signal };
  const facts: Probed = {
    [`${resource}.limit`]: String(limit),
    ...prefixed(resource, await findDateRules(asking, newest, window.from)),
    [`${resource}.month_end`]: await findMonthEnd(asking, window.from),
  };
  if (newest.shown > 0) {
    facts[`${resource}.totals`] = newest.total === null ? 'absent' : 'present';
  }
  return facts;
}

async function findLimit(
  platform: Platform,
  resource: ListedResource,
  owner: string,
  startDate: Day,
  signal: AbortSignal,
): Promise<{ limit: number; newest: Page }> {
  for (const limit of limits[resource]) {
    try {
      const newest = await list(
        { platform, resource, owner, limit, signal },
        { startDate },
        'DATE_DESC',
      );
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
 * far outside the asked day mean that there is no filter.
 */
async function findDateRules(asking: Asking, newest: Page, from: Day): Promise<DateRules> {
  const today = dayOf(asking.platform.clock.now());
  const day =
    pastDay(newest, today) ?? pastDay(await list(asking, { startDate: from }, 'DATE_ASC'), today);
  if (day === null) return { day_end: 'unknown' };
  const next = addDays(day, 1);
  const own = await list(asking, { startDate: day, endDate: day }, 'DATE_DESC');
  const oldest = await list(asking, { startDate: day, endDate: day }, 'DATE_ASC');
  const isForeign = (at: Instant): boolean => farOutside(at, startOf(day), startOf(next));
  if ([...timesOf(own), ...timesOf(oldest)].some(isForeign)) {
    return { day_end: 'unknown', date_filter: 'ignored' };
  }
  const both = await list(asking, { startDate: day, endDate: next }, 'DATE_DESC');
  const counted = await countOf(asking, day, next);
  const agrees = (page: Page): boolean =>
    counted === null || page.total === null || page.total === counted;
  const showsDay = (page: Page): boolean => timesOn(page, day).some((at) => at > startOf(day));
  const later = timesOn(both, next);
  let dayEnd: DayEnd = 'unknown';
  if (showsDay(own)) dayEnd = agrees(own) ? 'inclusive' : 'unknown';
  else if (!showsDay(both) || later.some((at) => at > startOf(next))) dayEnd = 'unknown';
  else if (later.length > 0) dayEnd = 'instant';
  else if (agrees(both)) dayEnd = 'exclusive';
  return { day_end: dayEnd, date_filter: 'days' };
}

type DateRules = { day_end: DayEnd; date_filter?: 'days' | 'ignored' };

const prefixed = (resource: ListedResource, rules: DateRules): Probed =>
  Object.fromEntries(Object.entries(rules).map(([fact, value]) => [`${resource}.${fact}`, value]));

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
function pastDay(page: Page, today: Day): Day | null {
  const days = timesOf(page)
    .filter((at) => at > startOf(dayOf(at)))
    .map(dayOf)
    .filter((day) => day < today);
  return days.toSorted().at(-1) ?? null;
}

/** Records of one day as the difference of two totals without an end date; null where totals are not given. */
async function countOf(asking: Asking, day: Day, next: Day): Promise<number | null> {
  const narrow = { ...asking, limit: 1 };
  const since = await list(narrow, { startDate: day }, 'DATE_ASC');
  const after = await list(narrow, { startDate: next }, 'DATE_ASC');
  return since.total === null || after.total === null ? null : since.total - after.total;
}

function timesOf(page: Page): Instant[] {
  return page.records
    .map((record) => record.columns['created_at'])
    .filter((at): at is string => typeof at === 'string')
    .map((at) => Date.parse(at));
}

const timesOn = (page: Page, day: Day): Instant[] =>
  timesOf(page).filter((at) => dayOf(at) === day);

function list(asking: Asking, range: Range, sortBy: 'DATE_ASC' | 'DATE_DESC'): Promise<Page> {
  const { platform, resource, owner, limit, signal } = asking;
  return resource === 'orders'
    ? platform.orders({ ...range, limit, sortBy, countTotal: true }, signal)
    : platform.classes(
        { ...range, ...(owner === '' ? {} : { owner }), offset: 0, limit, sortBy },
        signal,
      );
}

// How sure one may be of a day: one word for it, what a range of days comes to, and the calendar of them. Whatever draws
// a calendar, counts safe days or says whether a range is covered goes by this, and this by what analytics.coverage says
// is held.
import type { CoverageDay } from '../catalogue.ts';
import { addDays, dayMs, dayOf, monthStart, startOf } from '../day.ts';
import type { Day, Instant } from '../model.ts';
import type { ListScope } from './types.ts';

/**
 * The least sure first. `open`: not read to its end since it was over. `unproved`: read to its end, and not all of it
 * is held yet. `doubtful`: the same, and its month has left the window. `proved`: held, and not sealed: an order is
 * pending.
 */
const dayMarks = ['lost', 'open', 'unproved', 'doubtful', 'proved', 'final', 'sealed'] as const;
export type DayMark = (typeof dayMarks)[number];

export function markOf({ state, isHeld }: Pick<CoverageDay, 'state' | 'isHeld'>): DayMark {
  if (state === 'lost' || state === 'open') return state;
  if (!isHeld) return state === 'final' ? 'doubtful' : 'unproved';
  return state === 'walked' ? 'proved' : state;
}

/** The less sure of two. */
export const weaker = (a: DayMark, b: DayMark): DayMark =>
  dayMarks.indexOf(a) < dayMarks.indexOf(b) ? a : b;

/** Whether the platform is not asked about it any more: so it stays. */
export const isForGood = (mark: DayMark): boolean => mark === 'lost' || mark === 'doubtful';

export type RangeCoverage = {
  /** Days of the range that the ledger knows. */
  days: number;
  /** Of them, those of which not all is held, each with the mark of its weakest list. */
  holes: { day: Day; mark: DayMark }[];
  /** Days of the range, up to today, that the ledger does not know. */
  unknown: number;
  /** Records that the last readings were shown. */
  shown: number;
};

/**
 * `coverage`: of one list at least these days, both included, in their order. As of an instant a day is held only if
 * its proof is no younger.
 */
export function rangeCoverage(
  coverage: readonly CoverageDay[],
  { from, to, asOf }: Pick<ListScope, 'from' | 'to'> & { asOf?: string | undefined },
  now: Instant,
): RangeCoverage {
  const slices = coverage.filter(({ day }) => (from ?? day) <= day && day <= (to ?? day));
  const isHeldThen = ({ isHeld, provedAt }: CoverageDay): boolean =>
    isHeld &&
    (asOf === undefined || (provedAt !== null && Date.parse(provedAt) <= Date.parse(asOf)));
  const holes = new Map<Day, DayMark>();
  for (const slice of slices.filter((one) => !isHeldThen(one))) {
    const mark = markOf(slice);
    holes.set(slice.day, weaker(mark, holes.get(slice.day) ?? mark));
  }
  const known = new Set(slices.map(({ day }) => day));
  const today = dayOf(now);
  const last = to === undefined || to > today ? today : to;
  const begin = from ?? slices[0]?.day ?? addDays(last, 1);
  const inRange = Math.max(0, (startOf(last) - startOf(begin)) / dayMs + 1);
  return {
    days: known.size,
    holes: [...holes].map(([day, mark]) => ({ day, mark })),
    unknown: Math.max(0, inRange - known.size),
    shown: slices.reduce((sum, { shownTotal }) => sum + (shownTotal ?? 0), 0),
  };
}

export type CalendarMonth = {
  resource: string;
  /** First day of the month, `yyyy-MM-dd`. */
  month: Day;
  /** By day of the month, beginning with 1; days that nothing is known of are absent. */
  marks: ReadonlyMap<number, DayMark>;
};

/** For each day of a resource the weakest of what its lists say; the oldest month of each resource first. */
export function calendarOf(coverage: readonly CoverageDay[]): CalendarMonth[] {
  const months = new Map<string, CalendarMonth & { marks: Map<number, DayMark> }>();
  // Orders first, and each in the order of its days.
  for (const slice of coverage) {
    const { resource, day } = slice;
    const month = monthStart(day);
    const known = months.get(`${resource} ${month}`) ?? { resource, month, marks: new Map() };
    const mark = markOf(slice);
    const date = Number(day.slice(8));
    known.marks.set(date, weaker(mark, known.marks.get(date) ?? mark));
    months.set(`${resource} ${month}`, known);
  }
  return [...months.values()];
}

/** From this month on, and whatever earlier ones have lost days (P7: what is lost stays in sight for ever). */
export const calendarFrom = (calendar: readonly CalendarMonth[], from: Day): CalendarMonth[] =>
  calendar.filter(({ month, marks }) => month >= from || [...marks.values()].includes('lost'));

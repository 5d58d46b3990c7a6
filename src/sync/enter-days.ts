// Which slices there must be: every day from the first one accounted for to today, of every resource and owner
// that is archived. Days that passed while the service was off are entered like all others (P7).
import { addDays, cliffOf, dayMs, dayOf, daysIn, startOf, windowAt } from '../day.ts';
import { settingsError } from '../errors.ts';
import { wholeList } from '../model.ts';
import type { Day, DayRange, Instant, ListedResource, ProjectId } from '../model.ts';
import type { PlatformClock } from '../platform/platform.ts';
import { withTx, type Db } from '../store/db.ts';
import type { Facts } from '../store/facts.ts';
import {
  addSlices,
  dropUnreadDays,
  daysTakenBack,
  newestDay,
  noDeadline,
  takeDeadlines,
  type NewSlice,
} from '../store/ledger.ts';
import { answersOlder, type List } from './ask-list.ts';
import { decidedAfterMs } from './due-times.ts';

/** What is archived of a project: its orders, unless none; its classes, all, of some owners, or none. */
export type ArchivedScope = {
  orders?: 'all' | 'none';
  classes: 'all' | 'none' | readonly string[];
};

export type PolicySettings = {
  /** The deadline of a day is so long before its cliff. It orders the work and never stops it. */
  deadlineMarginMs: number;
  /** How often lists without dates are walked: nft_count and owner of classes change without a trace in the date. */
  refreshMs: number;
};

/** The lists of a project, each with the owner it is narrowed to ('' for all). */
export function listsOf(scope: ArchivedScope): List[] {
  const owners = scope.classes === 'all' ? [''] : scope.classes === 'none' ? [] : scope.classes;
  return [
    ...(scope.orders === 'none' ? [] : [{ resource: 'orders' as const, owner: '' }]),
    ...owners.map((owner) => ({ resource: 'nft_classes' as const, owner })),
  ];
}

/** The lists that are asked for at all. */
export const archivedLists = (scope: ArchivedScope): ListedResource[] => [
  ...new Set(listsOf(scope).map(({ resource }) => resource)),
];

/** Days of so long are entered in one go on a time that some clock contradicts, and no more. */
const leapMs = 400 * dayMs;

/**
 * Enters what is not in the ledger yet, due at once: the window up to today, and whatever
 * days have passed since the newest day entered. Today is what the platform's answers say, also against this machine's
 * clock, or a machine that is a year behind would read nothing; what of it turns out to lie in the future is left alone
 * until it begins. Returns how many were new.
 */
export async function enterSlices(
  db: Db,
  projectId: ProjectId,
  scope: ArchivedScope,
  facts: Facts,
  clock: Pick<PlatformClock, 'now' | 'earliest'>,
  settings: PolicySettings,
): Promise<number> {
  const resources = archivedLists(scope);
  const lists = listsOf(scope);
  const now = clock.now();
  const window = windowAt(now);
  const newest = await newestDay(db, projectId, window.to);
  const isLeap = now - clock.earliest() > leapMs && startOf(window.from) - startOf(newest) > leapMs;
  const from = newest < window.from && !isLeap ? newest : window.from;
  const entered: NewSlice[] = [];
  for (const list of lists) {
    const again = await daysTakenBack(db, { projectId, ...list }, from);
    const days = [...again, ...daysIn({ from, to: addDays(dayOf(now), 1) })];
    entered.push(...days.map((day) => sliceOf(projectId, list, day, settings)));
  }
  // Each list of classes without dates, too: their owners and counts change without a trace in the date, and an owner's
  // shows the classes that were transferred in. The days of the window show what that of all owners would, the first time.
  for (const list of lists.filter(({ resource }) => resource === 'nft_classes')) {
    const dueAt = list.owner === '' ? now + settings.refreshMs : now;
    entered.push({ projectId, ...list, day: wholeList, dueAt, deadlineAt: noDeadline });
  }
  return withTx(db, async (tx) => {
    await dropUnreadDays(tx, projectId, lists);
    for (const resource of resources) {
      if (answersOlder(facts, resource)) continue;
      await takeDeadlines(tx, { projectId, resource }, settings.deadlineMarginMs);
    }
    return addSlices(tx, entered);
  });
}

/** Due since the day began: an estimate of now may lie a second ahead of the next process's. */
const sliceOf = (
  projectId: ProjectId,
  list: List,
  day: Day,
  { deadlineMarginMs }: PolicySettings,
): NewSlice => ({
  projectId,
  ...list,
  day,
  dueAt: startOf(day),
  deadlineAt: cliffOf(day) - deadlineMarginMs,
});

/**
 * Enters the slices of given days, of one resource or all: also those outside the window, where someone asked for them.
 */
export function enterDays(
  db: Db,
  projectId: ProjectId,
  scope: ArchivedScope,
  facts: Facts,
  days: DayRange,
  now: Instant,
  settings: PolicySettings,
  resource?: ListedResource,
): Promise<number> {
  const lists = listsOf(scope).filter((list) => (resource ?? list.resource) === list.resource);
  const asked = lists.flatMap((list) =>
    daysIn(days).map((day) => {
      const slice = sliceOf(projectId, list, day, settings);
      // Where older days are answered, too, nothing overtakes one that nobody waited for.
      const isEndless = answersOlder(facts, list.resource) && cliffOf(day) + decidedAfterMs <= now;
      return isEndless ? { ...slice, deadlineAt: noDeadline } : slice;
    }),
  );
  return withTx(db, (tx) => addSlices(tx, asked));
}

/** Stands for "up to today" in days that a person asked for, as any later day: only the platform knows which that is. */
export const untilToday: Day = '9999-12-31';

/**
 * The days asked for, up to today (the end of this month may be typed while it runs), and not before the oldest day the
 * platform shows anything of. Refuses days it does not answer for, since an empty answer for them would prove nothing:
 * throws settings `outside_window`. A resource of which older days were seen to be answered takes them.
 */
export function daysToAsk(
  asked: DayRange,
  resources: readonly ListedResource[],
  facts: Facts,
  now: Instant,
): DayRange {
  const window = windowAt(now);
  const oldest = resources.map((resource) => facts.get(`${resource}.oldest_day`) ?? asked.from);
  const from = [asked.from, oldest.toSorted()[0] ?? asked.from].toSorted().at(-1) ?? asked.from;
  const days = { from, to: asked.to < window.to ? asked.to : window.to };
  if (asked.from >= window.to) {
    throw settingsError(
      'outside_window',
      `${asked.from} has not come yet: today is ${dayOf(now)} (UTC) on the platform's clock.`,
    );
  }
  const unanswered = resources.filter((resource) => !answersOlder(facts, resource));
  if (asked.from < window.from && unanswered.length > 0) {
    throw settingsError(
      'outside_window',
      `${asked.from} lies before the window: the platform answers for ${unanswered.join(' and ')} from ${window.from} on. Ask for days from then on.`,
    );
  }
  if (days.from >= days.to) {
    throw settingsError(
      'outside_window',
      `The platform shows nothing before ${days.from}: there is nothing to ask for.`,
    );
  }
  return days;
}

// Which slices there must be: every day from the first one accounted for to today, of every resource and owner
// that is archived. Days that passed while the service was off are entered like all others (P7).
import { addDays, dayOf, daysIn, monthStart, startOf, windowAt } from '../day.ts';
import { settingsError } from '../errors.ts';
import type { DayRange, Instant, ListedResource, ProjectId, SliceKey } from '../model.ts';
import type { Db } from '../store/db.ts';
import type { Facts } from '../store/facts.ts';
import { addSlices, dropUnreadDays, newestDay, type NewSlice } from '../store/ledger.ts';
import { ignoresDates } from './bounds.ts';
import { deadlineOf, type PolicySettings } from './policy.ts';

/** What is archived of a project: orders always, classes all, of some owners, or none. */
export type Scope = { classes: 'all' | 'none' | readonly string[] };

/** The lists of a project, each with the owner it is narrowed to ('' for all). */
export function listsOf(scope: Scope): { resource: ListedResource; owner: string }[] {
  const owners = scope.classes === 'all' ? [''] : scope.classes === 'none' ? [] : scope.classes;
  return [
    { resource: 'orders', owner: '' },
    ...owners.map((owner) => ({ resource: 'nft_classes' as const, owner })),
  ];
}

/** The slices of given days: a day each, or a month each where the platform does not filter by date. */
export function slicesOf(
  projectId: ProjectId,
  scope: Scope,
  days: DayRange,
  facts: Facts,
): SliceKey[] {
  return listsOf(scope).flatMap((list) => {
    const each = daysIn(days).map((day) =>
      ignoresDates(facts, list.resource) ? monthStart(day) : day,
    );
    return [...new Set(each)].map((day) => ({ projectId, ...list, day }));
  });
}

/**
 * Enters what is not in the ledger yet, due at once: the window, and whatever days have passed since the newest day
 * entered. Returns how many were new.
 */
export async function enterSlices(
  db: Db,
  projectId: ProjectId,
  scope: Scope,
  facts: Facts,
  now: Instant,
  settings: PolicySettings,
): Promise<number> {
  for (const { resource } of listsOf(scope)) {
    if (ignoresDates(facts, resource)) await dropUnreadDays(db, projectId, resource);
  }
  const window = windowAt(now);
  const newest = (await newestDay(db, projectId)) ?? window.from;
  const from = newest < window.from ? newest : window.from;
  return enterDays(db, projectId, scope, facts, { from, to: window.to }, settings);
}

/** Enters the slices of given days: also those outside the window, where someone asked for them. */
export function enterDays(
  db: Db,
  projectId: ProjectId,
  scope: Scope,
  facts: Facts,
  days: DayRange,
  settings: PolicySettings,
): Promise<number> {
  const entered: NewSlice[] = slicesOf(projectId, scope, days, facts).map((slice) => ({
    ...slice,
    // Due since the day began: an estimate of now may lie a second ahead of the next process's.
    dueAt: startOf(slice.day),
    deadlineAt: deadlineOf(slice.day, settings),
  }));
  return addSlices(db, entered);
}

/**
 * Refuses days the platform does not answer for: an empty answer for them would prove nothing. Throws settings
 * `outside_window`; a resource of which older days were seen to be answered takes them.
 */
export function checkDays(
  days: DayRange,
  resources: readonly ListedResource[],
  facts: Facts,
  now: Instant,
): void {
  const window = windowAt(now);
  if (days.to > window.to) {
    throw settingsError(
      'outside_window',
      `${addDays(days.to, -1)} has not come yet: today is ${dayOf(now)} (UTC) on the platform's clock.`,
    );
  }
  const unanswered = resources.filter(
    (resource) => facts.get(`${resource}.older_days`) !== 'answered',
  );
  if (days.from < window.from && unanswered.length > 0) {
    throw settingsError(
      'outside_window',
      `${days.from} lies before the window: the platform answers for ${unanswered.join(' and ')} from ${window.from} on. Ask for days from then on.`,
    );
  }
}

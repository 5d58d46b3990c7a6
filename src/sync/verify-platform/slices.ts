// Proving again now: each slice of the window that claims a proof is counted against the platform, and nothing is
// written. What differs is news or a mistake; a sync finds out which.
import { addDays, windowAt } from '../../day.ts';
import { listedResources, type ListedResource, type SliceKey } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import { isPlatformError } from '../../platform/refusal.ts';
import type { Db } from '../../store/db.ts';
import { isEndInclusive } from '../../store/evidence.ts';
import { readFacts, type Facts } from '../../store/facts.ts';
import { provedSlices, type Slice } from '../../store/ledger.ts';
import { readProject, type ProjectSource } from '../../store/projects.ts';
import { learnClockByAny } from '../contact/contact.ts';
import { recogniseSource } from '../contact/same-source.ts';
import { archivedLists, type ArchivedScope } from '../enter-days.ts';
import { askList } from '../ask-list.ts';
import { weekMs } from '../ask-books.ts';
import { boundsOf } from '../list-rules.ts';
import { absenceProves } from '../policy.ts';
import { overAt } from '../verdicts.ts';

export type Reproved = SliceKey & {
  /** `unclear`: while the month goes, or without a total. */
  outcome: 'agrees' | 'differs' | 'unclear';
  /** The platform's total now and what the last whole walk was shown; null where there is none. */
  total: number | null;
  shown: number | null;
};

export type ReproveContext = {
  db: Db;
  platform: Platform;
  projectId: string;
  source: ProjectSource;
  scope: ArchivedScope;
  signal: AbortSignal;
};

export type Reproving = ReproveContext & {
  /** Both unless given. */
  resource?: ListedResource;
  onSlice: (slice: Reproved) => Promise<void> | void;
};

/**
 * A request a day. False when the project is parked: nobody was asked (P11). Throws settings
 * `source_changed`, and what the platform throws.
 */
export async function reprove(reproving: Reproving): Promise<boolean> {
  const { db, platform, projectId, resource: wanted, signal, onSlice } = reproving;
  const confirmed = await confirmSource(reproving);
  if ('isParked' in confirmed) return !confirmed.isParked;
  const inclusive = new Set<ListedResource>();
  for (const resource of listedResources) {
    const since = platform.clock.now() - weekMs;
    if (await isEndInclusive(db, { projectId, resource }, since)) inclusive.add(resource);
  }
  const window = windowAt(platform.clock.now());
  // Today's list grows: its tail is looked after by every run.
  const days = { from: window.from, to: addDays(window.to, -1) };
  const failures = new Map<ListedResource, Error>();
  for (const slice of await provedSlices(db, projectId, days)) {
    if ((wanted ?? slice.resource) !== slice.resource || failures.has(slice.resource)) continue;
    if (platform.clock.now() < overAt(slice)) continue;
    const { resource, owner, day, shownTotal: shown } = slice;
    const query = {
      ...boundsOf(day, inclusive.has(resource) ? 1 : 2),
      limit: 1,
      sortBy: 'DATE_ASC' as const,
    };
    let total: number | null;
    try {
      const page = await askList(platform, slice, { ...query, countTotal: true }, signal);
      total = page.total !== null && page.total < page.shown ? null : page.total;
    } catch (error) {
      if (signal.aborted || !isPlatformError(error)) throw error;
      failures.set(resource, error);
      continue;
    }
    const differs = isTelling(slice, total, platform.clock.now()) ? 'differs' : 'unclear';
    await onSlice({
      projectId,
      resource,
      owner,
      day,
      outcome: total === shown ? 'agrees' : differs,
      total,
      shown,
    });
  }
  // The other list was asked all the same.
  for (const failure of failures.values()) throw failure;
  return true;
}

/**
 * Makes sure that the platform is the one that was archived; `isParked` where nobody is to be asked, or nothing is
 * held.
 */
export async function confirmSource({
  db,
  platform,
  projectId,
  source,
  scope,
  signal,
}: ReproveContext): Promise<{ facts: Facts } | { isParked: boolean }> {
  const known = await readProject(db, projectId, source);
  if (known === null) return { isParked: false };
  if (known.parkedReason !== null && known.sameKey) return { isParked: true };
  const lists = archivedLists(scope);
  if (platform.clock.lastDate() === null) await learnClockByAny(platform, lists, signal);
  const facts = await readFacts(db, projectId);
  if (!known.sameSource) {
    await recogniseSource({ db, platform, projectId, signal }, facts, lists, lists);
  }
  return { facts };
}

/** Whether a disagreement says anything. */
function isTelling(slice: Slice, total: number | null, now: number): boolean {
  if (total === null) return false;
  // Around the cliff fewer may only mean that the month has gone.
  if (!absenceProves(slice.day, now) && total <= (slice.shownTotal ?? 0)) return false;
  return true;
}

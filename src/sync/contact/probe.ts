// Learns what of a platform decides how it is asked: the greatest limit it honours, whether totals count their list,
// whether older days are answered. A few requests, at first contact and daily. No proof of a day in the window rests on it.
import { dayMs, dayOf, hourMs, monthStart, startOf, windowAt } from '../../day.ts';
import { isOutlastError } from '../../errors.ts';
import type { Day, Instant, ListedResource, PlatformPage } from '../../model.ts';
import { pageLimits } from '../../resources.ts';
import type { Platform } from '../../platform/platform.ts';
import { recordFacts } from '../../store/facts.ts';
import { endsOf, type List } from '../ask-list.ts';
import { listsOf } from '../enter-days.ts';
import { decidedAfterMs } from '../due-times.ts';
import { concernsAll, unforeseenText } from '../unforeseen-errors.ts';
import type { Worker } from '../worker.ts';

/** So often the facts of a list are probed. */
export const probeEveryMs = dayMs;

/** The facts of one list, probed once more, and said where they changed. Throws what the platform throws of that list. */
export async function refreshFacts(
  worker: Worker & { signal: AbortSignal },
  list: ListedResource,
): Promise<void> {
  const { db, projectId, scope, signal, log, platform } = worker;
  const { clock } = platform;
  const lists = listsOf(scope).filter(({ resource }) => resource === list);
  let probed: Record<string, string> = {};
  let isWhole = true;
  try {
    probed = await probe(platform, list, lists, signal);
  } catch (error) {
    if (signal.aborted || concernsAll(error)) throw error;
    // A poison among the newest records must not keep the days without it from being read.
    isWhole = false;
    const problem = unforeseenText(error, worker);
    log.warn({ projectId, problem }, 'The facts could not be probed');
  }
  const changed = await recordFacts(db, projectId, probed, clock.now());
  // What could not be probed is probed again in an hour, not at every run.
  const probedAs = clock.now() - (isWhole ? 0 : probeEveryMs - hourMs);
  await recordFacts(db, projectId, { [`${list}.probed`]: 'yes' }, probedAs);
  for (const { fact, from, to } of changed) {
    if (from === 'unknown') continue;
    log.warn({ projectId, fact, from, to }, 'The platform behaves differently than before');
  }
}

type Asking = List & { platform: Platform; limit: number; signal: AbortSignal };
type Range = { startDate: Day; endDate?: Day };

/** One page with its total. */
const list = (
  { platform, limit, signal, ...of }: Asking,
  range: Range,
  sortBy: 'DATE_ASC' | 'DATE_DESC',
): Promise<PlatformPage> =>
  platform.page({ ...of, ...range, limit, sortBy, countTotal: true }, signal);

/**
 * Facts of one resource by name, for example `orders.limit`: of the first of its lists, but for the older days, which one
 * owner may have and another not. Throws what the platform throws.
 */
async function probe(
  platform: Platform,
  resource: ListedResource,
  lists: readonly List[],
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const owners = lists.map(({ owner }) => owner);
  const [owner = ''] = owners;
  // A month that has just ended may still be shown: that says nothing about older days.
  const now = platform.clock.now();
  const oldest = windowAt(now - decidedAfterMs).from;
  const { limit, newest, range } = await findLimit(platform, resource, owner, now, signal);
  const asking: Asking = { platform, resource, owner, limit, signal };
  const known: Record<string, string> = {
    limit: String(limit),
    ...(await findOlderDays(asking, owners, oldest)),
  };
  if (newest.shown > 0) known['totals'] = totalsOf(newest);
  // Totals that count the list may end one of classes. Where its first page shows all of it, a page of one row tells.
  const isAllShown =
    resource === 'nft_classes' && newest.shown > 1 && newest.total === newest.shown;
  const counted = isAllShown ? await list({ ...asking, limit: 1 }, range, 'DATE_DESC') : newest;
  if (counted.total !== null && counted.total > counted.shown) known['total_scope'] = 'list';
  // What was learned once is unlearned: such a total would end a list at its first page.
  else if (isAllShown && counted.total === counted.shown) known['total_scope'] = 'page';
  return Object.fromEntries(
    Object.entries(known).map(([fact, value]) => [`${resource}.${fact}`, value]),
  );
}

/** A total smaller than what stands beside it counts nothing that could be proved by it. */
function totalsOf({ total, shown }: PlatformPage): string {
  if (total === null) return 'absent';
  return total < shown ? 'inconsistent' : 'present';
}

const zonesMs = 14 * hourMs;
/** Before any order or class. */
const longAgo = '2000-01-01';

/**
 * Whether days before the window are answered: by the oldest record shown when they are asked for, of any owner. An empty
 * answer may also come from a platform too young to have any.
 */
async function findOlderDays(
  asking: Asking,
  owners: readonly string[],
  from: Day,
): Promise<Record<string, string>> {
  const shown: Instant[] = [];
  try {
    for (const owner of owners) {
      const range = { startDate: longAgo, endDate: from };
      const page = await list({ ...asking, owner, limit: 1 }, range, 'DATE_ASC');
      const { first } = endsOf(page);
      // Some zone's months end before UTC's.
      if (first !== null && first < startOf(from) - zonesMs) shown.push(first);
    }
  } catch (error) {
    const isRefused = isOutlastError(error, 'platform_refused', 'platform_forbidden');
    // What one owner was shown stands, whoever is refused after it: of days that are answered none is lost early.
    if (isRefused && shown.length === 0) return { older_days: 'refused' };
    // Who keeps a table for each month may fail at those that are gone; the list itself has answered.
    if (isOutlastError(error, 'platform_unavailable')) return {};
    if (!isRefused) throw error;
  }
  if (shown.length === 0) return { older_days: 'not shown' };
  return { older_days: 'answered', oldest_day: dayOf(Math.min(...shown)) };
}

/** By all of the window; of a platform that refuses such a span with any limit, by this month. */
async function findLimit(
  platform: Platform,
  resource: ListedResource,
  owner: string,
  now: Instant,
  signal: AbortSignal,
): Promise<{ limit: number; newest: PlatformPage; range: Range }> {
  const today = dayOf(now);
  const month: Range = { startDate: monthStart(today), endDate: today };
  const limits = pageLimits[resource];
  const tries = [{ startDate: windowAt(now).from }, month].flatMap((range) =>
    limits.map((limit) => ({ range, limit })),
  );
  for (const { range, limit } of tries) {
    try {
      const asking = { platform, resource, owner, limit, signal };
      const newest = await list(asking, range, 'DATE_DESC');
      // A clamped limit shows in a short page of a longer list; a page without a row says nothing of it.
      const isShort = newest.total !== null && newest.shown < Math.min(limit, newest.total);
      return { limit: isShort && newest.shown > 0 ? newest.shown : limit, newest, range };
    } catch (error) {
      const isLast = range === month && limit === limits.at(-1);
      if (isLast || !isOutlastError(error, 'platform_refused')) throw error;
    }
  }
  throw new Error('unreachable: the last limit returns or throws');
}

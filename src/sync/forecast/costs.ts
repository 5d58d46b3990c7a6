// What a day will still cost in requests before its deadline: a pure function of its ledger row, its size, the facts,
// the settings and now. It follows policy.ts, which decides what is really done.
import { startOf } from '../../day.ts';
import { orderStatuses, type Day, type Instant, type ListedResource } from '../../model.ts';
import type { Facts } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';
import { compareMs, turnDays } from '../comparison-rota.ts';
import { limitOf, spanOf } from '../list-rules.ts';
import { closingOf, isOver, overAt, recountMs, type PolicySettings } from '../policy.ts';

/** Requests by what they are for. */
export type Requests = {
  /** First walks of days that were never read to their ends. */
  unread: number;
  /** Walks that are owed besides: read while the day lasted, failed, unproved. */
  again: number;
  /** Days of the month that have not come yet: read while they last, and once more when they are over. */
  toCome: number;
  /** The last walk before the deadline. */
  closing: number;
  /** Daily counts of what is proved; daily walks where totals are absent. */
  counts: number;
  /**
   * Walks in their place: daily of what fits in one page, with the totals of its statuses once a week or so; that often
   * of the others.
   */
  compares: number;
  /** Walks for `nft_count` and `owner` of classes. */
  refreshes: number;
  /** Pages with pending orders, read again daily and when those have settled. */
  settles: number;
};

/** What a forecast goes by. */
export type Terms = { facts: Facts; settings: PolicySettings; now: Instant };

/** A day of a list; without a slice while it is not in the ledger, because it has not come or no run has entered it. */
export type ListDay = { resource: ListedResource; owner: string; day: Day; slice: Slice | null };

/** A request for each status and one for the total. */
const requestsPerCount = 4;

export const noRequests = (): Requests => ({
  unread: 0,
  again: 0,
  toCome: 0,
  closing: 0,
  counts: 0,
  compares: 0,
  refreshes: 0,
  settles: 0,
});

export const sumOfRequests = (requests: Requests): number =>
  Object.values(requests).reduce((sum, one) => sum + one, 0);

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
export function requestsOf(one: ListDay, records: number, until: Instant, terms: Terms): Requests {
  const { resource, day, slice } = one;
  const { facts, settings, now } = terms;
  const span = spanOf(day, resource, facts);
  const walk = walkRequests(resource, records, facts);
  const needs = noRequests();
  const isAbsent = facts.get(`${resource}.totals`) === 'absent';
  // Without totals two walks are the proof (proof rule 2).
  const walksToProve = isAbsent ? 2 : 1;
  const isUnread = slice === null || slice.wholeWalk === 0;
  const owed = walksOwed(one, walksToProve, terms);

  const hasCome = now >= startOf(span.from);
  if (!hasCome) needs.toCome = walk * (1 + walksToProve);
  else {
    const begun = slice?.checkpoint?.page ?? 0;
    if (isUnread) needs.unread = Math.max(1, walk - begun);
    needs.again = Math.max(0, walk * owed - (isUnread ? 0 : begun));
  }

  const from = Math.max(now, overAt(span));
  const leftMs = Math.max(0, until - from);
  const closingAt = closingOf(day, settings);
  const refreshes =
    resource === 'nft_classes' ? Math.floor(leftMs / Math.max(1, settings.refreshMs)) : 0;
  needs.refreshes = refreshes * walk;
  // The last walk: one that is owed now, or a refresh, serves where it falls into the closing.
  const isClosed =
    (slice?.walkedAt ?? 0) >= closingAt ||
    ((isUnread || owed > 0) && from >= closingAt) ||
    (refreshes > 0 && settings.refreshMs <= until - closingAt);
  if (!isClosed && leftMs > 0) needs.closing = walk * walksToProve;
  const times = Math.floor(leftMs / recountMs);
  if (refreshes === 0 || settings.refreshMs > recountMs) {
    const each = isAbsent ? walk : resource === 'orders' && records > 0 ? requestsPerCount : 1;
    const compared = isAbsent ? 0 : timesCompared(one, records, times, terms);
    needs.counts = (times - compared) * each;
    needs.compares = compared * walk + statusesAsked(one, times, terms);
  }
  // Before a count the pages with pending orders are read: daily, as long as those stay pending.
  const looks = 1 + (records < limitOf(facts, resource) ? 0 : times);
  if (slice !== null) needs.settles = Math.min(slice.unresolved, walk) * looks;
  return needs;
}

/** How many of so many daily counts are walks instead (comparison-rota.ts). */
function timesCompared(
  { resource }: ListDay,
  records: number,
  times: number,
  { facts, settings }: Terms,
): number {
  if (records < limitOf(facts, resource)) return times;
  return Math.floor(times / turnDays(settings.compareEveryMs ?? compareMs));
}

/**
 * Requests for the totals of the statuses of a day that is read whole because its turn on the rota has come
 * (status-totals.ts).
 */
function statusesAsked({ resource }: ListDay, times: number, { settings }: Terms): number {
  if (resource !== 'orders') return 0;
  const turns = Math.floor(times / turnDays(settings.compareEveryMs ?? compareMs));
  return turns * orderStatuses.length;
}

/** How many whole walks a day needs whatever else happens, its first one not counted. */
function walksOwed(
  { resource, day, slice }: ListDay,
  walksToProve: number,
  { facts, now }: Terms,
): number {
  const span = spanOf(day, resource, facts);
  // What is read while the day lasts proves nothing of its end.
  if (!isOver(span, now)) return walksToProve;
  if (slice === null || slice.wholeWalk === 0) return walksToProve - 1;
  if (slice.walkedAt === null || !isOver(span, slice.walkedAt)) return walksToProve;
  return slice.checkpoint !== null || slice.attempts > 0 || slice.proof === 'none' ? 1 : 0;
}

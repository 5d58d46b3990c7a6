// What a day will still cost in requests: `judge` run forward over its evidence, as if every reading from now on showed
// what there is. There is no second policy. Pure.
import { addDays, cliffOf, startOf } from '../../day.ts';
import type { Day, DayBooks, Instant, ListedResource, Reading } from '../../model.ts';
import type { Evidence } from '../../store/evidence.ts';
import type { Facts } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';
import { judge, overAfterMs } from '../judge.ts';
import { limitOf } from '../list-rules.ts';
import type { PolicySettings } from '../policy.ts';

/** Requests by what they are for. */
export type Requests = {
  /** First readings of days that were never read to their ends. */
  unread: number;
  /** Readings that are owed besides: the second one, and what is not proved. */
  again: number;
  /** Days of the month that are not over yet: read twice when they are. */
  toCome: number;
  /** Daily readings of what is proved. */
  daily: number;
};

/** What a forecast goes by. `evidence`: of every day of a list that has some, by `evidenceKey`. */
export type Terms = {
  facts: Facts;
  settings: PolicySettings;
  now: Instant;
  evidence: ReadonlyMap<string, Evidence>;
};

/** A day of a list; without a slice while it is not in the ledger, because it has not come or no run has entered it. */
export type ListDay = { resource: ListedResource; owner: string; day: Day; slice: Slice | null };

export const evidenceKey = ({ resource, owner, day }: Omit<ListDay, 'slice'>): string =>
  `${resource} ${owner} ${day}`;

export const noRequests = (): Requests => ({ unread: 0, again: 0, toCome: 0, daily: 0 });

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

/** A walk of each status as well, where the newest books saw that the list leaves some out, or no books are known. */
const viewsOf = ({ resource }: ListDay, evidence: Evidence | undefined): number =>
  resource === 'orders' && evidence?.books?.asks === 'each status' ? 4 : 1;

/** What is still to be asked of a day until then, given how many records it has or is thought to have. */
export function requestsOf(one: ListDay, records: number, until: Instant, terms: Terms): Requests {
  const { facts, now } = terms;
  const evidence = terms.evidence.get(evidenceKey(one));
  const walk = walkRequests(one.resource, records, facts) * viewsOf(one, evidence);
  const overAt = startOf(addDays(one.day, 1)) + overAfterMs;
  const day = {
    overAt,
    goesAt: one.slice === null ? cliffOf(one.day) : Math.max(until, cliffOf(one.day)),
    newsNo: evidence?.newsNo ?? 0,
    pending: 0,
  };
  const needs = noRequests();
  const readings = [...(evidence?.readings ?? [])];
  let no = Math.max(day.newsNo, evidence?.books?.no ?? 0, readings.at(-1)?.no ?? 0);
  let books: DayBooks | null = evidence?.books ?? null;
  let at = now;
  let isProved = false;
  // Ends: each reading is due later than the one before.
  for (;;) {
    const clocks = { machine: at, now: at, earliest: at, latest: at };
    const { next, why } = judge(day, readings, books, clocks);
    isProved ||= why === null;
    at = Math.max(at, next.at);
    if (at >= until) return needs;
    const kind = isProved
      ? 'daily'
      : overAt > now
        ? 'toCome'
        : readings.length === 0
          ? 'unread'
          : 'again';
    needs[kind] += walk;
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

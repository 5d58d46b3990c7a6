// Which days are compared whole instead of counted: a pure rule of slice and time, lived through day by day.
import { describe, expect, test } from 'vitest';
import { addDays, daysIn, startOf } from '../../src/day.ts';
import type { Slice } from '../../src/store/ledger.ts';
import { comparePeriod } from '../../src/sync/forecast/read-forecast.ts';
import { compareMs, isComparedNow } from '../../src/sync/comparison-rota.ts';

const hour = 3_600_000;
const day = 24 * hour;

type Seen = Pick<Slice, 'day' | 'owner' | 'shownTotal' | 'walkedAt'>;
const seen = (on: string, given: Partial<Seen> = {}): Seen => ({
  day: on,
  owner: '',
  shownTotal: 5_000,
  walkedAt: startOf(addDays(on, 1)) + hour,
  ...given,
});

describe('a day that is due to be counted', () => {
  const now = Date.parse('2026-04-20T05:00:00Z');
  const lately = { walkedAt: now - day };
  test.each([
    ['fits in one page: compared', { shownTotal: 49, ...lately }, true],
    ['is empty: one request in any case', { shownTotal: 0, ...lately }, true],
    ['fills its page, so that counts are another witness', { shownTotal: 50, ...lately }, false],
    ['of unknown size', { shownTotal: null, ...lately }, false],
    ['was not read for a week', { walkedAt: now - 7 * day }, true],
    ['was never read', { walkedAt: null }, true],
  ])('%s', (_name, given, isCompared) => {
    expect(isComparedNow(seen('2026-04-03', given), now, { pageSize: 50 })).toBe(isCompared);
  });
});

/**
 * Counts sixty days daily, each at its own hour, for two months; returns the greatest gap, and how many walks each day
 * has.
 */
function live(compareEveryMs: number, isOn: (at: number) => boolean = () => true) {
  const days = daysIn({ from: '2026-02-01', to: '2026-04-01' });
  const slices = days.map((on, i) => {
    const first = Date.parse('2026-04-01T00:00:00Z') + (i % 24) * hour;
    return { ...seen(on, { walkedAt: first }), dueAt: first + day };
  });
  const walks = new Map<number, number>();
  let gap = 0;
  for (let at = Date.parse('2026-04-01T00:00:00Z'); at < Date.parse('2026-06-01'); at += hour) {
    for (const slice of isOn(at) ? slices.filter(({ dueAt }) => dueAt <= at) : []) {
      slice.dueAt = at + day;
      if (!isComparedNow(slice, at, { pageSize: 50, compareEveryMs })) continue;
      gap = Math.max(gap, at - (slice.walkedAt ?? 0));
      slice.walkedAt = at;
      const on = Math.floor(at / day);
      walks.set(on, (walks.get(on) ?? 0) + 1);
    }
  }
  const end = Date.parse('2026-06-01');
  for (const { walkedAt } of slices) gap = Math.max(gap, end - (walkedAt ?? 0));
  return { gap, perDay: [...walks.values()] };
}

describe('the rota', () => {
  test.each([7, 10, 30])('of %i days keeps to them, and spreads the walks evenly', (period) => {
    const { gap, perDay } = live(period * day);
    expect(gap).toBeLessThanOrEqual(period * day);
    expect(Math.max(...perDay)).toBeLessThanOrEqual(Math.ceil(59 / (period - 1)));
  });

  test('makes up for the days that the service was off', () => {
    const isOn = (at: number): boolean =>
      at < Date.parse('2026-04-10') || at >= Date.parse('2026-04-12');
    expect(live(7 * day, isOn).gap).toBeLessThanOrEqual(9 * day);
  });

  test('sabotaged: a period that nobody keeps is noticed', () => {
    expect(live(1000 * day).gap).toBeGreaterThan(30 * day);
  });
});

describe('how often: once a week, or what a tenth of the rate is enough for', () => {
  const slices = (records: number, resource: Slice['resource'] = 'orders'): Slice[] =>
    daysIn({ from: '2026-02-01', to: '2026-04-01' }).map((on) => ({
      ...(seen(on, { shownTotal: records }) as Slice),
      resource,
      wholeWalk: 1,
    }));
  const settings = { deadlineMarginMs: day, refreshMs: 6 * hour };
  const periodOf = (all: Slice[], perSecond: number): number =>
    comparePeriod(all, perSecond, { facts: new Map(), settings }) / day;

  test.each([
    ['days of one page take no turns', slices(49), 0.01, 7],
    ['a million orders a week fit in a tenth of five a second', slices(100_000), 5, 7],
    // 59 days of 2,000 pages are 118,000 requests; a tenth of one a second is 8,640 a day.
    ['a seventh part of it does not', slices(100_000), 1, 15],
    ['classes are refreshed four times a day', slices(100_000, 'nft_classes'), 0.01, 7],
  ])('%s', (_name, all, perSecond, expected) => {
    expect(periodOf(all, perSecond)).toBe(expected);
    expect(compareMs).toBe(7 * day);
  });
});

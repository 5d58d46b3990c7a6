// The policy lived through, hour by hour: months of every length, years' ends, leap days, weeks of silence, months that
// end in another zone. The rules of every step stand in support/calendar-checks.ts.
import { describe, expect, test } from 'vitest';
import { monthsOf, unaccounted, unclosed } from '../support/calendar-checks.ts';
import { live, type Life } from '../support/calendar.ts';

const at = (text: string): number => Date.parse(text);
const hour = 3_600_000;
const day = 24 * hour;

/** Lives through it and checks what must be true of every life that was never interrupted. */
function wholeLife(life: Life): ReturnType<typeof live> {
  const lived = live(life);
  expect(unaccounted(lived, life.to)).toEqual([]);
  expect(unclosed(lived)).toEqual([]);
  return lived;
}

describe('months of every length', () => {
  const lives = (resource: 'orders' | 'nft_classes', from: string, to: string) =>
    monthsOf(wholeLife({ resource, from: at(from), to: at(to), tickMs: 4 * hour }));

  test.each([
    ['31 and 28 days', '2025-01-01', '2025-04-02', '2025-01', 31, '2025-02', 28],
    ['31 and 29 days', '2024-01-01', '2024-04-02', '2024-01', 31, '2024-02', 29],
    ['29 and 31 days', '2028-02-01', '2028-05-02', '2028-02', 29, '2028-03', 31],
    ['30 and 31 days', '2026-06-01', '2026-09-02', '2026-06', 30, '2026-07', 31],
    ['31 and 31 days', '2026-07-01', '2026-10-02', '2026-07', 31, '2026-08', 31],
    ['a year’s end', '2026-11-01', '2027-02-02', '2026-11', 30, '2026-12', 31],
    [
      '28 days of no leap year that ends a century',
      '2100-02-01',
      '2100-05-02',
      '2100-02',
      28,
      '2100-03',
      31,
    ],
  ])('%s: all final, nothing lost', (_name, from, to, first, firstDays, second, secondDays) => {
    const months = lives('orders', from, to);
    expect(months[first]).toEqual({ final: firstDays });
    expect(months[second]).toEqual({ final: secondDays });
    expect(Object.values(months).some(({ lost = 0 }) => lost > 0)).toBe(false);
  });

  test('of classes, which are read four times a day, too', () => {
    expect(lives('nft_classes', '2025-01-01', '2025-04-02')).toMatchObject({
      '2025-01': { final: 31 },
      '2025-02': { final: 28 },
    });
  });
});

test('31 January lives 29 days: it is read, closed and final all the same', () => {
  const lived = wholeLife({ from: at('2025-01-31T22:00:00Z'), to: at('2025-03-02T00:00:00Z') });
  expect(lived.slices.get('2025-01-31')).toMatchObject({ state: 'final', proof: 'counts' });
});

test('first start in the last two hours of a month: what is read is final, at UTC and at UTC+8', () => {
  const life = { from: at('2026-03-31T22:00:00Z'), to: at('2026-04-03T00:00:00Z') };
  expect(monthsOf(live(life))).toMatchObject({
    '2026-02': { final: 28 },
    '2026-03': { sealed: 31 },
  });
  // There the month has been gone for six hours.
  const ahead = live({ ...life, monthsEndAheadMs: 8 * hour });
  expect(monthsOf(ahead)).toMatchObject({ '2026-02': { lost: 28 } });
});

describe('the cliff', () => {
  const through = {
    from: at('2026-03-01T00:00:00Z'),
    to: at('2026-04-02T00:00:00Z'),
    tickMs: hour / 6,
  };

  test.each([
    ['at UTC', 0],
    ['at UTC+8', 8 * hour],
    ['at UTC+14', 14 * hour],
    ['at UTC-8', -8 * hour],
    ['at UTC-12', -12 * hour],
  ])('%s: nothing is lost, unsealed or decided too early', (_name, monthsEndAheadMs) => {
    const lived = wholeLife({ ...through, monthsEndAheadMs });
    const of = lived.acts.filter(
      (act) => act.day.startsWith('2026-02') && act.at >= at('2026-03-31T10:00:00Z'),
    );
    expect(of.filter(({ state }) => state !== 'sealed' && state !== 'final')).toEqual([]);
    const decided = of.filter(({ action }) => action === 'lapse');
    // Whoever failed before looks again within the hour.
    expect(decided).toHaveLength(28);
    expect(decided.filter((act) => act.at > at('2026-04-01T13:00:00Z'))).toEqual([]);
    // P11: from when it has gone until it is decided, a day is asked for at most once an hour, once it has settled.
    expect(of.length).toBeLessThan(28 * (26 + 6 + 1));
  });
});

describe('a service that was off', () => {
  const life = { from: at('2026-01-10T00:00:00Z'), to: at('2026-05-20T00:00:00Z') };
  const offFrom = (text: string, forMs: number) => (now: number) =>
    now < at(text) || now >= at(text) + forMs;

  test('for five weeks: what passed is entered, what was overtaken is lost, the rest is made up for', () => {
    const lived = live({ ...life, isOn: offFrom('2026-02-15T06:00:00Z', 35 * day) });
    expect(unaccounted(lived, life.to)).toEqual([]);
    // Back on 22 March: January had gone by then, read to its end; of February nothing was lost.
    const months = monthsOf(lived);
    expect(months).toMatchObject({
      '2025-12': { final: 31 },
      '2026-01': { final: 31 },
      '2026-02': { final: 28 },
    });
  });

  test('over a cliff: the days of the month that were never read are lost, and no others', () => {
    const lived = live({ ...life, isOn: offFrom('2026-01-20T06:00:00Z', 50 * day) });
    expect(monthsOf(lived)).toMatchObject({
      '2025-12': { final: 31 },
      // 20 January was being read when it stopped; from then on nothing was.
      '2026-01': { final: 19, lost: 12 },
      '2026-02': { final: 28 },
    });
  });

  test('for half a year: what lies between is accounted for', () => {
    const lived = live({
      ...life,
      to: at('2026-09-01T00:00:00Z'),
      isOn: offFrom('2026-02-01T06:00:00Z', 180 * day),
    });
    expect(unaccounted(lived, at('2026-09-01T00:00:00Z'))).toEqual([]);
    expect(monthsOf(lived)).toMatchObject({ '2026-04': { lost: 30 }, '2026-05': { lost: 31 } });
  });
});

describe('where totals are absent, and where orders stay pending', () => {
  const life = { from: at('2026-03-01T00:00:00Z'), to: at('2026-05-02T00:00:00Z') };

  test('every past day is proved by two walks', () => {
    expect(monthsOf(wholeLife({ ...life, totals: false }))).toMatchObject({
      '2026-03': { final: 31 },
      '2026-04': { sealed: 30 },
    });
  });

  test('a day with an order that never settles is not sealed, and final at its cliff with that order named', () => {
    const lived = wholeLife({ ...life, pendingOn: (of) => (of === '2026-03-10' ? 1 : 0) });
    expect(lived.slices.get('2026-03-10')).toMatchObject({ state: 'final', unresolved: 1 });
    expect(
      lived.acts.filter(({ day: of, state }) => of === '2026-03-10' && state === 'sealed'),
    ).toEqual([]);
  });
});

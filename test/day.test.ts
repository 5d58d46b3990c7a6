import { expect, test } from 'vitest';
import {
  addDays,
  cliffOf,
  dayOf,
  daysIn,
  isDay,
  monthStart,
  rangesOf,
  windowAt,
} from '../src/day.ts';

test.each([
  ['2026-03-31T23:59:59Z', '2026-02-01', '2026-04-01'],
  ['2026-03-01T00:00:00Z', '2026-02-01', '2026-03-02'],
  ['2026-01-15T12:00:00Z', '2025-12-01', '2026-01-16'],
  ['2028-02-29T12:00:00Z', '2028-01-01', '2028-03-01'],
])('the window at %s runs from %s up to %s', (at, from, to) => {
  expect(windowAt(Date.parse(at))).toEqual({ from, to });
});

test.each([
  ['2026-01-31', '2026-03-01T00:00:00.000Z'], // lives 28 days: the shortest
  ['2026-07-01', '2026-09-01T00:00:00.000Z'], // lives 62 days: the longest
  ['2026-12-31', '2027-02-01T00:00:00.000Z'],
  ['2028-02-29', '2028-04-01T00:00:00.000Z'],
])('%s is gone at %s', (day, cliff) => {
  expect(new Date(cliffOf(day)).toISOString()).toBe(cliff);
});

test('days are half-open ranges and cross months, leap days and years', () => {
  expect(daysIn({ from: '2028-02-28', to: '2028-03-02' })).toEqual([
    '2028-02-28',
    '2028-02-29',
    '2028-03-01',
  ]);
  expect(daysIn({ from: '2026-03-01', to: '2026-03-01' })).toEqual([]);
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  expect(monthStart('2026-01-15', -1)).toBe('2025-12-01');
  expect(dayOf(Date.parse('2026-03-01T00:00:00Z') - 1)).toBe('2026-02-28');
});

test('days are named by the fewest ranges', () => {
  expect(rangesOf(['2026-03-02', '2026-02-28', '2026-03-01', '2026-03-04', '2026-03-04'])).toEqual([
    { from: '2026-02-28', to: '2026-03-03' },
    { from: '2026-03-04', to: '2026-03-05' },
  ]);
});

test('only real calendar days are days', () => {
  expect(['2026-03-31', '2028-02-29'].every(isDay)).toBe(true);
  expect(
    ['2026-02-29', '2026-13-01', '2026-1-1', 'today', '2026-03-31T00:00', ''].some(isDay),
  ).toBe(false);
});

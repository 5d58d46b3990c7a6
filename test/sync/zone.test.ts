// In which zone a platform cuts its days, by what it shows for one of them; and what is asked for then.
import { expect, test } from 'vitest';
import { boundsOf, spanOf } from '../../src/sync/list-rules.ts';
import { isOver } from '../../src/sync/policy.ts';
import { aheadMsOf, todayOf, zoneSeen } from '../../src/sync/day-zone.ts';

const hour = 3_600_000;
const at = (text: string): number => Date.parse(`2026-03-${text}Z`);

test.each([
  // The oldest and the newest record shown for the 10th.
  ['10T00:02', '10T23:57', null, 'utc'],
  ['10T09:00', '10T17:00', null, 'unknown'],
  ['10T09:00', '10T17:00', 8, 'unknown'],
  ['10T09:00', '10T15:00', 8, 'utc+8'],
  ['10T00:02', '10T23:57', 8, 'utc'],
  ['09T16:03', '10T15:50', null, 'utc+8'],
  ['09T16:50', '10T11:00', null, 'utc+8'],
  ['09T18:32', '10T18:28', null, 'utc+5:30'],
  ['10T08:04', '11T07:55', null, 'utc-8'],
  ['10T20:00', '11T02:00', null, 'utc-12'],
  ['10T20:00', '11T02:00', -8, 'utc-8'],
  // No day is so long.
  ['09T00:00', '11T23:00', null, 'unknown'],
] as const)('from %s to %s, thought %o: %s', (oldest, newest, before, zone) => {
  const ahead = before === null ? null : before * hour;
  expect(zoneSeen('2026-03-10', at(oldest), at(newest), ahead)).toBe(zone);
});

const facts = (zone: string, more: object = {}) =>
  new Map(Object.entries({ 'orders.day_zone': zone, 'orders.day_end': 'inclusive', ...more }));

test.each([
  ['utc', '2026-03-10', '2026-03-10', '2026-03-10'],
  ['utc+8', '2026-03-10', '2026-03-10', '2026-03-10'],
  // The hours of a month that lie on a day of its neighbour.
  ['utc+8', '2026-03-31', '2026-03-31', '2026-04-01'],
  ['utc+8', '2026-04-01', '2026-04-01', '2026-04-01'],
  ['utc-8', '2026-03-31', '2026-03-31', '2026-03-31'],
  ['utc-8', '2026-04-01', '2026-03-31', '2026-04-01'],
])('in %s the slice %s asks from %s to %s', (zone, day, startDate, endDate) => {
  const known = facts(zone);
  const span = spanOf(day, 'orders', known);
  expect(boundsOf(span, 'orders', known, '2026-02-01')).toEqual({ startDate, endDate });
});

test.each([
  ['utc', {}, '2026-02-01'],
  ['utc', { 'orders.month_end': 'before_utc' }, '2026-01-31'],
  ['utc-8', {}, '2026-01-31'],
  ['utc-8', { 'orders.older_days': 'refused' }, '2026-02-01'],
  ['unknown', { 'orders.older_days': 'not shown' }, '2026-01-31'],
  ['unknown', { 'orders.older_days': 'refused' }, '2026-02-01'],
])('in %s (%o) the window’s first day is asked for from %s on', (zone, more, startDate) => {
  const known = facts(zone, more);
  const span = spanOf('2026-02-01', 'orders', known);
  expect(boundsOf(span, 'orders', known, '2026-02-01').startDate).toBe(startDate);
});

test('a day begins and is over on the platform’s calendar', () => {
  expect(todayOf(facts('utc+8'), 'orders', at('10T16:30'))).toBe('2026-03-11');
  expect(todayOf(facts('utc-8'), 'orders', at('10T07:30'))).toBe('2026-03-09');
  const over = (zone: string, moment: string): boolean =>
    isOver(spanOf('2026-03-10', 'orders', facts(zone)), at(moment));
  expect([over('utc+8', '10T16:14'), over('utc+8', '10T16:15')]).toEqual([false, true]);
  expect([over('utc-8', '11T08:14'), over('utc-8', '11T08:15')]).toEqual([false, true]);
  expect(aheadMsOf(facts('utc-5:30'), 'orders')).toBe(-5.5 * hour);
  // Where dates are ignored they are of no zone.
  expect(aheadMsOf(facts('utc+8', { 'orders.date_filter': 'ignored' }), 'orders')).toBe(0);
});

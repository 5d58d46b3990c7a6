// The ticks of a schedule, whatever the wall clock does. Node heeds a TZ that is set while it runs.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { startTicks, type Ticks } from '../../src/sync/schedule.ts';

const hour = 3_600_000;
const { TZ } = process.env;
let ticks: Ticks;
let seen: string[] = [];

beforeEach(() => {
  process.env['TZ'] = 'Europe/Berlin';
  vi.useFakeTimers();
  seen = [];
});
afterEach(() => {
  ticks.close();
  vi.useRealTimers();
  if (TZ === undefined) delete process.env['TZ'];
  else process.env['TZ'] = TZ;
});

function start(at: string, expression: string): void {
  vi.setSystemTime(at);
  ticks = startTicks(expression, () => void seen.push(new Date().toISOString()), silentLog());
}

test('every minute through the hour that an autumn night has twice, and the one that a spring night leaves out', async () => {
  for (const night of ['2026-10-25T00:00:30Z', '2026-03-29T00:00:30Z']) {
    seen = [];
    start(night, '* * * * *');
    await vi.advanceTimersByTimeAsync(2 * hour);
    expect(seen).toHaveLength(120);
    ticks.close();
  }
});

test('a daily time comes on the day that does not have it too', async () => {
  for (const [from, at] of [
    ['2026-03-28T00:59:00Z', '2026-03-28T01:20:00.000Z'],
    ['2026-03-29T00:59:00Z', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29T23:59:00Z', '2026-03-30T00:20:00.000Z'],
  ] as const) {
    seen = [];
    start(from, '20 2 * * *');
    await vi.advanceTimersByTimeAsync(hour);
    expect(seen).toEqual([at]);
    ticks.close();
  }
});

test('a clock that is set back by hours, or by years, or that goes back again and again, holds up no tick', async () => {
  start('2026-06-10T10:00:30Z', '* * * * *');
  for (const back of [
    5 * hour,
    20 * 365 * 24 * hour,
    ...Array.from({ length: 10 }, () => 30_000),
  ]) {
    seen = [];
    vi.setSystemTime(Date.now() - back);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(seen).toHaveLength(2);
    expect(ticks.isOverdue()).toBe(false);
  }
});

test('a time that passed while the machine slept is made up once, the one that did not is waited for', async () => {
  start('2026-06-10T20:00:00Z', '20 3 * * *');
  vi.setSystemTime('2026-06-11T00:00:00Z');
  await vi.advanceTimersByTimeAsync(2000);
  expect(seen).toEqual([]);
  vi.setSystemTime('2026-06-11T09:00:00Z');
  await vi.advanceTimersByTimeAsync(2000);
  expect(seen).toHaveLength(1);
  // From 1970, before the time came from the network.
  vi.setSystemTime('2062-06-11T09:00:00Z');
  await vi.advanceTimersByTimeAsync(2000);
  expect(seen).toHaveLength(2);
});

test('overdue is what has missed three ticks by the steady clock, as where the other one stands', async () => {
  start('2026-06-12T16:30:00Z', '0 * * * *');
  await vi.advanceTimersByTimeAsync(0.6 * hour);
  expect(seen).toEqual(['2026-06-12T17:00:00.000Z']);
  const stands = Date.now();
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 60_000) {
      await vi.advanceTimersByTimeAsync(60_000);
      vi.setSystemTime(stands);
    }
  };
  await pass(2.8 * hour);
  expect(ticks.isOverdue()).toBe(false);
  await pass(0.2 * hour);
  expect(ticks.isOverdue()).toBe(true);
  vi.setSystemTime(stands + hour);
  await vi.advanceTimersByTimeAsync(1000);
  expect(ticks.isOverdue()).toBe(false);
});

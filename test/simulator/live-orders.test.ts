// Orders that come while somebody looks on: some at a time, settled after a while, and shown again by who starts anew.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { liveOrderPrefix, startLiveOrders } from '../../src/simulator/live-orders.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator-server.ts';

const minute = 60_000;
const shown = ({ oracle }: Simulator): string[] =>
  [...oracle.shown('orders')].map(({ text }) => text);
const statusesOf = (texts: string[]): number[] =>
  texts.map((text) => (JSON.parse(text) as { status: number }).status);

let platforms: Simulator[] = [];
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const world = { ordersPerDay: 0, classesPerDay: 0 };
  platforms = [await createSimulator({ world }), await createSimulator({ world })];
});
afterEach(async () => {
  vi.useRealTimers();
  for (const platform of platforms) await platform.close();
});

test('come one after the other, are pending at first, settle, and are shown as they were by the next start', () => {
  const [first, second] = platforms as [Simulator, Simulator];
  const live = startLiveOrders(first);
  vi.advanceTimersByTime(minute / 2);
  const texts = shown(first);
  expect(texts.length).toBeGreaterThan(0);
  expect(statusesOf(texts).every((status) => status === 1)).toBe(true);
  expect(texts[0]).toContain(`"operation_id":"${liveOrderPrefix}`);
  vi.advanceTimersByTime(2 * minute);
  const later = shown(first);
  expect(later.length).toBeGreaterThan(6);
  // Only the newest are pending still.
  expect(statusesOf(later.slice(0, texts.length))).not.toContain(1);
  expect(statusesOf(later)).toContain(1);
  live.close();
  vi.advanceTimersByTime(5 * minute);
  expect(shown(first)).toEqual(later);

  startLiveOrders(second, later).close();
  const again = shown(second);
  const pending = later.filter((_, i) => statusesOf(later)[i] === 1).length;
  expect(again.slice(0, -pending)).toEqual(later.slice(0, -pending));
  expect(statusesOf(again)).not.toContain(1);
});

// Orders that come while somebody looks on: some at a time, settled after a while, and shown again by who starts anew.
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { liveOrderPrefix, startLiveOrders } from '../../src/simulator/live-orders.ts';
import { createSimulator, type Simulator } from '../../src/simulator/server.ts';

const world = { ordersPerDay: 0, classesPerDay: 0 };
const shown = ({ oracle }: Simulator): string[] =>
  [...oracle.shown('orders')].map(({ text }) => text);
const statusesOf = (texts: string[]): number[] =>
  texts.map((text) => (JSON.parse(text) as { status: number }).status);

test('come one after the other, are pending at first, and are shown as they were by the next start', async () => {
  const first = await createSimulator({ world });
  const second = await createSimulator({ world });
  const live = startLiveOrders(first, { everyMs: 20, settleMs: 60_000 });
  await expect.poll(() => shown(first).length).toBeGreaterThan(2);
  live.close();
  const texts = shown(first);
  await wait(60);
  expect(shown(first)).toEqual(texts);
  expect(statusesOf(texts).every((status) => status === 1)).toBe(true);
  expect(texts[0]).toContain(`"operation_id":"${liveOrderPrefix}`);

  const [pending = '', ...settled] = texts;
  const settledTexts = settled.map((text) => text.replace('"status":1', '"status":2'));
  startLiveOrders(second, { shownBefore: [pending, ...settledTexts] }).close();
  const again = shown(second);
  expect(again.slice(1)).toEqual(settledTexts);
  expect(statusesOf(again.slice(0, 1))).not.toEqual([1]);
  await first.close();
  await second.close();
});

test('settle after a while', async () => {
  const simulator = await createSimulator({ world });
  const live = startLiveOrders(simulator, { everyMs: 30, settleMs: 20 });
  await expect.poll(() => statusesOf(shown(simulator)).some((status) => status !== 1)).toBe(true);
  live.close();
  await simulator.close();
});

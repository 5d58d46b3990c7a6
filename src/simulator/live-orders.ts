// Orders that come while somebody looks on, a few a minute: of a world small enough for a demo the next one may be
// minutes away. They are no part of the world, which is made of its seed alone: who starts the same platform anew hands
// over those it had shown.
import type { Instant } from '../model.ts';
import { objectIn } from './simulated-list.ts';
import type { Simulator } from './simulator-server.ts';
import { addressText, below, mix, textSeed, writeTime } from './world.ts';

/** How their ids begin. */
export const liveOrderPrefix = 'live-';

type LiveOrders = { close(): void };

/** An order comes after so long on average, from half of it to half as much again, and is pending for a while. */
const everyMs = 15_000;
const settleMs = 40_000;

/**
 * Of the simulator's first project. `shownBefore`: the JSON of live orders that an earlier start has shown; those still
 * pending settle at once.
 */
export function startLiveOrders(
  simulator: Simulator,
  shownBefore: readonly string[] = [],
): LiveOrders {
  const timers = new Set<NodeJS.Timeout>();
  const after = (ms: number, act: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, ms);
    timers.add(timer);
  };
  const textOf = (at: Instant): string => writeTime(Math.floor(at / 1000) * 1000, 'rfc3339');

  const settle = (id: string): void => {
    const hasFailed = below(textSeed(id), 12) === 0;
    const changed = {
      status: hasFailed ? 3 : 2,
      message: hasFailed ? 'insufficient balance of the payer account' : '',
      update_time: textOf(simulator.clock.now()),
    };
    simulator.mutate('orders', id, (record) => ({ ...record, ...changed }));
  };

  const come = (): void => {
    const now = simulator.clock.now();
    const chance = mix(Math.floor(now / 1000), 0x11fe);
    const amount = 100 * (1 + below(chance, 400));
    const id = `${liveOrderPrefix}${Math.floor(now).toString(36)}`;
    const record = {
      operation_id: id,
      status: 1,
      message: '',
      account: addressText(chance & 15),
      amount: String(amount),
      number: `${amount}0000`,
      create_time: textOf(now),
      update_time: textOf(now),
      order_type: 1,
    };
    simulator.insert('orders', { record });
    after(settleMs, () => settle(id));
    after(everyMs / 2 + below(mix(chance, 2), everyMs), come);
  };

  for (const text of shownBefore) {
    simulator.insert('orders', text);
    const { status, operation_id: id } = objectIn(text);
    if (status === 1) settle(String(id));
  }
  after(everyMs / 5, come);
  return {
    close: () => {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

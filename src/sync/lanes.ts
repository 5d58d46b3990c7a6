// Several lanes of work at a time that stop together: one failure ends them all, and one that idles is woken by the
// others. Knows nothing of what they work on.
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

type Lanes = {
  /** Aborted from outside, or by the first failure of any lane. */
  signal: AbortSignal;
  /** Waits until some lane has called `wake`, so many milliseconds have passed, or all is to stop. */
  idle(ms: number): Promise<void>;
  wake(): void;
  /**
   * Runs `lane`, which begins another of its kind, while there are fewer than so many, by calling `beginAnother`. Throws
   * the first failure; the others are its echo.
   */
  run(lane: (beginAnother: (atMost: number) => void) => Promise<void>): Promise<void>;
};

export function createLanes(outside: AbortSignal): Lanes {
  const stop = new AbortController();
  const signal = AbortSignal.any([outside, stop.signal]);
  // Every lane and every request listens.
  setMaxListeners(0, signal);
  const idling = new Set<AbortController>();
  return {
    signal,
    async idle(ms) {
      const wakes = new AbortController();
      idling.add(wakes);
      const either = AbortSignal.any([signal, wakes.signal]);
      await sleep(ms, undefined, { signal: either }).catch(() => undefined);
      idling.delete(wakes);
    },
    wake: () => idling.forEach((wakes) => wakes.abort()),
    async run(lane) {
      const faults: unknown[] = [];
      const running = new Set<Promise<void>>();
      const begin = (atMost: number): void => {
        if (running.size >= atMost) return;
        const one = Promise.resolve(begin)
          .then(lane)
          .catch((error: unknown) => {
            faults.push(error);
            stop.abort();
          })
          .finally(() => running.delete(one));
        running.add(one);
      };
      begin(1);
      while (running.size > 0) await Promise.race(running);
      if (faults.length > 0) throw faults[0];
    },
  };
}

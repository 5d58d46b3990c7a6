// The platform's own clock: it may start at another instant, run at another speed, or stand still.
import type { Instant } from '../model.ts';

export type SimulatorClock = {
  now(): Instant;
  /** Sets the clock; it goes on from there at its speed. */
  setNow(at: Instant): void;
  advance(byMs: number): void;
  /** 1 is real time, 0 stands still, 3600 is an hour a second. */
  setSpeed(speed: number): void;
};

/** `outside` is real time, milliseconds since 1970. Without `startAt` the clock starts at real time. */
export function createSimulatedClock(
  outside: () => number,
  startAt: Instant | undefined,
  speed: number,
): SimulatorClock {
  let since = outside();
  let base = startAt ?? since;
  let factor = speed;
  const now = (): Instant => Math.floor(base + (outside() - since) * factor);
  const setNow = (at: Instant): void => {
    base = at;
    since = outside();
  };
  return {
    now,
    setNow,
    advance: (byMs) => setNow(now() + byMs),
    setSpeed: (next) => {
      setNow(now());
      factor = next;
    },
  };
}

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clockErrorMs, createClock, type LearningClock } from '../src/platform/clock.ts';

const start = Date.parse('2026-03-01T00:00:00Z');

/** A platform whose clock runs as told, asked over a line of the given delays. */
function world(platformAt: (monotonic: number) => number, clock?: { lag?: number }) {
  let monotonic = 5000;
  const learning: LearningClock = createClock({
    monotonicNow: () => monotonic,
    wallNow: () => start - 3_600_000 + monotonic,
  });
  return {
    clock: learning,
    truth: () => platformAt(monotonic),
    ask: (waitMs: number, thereMs = 5, backMs = 5): void => {
      const sentAt = (monotonic += waitMs);
      monotonic += thereMs;
      const date = new Date(platformAt(monotonic) - (clock?.lag ?? 0)).toUTCString();
      monotonic += backMs;
      learning.observe(date, sentAt, monotonic);
    },
  };
}

describe("the platform's clock", () => {
  it("is this machine's until the first answer, and then the platform's", () => {
    const { clock, ask, truth } = world((ms) => start + ms);
    expect([clock.offsetMs(), clock.lastDate(), clock.now()]).toEqual([
      null,
      null,
      start - 3_595_000,
    ]);
    ask(123);
    expect(Math.abs(clock.now() - truth())).toBeLessThan(620);
    expect(Math.abs((clock.offsetMs() ?? 0) - 3_600_000)).toBeLessThan(620);
    expect(clock.lastDate()).toBe(start + 5000);
  });

  it('settles on the true time instead of swinging with each header', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(3000), fc.nat(300), fc.nat(300)), {
          minLength: 20,
          maxLength: 20,
        }),
        fc.nat(999),
        (steps, phase) => {
          const { clock, ask, truth } = world((ms) => start + phase + ms);
          let turns = 0;
          let direction = 0;
          let before: number | null = null;
          for (const step of steps) {
            ask(...step);
            const error = clock.now() - truth();
            expect(Math.abs(error)).toBeLessThan(1300);
            if (before !== null && Math.abs(error - before) > 2) {
              if (Math.sign(error - before) === -direction) turns++;
              direction = Math.sign(error - before);
            }
            before = error;
          }
          // Headers only ever narrow the bounds, so it closes in and hardly ever turns back.
          expect(turns).toBeLessThan(5);
        },
      ),
    );
  });

  it('stays put once headers agree with it', () => {
    const { clock, ask, truth } = world((ms) => start + ms);
    for (let i = 0; i < 40; i++) ask(377);
    const error = clock.now() - truth();
    expect(Math.abs(error)).toBeLessThan(150);
    for (let i = 0; i < 40; i++) ask(377);
    expect(Math.abs(clock.now() - truth() - error)).toBeLessThan(120);
  });

  it('follows a platform at a thousand times the speed', () => {
    const { clock, ask } = world((ms) => start + ms * 1000);
    for (let i = 0; i < 20; i++) {
      ask(50, 1, 1);
      expect(Math.abs(clock.now() - (clock.lastDate() ?? 0))).toBeLessThan(2000);
    }
  });

  it('follows a jump, forwards and back', () => {
    let moved = 0;
    const { clock, ask, truth } = world((ms) => start + moved + ms);
    for (moved of [0, 86_400_000, -86_400_000, 31 * 86_400_000]) {
      ask(100);
      expect(Math.abs(clock.now() - truth())).toBeLessThan(620);
    }
  });

  it('learns nothing from a header it cannot read', () => {
    const { clock } = world((ms) => start + ms);
    clock.observe('yesterday', 1, 2);
    clock.observe(undefined, 1, 2);
    expect([clock.offsetMs(), clock.lastDate()]).toEqual([null, null]);
  });
});

it('a clock is off only as far as the header and the journey cannot explain', () => {
  const date = new Date(start).toUTCString();
  expect(clockErrorMs(date, start, 10)).toBe(0);
  expect(clockErrorMs(date, start + 1000, 10)).toBe(0);
  expect(clockErrorMs(date, start - 9000, 9000)).toBe(0);
  expect(clockErrorMs(date, start - 9000, 1000)).toBe(8000);
  expect(clockErrorMs(date, start + 9000, 1000)).toBe(-8000);
  expect(clockErrorMs(undefined, 0, 1)).toBe(0);
});

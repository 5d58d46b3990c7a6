import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clockErrorMs, createClock, type LearningClock } from '../../src/platform/clock.ts';

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
  it("is this machine's until several answers agree, and then the platform's", () => {
    const { clock, ask, truth } = world((ms) => start + ms);
    expect([clock.offsetMs(), clock.lastDate(), clock.now(), clock.certain()]).toEqual([
      null,
      null,
      start - 3_595_000,
      start - 3_595_000,
    ]);
    ask(123);
    expect(clock.isSettled()).toBe(false);
    for (let i = 0; i < 4; i++) ask(1500);
    expect(Math.abs(clock.now() - truth())).toBeLessThan(620);
    expect(Math.abs((clock.offsetMs() ?? 0) - 3_600_000)).toBeLessThan(620);
    expect(clock.lastDate()).toBe(start + 11_000);
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
          for (let i = 0; i < 8; i++) ask(1000);
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

  it('follows a platform at a thousand times the speed, where the wall clock tells the same', () => {
    let monotonic = 0;
    const wallNow = (): number => start + monotonic * 1000;
    const clock = createClock({ monotonicNow: () => monotonic, wallNow });
    for (let i = 0; i < 20; i++) {
      monotonic += 50;
      clock.observe(new Date(wallNow()).toUTCString(), monotonic - 1, monotonic);
      expect(Math.abs(clock.now() - (clock.lastDate() ?? 0))).toBeLessThan(2000);
    }
  });

  it('learns nothing from a header it cannot read', () => {
    const { clock } = world((ms) => start + ms);
    clock.observe('yesterday', 1, 2);
    clock.observe(undefined, 1, 2);
    expect([clock.offsetMs(), clock.lastDate()]).toEqual([null, null]);
  });
});

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

/**
 * Answers that come every so often, from machines behind a balancer that each have an error of their own. Tells how the
 * beliefs went: `now` and `certain` minus the truth, greatest and least, after the first answers.
 */
function live(life: {
  forMs: number;
  everyMs: number;
  /** By how much an answer's `Date` is off. */
  errorOf: (i: number, at: number) => number;
  /** By how much the wall clock is off. */
  wallError?: (at: number) => number;
  /** By how much the platform itself has been set, all of it. */
  setBy?: (at: number) => number;
  clockOf?: typeof createClock;
}) {
  const { wallError = () => 0, setBy = () => 0, clockOf = createClock } = life;
  let at = 0;
  const clock = clockOf({
    monotonicNow: () => at,
    wallNow: () => start + at + wallError(at),
  });
  const seen = { now: [] as number[], certain: [] as number[], possible: [] as number[] };
  for (let i = 0; at < life.forMs; i++) {
    at += life.everyMs;
    const date = new Date(start + at + setBy(at) + life.errorOf(i, at));
    clock.observe(date.toUTCString(), at - 20, at);
    seen.now.push(clock.now() - start - at);
    seen.certain.push(clock.certain() - start - at);
    seen.possible.push(clock.possible() - start - at);
  }
  const about = (offs: number[]): [number, number] => [
    Math.round(Math.min(...offs) / minute) + 0,
    Math.round(Math.max(...offs) / minute) + 0,
  ];
  const second = seen.now.length / 2;
  return {
    clock,
    /** Least and greatest error in minutes, and of the second half alone. */
    now: about(seen.now),
    nowLater: about(seen.now.slice(second)),
    certain: about(seen.certain),
    certainLater: about(seen.certain.slice(second)),
    possible: about(seen.possible),
  };
}

describe('machines behind a balancer', () => {
  const rates = [
    ['at every tick', minute, 10 * hour],
    ['of a run of hours', 1000, 40 * minute],
  ] as const;

  describe.each(rates)('answers %s', (_, everyMs, forMs) => {
    it.each([
      ['two of a hundred 75 days ahead', (i: number) => (i % 50 === 7 ? 75 * day : 0)],
      ['one in twenty dated 2101', (i: number) => (i % 20 === 3 ? 75 * 365 * day : 0)],
      ['one in twenty a day behind', (i: number) => (i % 20 === 3 ? -day : 0)],
      [
        'one in twenty an hour ahead, in a row',
        (_: number, at: number) => ((at + hour / 6) % (20 * minute) <= minute ? hour : 0),
      ],
      ['half of them a day ahead', (i: number) => (i % 2 === 1 ? day : 0)],
    ])('%s move nothing', (_name, errorOf) => {
      const lived = live({ forMs, everyMs, errorOf });
      expect([lived.now, lived.certain[1]]).toEqual([[0, 0], 0]);
    });

    it('half of them a day behind make the verdicts wait for the earlier half', () => {
      const lived = live({ forMs, everyMs, errorOf: (i) => (i % 2 === 1 ? -day : 0) });
      expect([lived.now, lived.certainLater]).toEqual([
        [0, 0],
        [-day / minute, -day / minute],
      ]);
      expect(lived.clock.disagreement()).toMatchObject({ of: 'answers' });
    });

    it('a first answer that is wrong is not believed', () => {
      const lived = live({ forMs, everyMs, errorOf: (i) => (i === 0 ? 75 * day : 0) });
      expect([lived.now, lived.certain[1]]).toEqual([[0, 0], 0]);
    });

    it.each([75 * day, -3 * hour])('a platform that was set by %d ms is followed', (byMs) => {
      const setBy = (at: number): number => (at > forMs / 5 ? byMs : 0);
      const lived = live({ forMs, everyMs, errorOf: () => 0, setBy });
      expect(lived.nowLater).toEqual([Math.round(byMs / minute), Math.round(byMs / minute)]);
      // This machine's clock does not say so.
      expect(lived.certain[1]).toBe(0);
      expect(lived.clock.disagreement()).toEqual({ of: 'machine', byMs: expect.any(Number) });
    });

    it.each([-366 * day, 366 * day])(
      'a machine off by %d ms asks for the right days, and its verdicts wait',
      (error) => {
        const lived = live({ forMs, everyMs, errorOf: () => 0, wallError: () => error });
        expect(lived.nowLater).toEqual([0, 0]);
        expect(lived.certain[1]).toBeLessThanOrEqual(error < 0 ? error / minute : 0);
        expect(lived.clock.disagreement()?.of).toBe('machine');
      },
    );

    it('a machine set right agrees at once', () => {
      const wallError = (at: number): number => (at < forMs / 2 - everyMs ? -366 * day : 0);
      const lived = live({ forMs, everyMs, errorOf: () => 0, wallError });
      expect([lived.nowLater, lived.certainLater]).toEqual([
        [0, 0],
        [0, 0],
      ]);
      expect(lived.clock.disagreement()).toBeNull();
    });
  });

  it('a machine that slept follows with the first answer, and is stale before', () => {
    let [monotonic, wall] = [0, start];
    const clock = createClock({ monotonicNow: () => monotonic, wallNow: () => wall });
    const ask = (): void => clock.observe(new Date(wall).toUTCString(), monotonic, monotonic);
    for (let i = 0; i < 30; i++) {
      monotonic += minute;
      wall += minute;
      ask();
    }
    wall += day;
    expect([clock.isStale(), wall - clock.certain() > day / 2]).toEqual([true, true]);
    ask();
    expect([clock.isStale(), Math.abs(clock.now() - wall) < 2000]).toEqual([false, true]);
  });

  it('an earlier belief counts where the first answer confirms it, and not against it', () => {
    const of = (date: number): LearningClock => {
      const clock = createClock({ monotonicNow: () => 0, wallNow: () => start });
      clock.recall(start + 366 * day);
      clock.observe(new Date(date).toUTCString(), 0, 0);
      return clock;
    };
    expect(of(start + 366 * day).isSettled()).toBe(true);
    expect(of(start + 30 * day).isSettled()).toBe(false);
    expect(Math.abs(of(start).now() - start)).toBeLessThan(1000);
  });

  it.each([
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 2289 08:49:37 GMT',
    'Sun, 28 Jun 2126 08:49:37 GMT',
  ])('a Date out of all reason is dropped: %s', (date) => {
    const wall = Date.parse('2026-06-28');
    const clock = createClock({ monotonicNow: () => 0, wallNow: () => wall });
    clock.observe(date, 0, 0);
    expect([clock.lastDate(), clock.certain()]).toEqual([null, wall]);
  });

  it.each(['1970-01-01', '2051-01-01'])('a machine that says %s believes the platform', (said) => {
    let at = 0;
    const clock = createClock({ monotonicNow: () => at, wallNow: () => Date.parse(said) + at });
    const truth = Date.parse('2026-06-28');
    for (; at < 60_000; at += 2000) clock.observe(new Date(truth + at).toUTCString(), at, at);
    expect(Math.abs(clock.now() - truth - at)).toBeLessThan(2000);
  });

  it('sabotaged: a clock that follows every header is caught by these lives', () => {
    const clockOf: typeof createClock = (time) => {
      const clock = createClock(time);
      let offset = 0;
      const at = (): number => time.monotonicNow() + offset;
      return {
        ...clock,
        now: at,
        certain: at,
        observe: (date, _, receivedAt) => void (offset = Date.parse(date ?? '') - receivedAt),
      };
    };
    const errorOf = (i: number): number => (i % 50 === 7 ? 75 * day : 0);
    const lived = live({ forMs: hour, everyMs: minute, errorOf, clockOf });
    expect([lived.now[1], lived.certain[1]]).toEqual([108_000, 108_000]);
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

describe('what a witness is worth', () => {
  /** A clock that hears every ten seconds of a platform so far ahead of this machine. */
  function heard(wallAt: (monotonic: number) => number) {
    let monotonic = 0;
    const clock = createClock({
      monotonicNow: () => monotonic,
      wallNow: () => wallAt(monotonic),
    });
    const hear = (aheadMs: number, afterMs = 10_000): void => {
      monotonic += afterMs;
      const date = new Date(start + monotonic + aheadMs).toUTCString();
      clock.observe(date, monotonic - 10, monotonic);
    };
    return { clock, hear, truth: () => start + monotonic };
  }
  const dayMs = 86_400_000;

  it('a burst of answers weighs no more than a single one', () => {
    const { clock, hear, truth } = heard((ms) => start + ms);
    for (let i = 0; i < 8; i++) hear(0);
    hear(dayMs);
    for (let i = 0; i < 3; i++) hear(dayMs, 1);
    expect(Math.abs(clock.possible() - truth())).toBeLessThan(2000);
  });

  it('four answers move nothing that is believed, those of two minutes do', () => {
    const { clock, hear, truth } = heard((ms) => start + ms);
    hear(0);
    for (let i = 0; i < 4; i++) hear(dayMs);
    expect(Math.abs(clock.now() - truth())).toBeLessThan(2000);
    for (let i = 0; i < 10; i++) hear(dayMs);
    expect(Math.abs(clock.now() - (truth() + dayMs))).toBeLessThan(2000);
  });

  it('what was heard before this machine slept is void', () => {
    let sleptMs = 0;
    const { clock, hear, truth } = heard((ms) => start + ms + sleptMs);
    for (let i = 0; i < 8; i++) hear(0);
    sleptMs = 3_600_000;
    hear(sleptMs);
    expect(Math.abs(clock.certain() - (truth() + sleptMs))).toBeLessThan(2000);
  });

  it.each([-30, 200])(
    'a date of %i years from now is not heard, though this machine lost its clock',
    (years) => {
      const { clock, hear } = heard((ms) => ms);
      hear(years * 366 * dayMs);
      expect(clock.lastDate()).toBeNull();
      hear(0);
      expect(clock.lastDate()).not.toBeNull();
    },
  );
});

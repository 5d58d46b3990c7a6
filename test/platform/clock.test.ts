import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clockErrorMs, createClock } from '../../src/platform/clock.ts';

const start = Date.parse('2026-03-01T00:00:00Z');
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

/** A platform that is right unless told otherwise, and a machine whose wall clock is off by `wallMs`. */
function world(wallMs = 0) {
  let passed = 5000;
  let off = wallMs;
  let slept = 0;
  const clock = createClock({
    monotonicNow: () => passed - slept,
    wallNow: () => start + passed + off,
  });
  return {
    clock,
    /** What a clock shows minus the truth. */
    error: (at: number) => at - (start + passed),
    pass: (ms: number) => void (passed += ms),
    sleep: (ms: number) => {
      passed += ms;
      slept += ms;
    },
    set: (ms: number) => void (off = ms),
    /** An answer of a machine that is ahead by so much. */
    hear: (aheadMs = 0, afterMs = 1000, thereMs = 5, backMs = 5): void => {
      passed += afterMs;
      const sentAt = passed - slept;
      passed += thereMs;
      const date = new Date(start + passed + aheadMs).toUTCString();
      passed += backMs;
      clock.observe(date, sentAt, passed - slept);
    },
  };
}

/** Off by what a header of whole seconds hides, and its way. */
const near = (error: number, of = 0): void => expect(Math.abs(error - of)).toBeLessThan(1100);

describe('before an answer', () => {
  it("now is this machine's, and nothing is certainly past", () => {
    const { clock, error } = world(-hour);
    expect([error(clock.now()), error(clock.latest()), clock.earliest()]).toEqual([
      -hour,
      -hour,
      -Infinity,
    ]);
    expect([clock.offsetMs(), clock.lastDate(), clock.disagreement()]).toEqual([null, null, null]);
  });

  it('a header that cannot be read is none', () => {
    const { clock } = world();
    clock.observe('yesterday', 1, 2);
    clock.observe(undefined, 1, 2);
    expect([clock.offsetMs(), clock.lastDate(), clock.earliest()]).toEqual([null, null, -Infinity]);
  });
});

describe('now', () => {
  it.each([-366 * day, -hour, 0, 366 * day])(
    'is right where this machine is off by %i ms',
    (off) => {
      const { clock, hear, error } = world(off);
      hear();
      near(error(clock.now()));
      near(clock.offsetMs() ?? NaN, -off);
      expect(Math.abs((clock.lastDate() ?? 0) + error(0))).toBeLessThan(1100);
    },
  );

  it('is the median of nine answers: four wrong ones move nothing, wherever they stand', () => {
    const wrong = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8], { minLength: 4, maxLength: 4 });
    const times = fc.array(fc.tuple(fc.nat(3000), fc.nat(300), fc.nat(300)), {
      minLength: 9,
      maxLength: 9,
    });
    fc.assert(
      fc.property(wrong, times, fc.integer({ min: -400, max: 400 }), (ofWrong, waits, days) => {
        const { clock, hear, error } = world(-hour);
        waits.forEach((wait, i) => hear(ofWrong.includes(i) ? days * day : 0, ...wait));
        near(error(clock.now()));
      }),
    );
  });

  it('follows a platform that was set with the fifth answer', () => {
    const { clock, hear, error } = world();
    for (let i = 0; i < 9; i++) hear();
    for (let i = 0; i < 4; i++) hear(hour);
    near(error(clock.now()));
    hear(hour);
    near(error(clock.now()), hour);
  });

  it('goes on while nobody answers', () => {
    const { clock, hear, pass, error } = world(-day);
    hear();
    pass(5 * day);
    near(error(clock.now()));
  });

  it.each(['set', 'sleep'] as const)(
    'forgets what was heard before the wall clock jumped: %s',
    (how) => {
      const { clock, hear, error, set, sleep } = world(-366 * day);
      for (let i = 0; i < 9; i++) hear();
      if (how === 'set') set(0);
      else sleep(day);
      // This machine's clock, until the platform is heard again.
      expect([error(clock.now()), clock.offsetMs()]).toEqual([
        how === 'set' ? 0 : -366 * day,
        null,
      ]);
      expect(clock.earliest()).toBe(-Infinity);
      hear();
      near(error(clock.now()));
    },
  );
});

describe('the most cautious clocks', () => {
  it.each([
    ['all agree', 0, 0, [0, 0]],
    ['this machine is a year behind', -366 * day, 0, [-366 * day, 0]],
    ['this machine is a year ahead', 366 * day, 0, [0, 366 * day]],
    ['the platform was set back by hours', 0, -5 * hour, [-5 * hour, 0]],
    ['the platform was set ahead by hours', 0, 5 * hour, [0, 5 * hour]],
  ])('%s', (_, wall, platform, [earliest = 0, latest = 0]) => {
    const { clock, hear, error } = world(wall);
    for (let i = 0; i < 9; i++) hear(platform);
    near(error(clock.earliest()), earliest);
    near(error(clock.latest()), latest);
    // What is observed meanwhile was not observed in a time to come.
    expect(error(clock.askedAt(0))).toBeLessThan(1000);
  });

  it('one answer of nine is enough', () => {
    const { clock, hear, error } = world();
    for (const ahead of [0, -day, 0, day, 0]) hear(ahead);
    near(error(clock.earliest()), -day);
    near(error(clock.latest()), day);
    for (let i = 0; i < 9; i++) hear();
    near(error(clock.earliest()));
    near(error(clock.latest()));
  });

  it('without an answer of the last ten minutes nothing is certainly past', () => {
    const { clock, hear, pass, error } = world();
    hear(hour);
    pass(10 * minute - 5);
    near(error(clock.earliest()));
    near(error(clock.latest()), hour);
    pass(10);
    expect(clock.earliest()).toBe(-Infinity);
    expect(error(clock.latest())).toBe(0);
  });

  it('a wall clock that was set by less misleads by no more than that', () => {
    const { clock, hear, set, error } = world();
    hear();
    set(9 * minute);
    near(error(clock.earliest()), 9 * minute);
    hear();
    near(error(clock.earliest()));
  });
});

describe('a disagreement', () => {
  it('is told with how long it lasts, of more than five minutes, and ends', () => {
    const { clock, hear, set } = world(-4 * minute);
    hear();
    expect(clock.disagreement()).toBeNull();
    set(-2 * hour);
    for (let i = 0; i < 9; i++) hear(0, 10 * minute);
    const told = clock.disagreement();
    expect([told?.of, told?.forMs]).toEqual(['machine', expect.closeTo(80 * minute, -3)]);
    near(told?.byMs ?? NaN, 2 * hour);
    set(0);
    expect(clock.disagreement()).toBeNull();
    hear();
    expect(clock.disagreement()).toBeNull();
  });

  it('may be one of the answers', () => {
    const { clock, hear } = world();
    for (const ahead of [0, -hour, 0]) hear(ahead);
    expect(clock.disagreement()).toMatchObject({ of: 'answers' });
    near(clock.disagreement()?.byMs ?? NaN, hour);
  });
});

it('a clock is off only as far as the header and the journey cannot explain', () => {
  const date = new Date(start).toUTCString();
  expect(clockErrorMs(date, start, 10)).toBe(0);
  expect(clockErrorMs(date, start + 1000, 10)).toBe(0);
  expect(clockErrorMs(date, start - 9000, 9000)).toBe(0);
  expect(clockErrorMs(date, start - 9000, 1000)).toBe(8000);
  expect(clockErrorMs(date, start + 9000, 1000)).toBe(8000);
  expect(clockErrorMs(undefined, 0, 1)).toBe(0);
});

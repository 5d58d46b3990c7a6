// Each line of the rule of proof by itself: what it says of a day just before its condition holds, and just after. The
// model (test/model) plays whole histories.
import { describe, expect, test } from 'vitest';
import type { Clocks, DayBooks, Instant, Reading } from '../../src/model.ts';
import { overAfterMs } from '../../src/sync/due-times.ts';
import { judge, type JudgedDay } from '../../src/sync/judge.ts';

const minute = 60_000;
const hour = 60 * minute;
const dayMs = 24 * hour;
const midnight = Date.parse('2026-03-02T00:00:00Z');
const goesAt = Date.parse('2026-05-01T00:00:00Z');
const day: JudgedDay = {
  overAt: midnight + overAfterMs,
  goesAt,
  newsNo: 1,
  pending: 0,
  isHolding: true,
};

const at = (now: Instant): Clocks => ({ machine: now, now, earliest: now, latest: now });

/** One minute long. */
function reading(
  no: number,
  end: Reading['end'],
  began: Instant,
  more: Partial<Reading> = {},
): Reading {
  const counts = { shown: 3, lacks: 0, claims: 0, pending: 0 };
  return { no, end, began: at(began), ended: at(began + minute), ...counts, ...more };
}
const balanced = (no: number, more: Partial<DayBooks> = {}): DayBooks => ({
  no,
  isMore: false,
  isEqual: true,
  isDay: false,
  ...more,
});

const first = midnight + hour;
const second = first + minute + 2 * hour;
const pair = [reading(1, 'asc', first), reading(2, 'desc', second)];
const afterPair = second + 2 * minute;
const judged = (
  readings: readonly Reading[],
  {
    books = balanced(3),
    now = afterPair,
    of = day,
  }: { books?: DayBooks | null; now?: Instant; of?: JudgedDay } = {},
) => judge(of, readings, books, at(now));

test('two readings from either end two hours apart and the books after them seal a day', () => {
  expect(judged(pair)).toMatchObject({ state: 'sealed', proof: 'books', why: null });
  const capped = balanced(3, { isEqual: false });
  expect(judged(pair, { books: capped })).toMatchObject({ state: 'sealed', proof: 'readings' });
});

describe('a day is not sealed', () => {
  const once = { state: 'walked', proof: 'none', why: 'read once' };
  test.each<[string, Reading[]]>([
    ['by readings from one end', [reading(1, 'asc', first), reading(2, 'asc', second)]],
    [
      'by readings a moment less than two hours apart',
      [reading(1, 'asc', first), reading(2, 'desc', second - 1)],
    ],
    [
      'by readings that show nothing within a day',
      [reading(1, 'asc', first, { shown: 0 }), reading(2, 'desc', second, { shown: 0 })],
    ],
    [
      'where the older one lacks something',
      [reading(1, 'asc', first, { lacks: 1 }), reading(2, 'desc', second)],
    ],
  ])('%s', (_, readings) => expect(judged(readings)).toMatchObject(once));

  test('by a reading that began before it was over', () => {
    const early = reading(1, 'asc', day.overAt - 1);
    const late = day.overAt + 3 * hour;
    expect(judged([early, reading(2, 'desc', late)], { now: late + 2 * minute })).toMatchObject(
      once,
    );
  });

  test.each<[string, Partial<Reading>, JudgedDay, string]>([
    ['lacks something', { lacks: 1 }, day, 'showed less'],
    ['is older than the newest record', {}, { ...day, newsNo: 3 }, 'showed less'],
    ['claims more', { claims: 1 }, day, 'counts more'],
  ])('where the newest reading %s', (_, flaw, of, why) => {
    const newest = reading(2, 'desc', second, flaw);
    expect(judged([reading(1, 'asc', first), newest], { of })).toMatchObject({
      state: 'walked',
      proof: 'none',
      why,
    });
  });

  test.each<[string, DayBooks | null]>([
    ['before there are books', null],
    ['by books that are older than both readings', balanced(0)],
    ['by books that count more', balanced(3, { isMore: true, isEqual: false })],
  ])('%s', (_, books) => {
    expect(judged(pair, { books })).toMatchObject({ state: 'walked', why: 'books do not balance' });
  });

  test('while orders are pending, though all of it is held', () => {
    const verdict = judged(pair, { of: { ...day, pending: 1 } });
    expect(verdict).toMatchObject({ state: 'walked', proof: 'books', why: 'pending' });
  });
});

describe('a reading soon after the pair', () => {
  const soon = (no: number, end: Reading['end'], more: Partial<Reading> = {}): Reading =>
    reading(no, end, afterPair + 10 * no * minute, more);
  const now = afterPair + hour;

  test('that only confirms takes no proof away', () => {
    const readings = [...pair, soon(3, 'asc')];
    const provedAt = second + minute;
    expect(judged(readings, { now })).toMatchObject({ state: 'sealed', proof: 'books', provedAt });
    expect(judged(readings, { now, of: { ...day, pending: 1 } })).toMatchObject({
      proof: 'books',
      why: 'pending',
    });
  });

  test('that showed less takes it away until another one from the other end has come', () => {
    const readings = [...pair, soon(3, 'asc', { lacks: 1 }), soon(4, 'asc')];
    expect(judged(readings, { now })).toMatchObject({ why: 'read once', provedAt: null });
    expect(judged([...readings, soon(5, 'desc')], { now })).toMatchObject({ state: 'sealed' });
  });
});

test.each(['machine', 'now'] as const)(
  'readings are two hours apart by each clock: %s',
  (clock) => {
    const younger = pair[1] as Reading;
    const began = { ...younger.began, [clock]: younger.began[clock] - 1 };
    expect(judged([pair[0] as Reading, { ...younger, began }])).toMatchObject({ why: 'read once' });
  },
);

test('a reading that ended before it began, by a clock that was set back, ended when it began', () => {
  const older = { ...(pair[0] as Reading), ended: at(first - 3 * hour) };
  const younger = reading(2, 'desc', first + 15 * minute);
  expect(judged([older, younger])).toMatchObject({ why: 'read once' });
});

test('a reading of a time to come does not exist', () => {
  const toCome = reading(3, 'asc', afterPair + 6 * minute, { lacks: 1 });
  expect(judged([...pair, toCome])).toMatchObject({ state: 'sealed' });
});

test('books made between the two readings prove as well', () => {
  expect(
    judged([pair[0], { ...pair[1], no: 3 }] as Reading[], { books: balanced(2) }),
  ).toMatchObject({ why: null });
});

test('a day is over a quarter of an hour after its end, and read from then on', () => {
  expect(judge(day, [], null, at(day.overAt - 1))).toMatchObject({
    why: 'not over',
    next: { at: day.overAt },
  });
  expect(judge(day, [], null, at(day.overAt))).toMatchObject({
    why: 'not read',
    next: { at: day.overAt },
  });
  expect(day.overAt - midnight).toBe(15 * minute);
});

describe('before the window', () => {
  const older = { ...day, goesAt: Infinity };
  const nextDay = first + minute + dayMs;

  test('two readings a day apart prove a day for good', () => {
    expect(judged(pair, { of: older })).toMatchObject({ state: 'walked', why: 'read once' });
    const apart = [pair[0], reading(2, 'desc', nextDay)] as Reading[];
    expect(judged(apart, { of: older, now: nextDay + hour })).toMatchObject({
      state: 'final',
      proof: 'books',
      next: { at: Infinity },
    });
  });

  test('that a day shows nothing proves nothing', () => {
    const empty = [
      reading(1, 'asc', first, { shown: 0 }),
      reading(2, 'desc', nextDay, { shown: 0 }),
    ];
    expect(judged(empty, { of: older, now: nextDay + hour })).toMatchObject({
      state: 'final',
      proof: 'none',
      why: 'shows nothing',
      next: { at: Infinity },
    });
  });
});

describe('while the month goes', () => {
  const frozenAt = goesAt - 14 * hour;
  const last = reading(1, 'asc', frozenAt + hour);

  test('readings only add', () => {
    const of = [reading(1, 'asc', frozenAt - 3 * hour), reading(2, 'desc', frozenAt)];
    expect(judged(of, { now: frozenAt + hour })).toMatchObject({ why: 'read once' });
    expect(judged([last], { now: frozenAt + 2 * hour })).toMatchObject({
      state: 'walked',
      why: 'month is going',
    });
  });

  test('by the latest clock that was heard', () => {
    const older = reading(1, 'asc', frozenAt - 5 * hour);
    const began = at(frozenAt - 2 * hour);
    const ended = { ...began, latest: frozenAt };
    const younger = { ...reading(2, 'desc', began.now), ended };
    expect(judged([older, younger], { now: began.now })).toMatchObject({ why: 'read once' });
    const clocks = { ...at(frozenAt - hour), latest: frozenAt };
    const { next } = judge(day, [older], null, clocks);
    expect(next.at).toBe(older.ended.now + 4 * hour);
  });

  test('a day of which nothing was seen is looked at sooner, for it can still be lost', () => {
    const empty = { ...last, shown: 0 };
    const { next } = judge({ ...day, isHolding: false }, [empty], null, at(empty.ended.now));
    expect(next.at).toBe(empty.ended.now + 30 * minute);
  });

  test('a day is final, if it was ever read whole, or lost twelve hours after by the most cautious clock', () => {
    const decidedAt = goesAt + 12 * hour;
    const clocks = (earliest: Instant): Clocks => ({ ...at(decidedAt + hour), earliest });
    expect(judge(day, [last], null, clocks(decidedAt - 1)).state).toBe('walked');
    expect(judge(day, [last], null, clocks(decidedAt))).toMatchObject({
      state: 'final',
      next: { at: Infinity },
    });
    const states = [[], [{ ...last, shown: 0 }]].map(
      (of) => judge(day, of, null, clocks(decidedAt)).state,
    );
    expect(states).toEqual(['lost', 'lost']);
    // What it showed turned out to be the next day's.
    const empty = { ...day, isHolding: false };
    expect(judge(empty, [last], null, clocks(decidedAt)).state).toBe('lost');
  });
});

describe('the next reading', () => {
  test('begins at the other end and comes half a minute after it can confirm', () => {
    expect(judged(pair.slice(0, 1), { now: first + hour }).next).toEqual({
      end: 'desc',
      at: second + 30_000,
    });
    const empty = [reading(1, 'asc', first, { shown: 0 })];
    // Where it showed nothing it is looked at again as soon, though that can confirm it a day later only.
    expect(judged(empty, { now: first + hour }).next.at).toBe(second + 30_000);
    const again = reading(2, 'desc', second, { shown: 0 });
    expect(judged([...empty, again]).next.at).toBe(again.ended.now + dayMs + 30_000);
  });

  test('is due at once where books count more of the day by itself, and a day later where it is proved', () => {
    const more = { isMore: true, isEqual: false };
    expect(judged(pair, { books: balanced(3, { ...more, isDay: true }) }).next.at).toBe(afterPair);
    expect(judged(pair, { books: balanced(3, more) }).next.at).toBeGreaterThan(afterPair);
    expect(judged(pair).next.at).toBe(second + minute + dayMs);
  });

  test('comes a quarter of an hour later, and doubling, while orders are pending', () => {
    const of = { ...day, pending: 1 };
    const pending = pair.map((one) => ({ ...one, pending: 1 }));
    const third = reading(3, 'asc', second + hour, { pending: 1 });
    expect(judged(pending, { of }).next.at).toBe(second + minute + 30 * minute);
    const now = third.ended.now;
    expect(judged([...pending, third], { of, now }).next.at).toBe(now + hour);
  });

  test('comes soon after news, however long it has been proved', () => {
    const of = { ...day, newsNo: 9 };
    const readings = [...pair, ...pair.map((one) => ({ ...one, no: one.no + 3 }))];
    expect(judged(readings, { of }).next.at).toBeLessThan(second + hour);
  });

  test('comes soon again where a day that was proved for long shows less', () => {
    const proved = Array.from({ length: 6 }, (_, k) =>
      reading(k + 1, k % 2 === 0 ? 'asc' : 'desc', first + k * dayMs),
    );
    const less = reading(7, 'asc', first + 6 * dayMs, { lacks: 1 });
    const now = less.ended.now;
    expect(judged([...proved, less], { now }).next.at).toBe(now + 15 * minute);
  });

  test('waits twice as long each time, a day at most, while the day is not proved', () => {
    const lacking = Array.from({ length: 10 }, (_, k) =>
      reading(k + 2, k % 2 === 0 ? 'asc' : 'desc', first + k * dayMs, { lacks: 1 }),
    );
    const waits = [1, 2, 3, 10].map((n) => {
      const ended = first + (n - 1) * dayMs + minute;
      return judged(lacking.slice(0, n), { now: ended }).next.at - ended;
    });
    expect(waits).toEqual([15 * minute, 30 * minute, hour, dayMs]);
  });
});

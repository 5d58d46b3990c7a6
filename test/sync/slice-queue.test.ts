// Whose turn it is within a run, with a clock that a test moves: today's again each minute, and every run ends. And what
// an error that nobody foresaw ends, and how often in a row it may come.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SliceKey } from '../../src/model.ts';
import { createLanes } from '../../src/sync/lanes.ts';
import { createSliceQueue, type SliceQueue } from '../../src/sync/slice-queue.ts';
import { concernsAll, createRepetition, unforeseenText } from '../../src/sync/unforeseen-errors.ts';

const minute = 60_000;
const slice = (day: string): SliceKey => ({ projectId: 'p', resource: 'orders', owner: '', day });
const today = slice('2026-04-06');
const past = slice('2026-03-01');
const earlier = slice('2026-03-02');

function withClock(): { queue: SliceQueue; pass: (ms: number) => void } {
  let now = Date.parse('2026-04-06T12:00:00Z');
  return { queue: createSliceQueue(() => now), pass: (ms) => void (now += ms) };
}

const mayClaim = (queue: SliceQueue, wanted: SliceKey): boolean => !queue.except().includes(wanted);

describe('today’s slice', () => {
  test('has its turn again a minute after it began, while another slice is worked on', () => {
    const { queue, pass } = withClock();
    queue.begin(past, false);
    queue.begin(today, true);
    expect(mayClaim(queue, today)).toBe(false);
    pass(1_000);
    expect(queue.end(today)).toBe(true);
    pass(58_000);
    expect([mayClaim(queue, today), queue.isReady()]).toEqual([false, false]);
    pass(1_000);
    expect([mayClaim(queue, today), queue.isReady()]).toEqual([true, true]);
    queue.begin(today, true);
    expect(queue.end(today)).toBe(false);
    expect(queue.handled()).toEqual([past, today]);
  });

  test('rests four times as long as it took, so that a slow rate leaves room for the others; 15 minutes at most', () => {
    const { queue, pass } = withClock();
    queue.begin(past, false);
    queue.begin(today, true);
    pass(2 * minute);
    queue.end(today);
    pass(8 * minute - 1);
    expect(mayClaim(queue, today)).toBe(false);
    pass(1);
    expect(mayClaim(queue, today)).toBe(true);
    queue.begin(today, true);
    pass(60 * minute);
    queue.end(today);
    pass(15 * minute);
    expect(mayClaim(queue, today)).toBe(true);
  });

  test('with one lane: once for every slice claimed since, and no more', () => {
    const { queue, pass } = withClock();
    const act = (one: SliceKey): void => {
      queue.begin(one, one === today);
      pass(2 * minute);
      queue.end(one);
      pass(10 * minute);
    };
    act(today);
    expect(mayClaim(queue, today)).toBe(false);
    act(past);
    expect(mayClaim(queue, today)).toBe(true);
    act(today);
    expect(mayClaim(queue, today)).toBe(false);
    act(earlier);
    expect(mayClaim(queue, today)).toBe(true);
  });

  test('keeps an idle lane waiting only while another slice is worked on', () => {
    const { queue } = withClock();
    queue.begin(today, true);
    expect(queue.isWorthWaiting()).toBe(false);
    queue.begin(past, false);
    expect(queue.isWorthWaiting()).toBe(true);
    queue.end(past);
    expect(queue.isWorthWaiting()).toBe(false);
  });
});

/** Works through slices by the rules as lanes would, each act taking what `took` says; returns how many acts it was. */
function workedThrough(slices: SliceKey[], lanes: number, took: number[]): number {
  const { queue, pass } = withClock();
  const underWay: SliceKey[] = [];
  let acts = 0;
  for (;;) {
    const left = slices.filter((one) => mayClaim(queue, one));
    // Today's first, as the ledger's order is.
    const next = left.find((one) => one.day === today.day) ?? left[0];
    if (next !== undefined && underWay.length < lanes) {
      queue.begin(next, next.day === today.day);
      underWay.push(next);
      acts += 1;
      if (acts > 10_000) throw new Error('it does not end');
      continue;
    }
    if (underWay.length === 0) return acts;
    pass(took[acts % took.length] ?? 0);
    queue.end(underWay.shift() as SliceKey);
  }
}

test('P9: every run ends, whatever its acts take and however many lists today has', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.integer({ min: -5 * minute, max: 60 * minute }), { minLength: 1 }),
      (days, owners, lanes, took) => {
        const slices = [
          ...Array.from({ length: owners }, (_, i) => ({ ...today, owner: `o${i}` })),
          ...Array.from({ length: days }, (_, i) =>
            slice(`2026-03-${String(i + 1).padStart(2, '0')}`),
          ),
        ];
        const acts = workedThrough(slices, lanes, took);
        // All others have one turn each.
        expect(acts).toBeGreaterThanOrEqual(slices.length);
        // Each of today's lists at most twice for every other slice: as it is claimed, and while it is worked on.
        expect(acts).toBeLessThanOrEqual(slices.length + owners * (2 * days + 1));
      },
    ),
  );
});

describe('lanes', () => {
  test('the first failure stops all of them and is the one that is thrown', async () => {
    const lanes = createLanes(new AbortController().signal);
    let number = 0;
    const running = lanes.run(async (beginAnother) => {
      const own = (number += 1);
      beginAnother(3);
      if (own === 2) throw new Error('the cause');
      await lanes.idle(60_000);
      throw new Error('an echo');
    });
    await expect(running).rejects.toThrow('the cause');
    expect(lanes.signal.aborted).toBe(true);
    expect(number).toBe(3);
  });

  test('one that idles is woken by another, or by the end', async () => {
    const outside = new AbortController();
    const lanes = createLanes(outside.signal);
    const woken = lanes.idle(60_000);
    lanes.wake();
    await woken;
    const ended = lanes.idle(60_000);
    outside.abort();
    await ended;
  });

  test('any number of requests may listen for the end: Node warns of none', async () => {
    const { signal } = createLanes(new AbortController().signal);
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    for (let n = 0; n < 64; n++) signal.addEventListener('abort', () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });
});

describe('of an error that nobody foresaw', () => {
  test('P10: what it quotes is not kept', () => {
    const source = { baseUrl: '', apiKey: 'the-key' };
    const textOf = (error: unknown): string => unforeseenText(error, { source });
    let said = '';
    try {
      JSON.parse('{"account":"iaa1secret"');
    } catch (error) {
      said = textOf(error);
    }
    expect(said).not.toContain('secret');
    expect(textOf(new Error('a', { cause: new RangeError('the-key "x') }))).toBe(
      'something unforeseen: Error: a: [hidden] "…"',
    );
    expect(textOf('x'.repeat(1000)).length).toBeLessThanOrEqual(300);
  });

  test('what Postgres says of data, of limits or by a trigger concerns one slice; all else concerns all', () => {
    const concerns = (code: string): boolean => concernsAll(Object.assign(new Error(), { code }));
    const ofOne = ['21000', '22P02', '23505', '44000', '54000', 'P0001'];
    expect(ofOne.filter(concerns)).toEqual([]);
    expect(['53100', '08006', '57P01', 'ENOSPC'].filter((code) => !concerns(code))).toEqual([]);
  });

  test('the same text so often in a row is a repetition', () => {
    const repetition = createRepetition();
    const after = (text: string | null, times: number): boolean => {
      for (let i = 0; i < times; i++) repetition.note(text);
      return repetition.isTooOften();
    };
    expect(after('a', 9)).toBe(false);
    for (const other of ['b', null]) {
      expect([after(other, 1), after('a', 9)]).toEqual([false, false]);
    }
    expect(after('a', 1)).toBe(true);
    expect(after(null, 10)).toBe(false);
  });
});

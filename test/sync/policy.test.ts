// The policy and the steps of a walk are pure: tables with fixed clocks, no database, no network.
import { describe, expect, test } from 'vitest';
import type { PlatformPage } from '../../src/model.ts';
import type { Slice } from '../../src/store/ledger.ts';
import { boundsOf, farOutside, spanOf } from '../../src/sync/list-rules.ts';
import {
  absenceProves,
  actionFor,
  afterAct,
  afterFailure,
  deadlineOf,
  lapsedState,
  retryDelayMs,
  type ReadingOutcome,
} from '../../src/sync/policy.ts';
import { judge } from '../../src/sync/slice/proof.ts';
import {
  emptyMemory,
  firstPosition,
  remember,
  step,
  type Memory,
  type PagePosition,
} from '../../src/sync/slice/walk-steps.ts';
import { unreadSlice } from '../support/ledger.ts';

const at = (text: string): number => Date.parse(text);
const span = { from: '2026-03-10', to: '2026-03-11' };
const settings = { deadlineMarginMs: 24 * 3_600_000, refreshMs: 6 * 3_600_000 };

const slice = (given: Partial<Slice> = {}): Slice =>
  unreadSlice({ day: '2026-03-10', walk: 1, wholeWalk: 1, ...given });

describe('what is done with a slice', () => {
  const proved = {
    state: 'sealed' as const,
    proof: 'walk' as const,
    provedAt: at('2026-03-13T12:00:00Z'),
    walkedAt: at('2026-03-11T01:00:00Z'),
    platformTotal: 7,
  };
  const readTooEarly = { ...proved, walkedAt: at('2026-03-11T00:10:00Z') };
  const closed = { ...proved, walkedAt: at('2026-04-27T01:00:00Z') };

  test.each([
    ['a day never walked is walked', '2026-03-10T10:00:00Z', { wholeWalk: 0 }, 'walk'],
    ['today is read on from its last page', '2026-03-10T10:00:00Z', {}, 'tail'],
    ['a day is over 15 minutes after its end', '2026-03-11T00:14:59Z', {}, 'tail'],
    ['a day that is over is walked', '2026-03-11T00:15:00Z', {}, 'walk'],
    ['a proved day is counted', '2026-03-14T00:00:00Z', proved, 'count'],
    ['not so before it was read after its end', '2026-03-14T00:00:00Z', readTooEarly, 'walk'],
    [
      'nor where a wrong clock read it in a time to come',
      '2026-03-14T00:00:00Z',
      { ...proved, walkedAt: at('2026-04-03T00:00:00Z') },
      'walk',
    ],
    [
      'pending orders are looked for in the list of pending ones',
      '2026-03-14T00:00:00Z',
      { ...proved, unresolved: 1 },
      'settle',
    ],
    [
      'a day with pending orders is counted daily all the same',
      '2026-03-14T12:00:00Z',
      { ...proved, unresolved: 1 },
      'count',
    ],
    [
      'without totals a second walk is the proof, an hour later',
      '2026-03-11T02:00:00Z',
      { ...proved, proof: 'none' as const, platformTotal: null, unresolved: 1 },
      'walk',
    ],
    [
      'and before that pending orders are looked for',
      '2026-03-11T01:59:59Z',
      { ...proved, proof: 'none' as const, platformTotal: null, unresolved: 1 },
      'settle',
    ],
    [
      'what two walks proved is walked again, for there is nothing to count by',
      '2026-03-14T00:00:00Z',
      { ...proved, proof: 'walks' as const, platformTotal: null },
      'walk',
    ],
    ['nor without proof', '2026-03-14T00:00:00Z', { ...proved, proof: 'none' as const }, 'walk'],
    ['in the closing of its month it is walked once more', '2026-04-27T00:00:00Z', proved, 'walk'],
    ['and counted from then on', '2026-04-28T00:00:00Z', closed, 'count'],
    [
      'classes are walked again',
      '2026-03-14T00:00:00Z',
      { ...proved, resource: 'nft_classes' as const },
      'walk',
    ],
    ['after a failure a tail becomes a walk', '2026-03-10T10:00:00Z', { attempts: 1 }, 'walk'],
    ['the month has gone: decided 12 h after the cliff', '2026-05-01T12:00:00Z', {}, 'lapse'],
    ['what is final stays final', '2026-03-11T10:00:00Z', { state: 'final' as const }, 'none'],
  ])('%s', (_name, now, given, action) => {
    expect(actionFor(slice(given), span, at(now), at(now), settings)).toBe(action);
  });

  test('P7: a month has gone when every witness says so, never by our best estimate', () => {
    const now = at('2026-05-02T00:00:00Z');
    expect(actionFor(slice(), span, now, at('2026-04-30T23:59:59Z'), settings)).toBe('walk');
    expect(actionFor(slice(), span, now, 0, settings)).toBe('walk');
  });

  test('P7: at the cliff what was walked whole is final, and what was not is lost', () => {
    expect(lapsedState('open')).toBe('lost');
    expect(lapsedState('walked')).toBe('final');
    expect(lapsedState('sealed')).toBe('final');
  });
});

describe('when a slice is due again', () => {
  const whole = (given: Partial<ReadingOutcome> = {}): ReadingOutcome => ({
    proof: 'walk',
    unresolved: 0,
    missing: 0,
    walkedAt: at('2026-03-12T10:00:00Z'),
    certainAt: at('2026-03-12T10:00:00Z'),
    ...given,
  });
  const now = at('2026-03-12T10:00:00Z');
  const day = 24 * 3_600_000;

  test('today: at every tick', () => {
    const today = at('2026-03-10T10:00:00Z');
    expect(afterAct(slice(), span, whole({ walkedAt: today }), today, settings)).toMatchObject({
      state: 'open',
      dueAt: today + 1,
    });
  });

  test('P6: a proved day that is not certainly over waits for its seal until it is', () => {
    const certainAt = at('2026-03-11T00:14:59Z');
    expect(afterAct(slice(), span, whole({ certainAt }), now, settings)).toEqual({
      state: 'walked',
      attempts: 0,
      dueAt: now + 1000,
    });
    // A clock that is off for long is waited for by the daily count.
    const longAgo = at('2025-03-12T10:00:00Z');
    expect(afterAct(slice(), span, whole({ certainAt: longAgo }), now, settings)).toMatchObject({
      state: 'walked',
      dueAt: now + day,
    });
  });

  test('P6: a past day that is proved, with nothing pending and nothing vanished, is sealed and counted daily', () => {
    expect(afterAct(slice(), span, whole(), now, settings)).toEqual({
      state: 'sealed',
      attempts: 0,
      dueAt: now + day,
    });
  });

  test.each([
    ['without proof', { proof: 'none' as const }],
    ['with an order pending', { unresolved: 1 }],
    ['with a record that vanished', { missing: 1 }],
  ])('P6: %s it is walked, not sealed', (_name, given) => {
    expect(afterAct(slice(), span, whole(given), now, settings).state).toBe('walked');
  });

  test('pending orders: soon', () => {
    const next = (askedAt: number) =>
      afterAct(slice(), span, whole({ unresolved: 3, walkedAt: askedAt }), askedAt, settings).dueAt;
    expect(next(now)).toBe(now + 15 * 60_000);
    // At the same moments for every day: one list serves them all.
    expect(next(now + 1)).toBe(now + 15 * 60_000);
    // More often as the deadline nears.
    const closing = at('2026-04-28T10:00:00Z');
    expect(next(closing)).toBe(closing + 5 * 60_000);
  });

  test('classes: their counts and owners change without a trace, so they are walked again', () => {
    const classes = slice({ resource: 'nft_classes' });
    expect(afterAct(classes, span, whole(), now, settings).dueAt).toBe(now + settings.refreshMs);
  });

  test('without proof: a day later, and an hour later where only a second walk can prove it', () => {
    const unproved = whole({ proof: 'none' });
    expect(afterAct(slice(), span, unproved, now, settings).dueAt).toBe(now + day);
    const noTotals = { ...unproved, withoutTotals: true };
    expect(afterAct(slice(), span, noTotals, now, settings).dueAt).toBe(now + day / 24);
    // What vanished is looked for a day later in any case.
    const vanished = { ...noTotals, missing: 1 };
    expect(afterAct(slice(), span, vanished, now, settings).dueAt).toBe(now + day);
  });

  test('in any case when the closing of its month begins, three days before the deadline', () => {
    const late = Date.parse('2026-04-26T12:00:00Z');
    const next = afterAct(slice(), span, whole({ walkedAt: late }), late, settings);
    expect(new Date(next.dueAt ?? 0).toISOString()).toBe('2026-04-27T00:00:00.000Z');
  });

  test('in the closing period: counted daily, and final when its month has gone', () => {
    const late = at('2026-04-30T20:00:00Z');
    const next = afterAct(slice(), span, whole({ walkedAt: late }), late, settings);
    expect(new Date(next.dueAt ?? 0).toISOString()).toBe('2026-05-01T12:00:00.000Z');
  });

  test('a failure waits longer each time, an hour at most', () => {
    expect(afterFailure(slice({ attempts: 2 }), now)).toEqual({
      attempts: 3,
      dueAt: now + 4 * 60_000,
    });
    expect([1, 2, 3, 7, 50].map((attempts) => retryDelayMs(attempts))).toEqual([
      60e3, 120e3, 240e3, 3600e3, 3600e3,
    ]);
  });
});

test('a deadline is the cliff minus the margin', () => {
  expect(
    new Date(deadlineOf('2026-01-31', at('2026-01-31T12:00:00Z'), settings)).toISOString(),
  ).toBe('2026-02-28T00:00:00.000Z');
});

test('around the cliff absence proves nothing: from 14 hours before the month ends in UTC', () => {
  expect(absenceProves('2026-03-10', at('2026-04-30T09:59:59Z'))).toBe(true);
  expect(absenceProves('2026-03-10', at('2026-04-30T10:00:00Z'))).toBe(false);
});

describe('proof rule 4: what is asked for shows the whole day under every reading still possible', () => {
  const lastOfMonth = { from: '2026-02-28', to: '2026-03-01' };
  const bounds = (given: Record<string, string>, days = lastOfMonth) =>
    boundsOf(days, 'orders', new Map(Object.entries(given)), '2026-02-01');

  test('the day alone where the end is inclusive, with the next one otherwise', () => {
    expect(bounds({ 'orders.day_end': 'inclusive' })).toEqual({
      startDate: '2026-02-28',
      endDate: '2026-02-28',
    });
    for (const dayEnd of ['exclusive', 'instant', 'unknown', 'nonsense']) {
      expect(bounds({ 'orders.day_end': dayEnd })).toEqual({
        startDate: '2026-02-28',
        endDate: '2026-03-01',
      });
    }
  });

  test('months that end before UTC’s: the hours before the window are asked for with its first day', () => {
    const facts = { 'orders.month_end': 'before_utc', 'orders.day_end': 'inclusive' };
    const first = { from: '2026-02-01', to: '2026-02-02' };
    expect(bounds(facts, first)).toEqual({ startDate: '2026-01-31', endDate: '2026-02-01' });
    expect(bounds(facts)).toEqual({ startDate: '2026-02-28', endDate: '2026-02-28' });
  });

  test('a platform that ignores dates is walked a month at a time', () => {
    const ignored = new Map([['orders.date_filter', 'ignored']]);
    expect(spanOf('2026-02-01', 'orders', ignored)).toEqual({
      from: '2026-02-01',
      to: '2026-03-01',
    });
    expect(spanOf('2026-02-14', 'orders', new Map())).toEqual({
      from: '2026-02-14',
      to: '2026-02-15',
    });
  });
});

test('a record more than 14 h outside the asked days disproves the date filter', () => {
  const [from, to] = [at('2026-03-10T00:00:00Z'), at('2026-03-11T00:00:00Z')];
  expect(farOutside(at('2026-03-11T13:59:59Z'), from, to)).toBe(false);
  expect(farOutside(at('2026-03-11T14:00:00Z'), from, to)).toBe(true);
  expect(farOutside(at('2026-03-09T09:59:59Z'), from, to)).toBe(true);
});

describe('proof rule 1: totals before and after against what this walk was shown', () => {
  test.each([
    ['all three agree', 5, 5, 5, false, true, 'walk'],
    ['an empty day', 0, 0, 0, false, true, 'walk'],
    ['a record is hidden', 5, 5, 4, false, false, 'none'],
    ['one more arrived on a past day', 5, 6, 5, false, false, 'none'],
    ['today grew while it was read', 5, 7, 6, true, true, 'none'],
    ['today lost something', 5, 4, 4, true, false, 'none'],
    ['today shows more than is counted', 5, 6, 7, true, false, 'none'],
    ['totals are not given', null, null, 5, false, true, 'none'],
    ['only one total is given', 5, null, 5, false, false, 'none'],
  ])('%s', (_name, totalBefore, totalAfter, distinct, growing, agrees, proof) => {
    expect(judge({ totalBefore, totalAfter, distinct }, growing)).toMatchObject({ agrees, proof });
  });

  test('a disagreement is reported with its numbers', () => {
    expect(judge({ totalBefore: 5, totalAfter: 6, distinct: 4 }, false).disagreement).toBe(
      'the platform counts 5 before and 6 after, and showed 4',
    );
  });
});

describe('P9: every walk ends, and says why', () => {
  const query = { startDate: '2026-03-10', endDate: '2026-03-10', limit: 50 };

  function page(ids: string[], given: Partial<PlatformPage> = {}): PlatformPage {
    return {
      resource: 'orders',
      records: ids.map((id) => ({
        id,
        columns: {},
        rawJson: '{}',
        rawBytes: null,
        rawSha256: '',
        unread: [],
      })),
      rejects: [],
      shown: ids.length,
      total: null,
      first: ids[0] ?? null,
      last: ids.at(-1) ?? null,
      nextKey: null,
      nextKeyForm: null,
      askedAt: 0,
      bytes: 0,
      ...given,
    };
  }

  function memory(given: Partial<Memory> = {}): Memory {
    return { ...emptyMemory(query), ...given };
  }

  const ended = (why: string, end = 'whole'): unknown => ({ kind: 'end', why, end });
  const second: PagePosition = { ...firstPosition, number: 1, pageKey: 'k1' };

  test.each([
    ['no next key', page(['a']), firstPosition, {}, ended('no next key')],
    ['its own key again', page(['b'], { nextKey: 'k1' }), second, {}, ended('repeated key')],
    [
      'a key of long ago',
      page(['b'], { nextKey: 'k0' }),
      second,
      { usedKeys: new Set(['k0']) },
      ended('repeated key'),
    ],
    ['an empty page', page([]), second, {}, ended('empty page')],
    [
      'the same page under ever new keys',
      page(['a'], { nextKey: 'k2' }),
      second,
      { firstPageIds: new Set(['a']) },
      ended('no progress'),
    ],
    [
      'the page ceiling',
      page(['z'], { nextKey: 'k999' }),
      { ...second, number: 100_000 },
      { rows: 50 },
      ended('page ceiling', 'given up'),
    ],
  ])('orders: %s', (_name, shown, position, given, expected) => {
    expect(step('orders', shown, position, memory(given))).toEqual(expected);
  });

  test.each([
    ['an empty page', page([])],
    ['the first page again', page(['a'], { nextKey: 'k2' })],
  ])(
    'while the total says more, a key that leads nowhere leaves it to the other end: %s',
    (_name, shown) => {
      const missing = memory({ totalBefore: 100, rows: 50, firstPageIds: new Set(['a']) });
      expect(step('orders', shown, second, missing)).toMatchObject({ kind: 'end', end: 'unsure' });
    },
  );

  const classes = (ids: string[], total: number | null): PlatformPage =>
    page(ids, { resource: 'nft_classes', total });

  test('classes go on by rows received, with one row of overlap, and a short page is not the end', () => {
    const first = step('nft_classes', classes(['a', 'b', 'c'], 10), firstPosition, memory());
    expect(first).toEqual({
      kind: 'next',
      position: { number: 1, pageKey: null, offset: 2, overlap: 'c' },
    });
  });

  test('classes: when the first row is not the last one seen, the list has moved', () => {
    const position = { number: 1, pageKey: null, offset: 2, overlap: 'c' };
    expect(step('nft_classes', classes(['d', 'e'], 10), position, memory()).kind).toBe('restart');
    expect(step('nft_classes', classes([], 10), position, memory()).kind).toBe('restart');
  });

  test('classes end at the total, or behind the last row where there is no total', () => {
    const position = { number: 1, pageKey: null, offset: 2, overlap: 'c' };
    const known = memory({ countsBeyond: true, pageSize: 3 });
    expect(step('nft_classes', classes(['c', 'd'], 4), position, known)).toEqual(
      ended('total reached'),
    );
    expect(step('nft_classes', classes(['c'], null), position, memory())).toEqual(
      ended('nothing behind the last row'),
    );
  });

  test.each([
    ['totals may count the page alone', classes(['c', 'd'], 4), { pageSize: 3 }],
    ['the page was full', classes(['c', 'd', 'e'], 5), { countsBeyond: true, pageSize: 3 }],
    ['more was shown than it', classes(['c', 'd'], 3), { countsBeyond: true, pageSize: 3 }],
  ])('classes: one page past the total is asked for while %s', (_why, shown, given) => {
    const position = { number: 1, pageKey: null, offset: 2, overlap: 'c' };
    expect(step('nft_classes', shown, position, memory(given)).kind).toBe('next');
  });

  test('classes: a platform that gives one row at a time is read on, and cannot hold us for ever', () => {
    const first = memory();
    const position = { number: 1, pageKey: null, offset: 1, overlap: null };
    expect(step('nft_classes', classes(['a'], null), firstPosition, first)).toEqual({
      kind: 'next',
      position,
    });
    remember(first, classes(['a'], null), firstPosition);
    expect(step('nft_classes', classes(['a'], null), position, first)).toEqual(
      ended('no progress'),
    );
  });

  test('the memory of a walk holds two pages, however long the walk', () => {
    const long = memory();
    for (let i = 0; i < 1000; i++) {
      remember(long, page([`id${i}`]), {
        ...firstPosition,
        number: i,
        pageKey: i === 0 ? null : `k${i}`,
      });
    }
    expect(long.firstPageIds).toEqual(new Set(['id0']));
    expect(long.previousIds).toEqual(new Set(['id999']));
  });
});

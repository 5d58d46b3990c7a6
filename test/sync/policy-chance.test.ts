// The policy lived through with clocks that jump and whatever chance brings; and the checks of that life, sabotaged.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as policy from '../../src/sync/policy.ts';
import { monthsOf, unaccounted, unclosed } from '../support/calendar-checks.ts';
import { live, type Life } from '../support/calendar.ts';

const at = (text: string): number => Date.parse(text);
const hour = 3_600_000;
const day = 24 * hour;

describe('our clock beside the platform’s', () => {
  const life = { from: at('2026-03-01T00:00:00Z'), to: at('2026-05-03T00:00:00Z') };
  const between = (from: string, to: string, errorMs: number) => (now: number) =>
    now >= at(from) && now < at(to) ? errorMs : 0;

  test.each([
    ['a day ahead for a while', between('2026-03-10T00:00:00Z', '2026-03-12T00:00:00Z', day)],
    ['a day behind for a while', between('2026-03-10T00:00:00Z', '2026-03-12T00:00:00Z', -day)],
    ['an hour ahead over the cliff', between('2026-03-31T00:00:00Z', '2026-04-02T00:00:00Z', hour)],
    [
      'an hour behind over the cliff',
      between('2026-03-31T00:00:00Z', '2026-04-02T00:00:00Z', -hour),
    ],
    [
      'three weeks ahead for a day',
      between('2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z', 21 * day),
    ],
  ])('%s: P7, nothing is lost by it', (_name, clockErrorMs) => {
    const lived = live({ ...life, clockErrorMs });
    expect(unaccounted(lived, life.to)).toEqual([]);
    const months = monthsOf(lived);
    expect(months).toMatchObject({ '2026-02': { final: 28 }, '2026-03': { final: 31 } });
  });
});

test('whatever happens when, the rules of every step hold, and no day is forgotten', () => {
  const start = at('2023-12-01T00:00:00Z');
  fc.assert(
    fc.property(
      fc.record({
        startsAfterH: fc.integer({ min: 0, max: 24 * 500 }),
        livesH: fc.integer({ min: 1, max: 24 * 50 }),
        off: fc.array(
          fc.tuple(fc.integer({ min: 0, max: 2400 }), fc.integer({ min: 1, max: 1500 })),
          { maxLength: 3 },
        ),
        aheadH: fc.integer({ min: -12, max: 14 }),
        marginH: fc.constantFrom(0, 1, 24, 24 * 7),
        refreshH: fc.constantFrom(6, 24),
        tickH: fc.constantFrom(3, 5, 17),
        totals: fc.boolean(),
        resource: fc.constantFrom('orders' as const, 'nft_classes' as const),
        pendingEvery: fc.integer({ min: 1, max: 9 }),
      }),
      (drawn) => {
        const from = start + drawn.startsAfterH * hour;
        const life: Life = {
          from,
          to: from + drawn.livesH * hour,
          resource: drawn.resource,
          settings: { deadlineMarginMs: drawn.marginH * hour, refreshMs: drawn.refreshH * hour },
          tickMs: drawn.tickH * hour,
          isOn: (now) =>
            drawn.off.every(
              ([after, forH]) => now < from + after * hour || now >= from + (after + forH) * hour,
            ),
          monthsEndAheadMs: drawn.aheadH * hour,
          totals: drawn.totals,
          pendingOn: (of, now) =>
            Number(of.slice(8)) % drawn.pendingEvery === 0 && now < Date.parse(of) + 5 * day
              ? 1
              : 0,
        };
        const lived = live(life);
        const last = lived.acts.at(-1);
        if (last !== undefined) expect(unaccounted(lived, last.at)).toEqual([]);
      },
    ),
    { numRuns: 25, seed: 20_260_406 },
  );
});

describe('sabotaged: rules that are not kept are noticed at the step that breaks them', () => {
  const life = { from: at('2026-03-01T00:00:00Z'), to: at('2026-04-02T00:00:00Z') };

  test('P7: a month decided at its end in UTC, when other zones still show it', () => {
    const actionFor: typeof policy.actionFor = (slice, span, now, date, settings) =>
      policy.actionFor(slice, span, now, (date ?? 0) + 12 * hour, settings);
    expect(() => live({ ...life, rules: { actionFor } })).toThrow('before its month has gone');
  });

  test('P7: a day that was read, and called lost', () => {
    expect(() => live({ ...life, rules: { lapsedState: () => 'lost' } })).toThrow('and lost');
  });

  test('P6: a day sealed without proof', () => {
    const afterAct: typeof policy.afterAct = (...given) => ({
      ...policy.afterAct(...given),
      state: 'sealed',
    });
    expect(() => live({ ...life, totals: false, rules: { afterAct } })).toThrow('sealed');
  });

  test('P11: a day that is due again at once', () => {
    const afterAct: typeof policy.afterAct = (slice, span, outcome, askedAt, settings) => ({
      ...policy.afterAct(slice, span, outcome, askedAt, settings),
      dueAt: askedAt,
    });
    expect(() => live({ ...life, rules: { afterAct } })).toThrow('due again at once');
  });

  test('a month that was not read once more before it went', () => {
    const isOn = (now: number): boolean =>
      now < at('2026-03-27T00:00:00Z') || now > at('2026-04-01T13:00:00Z');
    expect(unclosed(live({ ...life, isOn }))).toHaveLength(28);
  });

  test('a day that is in no ledger', () => {
    const lived = live(life);
    lived.slices.delete('2026-03-05');
    expect(unaccounted(lived, life.to)).toEqual(['2026-03-05']);
  });
});

// The books by themselves: when they balance, and which spans are asked and written where they do not.
import { describe, expect, test } from 'vitest';
import { balance, reconcile, type DaySpan } from '../../src/sync/reconcile.ts';

describe('more is counted than was shown', () => {
  // Two of the five are rejects, whose status nobody knows.
  const shown = { all: 5, byStatus: [0, 3, 0] } as const;
  test.each([
    ['in all', 6, null],
    ['in the sum of the statuses', 5, [2, 4, 0]],
    ['in one status', 5, [3, 0, 0]],
  ] as const)('%s', (_, total, byStatus) =>
    expect(balance({ total, byStatus }, shown)).toEqual({ isMore: true, isEqual: false }),
  );

  test('in the statuses alone, where there is no total', () =>
    expect(balance({ total: null, byStatus: [3, 3, 0] }, shown)).toMatchObject({ isMore: true }));

  test.each([
    ['as many', 5, [2, 3, 0], true],
    ['fewer, as where totals are capped', 4, [0, 3, 0], false],
    ['nothing', null, null, false],
  ] as const)('not where %s are counted', (_, total, byStatus, isEqual) =>
    expect(balance({ total, byStatus }, shown)).toEqual({ isMore: false, isEqual }),
  );

  test('nor does nothing counted equal nothing shown', () =>
    expect(balance({ total: null, byStatus: null }, { all: 0, byStatus: [0, 0, 0] })).toMatchObject(
      { isEqual: false },
    ));
});

describe('of four days', () => {
  /** What is asked and written where these spans count more, and one is refused. */
  function played(more: readonly string[], refused = ''): { asked: string[]; written: string[] } {
    const name = ({ from, to }: DaySpan): string => `${from}-${to}`;
    const asked: string[] = [];
    const steps = reconcile<{ of: string; isMore: boolean; isEqual: boolean }>({ from: 0, to: 4 });
    let step = steps.next();
    while (!step.done) {
      const of = name(step.value);
      asked.push(of);
      step = steps.next(of === refused ? null : { of, isMore: more.includes(of), isEqual: false });
    }
    return { asked, written: step.value.map(({ of }) => of) };
  }

  test('the span is asked for alone where it balances', () => {
    expect(played([])).toEqual({ asked: ['0-4'], written: ['0-4'] });
  });

  test('the span is halved down to the day that counts more', () => {
    expect(played(['0-4', '2-4', '3-4'])).toEqual({
      asked: ['0-4', '0-2', '2-4', '2-3', '3-4'],
      written: ['0-2', '2-3', '3-4'],
    });
  });

  test('no day is believed of a span that counts more though no half does', () => {
    expect(played(['0-4'])).toEqual({
      asked: ['0-4', '0-2', '2-4'],
      written: ['0-2', '2-4', '0-4'],
    });
  });

  test('a span that is refused is halved, and only its halves are written', () => {
    expect(played([], '0-4')).toEqual({ asked: ['0-4', '0-2', '2-4'], written: ['0-2', '2-4'] });
  });
});

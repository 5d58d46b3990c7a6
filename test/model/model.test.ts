// The rule of proof in a small scope: every way to answer, every fault, months and clocks, at most two at once. All of
// it is `npm run check:model`. Each line of the rule by itself: test/sync/judge.test.ts and reconcile.test.ts.
import { describe, expect, it } from 'vitest';
import {
  alone,
  clocks,
  clocksAlone,
  dialects,
  eventsInDialects,
  freely,
  longFaults,
  months,
  news,
  pairs,
  problemsIn,
  withFault,
} from './histories.ts';
import { day, hour } from './platform.ts';
import { play, startsAt } from './play.ts';

const some = (...names: string[]) => dialects.filter(({ name }) => names.includes(name));

describe('a platform that answers in one of the ways that are left open', () => {
  it('never gets a false seal, and all is proved that can be', () => {
    expect(problemsIn(alone(['', '223']), true)).toEqual([]);
    expect(problemsIn(pairs([['', '322', '23']], 2))).toEqual([]);
  });

  it('gets none either when readings come at any other time', () => {
    expect(freely(some('honest', 'failed ones hidden', 'two hours late'), 3)).toEqual([]);
  });

  it('is sealed whatever happens to its orders', () => {
    const which = some(
      'honest',
      'no totals',
      'totals one too few',
      'one id on two days',
      'zero time',
    );
    const hours = { late: [3], other: [3] };
    expect(problemsIn(eventsInDialects(which, hours, [['22', '223', '']]))).toEqual([]);
  });
});

describe('faults', () => {
  it('lose nothing, and the day is proved when they are over', () => {
    const which = some('honest', 'no totals', 'failed ones hidden', 'end exclusive');
    expect(problemsIn(withFault(which, [['223', '2', '22']], 9, [0]))).toEqual([]);
    const lasting = ['empty, total 0', 'hollow'] as const;
    expect(
      problemsIn(withFault(some('honest'), [['223', '2', '']], 1, [5 * hour], lasting)),
    ).toEqual([]);
    expect(problemsIn(longFaults())).toEqual([]);
  });

  it('at once with orders that become visible while a day is read, never make a false seal', () => {
    expect(problemsIn(news(), true)).toEqual([]);
  });
});

describe('months and clocks', () => {
  it('decide nothing too soon, and seal nothing by what is shown while the month goes', () => {
    const contents = [['223', '', '2']];
    expect(problemsIn(months([2, 18, 44], some('honest', 'no totals'), clocks, contents))).toEqual(
      [],
    );
    const few = clocks.slice(3, 5);
    expect(problemsIn(months([18], [], few, contents, ['error', 'empty, total 0']))).toEqual([]);
  });

  it('keep nothing from being proved for longer than they are wrong', () => {
    expect(problemsIn(clocksAlone(clocks, [['', '213', '22']]))).toEqual([]);
    const ahead = [
      { at: startsAt - day, platform: 15 * hour },
      { at: startsAt - day + 6 * hour, platform: 0 },
    ];
    const early = {
      contents: ['223', '', '222'],
      startsAt: startsAt - day,
      days: 4,
      clockSteps: ahead,
    };
    expect(play(early).falseSeals).toEqual([]);
  });
});

it('reads the same whichever day is read first', () => {
  const orders = [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ];
  for (const { dialect } of dialects) {
    const ends = orders.map((order) => {
      const { states, whys, held } = play({ contents: ['3', '223', ''], dialect, days: 3, order });
      return JSON.stringify({ states, whys, held });
    });
    expect(new Set(ends).size, JSON.stringify(dialect)).toBe(1);
  }
});

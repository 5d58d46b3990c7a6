// The forecast is pure: rows of a ledger, facts, settings, a rate and a moment in; requests, time and "does it fit"
// out.
import { describe, expect, test } from 'vitest';
import { lateLines, timeLines } from '../../src/cli/forecast.ts';
import { shortMoment, shortSpan } from '../../src/cli/print.ts';
import { addDays, cliffOf, daysIn } from '../../src/day.ts';
import { wholeList, type ListedResource } from '../../src/model.ts';
import type { Slice } from '../../src/store/ledger.ts';
import { requestsOf, sumOfRequests, walkRequests } from '../../src/sync/forecast/costs.ts';
import { forecast, type Forecast } from '../../src/sync/forecast/forecast.ts';
import { upcoming } from '../../src/sync/forecast/upcoming.ts';
import { unreadSlice } from '../support/ledger.ts';

const at = (text: string): number => Date.parse(text);
const hour = 3_600_000;
const day = 24 * hour;
const settings = { deadlineMarginMs: day, refreshMs: 6 * hour };

type Given = Partial<Slice> & { day: string };

const slice = (given: Given): Slice =>
  unreadSlice({ deadlineAt: cliffOf(given.day) - settings.deadlineMarginMs, ...given });

/** A day read and proved a while after its end. */
const read = (records: number, given: Given): Slice =>
  slice({
    state: 'sealed',
    proof: 'walk',
    walk: 1,
    wholeWalk: 1,
    walkedAt: at(`${addDays(given.day, 1)}T01:00:00Z`),
    platformTotal: records,
    shownTotal: records,
    ...given,
  });

const days = (from: string, to: string): string[] => daysIn({ from, to });

function foretell(
  slices: Slice[],
  now: string,
  given: { perSecond?: number; facts?: Record<string, string>; refreshMs?: number } = {},
): Forecast {
  const { perSecond = 5, facts = {}, refreshMs = settings.refreshMs } = given;
  return forecast(slices, perSecond, {
    facts: new Map(Object.entries(facts)),
    settings: { ...settings, refreshMs },
    now: at(now),
  });
}

const monthOf = (told: Forecast, month: string, resource: ListedResource = 'orders') => {
  const found = told.months.find((one) => one.month === month && one.resource === resource);
  if (found === undefined) throw new Error(`no ${resource} of ${month} in the forecast`);
  return found;
};

describe('requests of one walk', () => {
  test.each([
    ['orders', 0, 1],
    ['orders', 50, 1],
    ['orders', 51, 2],
    ['orders', 1_000_000, 20_000],
    // Every page of classes repeats the row before it.
    ['nft_classes', 200, 1],
    ['nft_classes', 201, 2],
    ['nft_classes', 1_000_000, 5_026],
  ] as const)('%s: %i records take %i', (resource, records, requests) => {
    expect(walkRequests(resource, records, new Map())).toBe(requests);
  });

  test('by the limit the platform honours', () => {
    expect(walkRequests('orders', 100, new Map([['orders.limit', '10']]))).toBe(10);
  });
});

describe('what a month still needs', () => {
  test('an empty ledger needs nothing and says nothing', () => {
    const told = foretell([], '2026-04-06T12:00:00Z');
    expect(told.months).toEqual([]);
    expect(lateLines(told, 0)).toEqual([]);
  });

  test('a proved month: its last walks, and a count of four requests a day or, on its turn, a walk, until the deadline', () => {
    const slices = days('2026-03-01', '2026-04-01').map((one) => read(120, { day: one }));
    const march = monthOf(foretell(slices, '2026-04-06T12:00:00Z'), '2026-03-01');
    // From 6 April 12:00 to 30 April 00:00 there are 23 whole days; 120 orders are three pages.
    expect(march.needs).toEqual({
      unread: 0,
      again: 0,
      toCome: 0,
      closing: 31 * 3,
      // Three of the 23 are walks, asked by status as well: a turn comes round in six days.
      counts: 31 * 20 * 4,
      compares: 31 * 3 * (3 + 3),
      refreshes: 0,
      settles: 0,
    });
    expect(march).toMatchObject({ sizes: 'known', fits: 'yes', unread: [], tooLate: [] });
    expect(march.requests).toBe(sumOfRequests(march.needs));
  });

  test('unread days are taken to be as large as the nearest ones that are known, and it says so', () => {
    const slices = [
      ...days('2026-03-01', '2026-03-08').map((one) => read(100, { day: one })),
      ...days('2026-03-08', '2026-03-25').map((one) => slice({ day: one })),
      ...days('2026-03-25', '2026-04-01').map((one) => read(5_000, { day: one })),
    ];
    const march = monthOf(foretell(slices, '2026-04-06T12:00:00Z'), '2026-03-01');
    expect(march.sizes).toBe('estimated');
    expect(march.unread[0]).toEqual({ day: '2026-03-08', requests: 2 });
    expect(march.unread.at(-1)).toEqual({ day: '2026-03-24', requests: 100 });
    expect(march.unread).toHaveLength(17);
  });

  test('a walk in progress is known by the platform’s total and needs only what is left of it', () => {
    const checkpoint = {
      query: { startDate: '2026-03-10', endDate: '2026-03-10', limit: 50 },
      page: 30,
      pageKey: 'k',
      offset: 0,
      lastId: null,
      totalBefore: 2_000,
    };
    const told = foretell(
      [slice({ day: '2026-03-10', walk: 1, checkpoint })],
      '2026-03-12T00:00:00Z',
    );
    expect(monthOf(told, '2026-03-01').unread[0]).toEqual({ day: '2026-03-10', requests: 10 });
  });

  /** What is still to be asked of one day, its size being known. */
  const needsOf = (one: Slice, facts: Record<string, string> = {}) =>
    requestsOf({ ...one, slice: one }, one.shownTotal ?? 0, one.deadlineAt, {
      facts: new Map(Object.entries(facts)),
      settings,
      now: at('2026-03-20T00:00:00Z'),
    });

  test('pending orders: the pages that hold them are read again; failed and unproved days are walked', () => {
    const one = (given: Partial<Slice>) => needsOf(read(500, { day: '2026-03-10', ...given }));
    expect(one({})).toMatchObject({ again: 0, settles: 0 });
    // When they settle, and on each of the 41 days until then, should they not.
    expect(one({ state: 'walked', unresolved: 3 })).toMatchObject({ again: 0, settles: 3 * 42 });
    expect(one({ state: 'walked', unresolved: 300 })).toMatchObject({ settles: 10 * 42 });
    expect(one({ attempts: 2 })).toMatchObject({ again: 10 });
    expect(one({ proof: 'none' })).toMatchObject({ again: 10 });
    expect(one({ walkedAt: at('2026-03-10T20:00:00Z') })).toMatchObject({ again: 10 });
  });

  test('classes: their refreshes serve as last walks', () => {
    const slices = days('2026-03-01', '2026-04-01').map((one) =>
      read(1_000, { day: one, resource: 'nft_classes' }),
    );
    const told = foretell(slices, '2026-04-28T00:00:00Z');
    expect(monthOf(told, '2026-03-01', 'nft_classes').needs).toMatchObject({
      closing: 0,
      counts: 0,
      refreshes: 31 * 8 * 6,
    });
  });

  test('where totals are absent it takes two walks to prove a day, and walks instead of counts', () => {
    const facts = { 'orders.totals': 'absent' };
    const unread = needsOf(slice({ day: '2026-03-10' }), facts);
    expect(unread).toMatchObject({ unread: 1, again: 1 });
    const half = read(500, { day: '2026-03-10', proof: 'none', platformTotal: null });
    expect(needsOf(half, facts)).toMatchObject({ again: 10, closing: 20, counts: 41 * 10 });
  });

  test('the rest of the current month is needed, too', () => {
    const slices = days('2026-04-01', '2026-04-07').map((one) => read(100, { day: one }));
    slices[5] = slice({ day: '2026-04-06', wholeWalk: 1, shownTotal: 20, proof: 'walk' });
    const april = monthOf(foretell(slices, '2026-04-06T12:00:00Z'), '2026-04-01');
    // Read while they last, and once more when they are over.
    expect(april.needs.toCome).toBe(24 * 2 * 2);
    expect(april.needs.again).toBe(2);
    expect(april.sizes).toBe('estimated');
  });

  test('P7: after five weeks off the days that passed are needed like all others', () => {
    const slices = days('2026-03-01', '2026-03-11').map((one) => read(100, { day: one }));
    const told = foretell(slices, '2026-04-14T12:00:00Z');
    expect(monthOf(told, '2026-03-01').unread.map((one) => one.day)).toEqual(
      days('2026-03-11', '2026-04-01'),
    );
    expect(monthOf(told, '2026-04-01').unread).toHaveLength(14);
  });

  test('P7: days that left the window unread are named, though nothing can be done', () => {
    const slices = days('2026-02-01', '2026-02-11').map((one) => read(100, { day: one }));
    const told = foretell(slices, '2026-04-14T12:00:00Z');
    expect(monthOf(told, '2026-02-01')).toMatchObject({ until: null, fits: null, requests: 0 });
    expect(lateLines(told, at('2026-04-14T12:00:00Z'))[0]).toBe(
      '2026-02: 18 days of orders left the window before they were read.',
    );
  });

  test('a month of 28 days has its deadline a day before March is over', () => {
    const slices = days('2027-02-01', '2027-03-01').map((one) => read(100, { day: one }));
    const february = monthOf(foretell(slices, '2027-03-02T00:00:00Z'), '2027-02-01');
    expect(february.deadlineAt).toBe(at('2027-03-31T00:00:00Z'));
    expect(february.needs.closing).toBe(28 * 2);
  });

  test('an owner’s whole list is no month, and a platform that ignores dates has one slice a month', () => {
    const facts = { 'nft_classes.date_filter': 'ignored' };
    const told = foretell(
      [
        read(1_000, { day: '2026-04-01', resource: 'nft_classes', owner: 'a', state: 'open' }),
        slice({ day: wholeList, resource: 'nft_classes', owner: 'a', shownTotal: 10 }),
      ],
      '2026-04-06T12:00:00Z',
      { facts },
    );
    expect(told.months.map(({ month }) => month)).toEqual(['2026-04-01']);
    expect(monthOf(told, '2026-04-01', 'nft_classes').needs.toCome).toBe(0);
  });
});

describe('whether it fits before the deadline', () => {
  /** March read, but for so many days of which each has so many orders. */
  const march = (unread: number, records: number): Slice[] => [
    ...days('2026-03-01', addDays('2026-04-01', -unread)).map((one) => read(records, { day: one })),
    ...days(addDays('2026-04-01', -unread), '2026-04-01').map((one) => slice({ day: one })),
  ];

  test('a million orders at 5 requests a second: an hour and a bit, in weeks', () => {
    const slices = days('2026-03-01', '2026-04-01').map((one) => slice({ day: one }));
    slices.push(read(32_259, { day: '2026-04-01' }));
    const told = foretell(slices, '2026-04-02T12:00:00Z');
    const month = monthOf(told, '2026-03-01');
    expect(month.needs.unread).toBe(31 * 646);
    // Read once and once more before the deadline.
    expect((month.needs.unread + month.needs.closing) / 5 / 60).toBeGreaterThan(130);
    expect(month.fits).toBe('yes');
  });

  test('the same on the last day before the deadline, with an hour to go: 11 days are too late', () => {
    const now = '2026-04-29T23:00:00Z';
    const told = foretell(
      [
        ...days('2026-03-01', '2026-04-01').map((one) => slice({ day: one })),
        read(32_259, { day: '2026-04-01', walkedAt: at('2026-04-29T00:00:00Z') }),
      ],
      now,
      { facts: { 'orders.day_end': 'inclusive' } },
    );
    const month = monthOf(told, '2026-03-01');
    expect(month.fits).toBe('no');
    // 5 a second less a tail a minute, for an hour: 17,940 requests, 27 days of 646.
    expect(month.tooLate).toEqual(days('2026-03-28', '2026-04-01'));
    expect(lateLines(told, at(now))).toEqual([
      '2026-03: 4 days of orders cannot be read before 2026-04-30 00:00 (UTC): 20,026 requests take 1 h 6 min at 5 requests a second, with 1 h to go. Raise OUTLAST_MAX_RPS to 5.6 or more.',
    ]);
    // What it advises would do.
    const better = foretell(
      [
        ...days('2026-03-01', '2026-04-01').map((one) => slice({ day: one })),
        read(32_259, { day: '2026-04-01', walkedAt: at('2026-04-29T00:00:00Z') }),
      ],
      now,
      { perSecond: 5.6 },
    );
    expect(monthOf(better, '2026-03-01')).toMatchObject({ fits: 'tight', tooLate: [] });
  });

  test('first start on the last day of a month: the dying month has a day, and its sizes are unknown', () => {
    const slices = days('2026-03-01', '2026-05-01').map((one) => slice({ day: one }));
    const told = foretell(slices, '2026-04-30T12:00:00Z');
    const month = monthOf(told, '2026-03-01');
    // Its deadline has passed, the cliff has not: until then.
    expect(month).toMatchObject({
      deadlineAt: at('2026-04-30T00:00:00Z'),
      until: at('2026-05-01T00:00:00Z'),
      sizes: 'unknown',
      fits: 'yes',
    });
    const lines = (months: Forecast['months']): string =>
      timeLines(
        {
          ...told,
          months,
          isRateAssumed: true,
          compareEveryMs: 7 * day,
          newestRunAt: null,
          slices,
          facts: new Map(),
        },
        at('2026-04-30T12:00:00Z'),
      ).join('\n');
    expect(lines(told.months)).toMatch(
      /12 h ago[^]*5 requests a second are assumed[^]*one page a day is assumed/,
    );
    const over = told.months.map((one) => ({ ...one, requests: 0, takesMs: 0 }));
    expect(lines(over)).toMatch(/12 h ago\. Nothing of it is left to ask\.\n/);
  });

  test('past the deadline it says that the month vanishes, not that it should be done', () => {
    const now = '2026-04-30T23:00:00Z';
    const slices = march(31, 0);
    slices.push(read(100_000, { day: '2026-04-29' }));
    expect(lateLines(foretell(slices, now), at(now))[0]).toMatch(
      /^2026-03: \d+ days of orders cannot be read before 2026-05-01 00:00 \(UTC\), when it vanishes: /,
    );
  });

  test('at a hundredth of a request a second today takes a quarter at most', () => {
    const now = '2026-04-06T12:00:00Z';
    const slices = [...march(0, 2_000), slice({ day: '2026-04-06', wholeWalk: 1, shownTotal: 1 })];
    const told = foretell(slices, now, { perSecond: 0.01 });
    expect(told.standingPerSecond).toBeCloseTo(0.0025);
    // 1,240 last walks take 46 h of 72.
    expect(monthOf(told, '2026-03-01').fits).toBe('tight');
    expect(foretell(slices, now).standingPerSecond).toBeCloseTo(1 / 60);
  });

  test('last walks have the closing for them, whatever time is left before it', () => {
    const slow = foretell(march(0, 5_000), '2026-04-02T12:00:00Z', { perSecond: 0.01 });
    expect(monthOf(slow, '2026-03-01').fits).toBe('no');
    expect(lateLines(slow, at('2026-04-02T12:00:00Z'))[0]).toMatch(
      /^2026-03: orders can be read before 2026-04-30 00:00 \(UTC\), but not all walked once more and proved: .*with 3 days to go/,
    );
  });

  test('the nearest deadline goes first: the current month gets what the dying one leaves', () => {
    const now = '2026-04-29T00:30:00Z';
    const dying = march(31, 0);
    const current = days('2026-04-01', '2026-04-29').map((one) => slice({ day: one }));
    current[27] = read(50_000, { day: '2026-04-28', walkedAt: at('2026-04-29T00:20:00Z') });
    const told = foretell([...current, ...dying], now, { perSecond: 0.5 });
    const [first, second] = told.months;
    expect(first).toMatchObject({ month: '2026-03-01', requestsBefore: 0, fits: 'tight' });
    expect(second).toMatchObject({ month: '2026-04-01', requestsBefore: first?.requests });
  });

  test('half of the time left is tight', () => {
    const now = '2026-04-28T12:00:00Z';
    const fits = (perSecond: number) =>
      monthOf(foretell(march(0, 5_000), now, { perSecond }), '2026-03-01').fits;
    // 31 last walks of 100 pages and a count: 3,224 requests in 36 h.
    expect([0.01, 0.03, 0.1].map(fits)).toEqual(['no', 'tight', 'yes']);
  });

  test('when too little time is left, no rate would do', () => {
    const now = '2026-04-30T23:59:59.999Z';
    const slices = [...march(31, 0), read(100_000, { day: '2026-04-29' })];
    expect(lateLines(foretell(slices, now), at(now))[0]).toMatch(/No rate would do any more\.$/);
  });
});

test('what is due comes in the order it is taken, and what comes next by its minute', () => {
  const now = at('2026-04-06T12:00:00Z');
  const slices = [
    slice({ day: '2026-03-02', dueAt: now - day }),
    slice({ day: '2026-03-01', dueAt: now - day }),
    // Compared whole an hour ago, and too large to be so daily.
    read(500, { day: '2026-03-05', dueAt: now + hour, walkedAt: now - hour }),
    read(500, { day: '2026-03-06', dueAt: now + hour + 1, walkedAt: now - hour }),
    slice({ day: '2026-04-06', dueAt: now - 1, wholeWalk: 1 }),
  ];
  const told = upcoming(slices, { facts: new Map(), settings, now }, 5);
  expect(told.due).toMatchObject([
    { action: 'walk', slices: 2, from: '2026-03-01', to: '2026-03-02' },
    { action: 'tail', slices: 1 },
  ]);
  expect(told.next).toMatchObject([{ action: 'count', slices: 2, dueAt: now + hour }]);
});

test('narrow cells: a moment without its midnight, a span in one unit, rounded up', () => {
  expect([at('2026-11-30T00:00:00Z'), at('2026-11-29T18:30:00Z')].map(shortMoment)).toEqual([
    '30 Nov',
    '29 Nov 18:30',
  ]);
  expect([400, 61_000, 119_000, 121_000, 3 * hour, 2 * day].map(shortSpan)).toEqual([
    '1 s',
    '61 s',
    '119 s',
    '3 min',
    '3 h',
    '2 days',
  ]);
});

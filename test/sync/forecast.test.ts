// The forecast is pure: rows of a ledger, facts, settings, a rate and a moment in; requests, time and "does it fit"
// out.
import { describe, expect, test } from 'vitest';
import { risksOf } from '../../src/sync/read-forecast.ts';
import { timeLines } from '../../src/cli/forecast-lines.ts';
import { problemText } from '../../src/problems.ts';
import { shortMoment, shortSpan } from '../../src/cli/print.ts';
import { addDays, cliffOf, daysIn } from '../../src/day.ts';
import { wholeList, type End, type ListedResource } from '../../src/model.ts';
import type { Evidence } from '../../src/store/evidence.ts';
import type { Slice } from '../../src/store/ledger.ts';
import {
  evidenceKey,
  forecast,
  sumOfRequests,
  walkRequests,
  type Forecast,
} from '../../src/sync/forecast.ts';
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
    proof: 'readings',
    walk: 1,
    wholeWalk: 1,
    walkedAt: at(`${addDays(given.day, 1)}T01:00:00Z`),
    platformTotal: records,
    shownTotal: records,
    ...given,
  });

const days = (from: string, to: string): string[] => daysIn({ from, to });

/** As people read of what will be too late. */
const lateLines = (told: Forecast, now: string): string[] =>
  risksOf(told, at(now)).map((risk) => problemText(risk));

function foretell(
  slices: Slice[],
  now: string,
  { perSecond = 5 }: { perSecond?: number } = {},
): Forecast {
  return forecast(slices, perSecond, {
    facts: new Map(),
    settings,
    now: at(now),
    evidence: evidenceOf(slices),
  });
}

/** Two readings of every day that counts as read, and books after them. */
const evidenceOf = (slices: Slice[]): Map<string, Evidence> =>
  new Map(
    slices
      .filter(({ state }) => state === 'sealed')
      .map((one) => {
        const ended = one.walkedAt ?? 0;
        const reading = (no: number, end: End, moment: number) => ({
          no,
          end,
          began: { machine: moment, now: moment, earliest: moment },
          ended: { machine: moment, now: moment, latest: moment },
          shown: one.shownTotal ?? 0,
          lacks: 0,
          claims: 0,
          pending: 0,
          byStatus: null,
        });
        return [
          evidenceKey(one),
          {
            newsNo: 0,
            isHolding: true,
            pending: 0,
            readings: [reading(1, 'asc', ended), reading(2, 'desc', ended + 3 * hour)],
            books: {
              no: 3,
              isMore: false,
              isEqual: true,
              isDay: false,
              readBy: 'list',
              inWords: false,
              byStatus: null,
            },
          },
        ];
      }),
  );

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
    expect(lateLines(told, '2026-04-06T12:00:00Z')).toEqual([]);
  });

  test('a proved month: each day once a day until the deadline', () => {
    const slices = days('2026-03-01', '2026-04-01').map((one) => read(120, { day: one }));
    const march = monthOf(foretell(slices, '2026-04-06T12:00:00Z'), '2026-03-01');
    // 120 orders are three pages. From 6 April 12:00 to 30 April 00:00 there are 23 whole days, and a reading is due now.
    expect(march.needs).toEqual({ unread: 0, again: 0, toCome: 0, daily: 31 * 24 * 3 });
    expect(march).toMatchObject({ sizes: 'known', fits: 'yes', unread: [], tooLate: [] });
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

  test('P7: after five weeks off the days that passed are needed like all others', () => {
    const slices = days('2026-03-01', '2026-03-11').map((one) => read(100, { day: one }));
    const told = foretell(slices, '2026-04-14T12:00:00Z');
    expect(monthOf(told, '2026-03-01').unread.map((one) => one.day)).toEqual(
      days('2026-03-11', '2026-04-01'),
    );
    // The fourteenth is not over yet.
    expect(monthOf(told, '2026-04-01').unread).toHaveLength(13);
  });

  test('days that left the window unread are foreseen no more', () => {
    const slices = days('2026-02-01', '2026-02-11').map((one) => read(100, { day: one }));
    const told = foretell(slices, '2026-04-14T12:00:00Z');
    expect(monthOf(told, '2026-02-01')).toMatchObject({ until: null, fits: null });
  });

  test('an owner’s whole list is no month', () => {
    const told = foretell(
      [
        read(1_000, { day: '2026-04-01', resource: 'nft_classes', owner: 'a', state: 'open' }),
        slice({ day: wholeList, resource: 'nft_classes', owner: 'a', shownTotal: 10 }),
      ],
      '2026-04-06T12:00:00Z',
    );
    expect(told.months.map(({ month }) => month)).toEqual(['2026-04-01']);
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
    expect(month.fits).toBe('yes');
  });

  test('the same on the last day before the deadline, with an hour to go: 11 days are too late', () => {
    const now = '2026-04-29T23:00:00Z';
    const slices = [
      ...days('2026-03-01', '2026-04-01').map((one) => slice({ day: one })),
      read(32_259, { day: '2026-04-01', walkedAt: at('2026-04-29T00:00:00Z') }),
    ];
    const told = foretell(slices, now);
    const month = monthOf(told, '2026-03-01');
    expect(month.fits).toBe('no');
    // 5 a second less a tail a minute, for an hour: 17,940 requests, 27 days of 646.
    expect(month.tooLate).toEqual(days('2026-03-28', '2026-04-01'));
    expect(lateLines(told, now)).toEqual([
      'orders 2026-03: 4 days cannot be read by 2026-04-30 00:00 UTC: 20,026 requests are too many at 5 a second (OUTLAST_MAX_RPS). 6 or more would do.',
    ]);
    // What it advises would do.
    const better = foretell(slices, now, { perSecond: 6 });
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
      timeLines({
        ...told,
        months,
        now: at('2026-04-30T12:00:00Z'),
        isRateAssumed: true,
        newestRunAt: null,
        slices,
      }).join('\n');
    expect(lines(told.months)).toMatch(
      /12 h ago[^]*5 requests a second are assumed[^]*one page a day is assumed/,
    );
    const over = told.months.map((one) => ({
      ...one,
      needs: { ...one.needs, unread: 0, again: 0 },
    }));
    // A month of which nothing is missing is not spoken of.
    expect(lines(over)).not.toContain('2026-04');
  });

  test('the nearest deadline goes first: the current month gets what the dying one leaves', () => {
    const now = '2026-04-29T00:30:00Z';
    const dying = march(31, 0);
    const current = days('2026-04-01', '2026-04-29').map((one) => slice({ day: one }));
    current[27] = read(50_000, { day: '2026-04-28', walkedAt: at('2026-04-29T00:20:00Z') });
    const told = foretell([...current, ...dying], now, { perSecond: 0.5 });
    const [first, second] = told.months;
    expect(first).toMatchObject({ month: '2026-03-01', requestsBefore: 0 });
    const ofFirst = first === undefined ? 0 : sumOfRequests(first.needs);
    expect(second).toMatchObject({ month: '2026-04-01', requestsBefore: ofFirst });
  });

  test('when too little time is left, no rate would do', () => {
    const now = '2026-04-29T23:59:59.999Z';
    const slices = [...march(31, 0), read(100_000, { day: '2026-04-28' })];
    expect(lateLines(foretell(slices, now), now)[0]).toMatch(/No rate would do any more\.$/);
  });
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

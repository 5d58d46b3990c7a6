// A total is a claim, not a witness. P6: whatever a platform does with its totals, its order or the ends of its lists,
// no day is sealed that is not held whole; P4: nothing is marked that is not gone; P7: what was read whole is not lost.
import { afterEach, describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Faults } from '../../src/simulator/faults.ts';
import { transient } from '../../src/errors.ts';
import type { PlatformPage } from '../../src/model.ts';
import { longAgo } from '../../src/sync/slice/window-questions.ts';
import type { ArchivedScope } from '../../src/sync/enter-days.ts';
import { differences, type Bench } from '../support/archive.ts';
import { classOf, orderOf, statesOf, threeDays } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const minute = 60_000;
const hour = 60 * minute;
const noClasses: ArchivedScope = { classes: 'none' };
const three = (state: string): string[] => [state, state, state];
const twelve = Array.from({ length: 12 }, (_, i) => i);
const orders = (status: (i: number) => number) =>
  threeDays.flatMap((on) => twelve.map((i) => orderOf(on, i, { status: status(i) })));
const classes = threeDays.flatMap((on) => twelve.map((i) => classOf(on, i)));
const onlyOrders = {
  only: { resource: 'orders', days: { from: '2026-04-01', to: '2026-04-04' } },
} as const;

/** Orders of two statuses, six of each on a day, and as many classes, unless none are read. */
async function start(
  dialect: Partial<Dialect>,
  { isMixed = true, scope = { classes: 'all' } }: { isMixed?: boolean; scope?: ArchivedScope } = {},
): Promise<void> {
  bench = await createBench(
    {
      dialect: { shortPages: 4, ...dialect },
      days: ['2026-03-01', ...threeDays, '2026-04-06'],
      records: {
        orders: orders((i) => (isMixed ? 2 + (i % 2) : 2)),
        classes: scope.classes === 'none' ? [] : classes,
      },
    },
    { scope },
  );
}

async function runLater(ms: number): Promise<void> {
  bench.simulator.advance(ms);
  await bench.run();
}

async function one(sql: string): Promise<unknown> {
  const { rows } = await bench.db.query<{ value: unknown }>(sql);
  return rows[0]?.value;
}
const missing = (): Promise<unknown> =>
  one('select count(*)::int as value from analytics.missing_records');
const fact = (name: string): Promise<unknown> =>
  one(`select value from sync.facts where fact = '${name}'`);
/** Held of the second day. */
const held = (table: 'orders' | 'nft_classes'): Promise<unknown> =>
  one(`select count(*)::int as value from archive.${table} where slice_day = '2026-04-02'`);

/** Orders are answered with what `change` makes of each page. */
function answerOrdersWith(
  change: (
    page: PlatformPage,
    query: { status?: 1 | 2 | 3; limit?: number; startDate?: string },
  ) => PlatformPage,
): void {
  const { platform } = bench.worker;
  bench.worker.platform = {
    ...platform,
    orders: async (query, signal, slots) =>
      change(await platform.orders(query, signal, slots), query),
  };
}
const nothing = { records: [], shown: 0, nextKey: null };

/** Nothing false is claimed now. */
async function expectTruth(): Promise<void> {
  expect(await falseSeals(bench)).toEqual([]);
  expect(await missing()).toBe(0);
}

/** Runs, an hour later, and on a further day: the states of the three days after each. */
async function live(): Promise<{ first: unknown; hour: unknown; later: unknown }> {
  await bench.run();
  await expectTruth();
  const first = await statesOf(bench.db);
  await runLater(61 * minute);
  await expectTruth();
  const second = await statesOf(bench.db);
  await runLater(25 * hour);
  await expectTruth();
  // Which days are counted and which are walked again is for the rota to say.
  const later = Object.entries(await statesOf(bench.db)).map(([list, states]) => [
    list,
    states.map((state) => state.replace(/^sealed (walk|counts)$/, 'sealed')),
  ]);
  return { first, hour: second, later: Object.fromEntries(later) };
}

describe('an index that cuts lists and totals at the same number', () => {
  const cut = (cap: number) => ({ totalsCap: cap, listCap: cap });

  test('both ends meet, and the totals of the statuses add up: held whole and proved', async () => {
    await start(cut(8));
    const lived = await live();
    expect(lived.first).toEqual({
      orders: three('sealed walk'),
      nft_classes: three('walked none'),
    });
    // Classes have no status: the same once more, from the other end, is their proof.
    expect(lived.hour).toMatchObject({ nft_classes: three('sealed walks') });
    expect(lived.later).toEqual({
      orders: three('sealed'),
      nft_classes: three('sealed walks'),
    });
    expect(await differences(bench)).toEqual([]);
    expect(await fact('orders.cap')).toBe('8');
  });

  test('below the length of a page: the largest days are alike, and both ends are read', async () => {
    await start({ ...cut(11), shortPages: 0 });
    await live();
    expect([await held('orders'), await held('nft_classes')]).toEqual([12, 12]);
    expect(await differences(bench)).toEqual([]);
  });

  test('both ends meet, and nothing vouches for them: the weaker proof, an hour later', async () => {
    await start(cut(8), { isMixed: false, scope: noClasses });
    const lived = await live();
    expect(lived.first).toMatchObject({ orders: three('walked none') });
    expect(lived.hour).toMatchObject({ orders: three('sealed walks') });
    expect(lived.later).toMatchObject({ orders: three('sealed walks') });
    expect(await differences(bench)).toEqual([]);
  });

  test('they do not meet, but those of each status do', async () => {
    await start(cut(5));
    const lived = await live();
    expect(lived.first).toEqual({
      orders: three('walked none'),
      nft_classes: three('walked none'),
    });
    expect(lived.hour).toMatchObject({ orders: three('sealed walks') });
    expect([await held('orders'), await held('nft_classes')]).toEqual([12, 10]);
  });

  test('those of a status do not either: what is shown is held, and final without proof', async () => {
    await start(cut(2));
    await live();
    expect([await held('orders'), await held('nft_classes')]).toEqual([8, 4]);
    await bench.skipTo(Date.parse('2026-06-01T12:30:00Z'));
    await runLater(0);
    await runLater(hour);
    expect(await statesOf(bench.db)).toEqual({
      orders: three('final none'),
      nft_classes: three('final none'),
    });
    expect(await missing()).toBe(0);
  });

  test('from one day to the next: what was sealed before is found out, and held whole again', async () => {
    await start({});
    await bench.run();
    bench.simulator.setDialect(cut(8));
    await runLater(25 * hour);
    await expectTruth();
    for (const on of threeDays) bench.simulator.insert('orders', orderOf(on, 13, { status: 3 }));
    await runLater(25 * hour);
    await runLater(hour);
    await expectTruth();
    expect(await held('orders')).toBe(13);
  });

  test('they do not meet, and the filter by status matches nothing: nothing is proved by it', async () => {
    await start({ listCap: 4, totalsCap: 4, statusFilter: 'empty' }, { scope: noClasses });
    const lived = await live();
    expect(lived.hour).toMatchObject({ orders: three('walked none') });
  });

  test('lists alone: their totals tell how many there are', async () => {
    await start({ listCap: 8 });
    await bench.run();
    await expectTruth();
    expect(await statesOf(bench.db)).toEqual({
      orders: three('sealed walk'),
      nft_classes: three('sealed walk'),
    });
    expect(await differences(bench)).toEqual([]);
  });
});

describe('a status that is listed and counted only where it is asked for', () => {
  const addOne = (): void => {
    for (const on of threeDays) bench.simulator.insert('orders', orderOf(on, 13, { status: 3 }));
  };

  test('from the first on: each status is read by itself, and held whole and proved', async () => {
    await start({ statusUnasked: 3 }, { scope: noClasses });
    const lived = await live();
    expect(lived.first).toMatchObject({ orders: three('sealed walk') });
    expect(lived.later).toMatchObject({ orders: three('sealed') });
    expect(await differences(bench)).toEqual([]);
    expect(await fact('orders.status_totals')).toBe('exceed');
  });

  test('from the first on, and the newest page shows today alone: all past days are asked about', async () => {
    await start({ statusUnasked: 3 }, { isMixed: false, scope: noClasses });
    for (const i of [0, 1, 2, 3, 4]) {
      bench.simulator.insert('orders', orderOf('2026-04-06', i, { status: 2 }));
    }
    // None on the oldest day.
    for (const on of threeDays.slice(1)) {
      bench.simulator.insert('orders', orderOf(on, 13, { status: 3 }));
    }
    await bench.run();
    await expectTruth();
    expect(await fact('orders.status_totals')).toBe('exceed');
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
    // Today is not asked by status before it is over.
    expect(
      await one(
        `select proof as value from sync.slices where day = '2026-04-06' and resource = 'orders'`,
      ),
    ).toBe('none');
  });

  test('from today on: the day is asked by status when it is over, before the next probe', async () => {
    await start({ statusUnasked: 3 }, { isMixed: false, scope: noClasses });
    await bench.run();
    expect(await fact('orders.status_totals')).toBe('add up');
    bench.simulator.insert('orders', orderOf('2026-04-06', 1, { status: 2 }));
    bench.simulator.insert('orders', orderOf('2026-04-06', 2, { status: 3 }));
    await runLater(minute);
    await runLater(14 * hour);
    await expectTruth();
    const ofToday = `select count(*)::int as value from archive.orders where slice_day = '2026-04-06'`;
    expect(await one(ofToday)).toBe(2);
    expect(await fact('orders.status_totals')).toBe('exceed');
  });

  test.each<[string, () => void]>([
    ['is refused', () => bench.simulator.setFaults({ poisonError: { with: 'status=' } })],
    ['is ignored', () => bench.simulator.setDialect({ statusFilter: 'ignored' })],
    ['matches nothing', () => bench.simulator.setDialect({ statusFilter: 'empty' })],
    ['fails', () => bench.simulator.setFaults({ serverError: { with: 'status=', status: 503 } })],
    [
      'shows nothing of a list, and an order where it is only counted',
      () =>
        answerOrdersWith((page, { status, limit }) =>
          status === 3 && limit !== 1 ? { ...page, ...nothing, total: 0 } : page,
        ),
    ],
    [
      'shows nothing, and counts nothing where it is only counted',
      () =>
        answerOrdersWith((page, { status, limit }) =>
          status === 3 ? { ...page, ...nothing, total: limit === 1 ? null : 0 } : page,
        ),
    ],
    [
      'counts orders and shows none',
      () => answerOrdersWith((page, { status }) => (status === 3 ? { ...page, ...nothing } : page)),
    ],
  ])('and the filter by status %s: no day is sealed by its list alone', async (_name, change) => {
    await start({ statusUnasked: 3 }, { scope: noClasses });
    await bench.run({
      only: { resource: 'orders', days: { from: '2026-04-01', to: '2026-04-02' } },
    });
    expect(await fact('orders.status_totals')).toBe('exceed');
    change();
    await bench.run(onlyOrders);
    await expectTruth();
    // The daily probe does not forget what it cannot see now, and what was read whole is not lost.
    await runLater(25 * hour);
    await expectTruth();
    expect(await fact('orders.status_totals')).toBe('exceed');
    expect(await statesOf(bench.db)).not.toMatchObject({
      orders: expect.arrayContaining([expect.stringContaining('open')]) as unknown,
    });
  });

  test('and a total of none is left out: each status is read by itself all the same', async () => {
    await start({ statusUnasked: 3 }, { scope: noClasses });
    answerOrdersWith((page) => (page.total === 0 ? { ...page, total: null } : page));
    await bench.run();
    await expectTruth();
    expect(await fact('orders.empty_total')).toBe('absent');
    expect(await fact('orders.status_totals')).toBe('exceed');
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
    expect(await differences(bench)).toEqual([]);
  });

  test('from today on, and the first look tells nothing: the day is asked until it is told', async () => {
    await start({ statusUnasked: 3 }, { isMixed: false, scope: noClasses });
    await bench.run();
    bench.simulator.insert('orders', orderOf('2026-04-06', 1, { status: 2 }));
    bench.simulator.insert('orders', orderOf('2026-04-06', 2, { status: 3 }));
    bench.simulator.setFaults({ poisonError: { with: 'status=' } });
    await runLater(14 * hour);
    const ofToday = `select state || ' ' || proof as value from sync.slices where resource = 'orders' and day = '2026-04-06'`;
    expect(await one(ofToday)).toBe('walked none');
    bench.simulator.setFaults({ poisonError: null });
    await runLater(hour);
    expect(await one(ofToday)).toBe('sealed walk');
    expect(await differences(bench)).toEqual([]);
  });

  test('from one reading to the next: what lists alone have sealed is read again, once one day shows it', async () => {
    await start({}, { isMixed: false, scope: noClasses });
    await bench.run();
    bench.simulator.setDialect({ statusUnasked: 3 });
    addOne();
    await bench.run(onlyOrders);
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
    bench.simulator.insert('orders', orderOf('2026-04-06', 1, { status: 3 }));
    await runLater(14 * hour);
    await expectTruth();
    expect(await differences(bench)).toEqual([]);
  });

  test('from one probe to the next: what lists alone have sealed is read again', async () => {
    await start({}, { isMixed: false, scope: noClasses });
    await bench.run();
    bench.simulator.advance(2 * minute);
    bench.simulator.setDialect({ statusUnasked: 3 });
    addOne();
    await bench.run(onlyOrders);
    expect(await fact('orders.status_totals')).toBe('add up');
    // The probe is due, and the days are not.
    await runLater(24 * hour - minute);
    expect(await fact('orders.status_totals')).toBe('exceed');
    await expectTruth();
    expect(await differences(bench)).toEqual([]);
  });

  test('and the filter by status does nothing: an order that it shows all the same keeps its day from being sealed', async () => {
    await start({ statusUnasked: 2, statusFilter: 'ignored', shortPages: 0 }, { scope: noClasses });
    await bench.run();
    await bench.skipTo(bench.simulator.clock.now() + 7 * 25 * hour);
    await bench.run();
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('walked none') });
  });

  /** The filter by status is silent at its n-th request from now, where `isSilent` says so. */
  const silence = (isSilent: (n: number, status: number) => boolean): void => {
    let asked = 0;
    answerOrdersWith((page, { status }) =>
      status !== undefined && isSilent((asked += 1), status)
        ? { ...page, ...nothing, total: 0 }
        : page,
    );
  };

  test.each([
    ['the filter by status goes silent', 0],
    ['the filter goes silent for that status', 3],
  ])('and %s when a day is to be read by it: the day is not sealed', async (_what, only) => {
    await start({ statusUnasked: 3 }, { scope: noClasses });
    await bench.run({
      only: { resource: 'orders', days: { from: '2026-04-01', to: '2026-04-02' } },
    });
    silence((n, status) => n > 3 && (only === 0 || status === only));
    await bench.run({
      only: { resource: 'orders', days: { from: '2026-04-02', to: '2026-04-03' } },
    });
    await expectTruth();
    expect((await statesOf(bench.db)).orders).toEqual(['sealed walk', 'walked none', 'open none']);
  });

  const readFirstDay = async (): Promise<void> => {
    await bench.run({
      only: { resource: 'orders', days: { from: '2026-04-01', to: '2026-04-02' } },
    });
    expect(await fact('orders.status_totals')).toBe('exceed');
  };

  test('and one answer by status counts none: the day is held whole all the same', async () => {
    await start({ statusUnasked: 3 }, { scope: noClasses });
    await readFirstDay();
    silence((n) => n === 1);
    await bench.run(onlyOrders);
    await expectTruth();
    expect(await differences(bench)).toEqual([]);
  });

  test('and what is asked by status is answered as if it was not: a day without other orders is not sealed', async () => {
    await start({ statusUnasked: 2 }, { isMixed: false, scope: noClasses });
    bench.simulator.insert('orders', orderOf('2026-04-06', 1, { status: 3 }));
    await readFirstDay();
    const { platform } = bench.worker;
    bench.worker.platform = {
      ...platform,
      orders: ({ status: _status, ...query }, signal, slots) =>
        platform.orders(query, signal, slots),
    };
    await bench.run(onlyOrders);
    await runLater(25 * hour);
    await expectTruth();
  });

  test('and neither totals nor the filter by status tell anything any more: nothing is proved or missing', async () => {
    await start({ statusUnasked: 2 }, { isMixed: false, scope: noClasses });
    await readFirstDay();
    answerOrdersWith((page, { status }) =>
      status === undefined ? { ...page, total: null } : { ...page, ...nothing, total: null },
    );
    for (let i = 0; i < 3; i++) {
      await bench.run(onlyOrders);
      await runLater(61 * minute);
      await expectTruth();
    }
  });

  test('and lists are cut, and the filter by status fails at first: no day is proved before it is asked again', async () => {
    await start({ statusUnasked: 3, listCap: 4, shortPages: 2 }, { scope: noClasses });
    bench.simulator.setFaults({ serverError: { with: 'status=', status: 503 } });
    await bench.run();
    await expectTruth();
    bench.simulator.setFaults({ serverError: null });
    await runLater(61 * minute);
    await runLater(61 * minute);
    await expectTruth();
    expect(await differences(bench)).toEqual([]);
  });

  test('and the total moves all the time: what the statuses count beyond it is hidden', async () => {
    await start({ statusUnasked: 3 }, { scope: noClasses });
    let moved = 0;
    answerOrdersWith((page, { status, limit }) =>
      status === undefined && limit === 1 && page.total !== null
        ? { ...page, total: page.total + ((moved += 1) % 5) }
        : page,
    );
    await bench.run();
    expect(await fact('orders.status_totals')).toBe('exceed');
  });

  describe('and one answer to the probe is wrong', () => {
    test('the total of the list is the sum of the statuses by chance', async () => {
      await start({ statusUnasked: 3 }, { scope: noClasses });
      let statuses = 0;
      let lies = 0;
      answerOrdersWith((page, { status, limit }) => {
        if (status !== undefined) statuses += 1;
        if (statuses < 3 || status !== undefined || limit !== 1 || lies > 0) return page;
        lies += 1;
        return { ...page, total: (page.total ?? 0) + 18 };
      });
      await bench.run();
      expect(lies).toBe(1);
      expect(await fact('orders.status_totals')).toBe('exceed');
      expect(await differences(bench)).toEqual([]);
    });

    test('that of a status is of nothing, where totals of none are left out', async () => {
      await start({ statusUnasked: 3 }, { scope: noClasses });
      let lies = 0;
      answerOrdersWith((page, { status }) =>
        status === 3 && (lies += 1) === 1
          ? { ...page, ...nothing, total: null }
          : page.total === 0
            ? { ...page, total: null }
            : page,
      );
      await bench.run();
      expect(await fact('orders.empty_total')).toBe('absent');
      expect(await fact('orders.status_totals')).toBe('exceed');
      expect(await differences(bench)).toEqual([]);
    });

    test.each<[string, Partial<PlatformPage>]>([
      ['comes without its total', { total: null }],
      ['counts none', { ...nothing, total: 0 }],
      ['is of nothing', { ...nothing, total: null }],
    ])('that of a status %s', async (_what, lie) => {
      await start({ statusUnasked: 3 }, { scope: noClasses });
      let lies = 0;
      answerOrdersWith((page, { status }) =>
        status === 3 && (lies += 1) === 1 ? { ...page, ...lie } : page,
      );
      await bench.run();
      expect(await fact('orders.status_totals')).toBe('exceed');
      expect(await differences(bench)).toEqual([]);
    });

    test('an empty list comes without its total', async () => {
      await start({}, { scope: noClasses });
      let lies = 0;
      answerOrdersWith((page, { startDate }) =>
        startDate === longAgo && (lies += 1) === 1 ? { ...page, ...nothing, total: null } : page,
      );
      await bench.run();
      expect(lies).toBeGreaterThan(1);
      expect(await fact('orders.empty_total')).toBe('zero');
    });
  });

  describe('and all orders have it', () => {
    const startHidden = async (dialect: Partial<Dialect> = {}): Promise<void> => {
      await start({ statusUnasked: 2, ...dialect }, { isMixed: false, scope: noClasses });
      await bench.run({
        only: { resource: 'orders', days: { from: '2026-04-01', to: '2026-04-02' } },
      });
      expect(await fact('orders.status_totals')).toBe('exceed');
    };
    const stateOf = (day: string): Promise<unknown> =>
      one(`select state || ' ' || proof as value from sync.slices where day = '${day}'`);

    test.each<[string, (n: number) => boolean]>([
      ['from now on', () => true],
      ['from the second time a day is asked on', (n) => n > 3],
      ['for a moment, and it shows orders again when it is tried', (n) => n <= 6],
    ])('the filter goes silent %s: no day is sealed by that', async (_when, isSilent) => {
      await startHidden({ maxOrders: 5 });
      const { platform } = bench.worker;
      silence(isSilent);
      const only = { resource: 'orders', days: { from: '2026-04-02', to: '2026-04-03' } } as const;
      await bench.run({ only });
      expect(await stateOf('2026-04-02')).not.toContain('sealed');
      bench.worker.platform = platform;
      await runLater(25 * hour);
      await expectTruth();
      expect(await differences(bench)).toEqual([]);
    });

    test('the filter goes silent for days: nothing is missing or proved by that, and all is well afterwards', async () => {
      await startHidden();
      bench.simulator.setDialect({ statusFilter: 'empty' });
      await bench.run();
      for (let i = 0; i < 3; i++) {
        await runLater(25 * hour);
        await expectTruth();
        expect(await statesOf(bench.db)).toMatchObject({
          orders: ['sealed walk', 'walked none', 'walked none'],
        });
      }
      bench.simulator.setDialect({ statusFilter: 'honoured' });
      await runLater(25 * hour);
      expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
      expect(await differences(bench)).toEqual([]);
    });

    test('an empty day is proved while the filter shows orders of others, or the window has moved on', async () => {
      await startHidden();
      await bench.run();
      expect(await stateOf('2026-03-01')).toBe('sealed walk');
      await bench.skipTo(Date.parse('2026-06-20T12:00:00Z'));
      const seenAt = (at: string): Promise<unknown> =>
        bench.db.query(
          `update sync.facts set confirmed_at = '${at}' where fact = 'orders.status_totals'`,
        );
      await seenAt('2026-05-01T00:00Z');
      await bench.runLater(hour);
      await runLater(25 * hour);
      expect(await stateOf('2026-06-20')).toBe('walked none');
      await seenAt('2026-04-30T00:00Z');
      await runLater(25 * hour);
      expect(await stateOf('2026-06-20')).toBe('sealed walk');
    });
  });

  test('and lists are cut: each status is read from both its ends, and held whole and proved', async () => {
    await start({ statusUnasked: 3, listCap: 4, shortPages: 2 }, { scope: noClasses });
    const lived = await live();
    expect(lived.later).toMatchObject({ orders: three('sealed') });
    expect(await differences(bench)).toEqual([]);
  });

  test('and the filter by status is refused when the list shows a pending order: its seal is broken', async () => {
    await start({ statusUnasked: 3 }, { scope: noClasses });
    await bench.run();
    bench.simulator.setFaults({ poisonError: { with: 'status=' } });
    bench.simulator.insert('orders', orderOf('2026-04-02', 13, { status: 1 }));
    await runLater(25 * hour);
    await runLater(2 * minute);
    const sealed = expect.stringContaining('sealed') as unknown;
    expect((await statesOf(bench.db)).orders).toEqual([sealed, 'walked none', sealed]);
  });

  test('from one count to the next, while the filter by status is refused: nothing is proved without it', async () => {
    await start({ shortPages: 0, maxOrders: 4 }, { isMixed: false, scope: noClasses });
    await bench.run();
    bench.simulator.setDialect({ statusUnasked: 3 });
    addOne();
    bench.simulator.setFaults({ poisonError: { with: 'status=' } });
    await runLater(25 * hour);
    for (let i = 0; i < 3; i++) {
      await expectTruth();
      await runLater(61 * minute);
    }
    bench.simulator.setFaults({ poisonError: null });
    await runLater(61 * minute);
    await expectTruth();
    expect(await differences(bench)).toEqual([]);
  });

  test('an order that comes while its day is asked by status is not hidden', async () => {
    await start({}, { isMixed: false, scope: noClasses });
    await bench.run();
    bench.simulator.insert('orders', orderOf('2026-04-06', 1, { status: 2 }));
    let hasCome = false;
    answerOrdersWith((page, { status }) => {
      if (status === 3 && !hasCome) {
        hasCome = true;
        bench.simulator.insert('orders', orderOf('2026-04-06', 2, { status: 2 }));
      }
      return page;
    });
    await runLater(14 * hour);
    expect(hasCome).toBe(true);
    await expectTruth();
    expect(await fact('orders.status_totals')).toBe('add up');
    expect(await differences(bench)).toEqual([]);
  });

  test.each<[string, Partial<Faults>]>([
    ['is refused', { poisonError: { with: 'status=' } }],
    ['fails', { serverError: { with: 'status=', status: 503 } }],
    ['is answered with nothing', { hollow: { with: 'status=' } }],
  ])(
    'and the filter by status %s at first: no day is proved before it is asked again',
    async (_name, faults) => {
      await start({ statusUnasked: 3 }, { scope: noClasses });
      bench.simulator.setFaults(faults);
      await bench.run();
      await expectTruth();
      expect(await statesOf(bench.db)).toMatchObject({ orders: three('walked none') });
      for (const name of Object.keys(faults)) bench.simulator.setFaults({ [name]: null });
      // No day is read again for it meanwhile.
      await runLater(30 * minute);
      expect(await one('select max(attempts)::int as value from sync.slices')).toBe(1);
      await runLater(31 * minute);
      expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
      expect(await differences(bench)).toEqual([]);
    },
  );

  test.each<[string, Partial<Dialect>]>([
    ['a platform that heeds dates', {}],
    ['one that does not', { dates: 'ignored' }],
  ])(
    'and hours without list and total at the first contact, from %s: no day is sealed by its list',
    async (_name, dialect) => {
      await start({ statusUnasked: 3, ...dialect }, { scope: noClasses });
      bench.simulator.setFaults({ hollow: { path: '/v3/orders' } });
      await bench.run();
      expect(await fact('orders.status_totals')).toBeUndefined();
      bench.simulator.setFaults({ hollow: null });
      for (const ms of [minute, 2 * minute, 61 * minute, 25 * hour]) {
        await runLater(ms);
        await expectTruth();
      }
      expect(await differences(bench)).toEqual([]);
    },
  );

  test.each(['empty', 'ignored'] as const)(
    'and the filter by status is %s for a moment at the first contact: no day is sealed by its list',
    async (statusFilter) => {
      await start({ statusUnasked: 3, statusFilter }, { scope: noClasses });
      await bench.run();
      await expectTruth();
      bench.simulator.setDialect({ statusFilter: 'honoured' });
      await runLater(30 * minute);
      await expectTruth();
      await runLater(31 * minute);
      expect(await fact('orders.status_totals')).toBe('exceed');
      expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
      expect(await differences(bench)).toEqual([]);
    },
  );

  test('and the filter matches nothing when the first orders come: no day is sealed by its list', async () => {
    await start({ statusUnasked: 3 }, { scope: noClasses });
    for (const { record } of orders(() => 2)) bench.simulator.hide('orders', record.operation_id);
    await bench.run();
    expect(await fact('orders.status_totals')).toBe('no orders');
    for (const status of [2, 3]) {
      bench.simulator.insert('orders', orderOf('2026-04-06', 10 + status, { status }));
    }
    bench.simulator.setDialect({ statusFilter: 'empty' });
    await runLater(25 * hour);
    await expectTruth();
    expect(await fact('orders.status_totals')).toBe('unknown');
    bench.simulator.setDialect({ statusFilter: 'honoured' });
    await runLater(61 * minute);
    expect(await fact('orders.status_totals')).toBe('exceed');
    await runLater(61 * minute);
    await expectTruth();
    expect(await differences(bench)).toEqual([]);
  });

  test('the first order of all has it: the day is asked by status when it is over', async () => {
    await start({ statusUnasked: 2 }, { isMixed: false, scope: noClasses });
    for (const { record } of orders(() => 2)) bench.simulator.hide('orders', record.operation_id);
    await bench.run();
    expect(await fact('orders.status_totals')).toBe('no orders');
    bench.simulator.insert('orders', orderOf('2026-04-06', 1, { status: 2 }));
    await runLater(minute);
    await runLater(14 * hour);
    await expectTruth();
    expect(await differences(bench)).toEqual([]);
  });

  test('and the last order of a list settles, where days begin before UTC’s: its day is read by status', async () => {
    await start({ statusUnasked: 2, dates: 'utc+8' }, { scope: noClasses });
    bench.simulator.insert('orders', orderOf('2026-04-06', 1, { status: 1 }));
    await bench.run();
    bench.simulator.mutate('orders', 'o-2026-04-06-1', (order) => ({ ...order, status: 2 }));
    // On the next day as the platform counts them.
    const create_time = '2026-04-06T17:00:00Z';
    bench.simulator.insert('orders', orderOf('2026-04-06', 2, { status: 3, create_time }));
    await runLater(14 * hour);
    await runLater(minute);
    await expectTruth();
    expect(
      await one(
        `select state || ' ' || proof || coalesce(last_error, '') as value from sync.slices where resource = 'orders' and day = '2026-04-06'`,
      ),
    ).toBe('sealed walk');
  });

  test('a filter by status that tells nothing, and then no totals for good: the days are proved by two walks', async () => {
    await start({ statusFilter: 'empty' }, { scope: noClasses });
    await bench.run();
    expect(await fact('orders.status_totals')).toBe('unknown');
    bench.simulator.setDialect({ totals: 'absent' });
    for (const ms of [61 * minute, 25 * hour, 25 * hour, 25 * hour]) await runLater(ms);
    expect(await fact('orders.status_totals')).toBe('absent');
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walks') });
  });

  test('a filter by status that fails at first is looked at again in an hour', async () => {
    await start({}, { scope: noClasses });
    bench.simulator.setFaults({ serverError: { with: 'status=', status: 503 } });
    await bench.run();
    expect(await fact('orders.status_totals')).toBe('unknown');
    bench.simulator.setFaults({ serverError: null });
    await runLater(61 * minute);
    expect(await fact('orders.status_totals')).toBe('add up');
    // A window without orders unlearns nothing.
    for (const { record } of orders((i) => 2 + (i % 2))) {
      bench.simulator.hide('orders', record.operation_id);
    }
    for (let i = 0; i < 3; i++) await runLater(25 * hour);
    expect(await fact('orders.status_totals')).toBe('add up');
  });

  test('a platform that refuses it and sorts as it likes: what is read whole is not lost', async () => {
    await start({ sort: 'ignored' }, { scope: noClasses });
    bench.simulator.setFaults({ poisonError: { with: 'status=' } });
    await bench.run();
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('walked none') });
  });

  test('found again: what counts have proved by status stays sealed', async () => {
    await start({ shortPages: 0, maxOrders: 4 }, { isMixed: false, scope: noClasses });
    await bench.run();
    await runLater(25 * hour);
    bench.simulator.setDialect({ statusUnasked: 3 });
    bench.simulator.insert('orders', orderOf('2026-04-07', 1, { status: 2 }));
    bench.simulator.insert('orders', orderOf('2026-04-07', 2, { status: 3 }));
    await runLater(minute);
    await runLater(14 * hour);
    expect(await fact('orders.status_totals')).toBe('exceed');
    expect((await statesOf(bench.db)).orders).toContain('sealed counts');
    expect(await differences(bench)).toEqual([]);
  });

  test('and no totals come with the statuses: what they proved before stays sealed', async () => {
    await start({ statusUnasked: 3 }, { scope: noClasses });
    await bench.run();
    answerOrdersWith((page, { status, limit }) =>
      status !== undefined && limit === 1 ? { ...page, total: null } : page,
    );
    await bench.run(onlyOrders);
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
  });

  test('an outage within a status: the walk is gone on with when it is over', async () => {
    await start({ statusUnasked: 3 }, { scope: noClasses });
    await bench.run();
    let isOut = false;
    const { platform } = bench.worker;
    bench.worker.platform = {
      ...platform,
      orders: async (query, signal, slots) => {
        isOut ||= query.status === 3 && query.pageKey !== undefined;
        if (isOut) throw transient('platform_unavailable', 'The platform is down');
        return platform.orders(query, signal, slots);
      },
    };
    await bench.run(onlyOrders).catch(() => undefined);
    expect(
      await one('select count(*)::int as value from sync.slices where checkpoint is not null'),
    ).toBeGreaterThan(0);
  });

  test('a filter by status that fails keeps nothing else from being read, and is gone when two probes say so', async () => {
    await start({});
    const later = async (): Promise<unknown> => {
      await runLater(25 * hour);
      await expectTruth();
      return fact('orders.status_totals');
    };
    await bench.run();
    bench.simulator.setFaults({ serverError: { with: 'status=', status: 503 } });
    bench.simulator.insert('nft_classes', classOf('2026-04-06', 1));
    expect(await later()).toBe('add up');
    expect(await one(`select count(*)::int as value from archive.nft_classes`)).toBe(37);
    expect(await later()).toBe('absent');
    expect(await later()).toBe('absent');
    expect((await statesOf(bench.db)).orders?.map((state) => state.split(' ')[0])).toEqual(
      three('sealed'),
    );
  });

  test.each([
    ['days of several pages', 4],
    ['days of less than a page', 0],
  ])(
    'from one day to the next, %s: nothing is missed, and what came is held',
    async (_name, shortPages) => {
      await start({ shortPages }, { scope: noClasses });
      await bench.run();
      bench.simulator.setDialect({ statusUnasked: 3 });
      addOne();
      for (let i = 0; i < 2; i++) {
        await runLater(25 * hour);
        await expectTruth();
        expect(await held('orders')).toBe(13);
      }
      bench.simulator.setDialect({ statusUnasked: 0 });
      await runLater(25 * hour);
      await expectTruth();
      expect(await fact('orders.status_totals')).toBe('add up');
      expect((await statesOf(bench.db)).orders?.map((state) => state.split(' ')[0])).toEqual(
        three('sealed'),
      );
    },
  );

  test.each<[string, Partial<Dialect>]>([
    ['no totals, days of several pages', { totals: 'absent' }],
    ['no totals, days of less than a page', { totals: 'absent', shortPages: 0 }],
    ['totals of the page', { totals: 'page' }],
  ])(
    'and %s: found when the turn of the day comes, by the orders that are shown',
    async (_name, dialect) => {
      await start(dialect, { scope: noClasses });
      await bench.run();
      await runLater(hour);
      bench.simulator.setDialect({ statusUnasked: 3 });
      addOne();
      await bench.skipTo(bench.simulator.clock.now() + 7 * 25 * hour);
      await bench.run();
      for (let i = 0; i < 2; i++) await runLater(61 * minute);
      await expectTruth();
      expect(await held('orders')).toBe(13);
      expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walks') });
    },
  );
});

describe('totals that do not count their list', () => {
  test.each<[string, Partial<Dialect>, ArchivedScope]>([
    ['stopped at a number that ends a page', { totalsCap: 4 }, { classes: 'all' }],
    ['stopped within a page', { totalsCap: 5 }, noClasses],
  ])('%s: the list is read to its end, and not proved', async (_name, dialect, scope) => {
    await start(dialect, { scope });
    const lived = await live();
    expect(lived.first).toMatchObject({
      orders: three('walked none'),
      ...(scope.classes === 'none' ? {} : { nft_classes: three('walked none') }),
    });
    expect(lived.later).toEqual(lived.first);
    expect(await differences(bench)).toEqual([]);
  });

  test('but their page: they are learned to be of no use, and two walks are the proof', async () => {
    await start({ totals: 'page', classTotals: 'page' });
    const lived = await live();
    expect(lived.first).toEqual({
      orders: three('walked none'),
      nft_classes: three('walked none'),
    });
    expect(lived.hour).toEqual({
      orders: three('sealed walks'),
      nft_classes: three('sealed walks'),
    });
    expect(await fact('nft_classes.totals')).toBe('inconsistent');
    expect(await differences(bench)).toEqual([]);
  });
});

describe('hours in which the platform answers 200 and {"data":{}}', () => {
  test.each<[string, Faults['hollow']]>([
    ['each time', {}],
    ['every other time', { share: 0.5 }],
  ])(
    '%s: nothing is unsealed, marked or proved by it, and all is well an hour after',
    async (_name, hollow) => {
      await start({});
      // The third day is not read yet.
      await bench.run();
      await bench.db.query(
        `update sync.slices set state = 'open', proof = 'none', whole_walk = 0, walk = 0, shown_total = null, walked_at = null
        where day = '2026-04-03'`,
      );
      await bench.db.query(`delete from sync.pages where day = '2026-04-03'`);
      bench.simulator.advance(24 * hour);
      bench.simulator.setFaults({ hollow });
      for (let i = 0; i < 3; i++) {
        bench.simulator.advance(hour);
        const { outcome } = await bench.run();
        expect(['left', 'done']).toContain(outcome);
        await expectTruth();
        const { orders: ofOrders = [] } = await statesOf(bench.db);
        expect(ofOrders.slice(0, 2).map((state) => state.split(' ')[0])).toEqual([
          'sealed',
          'sealed',
        ]);
      }
      expect(await fact('orders.totals')).toBe('present');
      bench.simulator.setFaults({ hollow: null });
      await runLater(hour);
      await expectTruth();
      const { orders: ofOrders, nft_classes: ofClasses } = await statesOf(bench.db);
      expect(
        [...(ofOrders ?? []), ...(ofClasses ?? [])].filter((state) => !state.startsWith('sealed')),
      ).toEqual([]);
      expect(await differences(bench)).toEqual([]);
    },
  );

  test('records without their totals are kept, and believed to have none only by two probes a day apart', async () => {
    await start({});
    await bench.run();
    bench.simulator.setDialect({ totals: 'absent', classTotals: 'absent' });
    await runLater(25 * hour);
    expect(await fact('orders.totals')).toBe('present');
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
    await runLater(25 * hour);
    expect(await fact('orders.totals')).toBe('absent');
    for (let i = 0; i < 2; i++) await runLater(61 * minute);
    await expectTruth();
    expect(await statesOf(bench.db)).toEqual({
      orders: three('sealed walks'),
      nft_classes: three('sealed walks'),
    });
  });

  test('a platform that leaves out a total of none: its empty days are proved by two walks', async () => {
    await start({}, { scope: noClasses });
    await bench.run();
    await bench.db.query(`update sync.facts set value = 'absent' where fact like '%.empty_total'`);
    await bench.db.query(
      `update sync.slices set state = 'open', proof = 'none', whole_walk = 0, shown_total = null, platform_total = null, due_at = '2026-04-06'
        where day = '2026-03-20'`,
    );
    bench.simulator.setFaults({ hollow: { with: 'start_date=2026-03-20' } });
    await runLater(minute);
    await runLater(61 * minute);
    await expectTruth();
    expect(
      await one(`select proof as value from sync.slices where day = '2026-03-20' limit 1`),
    ).toBe('walks');
  });
});

describe('no totals at all', () => {
  const none = { totals: 'absent', classTotals: 'absent' } as const;

  test('and no order: a list that is cut is shown twice the same, and proves nothing', async () => {
    await start({ ...none, sort: 'ignored', listCap: 8 });
    const lived = await live();
    expect(lived.later).toEqual({
      orders: three('walked none'),
      nft_classes: three('walked none'),
    });
  });

  test('and lists that are cut: nothing is missed for that, and both ends are held', async () => {
    await start({ ...none, listCap: 8 });
    await live();
    expect(await differences(bench)).toEqual([]);
    await runLater(hour);
    await expectTruth();
  });

  test('P9: ever new keys to pages shown before end when nothing new is shown, also for a walk that was stopped', async () => {
    await start({ ...none, lastKey: 'around' }, { scope: noClasses });
    await bench.run({
      only: { resource: 'orders', days: { from: '2026-04-06', to: '2026-04-07' } },
    });
    const before = bench.simulator.requests.total;
    for (let i = 0; i < 4; i++) {
      const stopping = new AbortController();
      let pages = 0;
      const onProgress = (): void => {
        if (++pages > 2) stopping.abort();
      };
      await bench.run({ ...onlyOrders, signal: stopping.signal, onProgress });
    }
    await bench.run(onlyOrders);
    await runLater(61 * minute);
    expect(bench.simulator.requests.total - before).toBeLessThan(600);
    await expectTruth();
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walks') });
  });
});

test('sabotaged: a day that is sealed with what a cut list shows is found by the oracle of seals', async () => {
  await start({ totalsCap: 2, listCap: 2 });
  await bench.run();
  await expectTruth();
  await bench.db.query(
    `update sync.slices set state = 'sealed', proof = 'walk',
            proved_at = (select max(proved_at) from sync.slices) where day = '2026-04-02' and resource = 'nft_classes'`,
  );
  expect((await falseSeals(bench)).map(({ missing: ids }) => ids.length)).toEqual([8]);
});

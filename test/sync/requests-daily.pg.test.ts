// P11 in numbers: what comes once a day, once in six hours, once at all. Counts instead of pages, pages instead of
// records, and nothing more often than it is set.
import { afterEach, describe, expect, test } from 'vitest';
import { noon, tenDays, type Bench } from '../support/archive.ts';
import { costOf, jumpTo } from '../support/cost.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const today = '2026-04-06';
const yesterday = '2026-04-05';
/** The window's first day, two of its empty ones, and the last. */
const days = ['2026-03-01', '2026-03-20', '2026-04-04', yesterday, today];
/** Settled, and every day the same: for counting on it. */
const flat = { flat: true, settleMs: 0, pendingShare: 0 };

describe('a day that is proved again', () => {
  test('costs four requests whatever its size: here 1,000 orders', async () => {
    const orders = Array.from({ length: 1_000 }, (_, i) => ({
      record: {
        operation_id: `o${i}`,
        status: 2,
        create_time: new Date(Date.parse(yesterday) + i * 15_000).toISOString(),
        update_time: `${yesterday}T23:00:00Z`,
      },
    }));
    bench = await createBench(
      { days, records: { orders, classes: [] } },
      { scope: { classes: 'none' } },
    );
    await bench.run();
    const state = async (): Promise<unknown> => {
      const { rows } = await bench.db.query('select state, proof from sync.slices where day = $1', [
        yesterday,
      ]);
      return rows[0];
    };
    expect(await state()).toEqual({ state: 'sealed', proof: 'walk' });
    // A day later; the probe, which is due then too, is counted apart.
    await jumpTo(bench, noon + day + minute);
    const { orders: cost } = await costOf(bench, () => bench.run());
    expect(await state()).toEqual({ state: 'sealed', proof: 'counts' });
    // Four for the 1,000; one for each of the three empty days before, by status as well for one whose turn it is;
    // today's walk, and the day's that has just ended, which is asked by status as well.
    expect(cost).toBeLessThanOrEqual(4 + 3 + 3 + 1 + 4);
    const asked = bench.simulator.requests
      .recent()
      .slice(-cost)
      .filter(({ query }) => query.includes(`start_date=${yesterday}`));
    expect(asked.map(({ query }) => /status=\d/.exec(query)?.[0] ?? 'all')).toEqual([
      'all',
      'status=3',
      'status=2',
      'status=1',
    ]);
  });
});

test('4,000 classes are walked again at the rate of pages, as often as is set and no more', async () => {
  bench = await createBench({
    days: ['2026-03-01', '2026-04-04', '2026-04-05', '2026-04-06'],
    world: { ...flat, ordersPerDay: 0, classesPerDay: 1_389, driftMs: hour, since: '2026-04-04' },
  });
  await bench.run();
  const { rows } = await bench.db.query<{ held: number }>(
    'select count(*)::int as held from archive.nft_classes',
  );
  const held = rows[0]?.held ?? 0;
  expect(held).toBeGreaterThan(3_000);
  const costs: number[] = [];
  // Every hour for a quarter of a day: walked again once, six hours after the first time.
  for (let i = 1; i <= 7; i++) {
    await jumpTo(bench, noon + i * hour + minute);
    costs.push((await costOf(bench, () => bench.run())).classes);
  }
  // An overlap of one row a page; today's few pages come anyhow.
  const refresh = Math.max(...costs);
  expect(refresh).toBeLessThanOrEqual(Math.ceil(held / 199) + 9);
  expect(refresh).toBeGreaterThan((held - 1_389) / 200);
  expect(costs.filter((cost) => cost > 3)).toEqual([refresh]);
});

describe('the probe', () => {
  const world = { ...flat, ordersPerDay: 70, classesPerDay: 5 };

  test('once a day, with at most fifteen requests for orders, nine for classes, and two for keys', async () => {
    bench = await createBench({ days, world });
    await bench.run();
    await jumpTo(bench, noon + 25 * hour);
    await bench.run();
    await bench.db.query(
      `update sync.facts set confirmed_at = (confirmed_at at time zone 'UTC' - interval '2 days') at time zone 'UTC' where fact like '%.probed'`,
    );
    const { orders, classes } = await costOf(bench, () => bench.run());
    expect(orders - 1).toBeLessThanOrEqual(15 + 2);
    expect(classes - 1).toBeLessThanOrEqual(9);
    bench.simulator.advance(minute);
    expect(await costOf(bench, () => bench.run())).toEqual({ orders: 1, classes: 1 });
  });

  test('with a platform that refuses and shows little, not many more', async () => {
    bench = await createBench({
      days,
      world: { ...world, ordersPerDay: 1, classesPerDay: 1 },
      dialect: { overLimit: 'refuse', maxOrders: 10, maxClasses: 10 },
    });
    bench.simulator.requests.clear();
    await bench.run({ only: { days: { from: today, to: '2026-04-07' } } });
    const { byPath } = bench.simulator.requests;
    expect(byPath['/v3/orders']).toBeLessThanOrEqual(1 + 15 + 2 + 2 + 1);
    expect(byPath['/v1beta1/nft/classes']).toBeLessThanOrEqual(9 + 2 + 2 + 1);
  });
});

test('a first sync costs one request a day, and one more for every fifty orders or two hundred classes', async () => {
  const { days: twelve } = tenDays;
  bench = await createBench({
    days: twelve,
    world: { ...flat, ordersPerDay: 130, classesPerDay: 250 },
  });
  const { orders, classes } = await costOf(bench, () => bench.run());
  const probe = 1 + 16;
  expect(orders).toBeLessThanOrEqual(twelve.length * Math.ceil(130 / 50) + probe);
  expect(classes).toBeLessThanOrEqual(twelve.length * 2 + probe);
});

test('a month that has gone hours ago is not asked for again and again until it is decided', async () => {
  const ofMarch = ['2026-03-30', '2026-03-31'];
  bench = await createBench(
    {
      days: [...ofMarch, '2026-04-01', '2026-04-30'],
      world: { ...flat, ordersPerDay: 20 },
      dialect: { monthEnd: 'utc+8' },
      startAt: Date.parse('2026-04-30T04:00:00Z'),
    },
    { scope: { classes: 'none' } },
  );
  await bench.run();
  bench.simulator.requests.clear();
  // A tick when March has gone there; and one every half hour from when its days are due again, until noon.
  const from = Date.parse('2026-05-01T04:05:00Z');
  for (const at of [
    from - 12 * hour,
    ...Array.from({ length: 16 }, (_, i) => from + i * 30 * minute),
  ]) {
    bench.simulator.setNow(at);
    await bench.run();
  }
  const march = bench.simulator.requests
    .recent()
    .filter(({ query }) => query.includes('start_date=2026-03'));
  // Twice an hour at first, then hourly: each time the count, or the walk, and whether March is shown at all.
  expect(march.length).toBeGreaterThan(ofMarch.length * 8);
  expect(march.length).toBeLessThan(ofMarch.length * (8 + 4 + 1) * 2);
});

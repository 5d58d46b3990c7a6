// P11 in numbers: what comes once a day, once in six hours, once at all, and nothing more often than it is set.
import { afterEach, describe, expect, test } from 'vitest';
import { noon, tenDays, type Bench } from '../support/archive.ts';
import { costOf, jumpTo } from '../support/cost.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const minute = 60_000;
const hour = 60 * minute;
const today = '2026-04-06';
const yesterday = '2026-04-05';
/** The window's first day, two of its empty ones, and the last. */
const days = ['2026-03-01', '2026-03-20', '2026-04-04', yesterday, today];
/** Settled, and every day the same: for counting on it. */
const flat = { flat: true, settleMs: 0, pendingShare: 0 };

test('a first sync of a small project costs at most 153 requests, and a quiet day 150 beside its ticks', async () => {
  bench = await createBench({
    startAt: Date.parse('2026-04-26T12:00:00Z'),
    world: { settleMs: 0, pendingShare: 0, ordersPerDay: 2, classesPerDay: 1 },
  });
  const first = await costOf(bench, () => bench.run());
  expect(first.orders + first.classes).toBeLessThanOrEqual(153);
  const costs: number[] = [];
  for (let hours = 1; hours <= 3 * 24; hours++) {
    bench.simulator.advance(hour);
    const { orders, classes } = await costOf(bench, () => bench.run());
    // A tick hears the time, and asks each list for what is new today.
    costs.push(orders + classes - 3);
  }
  const [, , third] = [0, 24, 48].map((from) =>
    costs.slice(from, from + 24).reduce((sum, one) => sum + one, 0),
  );
  expect(third).toBeLessThanOrEqual(150);
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
  // Every hour for a quarter of a day: its days are read a second time, and after six hours the list as a whole.
  for (let i = 1; i <= 7; i++) {
    await jumpTo(bench, noon + i * hour + minute);
    costs.push((await costOf(bench, () => bench.run())).classes);
  }
  // An overlap of one row a page; today's few pages come anyhow.
  const refresh = Math.max(...costs);
  expect(refresh).toBeLessThanOrEqual(Math.ceil(held / 199) + 9);
  expect(refresh).toBeGreaterThan((held - 1_389) / 200);
  expect(costs.filter((cost) => cost > 3)).toHaveLength(2);
});

describe('the probe', () => {
  const world = { ...flat, ordersPerDay: 70, classesPerDay: 5 };

  test('once a day, with at most six requests for orders and for classes', async () => {
    bench = await createBench({ days, world });
    await bench.run();
    await jumpTo(bench, noon + 25 * hour);
    await bench.run();
    await bench.db.query(
      `update sync.facts set confirmed_at = (confirmed_at at time zone 'UTC' - interval '2 days') at time zone 'UTC' where fact like '%.probed'`,
    );
    const { orders, classes } = await costOf(bench, () => bench.run());
    expect(orders - 1).toBeLessThanOrEqual(6);
    expect(classes - 1).toBeLessThanOrEqual(6);
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
    // Beside the probe: the books of three spans, and today by each status.
    expect(byPath['/v3/orders']).toBeLessThanOrEqual(5 + 3 * 5 + 2 * 4);
    expect(byPath['/v1beta1/nft/classes']).toBeLessThanOrEqual(5 + 3 * 2 + 2);
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
  // Every four hours at most: in the last half day of its month a day is read only to hold what it shows.
  expect(march.length).toBeGreaterThan(0);
  expect(march.length).toBeLessThanOrEqual(ofMarch.length * 2 * 5);
});

// P11 in numbers: what each kind of work costs the platform, counted by the platform. Nothing is asked for more often
// than is set, what was shown before is not asked for again without a reason, and not written again either (P2).
import { expect, test } from 'vitest';
import type { Worker } from '../../src/sync/worker.ts';
import { noon, type Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;

const minute = 60_000;
const hour = 60 * minute;
const today = '2026-04-06';
/** The window's first day, two of its empty ones, and the last. */
const days = ['2026-03-01', '2026-03-20', '2026-04-04', '2026-04-05', today];
/** Settled, and every day the same: for counting on it. */
const flat = { flat: true, settleMs: 0, pendingShare: 0 };

type Cost = { orders: number; classes: number };

/** Requests made by a run, by list. */
async function costOfRun(): Promise<Cost> {
  const { requests } = bench.simulator;
  requests.clear();
  await bench.run();
  const { byPath } = requests;
  return { orders: byPath['/v3/orders'] ?? 0, classes: byPath['/v1beta1/nft/classes'] ?? 0 };
}

const laterBy = (ms: number): Promise<Cost> => {
  bench.simulator.advance(ms);
  return costOfRun();
};

/** Sets the platform's clock and lets that be noticed; the daily probe counts as made. */
async function jumpTo(at: number): Promise<void> {
  bench.simulator.setNow(at);
  await bench.worker.platform.page({ resource: 'orders', limit: 1, sortBy: 'DATE_DESC' });
  await bench.db.query(`update sync.facts set confirmed_at = $1 where fact like '%.probed'`, [
    new Date(at).toISOString(),
  ]);
}

/** Everything that would tell of a row written or removed: of the archive, of rejects, of facts. */
async function written(): Promise<unknown> {
  const tables = [
    'archive.orders',
    'archive.nft_classes',
    'archive.order_versions',
    'archive.nft_class_versions',
    'sync.rejects',
    'sync.facts',
  ];
  return Promise.all(
    tables.map(async (table) => {
      const { rows } = await bench.db.query(
        `select count(*), md5(coalesce(string_agg(ctid::text || xmin::text, ',' order by ctid), '')) from ${table}`,
      );
      return rows[0];
    }),
  );
}

test.each<[string, Worker['scope'], number]>([
  ['all classes', { classes: 'all' }, 1],
  ['three owners', { classes: ['a', 'b', 'c'] }, 3],
])(
  'with %s, a tick that finds nothing new costs one request for each list, and no row is written, also where all is read again',
  async (_name, scope, lists) => {
    bench = await createBench(
      { days, world: { ...flat, ordersPerDay: 20, classesPerDay: 5, since: '2026-04-04' } },
      { scope },
    );
    await bench.run();
    // New orders come once in an hour; the first tick takes what came meanwhile.
    bench.simulator.setNow(noon + minute);
    await bench.run();
    const before = await written();
    expect(await laterBy(minute)).toEqual({ orders: 1, classes: lists });
    expect(await laterBy(minute)).toEqual({ orders: 1, classes: lists });
    const again = await bench.run({ only: { days: { from: '2026-04-04', to: '2026-04-07' } } });
    expect(again).toMatchObject({ outcome: 'done', recordsNew: 0, recordsChanged: 0 });
    expect(await written()).toEqual(before);
    // Sabotaged: a row written anew is seen.
    await bench.db.query(`update archive.orders set changed_at = changed_at where slice_day = $1`, [
      today,
    ]);
    expect(await written()).not.toEqual(before);
  },
);

/** The `i`-th of today, a minute each. */
const orderAt = (i: number, status = 2) => ({
  record: {
    operation_id: `o-${String(i).padStart(4, '0')}`,
    status,
    create_time: new Date(Date.parse(today) + i * minute).toISOString(),
  },
});

test('today’s tail is the end of its list, also where its orders have every status', async () => {
  const orders = Array.from({ length: 120 }, (_, i) => orderAt(i, i % 3 === 0 ? 3 : 2));
  bench = await createBench({ days, records: { orders, classes: [] } });
  await bench.run();
  bench.simulator.setNow(noon + minute);
  await bench.run();
  expect((await laterBy(minute)).orders).toBe(1);
});

test.each([
  [30, 1],
  [31, 2],
  [500, 11],
])(
  '%i new orders of today cost %i requests: the last page again, and one for every fifty',
  async (count, cost) => {
    const held = 20;
    bench = await createBench({
      days,
      records: { orders: Array.from({ length: held }, (_, i) => orderAt(i)), classes: [] },
    });
    await bench.run();
    for (let i = held; i < held + count; i++) bench.simulator.insert('orders', orderAt(i));
    expect((await laterBy(minute)).orders).toBe(cost);
    const { rows } = await bench.db.query('select count(*)::int as held from archive.orders');
    expect(rows).toEqual([{ held: held + count }]);
  },
);

test('classes are walked again at the rate of pages, as often as is set and no more', async () => {
  const world = {
    ...flat,
    ordersPerDay: 0,
    classesPerDay: 400,
    driftMs: hour,
    since: '2026-04-04',
  };
  bench = await createBench({ days, world });
  await bench.run();
  const { rows } = await bench.db.query<{ held: number }>(
    'select count(*)::int as held from archive.nft_classes',
  );
  const held = rows[0]?.held ?? 0;
  expect(held).toBeGreaterThan(900);
  const costs: number[] = [];
  // Every hour for a quarter of a day: its days are read a second time, and after six hours the list as a whole.
  for (let i = 1; i <= 7; i++) {
    await jumpTo(noon + i * hour + minute);
    costs.push((await costOfRun()).classes);
  }
  // An overlap of one row a page; today's few pages come anyhow.
  const refresh = Math.max(...costs);
  expect(refresh).toBeLessThanOrEqual(Math.ceil(held / 199) + 9);
  expect(refresh).toBeGreaterThan((held - 400) / 200);
  expect(costs.filter((cost) => cost > 3)).toHaveLength(2);
});

test('the probe comes once a day, with at most six requests for orders and for classes', async () => {
  const world = { ...flat, ordersPerDay: 70, classesPerDay: 5, since: '2026-04-04' };
  bench = await createBench({ days, world });
  await bench.run();
  await jumpTo(noon + 25 * hour);
  await bench.run();
  await bench.db.query(
    `update sync.facts set confirmed_at = (confirmed_at at time zone 'UTC' - interval '2 days') at time zone 'UTC' where fact like '%.probed'`,
  );
  const { orders, classes } = await costOfRun();
  expect(orders - 1).toBeLessThanOrEqual(6);
  expect(classes - 1).toBeLessThanOrEqual(6);
  expect(await laterBy(minute)).toEqual({ orders: 1, classes: 1 });
});

test('a page without a row, of a list that counts some, makes no pages of one row', async () => {
  const world = { ...flat, ordersPerDay: 70, classesPerDay: 0, since: '2026-04-04' };
  const faults = {
    dropped: { rows: 50, with: 'start_date=2026-03-01&sort_by=DATE_DESC', next: 1 },
  };
  bench = await createBench({ days, world, faults });
  await bench.run();
  const { rows } = await bench.db.query(`select value from sync.facts where fact = 'orders.limit'`);
  expect(rows).toEqual([{ value: '50' }]);
});

test('the probe of a platform that refuses and shows little costs not many more', async () => {
  bench = await createBench({
    days,
    world: { ...flat, ordersPerDay: 1, classesPerDay: 1 },
    dialect: { overLimit: 'refuse', maxOrders: 10, maxClasses: 10 },
  });
  await bench.run({ only: { days: { from: today, to: '2026-04-07' } } });
  const { byPath } = bench.simulator.requests;
  // Beside the probe: the books of three spans, and today by each status.
  expect(byPath['/v3/orders']).toBeLessThanOrEqual(5 + 3 * 5 + 2 * 4);
  expect(byPath['/v1beta1/nft/classes']).toBeLessThanOrEqual(5 + 3 * 2 + 2);
});

test('a month that has gone hours ago is not asked for again and again until it is decided', async () => {
  const ofMarch = ['2026-03-30', '2026-03-31'];
  bench = await createBench(
    {
      days: [...ofMarch, '2026-04-01', '2026-04-30'],
      world: { ...flat, ordersPerDay: 2 },
      dialect: { monthEnd: 'utc+8' },
      startAt: Date.parse('2026-04-30T04:00:00Z'),
    },
    { scope: { classes: 'none' } },
  );
  await bench.run();
  bench.simulator.requests.clear();
  // A tick when March has gone there; and one every hour from when its days are due again, until noon.
  const from = Date.parse('2026-05-01T04:05:00Z');
  for (const at of [from - 12 * hour, ...Array.from({ length: 8 }, (_, i) => from + i * hour)]) {
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

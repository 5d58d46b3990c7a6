// Where a platform gives no totals: two whole walks, one from each end and an hour or more apart, are the proof (proof
// rule 2), and they are marked as the weaker one.
import { afterEach, describe, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import { differences, type Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const minute = 60_000;
const hour = 60 * minute;

/** Five days with orders, two empty ones, and today. */
const days = ['2026-03-01', '2026-03-31', ...daysIn({ from: '2026-04-01', to: '2026-04-07' })];
const past = 7;

/** How many past days are in each state, with their proof. */
async function states(resource = 'orders'): Promise<Record<string, number>> {
  const { rows } = await bench.db.query<{ state: string; days: number }>(
    `select state || ' ' || proof as state, count(*)::int as days
       from sync.slices where resource = $1 and day = any ($2) and day < '2026-04-06' group by 1`,
    [resource, days],
  );
  return Object.fromEntries(rows.map(({ state, days }) => [state, days]));
}

const settledOrders = Array.from({ length: 300 }, (_, i) => ({
  record: {
    operation_id: `o${i}`,
    status: 2,
    create_time: `2026-04-0${1 + (i % 5)}T1${i % 9}:00:00Z`,
    update_time: '2026-04-05T23:00:00Z',
  },
}));

const records = { orders: settledOrders, classes: [] };
const ordersOnly = { scope: { classes: 'none' } } as const;

test('totals of zero: the first walk proves nothing, the second an hour later does, the other way round', async () => {
  bench = await createBench(
    { records, days, dialect: { totals: 'zero', classTotals: 'zero' } },
    ordersOnly,
  );
  await bench.run();
  expect(await states()).toEqual({ 'walked none': past });
  await bench.runLater(50 * minute);
  expect(await states()).toEqual({ 'walked none': past });
  await bench.runLater(11 * minute);
  expect(await states()).toEqual({ 'sealed walks': past });
  const asked = bench.simulator.requests.recent().map(({ path, query }) => `${path}?${query}`);
  const newestFirst = asked.filter(
    (one) => one.startsWith('/v3/orders') && one.includes('start_date=2026-04-01'),
  );
  expect(newestFirst.join('\n')).toContain('sort_by=DATE_DESC');
  // A day later they are walked again: there is nothing to count by.
  const before = bench.simulator.requests.total;
  await bench.runLater(25 * hour);
  expect(bench.simulator.requests.total - before).toBeGreaterThan(past);
  expect((await states())['sealed walks']).toBe(past);
  expect(await differences(bench)).toEqual([]);
});

describe('two walks that do not agree', () => {
  const noTotals = { totals: 'absent', classTotals: 'absent' } as const;

  test('P6: an order that comes between them leaves the day unproved until two walks show the same', async () => {
    bench = await createBench({ records, days, dialect: noTotals }, ordersOnly);
    await bench.run();
    bench.simulator.insert('orders', {
      record: { operation_id: 'late', status: 2, create_time: '2026-04-02T09:00:00Z' },
    });
    await bench.runLater(61 * minute);
    expect(await states()).toEqual({ 'sealed walks': past - 1, 'walked none': 1 });
    await bench.runLater(61 * minute);
    expect(await states()).toEqual({ 'sealed walks': past });
    expect(await differences(bench)).toEqual([]);
  });

  test('P6: rows withheld from the end of a list are seen by the walk that begins there', async () => {
    bench = await createBench({ records, days, dialect: noTotals }, ordersOnly);
    // The same place in every page, which is another record from each end.
    bench.simulator.setFaults({ dropped: { positions: [3], path: '/v3/orders' } });
    await bench.run();
    await bench.runLater(61 * minute);
    const { 'walked none': unproved = 0, 'sealed walks': empty = 0 } = await states();
    expect({ unproved, empty }).toEqual({ unproved: 5, empty: past - 5 });
    bench.simulator.setFaults({ dropped: null });
    // What seemed to have vanished is looked for a day later; then two walks agree.
    await bench.runLater(25 * hour);
    await bench.runLater(61 * minute);
    expect(await differences(bench)).toEqual([]);
    expect((await states())['sealed walks']).toBe(past);
  });
});

test('P6, sabotaged: two walks in the same direction, or too soon, prove no day with records', async () => {
  bench = await createBench(
    { records, days, dialect: { totals: 'absent', classTotals: 'absent' } },
    ordersOnly,
  );
  await bench.run();
  // As if the first walk had begun at the other end already: days of two records and more show that it had not.
  await bench.db.query(`update sync.slices set walk_order = 'desc'`);
  await bench.runLater(61 * minute);
  expect(await states()).toEqual({ 'sealed walks': past - 5, 'walked none': 5 });
  await bench.db.query(
    `update sync.slices set walk_order = 'asc', proof = 'none', state = 'walked' where day = '2026-04-02'`,
  );
  const only = { resource: 'orders', days: { from: '2026-04-02', to: '2026-04-03' } } as const;
  await bench.run({ only });
  expect(await states()).toEqual({ 'sealed walks': past - 5, 'walked none': 5 });
});

describe('given owners', () => {
  const classOf = (id: string, owner: string, day: string) => ({
    record: { id, owner, name: id, nft_count: 1, timestamp: `${day} 10:00:00 +0000 UTC` },
  });
  const owned = ['a', 'b', 'c'].map((id, i) => classOf(id, 'mine', `2026-04-0${i + 1}`));
  const others = [classOf('x', 'theirs', '2026-03-10'), classOf('old', 'theirs', '2025-11-10')];
  const scope = { classes: ['mine'] };
  const days = ['2026-03-01', '2026-04-01', '2026-04-02', '2026-04-03', '2026-04-06'];
  const give = (to: string) => (record: Record<string, unknown>) => ({ ...record, owner: to });
  const held = async (): Promise<unknown[]> => {
    const { rows } = await bench.db.query(
      'select id, owner, missing_since is not null as missing from archive.nft_classes order by id',
    );
    return rows;
  };

  test('a class that is transferred in is found, whenever it was created', async () => {
    bench = await createBench(
      {
        days,
        records: { orders: [], classes: [...owned, ...others] },
        dialect: { classesWindow: false },
      },
      { scope },
    );
    await bench.run();
    expect(await held()).toHaveLength(3);
    bench.simulator.mutate('nft_classes', 'x', give('mine'));
    await bench.runLater(7 * hour);
    expect(await held()).toContainEqual({ id: 'x', owner: 'mine', missing: false });
  });

  test('one that is transferred away is asked for by its id: its new owner is archived, and it is not missing', async () => {
    bench = await createBench(
      { days, records: { orders: [], classes: [...owned, ...others] } },
      { scope },
    );
    await bench.run();
    bench.simulator.mutate('nft_classes', 'b', give('theirs'));
    bench.simulator.hide('nft_classes', 'c');
    await bench.runLater(7 * hour);
    expect(await held()).toEqual([
      { id: 'a', owner: 'mine', missing: false },
      { id: 'b', owner: 'theirs', missing: false },
      { id: 'c', owner: 'mine', missing: true },
    ]);
    const { rows } = await bench.db.query<{ day: string; state: string }>(
      `select day, state from sync.slices where owner = 'mine' and day between '2026-04-01' and '2026-04-03' order by day`,
    );
    // What moved is accounted for; what vanished keeps its day open for another whole day.
    expect(rows.map(({ state }) => state)).toEqual(['sealed', 'sealed', 'walked']);
  });

  test('the whole list is no day: it is in no coverage, has no deadline and costs a page a period', async () => {
    bench = await createBench({ days, records: { orders: [], classes: owned } }, { scope });
    await bench.run();
    const { rows } = await bench.db.query(
      `select (select count(*)::int from sync.slices where day = '0001-01-01')        as slices,
              (select count(*)::int from analytics.coverage where day < '2000-01-01') as covered`,
    );
    expect(rows).toEqual([{ slices: 1, covered: 0 }]);
    await bench.runLater(hour);
    const undated = () =>
      bench.simulator.requests
        .recent()
        .filter(({ query }) => query.includes('owner=mine') && !query.includes('start_date'))
        .length;
    const before = undated();
    await bench.runLater(hour);
    expect(undated() - before).toBe(0);
    await bench.runLater(5 * hour);
    expect(undated() - before).toBe(1);
  });
});

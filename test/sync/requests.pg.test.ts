// P11 in numbers: what each kind of work costs the platform, counted by the platform. What was shown before is not
// asked for again without a reason, nor more often than it must.
import { afterEach, describe, expect, test } from 'vitest';
import type { Worker } from '../../src/sync/worker.ts';
import { noon, type Bench } from '../support/archive.ts';
import { costOf, type Cost } from '../support/cost.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const minute = 60_000;
const today = '2026-04-06';
const days = ['2026-03-01', '2026-03-20', '2026-04-04', '2026-04-05', today];
/** Settled, and every day the same: for counting on it. */
const flat = { flat: true, settleMs: 0, pendingShare: 0 };

const minuteLater = (): Promise<Cost> =>
  costOf(bench, () => {
    bench.simulator.advance(minute);
    return bench.run();
  });

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

const orderAt = (i: number, status = 2, on = today) => ({
  record: {
    operation_id: `${on}-${String(i).padStart(4, '0')}`,
    status,
    create_time: `${on}T${String(Math.floor(i / 60)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}:00Z`,
    update_time: `${on}T23:00:00Z`,
  },
});

describe('a tick that finds nothing new', () => {
  const scopes: [string, Worker['scope'], number][] = [
    ['a project with all classes', { classes: 'all' }, 1],
    ['without classes', { classes: 'none' }, 0],
    ['with three owners', { classes: ['a', 'b', 'c'] }, 3],
  ];
  test.each(scopes)(
    '%s: one request for each list, and no row written',
    async (_name, scope, lists) => {
      bench = await createBench(
        { days, world: { ...flat, ordersPerDay: 70, classesPerDay: 5 } },
        { scope },
      );
      await bench.run();
      // New orders come once in twenty minutes; the first tick takes what came meanwhile.
      bench.simulator.setNow(noon + minute);
      await bench.run();
      const before = await written();
      for (let i = 0; i < 3; i++) {
        expect(await minuteLater()).toEqual({ orders: 1, classes: lists });
      }
      expect(await written()).toEqual(before);
    },
  );
});

describe('new orders of today', () => {
  test.each([
    [30, 1],
    [31, 2],
    [500, 11],
  ])(
    '%i of them cost %i requests: the last page again, and one for every fifty',
    async (count, cost) => {
      const held = 20;
      bench = await createBench({
        days,
        records: { orders: Array.from({ length: held }, (_, i) => orderAt(i)), classes: [] },
      });
      await bench.run();
      for (let i = held; i < held + count; i++) bench.simulator.insert('orders', orderAt(i));
      const { orders } = await minuteLater();
      expect(orders).toBeLessThanOrEqual(Math.ceil(count / 50) + 1);
      expect(orders).toBe(cost);
      const { rows } = await bench.db.query('select count(*)::int as held from archive.orders');
      expect(rows).toEqual([{ held: held + count }]);
    },
  );
});

test('sabotaged: a request too many is counted, and a row written anew is seen', async () => {
  bench = await createBench({ days, world: { ...flat, ordersPerDay: 10, since: today } });
  await bench.run();
  const before = await written();
  const { signal } = new AbortController();
  const cost = await costOf(bench, async () => {
    await bench.run();
    await bench.worker.platform.orders(
      { limit: 1, sortBy: 'DATE_DESC', countTotal: false },
      signal,
    );
  });
  expect(cost).toEqual({ orders: 2, classes: 1 });
  expect(await written()).toEqual(before);
  await bench.db.query(`update archive.orders set changed_at = changed_at where slice_day = $1`, [
    today,
  ]);
  expect(await written()).not.toEqual(before);
});

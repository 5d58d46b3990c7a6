// What a platform's dialect is learned as (proof rule 6): each fact against a simulator that behaves so.
import { afterEach, expect, test } from 'vitest';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Bench } from '../support/archive.ts';
import { orderOf } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const hour = 3_600_000;

async function facts(): Promise<Record<string, string>> {
  const { rows } = await bench.db.query<{ fact: string; value: string }>(
    'select fact, value from sync.facts',
  );
  return Object.fromEntries(rows.map(({ fact, value }) => [fact, value]));
}

const learned: [Partial<Dialect>, Record<string, string>][] = [
  [
    {},
    {
      'orders.day_end': 'inclusive',
      'orders.date_filter': 'days',
      'orders.limit': '50',
      'orders.totals': 'present',
      'orders.status_totals': 'add up',
      'orders.time_form': 'rfc3339',
      'orders.last_key': 'empty',
      'orders.older_days': 'not shown',
      'orders.month_end': 'utc',
      'nft_classes.limit': '200',
      'nft_classes.time_form': 'go',
      'nft_classes.older_days': 'not shown',
    },
  ],
  [
    { dayEnd: 'exclusive', lastKey: 'repeated' },
    {
      'orders.day_end': 'exclusive',
      'orders.status_totals': 'add up',
      'orders.last_key': 'repeated',
      'nft_classes.day_end': 'exclusive',
    },
  ],
  [
    { dayEnd: 'instant', lastKey: 'onward' },
    { 'nft_classes.day_end': 'instant', 'orders.last_key': 'leads to an empty page' },
  ],
  [{ dates: 'ignored' }, { 'orders.date_filter': 'ignored' }],
  [
    { maxClasses: 50, overLimit: 'refuse', ordersWindow: false, classesWindow: false },
    {
      'nft_classes.limit': '50',
      'orders.older_days': 'answered',
      'nft_classes.older_days': 'answered',
      'nft_classes.oldest_day': '2026-01-06',
    },
  ],
  // What is told by other fields of an answer is learned together.
  [
    { maxClasses: 50, totals: 'absent', lastKey: 'null', timeForm: 'mixed' },
    {
      'nft_classes.limit': '50',
      'orders.totals': 'absent',
      'nft_classes.totals': 'present',
      'orders.last_key': 'null',
      'orders.time_form': 'mixed',
    },
  ],
  [
    {
      totals: 'null',
      classTotals: 'zero',
      lastKey: 'absent',
      timeForm: 'space',
      classTimeForm: 'fraction',
    },
    {
      'orders.totals': 'absent',
      'nft_classes.totals': 'absent',
      'orders.last_key': 'absent',
      'orders.time_form': 'space',
      'nft_classes.time_form': 'rfc3339 with fractions',
    },
  ],
  [
    { monthEnd: 'utc+8' },
    { 'orders.month_end': 'before_utc', 'nft_classes.month_end': 'before_utc' },
  ],
];

/** The window's first day, around the beginning of its second month, and the newest. */
const days = ['2026-03-01', '2026-03-31', '2026-04-01', '2026-04-05', '2026-04-06'];

test.each(learned)('%o', async (dialect, expected) => {
  bench = await createBench({
    dialect,
    days,
    world: { ordersPerDay: 60, classesPerDay: 20, quietShare: 0.2, since: '2026-01-05' },
  });
  await bench.run();
  expect(await facts()).toMatchObject(expected);
});

test('with one record, yesterday, an end date is understood, and everything else that it can tell', async () => {
  const order = { operation_id: 'a', status: 2, create_time: '2026-04-05T10:00:00Z' };
  bench = await createBench({ days, records: { orders: [{ record: order }], classes: [] } });
  await bench.run();
  expect(await facts()).toMatchObject({
    'orders.day_end': 'inclusive',
    'orders.totals': 'present',
    'orders.status_totals': 'add up',
    'orders.time_form': 'rfc3339',
    'nft_classes.day_end': 'unknown',
    'nft_classes.older_days': 'not shown',
  });
});

test('how long page keys live is measured day by day, by keys that earlier walks remember', async () => {
  bench = await createBench({ days });
  await bench.run();
  await bench.runLater(25 * hour);
  expect((await facts())['orders.key_life']).toBe('a day or more');
  bench.simulator.setDialect({ keyLifeMs: 2 * hour });
  await bench.runLater(25 * hour);
  expect((await facts())['orders.key_life']).toMatch(/less than a (day|week)$/);
  const { rows } = await bench.db.query(
    `select count(*)::int as warned from sync.facts where previous <> 'unknown'`,
  );
  // A measurement that moves is no changed behaviour, nor is what was not known before.
  expect(rows).toEqual([{ warned: 0 }]);
});

test('a behaviour that changes keeps what it was', async () => {
  bench = await createBench({ days });
  await bench.run();
  bench.simulator.setDialect({ lastKey: 'null', maxClasses: 50 });
  await bench.runLater(25 * hour);
  const { rows } = await bench.db.query(
    `select fact, previous, value from sync.facts where previous <> 'unknown' order by fact`,
  );
  expect(rows).toEqual([
    { fact: 'nft_classes.limit', previous: '200', value: '50' },
    { fact: 'orders.last_key', previous: 'empty', value: 'null' },
  ]);
});

test('P6: an end date that is read otherwise between two probes makes no day empty and no record missing', async () => {
  bench = await createBench({
    days,
    world: { ordersPerDay: 9, classesPerDay: 4, pendingShare: 0, settleMs: 60_000 },
  });
  await bench.run();
  bench.simulator.setDialect({ dayEnd: 'exclusive' });
  await bench.runLater(7 * hour);
  await bench.runLater(hour);
  const { rows } = await bench.db.query(
    `select (select count(*)::int from archive.nft_classes where missing_since is not null) as missing,
            (select count(*)::int from sync.slices s where resource = 'nft_classes' and proof <> 'none' and shown_total = 0
                and exists (select from archive.nft_classes c where c.project_id = s.project_id and c.slice_day = s.day)) as empty`,
  );
  expect(rows).toEqual([{ missing: 0, empty: 0 }]);
  await bench.runLater(18 * hour);
  expect((await facts())['nft_classes.day_end']).toBe('exclusive');
  const sealed = await bench.db.query(
    `select count(*)::int as days from sync.slices where state = 'sealed' and day < '2026-04-06'`,
  );
  expect(sealed.rows).toEqual([{ days: 2 * 4 }]);
});

test('P6: the records of the next day prove no empty day while an end date may mean either (proof rule 4)', async () => {
  bench = await createBench({
    days,
    // Only today has records: nothing tells how an end date is read, so that each day is asked for with the next.
    records: { orders: [0, 1, 2].map((i) => orderOf('2026-04-06', i)), classes: [] },
  });
  await bench.run();
  expect((await facts())['orders.day_end']).toBe('unknown');
  const proved = `select day from sync.slices
                   where resource = 'orders' and day < '2026-04-06' and proof <> 'none'`;
  expect((await bench.db.query(proved)).rows).toEqual([]);
  // Tomorrow it can be told, and what was left open is proved.
  await bench.runLater(24 * hour);
  expect((await facts())['orders.day_end']).toBe('inclusive');
  expect((await bench.db.query(proved)).rows).toHaveLength(4);
});

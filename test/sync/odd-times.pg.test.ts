// One record with a time that cannot be, or that lies far from the day it is listed under: it is archived as it is, and
// costs no other record its day.
import { afterEach, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import { differences, type Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const orders = Array.from({ length: 120 }, (_, i) => ({
  record: {
    operation_id: `o${i}`,
    status: 2,
    create_time: `2026-04-0${1 + (i % 5)}T10:00:00Z`,
  },
}));

/** The window's first day, an empty one, those with orders, and today. */
const days = ['2026-03-01', '2026-03-20', ...daysIn({ from: '2026-04-01', to: '2026-04-07' })];

test.each([
  [
    'that holds others, and alone in its day',
    [
      ['0001-01-01T00:00:00Z', '2026-04-02'],
      ['9999-12-31T23:59:59Z', '2026-04-03'],
      ['2025-03-03T00:00:00Z', '2026-04-04'],
      ['0001-01-01T00:00:00Z', '2026-03-20'],
    ],
  ],
  ['that the probe learns from: before all times', [['0001-01-01T00:00:00Z', '2026-04-05']]],
  ['that the probe learns from: a year before', [['2025-03-03T00:00:00Z', '2026-04-05']]],
])('an order listed under a day %s', async (_name, listed) => {
  const rogues = listed.map(([createTime, day], i) => ({
    text: JSON.stringify({ operation_id: `rogue-${i}`, status: 2, create_time: createTime }),
    at: Date.parse(`${day}T11:00:00Z`),
  }));
  bench = await createBench(
    { days, records: { orders: [...orders, ...rogues], classes: [] } },
    { scope: { classes: 'none' } },
  );
  const recordsNew = orders.length + rogues.length;
  expect(await bench.run()).toMatchObject({ outcome: 'done', problem: null, recordsNew });
  expect(await differences(bench)).toEqual([]);
  const { rows } = await bench.db.query(
    `select count(*)::int as days from sync.slices
      where resource = 'orders' and state = 'sealed' and day < '2026-04-06'`,
  );
  expect(rows).toEqual([{ days: 7 }]);
});

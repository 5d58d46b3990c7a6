// A platform may cut its days in one zone and its months in another: whatever it shows for some question is archived,
// through the end of a month, nothing is called missing that only left with its month, and no seal and no `is_complete`
// says more than is true.
import { afterEach, describe, expect, test } from 'vitest';
import { daysIn, startOf } from '../../src/day.ts';
import { readTime } from '../../src/platform/times.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

/** Every other hour an order, the first at midnight, each pending for up to three hours. */
const world = {
  ordersPerDay: 12,
  flat: true,
  classesPerDay: 0,
  pendingShare: 0,
  settleMs: 3_600_000,
  since: '2026-02-20',
};
/** Around a month's end: in the evening, the night and the morning. */
const moments = ['04-30T17:00', '04-30T23:30', '05-01T03:00'];
const decided = ['05-01T12:30', '05-02T10:00'];
const at = (moment: string): number => Date.parse(`2026-${moment}:00Z`);

/** The window but for three weeks of March and of April that lie far from their ends. */
const days = [
  '2026-03-01',
  ...daysIn({ from: '2026-03-31', to: '2026-04-02' }),
  ...daysIn({ from: '2026-04-28', to: '2026-04-30' }),
];
const isOfUnread = (time: number): boolean =>
  [
    ['2026-03-01', '2026-03-31'],
    ['2026-04-01', '2026-04-28'],
  ].some(([from, to]) => time >= Date.parse(`${from}T12:00Z`) && time < Date.parse(`${to}T12:00Z`));

const startBench = (dialect: Partial<Dialect>, moment: string): Promise<Bench> =>
  createBench({ world, dialect, days, startAt: at(moment) }, { scope: { classes: 'none' } });

const timeOf = (text: string): number =>
  Date.parse(readTime((JSON.parse(text) as { create_time: string }).create_time) ?? '');

/**
 * When orders were created that are shown, not older than the window of the first run, of the days read, and not held.
 */
async function leftOut(): Promise<string[]> {
  const { rows } = await bench.db.query<{ id: string }>(
    'select operation_id as id from archive.orders',
  );
  const held = new Set(rows.map(({ id }) => id));
  return [...bench.simulator.oracle.shown('orders')]
    .filter(({ id }) => !held.has(id))
    .map(({ text }) => timeOf(text))
    .filter((time) => time >= startOf('2026-03-01') && !isOfUnread(time))
    .map((time) => new Date(time).toISOString());
}

async function wrongs(): Promise<unknown> {
  const { rows } = await bench.db.query<{ at: string }>(
    'select created_at as at from archive.orders where missing_since is not null order by 1',
  );
  return {
    leftOut: await leftOut(),
    missing: rows.map((row) => row.at),
    falseSeals: await falseSeals(bench),
  };
}
const none = { leftOut: [], missing: [], falseSeals: [] };

/** Whether April is, where what was left out of it counts as sealed. */
async function isAprilComplete(): Promise<boolean | undefined> {
  await bench.db.query(
    `update sync.slices set state = 'sealed', proof = 'walk'
      where due_at is null and state = 'open' and day between '2026-04-02' and '2026-04-27'`,
  );
  const { rows } = await bench.db.query<{ complete: boolean }>(
    `select is_complete as complete from analytics.orders_by_month where month = '2026-04-01'`,
  );
  return rows[0]?.complete;
}

async function runAt(moment: string): Promise<void> {
  bench.simulator.setNow(at(moment));
  await bench.run();
}

/**
 * Each zone of days with months that end with its days, and before or after them; month-end.pg.test.ts has UTC's.
 */
const cases: Partial<Dialect>[] = [
  { dates: 'utc', monthEnd: 'utc+8' },
  { dates: 'utc+8', monthEnd: 'utc' },
  { dates: 'utc+8', monthEnd: 'utc+8' },
  { dates: 'utc-8', monthEnd: 'utc+8' },
  { dates: 'utc-8', monthEnd: 'utc-8' },
  { dates: 'utc-8', ordersWindow: false },
  { dates: 'utc-8', dayEnd: 'exclusive' },
  { dates: 'ignored', monthEnd: 'utc+8' },
  { dates: 'ignored', ordersWindow: false },
];

describe('P6, P7: through the end of a month', () => {
  test.each(cases)('%o', async (dialect) => {
    // In the night of a day.
    bench = await startBench(dialect, '04-29T03:00');
    await bench.run();
    expect(await wrongs()).toEqual(none);
    for (const moment of moments) {
      await runAt(moment);
      expect({ moment, ...((await wrongs()) as object) }).toEqual({ moment, ...none });
    }
    // Three o'clock in UTC: on another calendar the month has gone on, or lies on a day that has not ended.
    expect(await isAprilComplete()).toBe(dialect.dates === 'utc');
    for (const moment of decided) {
      await runAt(moment);
      expect({ moment, ...((await wrongs()) as object) }).toEqual({ moment, ...none });
    }
    // Where dates are ignored no day has a line of its own.
    expect(await isAprilComplete()).toBe(dialect.dates !== 'ignored');
  });
});

test('a quiet list tells no zone: the window’s first hours are asked for all the same', async () => {
  const order = (id: string, time: string) => ({
    record: { operation_id: id, status: 2, create_time: time },
  });
  bench = await createBench(
    {
      startAt: at('04-20T12:00'),
      days: ['2026-03-01', '2026-04-10', '2026-04-20'],
      dialect: { dates: 'utc-8' },
      records: {
        orders: [order('first', '2026-03-01T03:00:00Z'), order('noon', '2026-04-10T20:00:00Z')],
      },
    },
    { scope: { classes: 'none' } },
  );
  await bench.run();
  const { rows } = await bench.db.query(
    `select value from sync.facts where fact = 'orders.day_zone'`,
  );
  expect(rows).toEqual([{ value: 'unknown' }]);
  expect(await wrongs()).toEqual(none);
});

test('sabotaged, days taken for UTC’s leave out what the platform counts to another day', async () => {
  bench = await startBench({}, '04-28T12:00');
  await bench.run();
  // The fact is looked at once a day: until then it is wrong.
  bench.simulator.setDialect({ dates: 'utc-8' });
  await runAt('04-29T03:00');
  await runAt('04-29T05:30');
  expect(await leftOut()).not.toEqual([]);
  await runAt('04-29T13:00');
  await runAt('04-30T03:00');
  expect(await leftOut()).toEqual([]);
});

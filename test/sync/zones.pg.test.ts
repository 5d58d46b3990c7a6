// A platform may cut its days in one zone and its months in another: whatever it shows for some question is archived, through the
// end of a month, nothing is called missing that only left with its month, and no seal and no `is_complete` says more than is true.
import { afterEach, describe, expect, test } from 'vitest';
import { daysIn, startOf } from '../../src/day.ts';
import { readTime } from '../../src/platform/times.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { createBench, type Bench } from '../support/archive.ts';
import { falseSeals } from '../support/seals.ts';

let bench: Bench;
afterEach(() => bench.close());

/** Orders at all hours, each pending for up to an hour. */
const world = {
  ordersPerDay: 30,
  classesPerDay: 0,
  quietShare: 0,
  pendingShare: 0,
  settleMs: 3_600_000,
  since: '2026-02-20',
};
/** In the evening, the night and the morning of a day, and around a month's end. */
const moments = ['04-20T20:00', '04-21T03:00', '04-30T17:00', '04-30T23:30', '05-01T03:00'];
const decided = ['05-01T12:30', '05-02T10:00'];
const at = (moment: string): number => Date.parse(`2026-${moment}:00Z`);

/** The window but for three weeks that lie far from either end of March. */
const days = [
  ...daysIn({ from: '2026-03-01', to: '2026-03-05' }),
  ...daysIn({ from: '2026-03-26', to: '2026-04-21' }),
];
const isOfUnread = (time: number): boolean =>
  time >= Date.parse('2026-03-04T12:00Z') && time < Date.parse('2026-03-26T12:00Z');

const startBench = (dialect: Partial<Dialect>): Promise<Bench> =>
  createBench({ world, dialect, days, startAt: at('04-20T12:00') }, { scope: { classes: 'none' } });

const timeOf = (text: string): number =>
  Date.parse(readTime((JSON.parse(text) as { create_time: string }).create_time) ?? '');

/** When orders were created that are shown, not older than the window of the first run, of the days read, and not held. */
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

async function isAprilComplete(): Promise<boolean | undefined> {
  const { rows } = await bench.db.query<{ complete: boolean }>(
    `select is_complete as complete from analytics.orders_by_month where month = '2026-04-01'`,
  );
  return rows[0]?.complete;
}

const runAt = (moment: string): Promise<unknown> =>
  bench.runLater(at(moment) - bench.simulator.clock.now());

const zones = ['utc', 'utc+8', 'utc-8'] as const;
const cases: Partial<Dialect>[] = ([...zones, 'ignored'] as const).flatMap((dates) => [
  ...zones.map((monthEnd) => ({ dates, monthEnd })),
  { dates, ordersWindow: false },
]);

describe('P6, P7: through the end of a month', () => {
  test.each([...cases, { dates: 'utc-8', dayEnd: 'exclusive' } as const])('%o', async (dialect) => {
    bench = await startBench(dialect);
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
  bench = await startBench({});
  await bench.run();
  // The fact is looked at once a day: until then it is wrong.
  bench.simulator.setDialect({ dates: 'utc-8' });
  await runAt('04-21T03:00');
  await runAt('04-21T05:30');
  expect(await leftOut()).not.toEqual([]);
  await runAt('04-21T13:00');
  await runAt('04-22T03:00');
  expect(await leftOut()).toEqual([]);
});

// Records that are no longer shown (P4): kept, marked since when, reported, and keeping their day from a seal until they
// have been missing for a day, whoever asks in between.
import { beforeEach, describe, expect, test } from 'vitest';
import { readStatus } from '../../src/query/status.ts';
import { noon, type Bench } from '../support/archive.ts';
import {
  missingIn,
  orderOf,
  saidOf,
  statesOf,
  threeDays,
  threeDaysOfRecords,
} from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';
import { verified } from '../support/verified.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;

const minute = 60_000;
const hour = 60 * minute;
const gone = 'o-2026-04-02-7';
const noClasses = { scope: { classes: 'none' } } as const;
const ordersOfThreeDays = {
  ...threeDaysOfRecords,
  records: { ...threeDaysOfRecords.records, classes: [] },
};
const thatDay = {
  only: { resource: 'orders', days: { from: '2026-04-02', to: '2026-04-03' } },
} as const;

const missing = (): Promise<string[]> => missingIn(bench.db);

const stateOfIt = async (): Promise<string | undefined> =>
  (await statesOf(bench.db))['orders']?.[1];
const at = (ms: number): void => bench.simulator.setNow(noon + ms);

/** Reads that day twice, two hours apart, as by hand. */
async function readTwice(): Promise<void> {
  await bench.run(thatDay);
  bench.simulator.advance(2 * hour + minute);
  await bench.run(thatDay);
  // A tick writes down what the platform counts.
  await bench.run();
}

describe('a record that vanishes from a sealed day', () => {
  beforeEach(async () => {
    bench = await createBench(ordersOfThreeDays, noClasses);
    await bench.seal();
  });

  test('is kept, marked and reported; its day is sealed again after a whole day without it, not before', async () => {
    expect(await stateOfIt()).toBe('sealed books');
    bench.simulator.hide('orders', gone);
    at(27 * hour);
    await bench.runLater(0);
    expect(await stateOfIt()).toBe('walked none');
    expect(await missing()).toEqual([gone]);
    const [project] = await readStatus(bench.db);
    expect(project?.lists.find(({ resource }) => resource === 'orders')).toMatchObject({
      missing: 1,
      held: 36,
    });

    // Asked for by hand, again and again, it proves no more than it did.
    for (const later of [28, 34, 50.9]) {
      at(later * hour);
      await bench.run(thatDay);
      expect([later, await stateOfIt()]).toEqual([later, 'walked none']);
      expect(await falseSeals(bench)).toEqual([]);
    }
    at(51.1 * hour);
    await readTwice();
    expect(await stateOfIt()).toBe('sealed books');
    expect(await missing()).toEqual([gone]);
    expect(await falseSeals(bench)).toEqual([]);
    // As docs/guarantee.md has it: nothing shown is left out, and what is shown no more is counted and named.
    const { rows } = await bench.db.query(
      `select is_settled, orders::int, (select array_agg(id) from analytics.missing_records) as missing
         from analytics.orders_by_day where day = '2026-04-02'`,
    );
    expect(rows).toEqual([{ is_settled: true, orders: 12, missing: [gone] }]);
    // Sabotaged: one that is gone and not marked is found by the oracle of seals.
    await bench.db.query('update archive.orders set missing_since = null');
    expect(await falseSeals(bench)).toMatchObject([{ extra: [gone] }]);
  });

  test('and comes back, and goes again: the day of waiting begins anew', async () => {
    bench.simulator.hide('orders', gone);
    at(3 * hour);
    await bench.run(thatDay);
    bench.simulator.insert('orders', orderOf('2026-04-02', 7));
    at(20 * hour);
    await readTwice();
    expect([await stateOfIt(), await missing()]).toEqual(['sealed books', []]);
    bench.simulator.hide('orders', gone);
    at(24 * hour);
    await bench.run(thatDay);
    at(28 * hour);
    await readTwice();
    expect([await stateOfIt(), await missing()]).toEqual(['walked none', [gone]]);
    at(48.1 * hour);
    await readTwice();
    expect(await stateOfIt()).toBe('sealed books');
  });

  test('and comes back to a day that was sealed without it: what did not show it proves nothing', async () => {
    bench.simulator.hide('orders', gone);
    at(3 * hour);
    await bench.run(thatDay);
    at(28 * hour);
    await readTwice();
    expect([await stateOfIt(), await missing()]).toEqual(['sealed books', [gone]]);
    bench.simulator.insert('orders', orderOf('2026-04-02', 7));
    at(34 * hour);
    await bench.run(thatDay);
    expect([await stateOfIt(), await missing()]).toEqual(['walked none', []]);
    at(37 * hour);
    await readTwice();
    expect(await stateOfIt()).toBe('sealed books');
    const { findings } = await verified(bench.db);
    expect(findings).toEqual([]);
  });

  test('but is counted still: its day is not sealed, however long it takes', async () => {
    bench.simulator.setFaults({ dropped: { ids: [gone] } });
    for (const day of [1, 3]) {
      at(day * 25 * hour);
      await readTwice();
      expect([day, await stateOfIt(), await missing()]).toEqual([day, 'walked none', [gone]]);
    }
  });
});

test('where days are those of another zone, what the day beside shows is not missing', async () => {
  const evening = { create_time: '2026-04-02T20:00:00Z' };
  const orders = [
    ...threeDays.flatMap((on) => [1, 2, 3].map((i) => orderOf(on, i))),
    orderOf('2026-04-02', 9, evening),
  ];
  bench = await createBench(
    {
      days: [...threeDaysOfRecords.days, '2026-04-05'],
      records: { orders, classes: [] },
      dialect: { dates: 'utc+8' },
      faults: { lyingTotal: { path: '/v3/orders' } },
    },
    noClasses,
  );
  await bench.seal();
  expect((await statesOf(bench.db))['orders']).toEqual(Array(3).fill('walked none'));
  bench.simulator.setFaults({ lyingTotal: null });
  await bench.runLater(25 * hour);
  await bench.runLater(2 * hour + minute);
  expect((await statesOf(bench.db))['orders']).toEqual(Array(3).fill('sealed books'));
  expect(await missing()).toEqual([]);
});

test('a record of today that vanishes is noticed when the day is over, though more records come meanwhile', async () => {
  const today = '2026-04-06';
  const records = { orders: Array.from({ length: 8 }, (_, i) => orderOf(today, i)), classes: [] };
  let growing = 0;
  bench = await createBench(
    {
      days: ['2026-03-01', '2026-04-05', today],
      records,
      dialect: { maxOrders: 3, maxClasses: 3 },
      onPage: ({ records: page }) => {
        // One more with every page that is read of today, twice over.
        if (growing > 0 && page.length > 1) {
          growing -= 1;
          bench.simulator.insert(
            'orders',
            orderOf(today, 20 + growing, { create_time: `${today}T11:5${9 - growing}:00Z` }),
          );
        }
      },
    },
    noClasses,
  );
  await bench.run();
  bench.simulator.hide('orders', `o-${today}-1`);
  growing = 4;
  // The day is over: it is read whole, and sealed only when it was without the record for a day.
  at(13 * hour);
  await bench.run();
  const state = async (): Promise<string | undefined> =>
    (await saidOf(bench.db, [today]))[0]?.said.split(' ')[0];
  expect([await state(), await missing()]).toEqual(['walked', [`o-${today}-1`]]);
  for (const h of [15, 36, 38, 41, 62, 65]) {
    at(h * hour);
    await bench.run();
    expect(await falseSeals(bench)).toEqual([]);
    if (h < 37) expect([h, await state()]).toEqual([h, 'walked']);
  }
  expect(await state()).toBe('sealed');
});

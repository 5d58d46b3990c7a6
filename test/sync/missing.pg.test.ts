// Records that are no longer shown (P4, proof rule 3): kept, marked since when, reported, and blocking the seal of
// their day until two whole walks a day apart are without them, whoever asks in between.
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { readStatus } from '../../src/query/status.ts';
import { noon, type Bench } from '../support/archive.ts';
import { orderOf, statesOf, threeDays, threeDaysOfRecords } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

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

async function missing(): Promise<string[]> {
  const { rows } = await bench.db.query<{ id: string }>(
    `select operation_id as id from archive.orders where missing_since is not null
     union all select id from archive.nft_classes where missing_since is not null order by 1`,
  );
  return rows.map(({ id }) => id);
}

const stateOfIt = async (): Promise<string | undefined> =>
  (await statesOf(bench.db))['orders']?.[1];
const at = (ms: number): void => bench.simulator.setNow(noon + ms);

describe('a record that vanishes from a sealed day', () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn', base: null }, { write: (line: string) => lines.push(line) });

  test('is kept, marked and reported; its day is sealed again after a whole day without it, not before', async () => {
    bench = await createBench(ordersOfThreeDays, { ...noClasses, log });
    await bench.run();
    bench.simulator.hide('orders', gone);
    at(25 * hour);
    await bench.runLater(0);
    expect(await stateOfIt()).toBe('walked none');
    expect(await missing()).toEqual([gone]);
    expect(lines.join('')).toContain('The platform no longer shows records it showed before');
    // P10: how many, never which.
    expect(lines.join('')).not.toContain(gone);
    const [project] = await readStatus(bench.db);
    expect(project?.lists.find(({ resource }) => resource === 'orders')).toMatchObject({
      missing: 1,
      held: 36,
      problems: [
        {
          day: '2026-04-02',
          last_error: expect.stringMatching(/^1 of its records were not shown/),
        },
      ],
    });

    // Asked for by hand, again and again, it proves no more than it did.
    for (const later of [26, 32, 48.9]) {
      at(later * hour);
      await bench.run(thatDay);
      expect([later, await stateOfIt()]).toEqual([later, 'walked none']);
      expect(await falseSeals(bench)).toEqual([]);
    }
    at(73.1 * hour);
    await bench.runLater(0);
    expect(await stateOfIt()).toBe('sealed walk');
    expect(await missing()).toEqual([gone]);
    expect(await falseSeals(bench)).toEqual([]);
    // As docs/guarantee.md has it: nothing shown is left out, and what is shown no more is counted and named.
    const { rows } = await bench.db.query(
      `select is_complete, orders::int, (select array_agg(id) from analytics.missing_records) as missing
         from analytics.orders_by_day where day = '2026-04-02'`,
    );
    expect(rows).toEqual([{ is_complete: true, orders: 12, missing: [gone] }]);
  });

  test('and comes back, and goes again: the day of waiting begins anew', async () => {
    bench = await createBench(ordersOfThreeDays, noClasses);
    await bench.run();
    bench.simulator.hide('orders', gone);
    at(hour);
    await bench.run(thatDay);
    bench.simulator.insert('orders', orderOf('2026-04-02', 7));
    at(20 * hour);
    await bench.run(thatDay);
    expect([await stateOfIt(), await missing()]).toEqual(['sealed walk', []]);
    bench.simulator.hide('orders', gone);
    at(24 * hour);
    await bench.run(thatDay);
    at(26 * hour);
    await bench.run(thatDay);
    expect([await stateOfIt(), await missing()]).toEqual(['walked none', [gone]]);
    at(48.1 * hour);
    await bench.run(thatDay);
    expect(await stateOfIt()).toBe('sealed walk');
  });

  test('but is counted still: its day is not sealed, however long it takes', async () => {
    bench = await createBench(ordersOfThreeDays, noClasses);
    await bench.run();
    bench.simulator.setFaults({ dropped: { ids: [gone] } });
    for (let day = 1; day <= 4; day++) {
      at(day * 25 * hour);
      await bench.run(thatDay);
      expect([day, await stateOfIt(), await missing()]).toEqual([day, 'walked none', []]);
    }
  });

  test('with all others of its day', async () => {
    bench = await createBench(ordersOfThreeDays, noClasses);
    await bench.run();
    for (let i = 0; i < 12; i++) bench.simulator.hide('orders', `o-2026-04-02-${i}`);
    at(25 * hour);
    await bench.runLater(0);
    expect([await stateOfIt(), (await missing()).length]).toEqual(['walked none', 12]);
    at(50 * hour);
    await bench.runLater(0);
    expect([await stateOfIt(), (await missing()).length]).toEqual(['sealed walk', 12]);
  });
});

describe('a record that no whole walk has shown', () => {
  test('shown by a walk that came to nothing, then gone: it is missing as well', async () => {
    bench = await createBench(
      { ...ordersOfThreeDays, faults: { dropped: { ids: ['o-2026-04-02-3'] } } },
      noClasses,
    );
    await bench.run();
    expect(await stateOfIt()).toBe('walked none');
    bench.simulator.hide('orders', gone);
    bench.simulator.setFaults({ dropped: null });
    await bench.runLater(hour);
    expect(await falseSeals(bench)).toEqual([]);
    expect([await stateOfIt(), await missing()]).toEqual(['walked none', [gone]]);
    await bench.runLater(25 * hour);
    expect(await stateOfIt()).toBe('sealed walk');
    expect(await falseSeals(bench)).toEqual([]);
  });

  test('shown again by such a walk, and gone again', async () => {
    bench = await createBench(ordersOfThreeDays, noClasses);
    await bench.run();
    bench.simulator.hide('orders', gone);
    await bench.run(thatDay);
    await bench.runLater(30 * hour);
    expect([await stateOfIt(), await missing()]).toEqual(['sealed walk', [gone]]);
    bench.simulator.insert('orders', orderOf('2026-04-02', 7));
    bench.simulator.setFaults({ dropped: { ids: ['o-2026-04-02-3'] } });
    await bench.runLater(hour);
    await bench.run(thatDay);
    expect([await stateOfIt(), await missing()]).toEqual(['walked none', []]);
    bench.simulator.hide('orders', gone);
    bench.simulator.setFaults({ dropped: null });
    await bench.runLater(hour);
    await bench.run(thatDay);
    expect([await stateOfIt(), await missing()]).toEqual(['walked none', [gone]]);
    expect(await falseSeals(bench)).toEqual([]);
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
  await bench.run();
  expect((await statesOf(bench.db))['orders']).toEqual([
    'walked none',
    'walked none',
    'walked none',
  ]);
  bench.simulator.setFaults({ lyingTotal: null });
  await bench.runLater(25 * hour);
  expect((await statesOf(bench.db))['orders']).toEqual([
    'sealed walk',
    'sealed walk',
    'sealed walk',
  ]);
  expect(await missing()).toEqual([]);
});

describe('a record of today that vanishes', () => {
  const today = '2026-04-06';
  const records = { orders: Array.from({ length: 8 }, (_, i) => orderOf(today, i)), classes: [] };

  test('is noticed at once, though more records come meanwhile', async () => {
    let growing = 0;
    bench = await createBench(
      {
        days: ['2026-03-01', '2026-04-05', today],
        records,
        dialect: { shortPages: 3 },
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
    bench.simulator.advance(minute);
    await bench.run({ only: { resource: 'orders', days: { from: today, to: '2026-04-07' } } });
    await bench.run();
    expect(await missing()).toEqual([`o-${today}-1`]);
    // The day is over, and sealed only when it was without the record for a day.
    at(13 * hour);
    await bench.runLater(0);
    const state = async (): Promise<unknown> => {
      const { rows } = await bench.db.query(
        `select state from sync.slices where resource = 'orders' and day = $1`,
        [today],
      );
      return rows[0]?.['state'];
    };
    expect([await state(), await missing()]).toEqual(['walked', [`o-${today}-1`]]);
    at(38 * hour);
    await bench.runLater(0);
    expect(await state()).toBe('sealed');
    expect(await falseSeals(bench)).toEqual([]);
  });
});

test('sabotaged: a record that is gone and not marked is found by the oracle of seals', async () => {
  bench = await createBench(ordersOfThreeDays, noClasses);
  await bench.run();
  bench.simulator.hide('orders', gone);
  at(25 * hour);
  await bench.runLater(0);
  at(50 * hour);
  await bench.runLater(0);
  expect(await falseSeals(bench)).toEqual([]);
  await bench.db.query('update archive.orders set missing_since = null');
  expect(await falseSeals(bench)).toMatchObject([{ extra: [gone] }]);
});

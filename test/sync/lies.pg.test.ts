// A platform that lies about what it shows and what it counts. P6: nothing is sealed that is not true. What no reader
// can notice, a record hidden from the list and from its totals alike, is not claimed.
import { afterEach, describe, expect, test } from 'vitest';
import type { Faults } from '../../src/simulator/faults.ts';
import { differences, type Bench } from '../support/archive.ts';
import { orderOf, someIds, statesOf, threeDays, threeDaysOfRecords } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const hour = 3_600_000;
/** Of those days the window's first, empty, beside the three and today. */
const given = { ...threeDaysOfRecords, days: ['2026-03-01', ...threeDays, '2026-04-06'] };

const onlyOrders = { scope: { classes: 'none' } } as const;
const givenOrders = { ...given, records: { ...given.records, classes: [] } };

async function runLater(ms: number): Promise<void> {
  bench.simulator.advance(ms);
  await bench.run();
}
const three = (state: string): string[] => [state, state, state];

describe('P6: while a platform lies about a day, the day is not sealed', () => {
  // The first page of a walk; its last one, and the count that may follow; a count alone.
  const before = { with: 'limit=5&', without: 'page_key' };
  const after = ['page_key', 'offset=8', 'offset=11', 'limit=1&'].map((text) => ({ with: text }));
  const lies: [string, Partial<Faults>][] = [
    ['the first record of every page is hidden', { dropped: { positions: [0] } }],
    [
      'the last one of every page is, or all but one are, or some by their ids',
      {
        dropped: [
          { rows: 1, with: `start_date=${threeDays[0]}` },
          { rows: 4, with: `start_date=${threeDays[1]}` },
          { ids: someIds, with: `start_date=${threeDays[2]}` },
        ],
      },
    ],
    ['its totals are one too low', { lyingTotal: { by: -1 } }],
    ['only the one before is too high', { lyingTotal: { by: 1, ...before } }],
    ['only the one after', { lyingTotal: after.map((rule) => ({ by: 1, ...rule })) }],
    ['totals count what is shown twice', { duplicated: {}, lyingTotal: { by: 3 } }],
  ];
  test.each(lies)('%s', async (_name, faults) => {
    bench = await createBench({ ...given, faults });
    for (const later of [0, 2]) {
      await runLater(later * hour);
      expect(await falseSeals(bench)).toEqual([]);
      const { orders = [], nft_classes: classes = [] } = await statesOf(bench.db);
      // Read whole and not proved; or lost on the way, by offsets; or, where no total lies and both ends of a list
      // together show what each hides, proved after all.
      const states = ['walked none', 'open none', ...(faults.lyingTotal ? [] : ['sealed walk'])];
      expect([...orders, ...classes]).toHaveLength(6);
      for (const state of [...orders, ...classes]) expect(states).toContain(state);
    }
    bench.simulator.setFaults({ dropped: null, lyingTotal: null, duplicated: null });
    // What was learned of it while it lied is unlearned within a day, and what failed by it is tried again within the
    // hour.
    await runLater(25 * hour);
    await runLater(hour);
    const { orders, nft_classes: classes } = await statesOf(bench.db);
    const proofs = [...(orders ?? []), ...(classes ?? [])].map((state) => state.split(' ')[0]);
    expect(proofs).toEqual([...three('sealed'), ...three('sealed')]);
    expect(await differences(bench)).toEqual([]);
  });
});

describe('a lie that hides nothing is no reason to doubt what was shown', () => {
  test('records are shown twice, pages are in another order, the totals of the statuses are wrong', async () => {
    const faults = {
      duplicated: { path: '/v3/orders' },
      reordered: { path: '/v3/orders' },
      lyingTotal: { with: 'status=' },
    };
    bench = await createBench({ ...givenOrders, faults }, onlyOrders);
    await bench.run();
    // The statuses are asked for again before they are believed to be of no use.
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('walked none') });
    await runLater(61 * 60_000);
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
    expect(await falseSeals(bench)).toEqual([]);
    await runLater(25 * hour);
    expect((await statesOf(bench.db))['orders']).toHaveLength(3);
    expect(await falseSeals(bench)).toEqual([]);
    expect(await differences(bench)).toEqual([]);
  });
});

describe('a platform that begins to lie when its days are sealed', () => {
  const sealed = async (): Promise<void> => {
    bench = await createBench(given);
    await bench.run();
    expect(await statesOf(bench.db)).toEqual({
      orders: three('sealed walk'),
      nft_classes: three('sealed walk'),
    });
  };

  test.each([
    [
      'totals one too low, or one too high',
      { lyingTotal: [{ by: -1, with: `start_date=${threeDays[1]}` }, { by: 1 }] },
    ],
    [
      'only those of counts, and records hidden',
      { lyingTotal: { by: 1 }, dropped: { ids: someIds } },
    ],
  ] satisfies [string, Partial<Faults>][])(
    '%s: the daily count unseals them',
    async (_name, faults) => {
      await sealed();
      bench.simulator.setFaults(faults);
      await runLater(25 * hour);
      expect(await statesOf(bench.db)).toEqual({
        orders: three('walked none'),
        nft_classes: three('walked none'),
      });
      bench.simulator.setFaults({ lyingTotal: null, dropped: null });
      await runLater(hour);
      expect(await statesOf(bench.db)).toEqual({
        orders: three('sealed walk'),
        nft_classes: three('sealed walk'),
      });
      expect(await differences(bench)).toEqual([]);
    },
  );

  test('records hidden while totals count them: what was archived stays, and the next walk unseals its day', async () => {
    await sealed();
    bench.simulator.setFaults({ dropped: { ids: someIds } });
    await runLater(25 * hour);
    // Orders were counted, which is true, but for the day whose turn it was; classes are walked every six hours.
    expect(await statesOf(bench.db)).toEqual({
      orders: ['walked none', 'sealed counts', 'sealed counts'],
      nft_classes: three('walked none'),
    });
    expect(await falseSeals(bench)).toEqual([]);
    expect(await differences(bench)).toEqual([]);
    // The closing of April begins on 28 May.
    await bench.skipTo(Date.parse('2026-05-28T01:00:00Z'));
    await bench.run();
    await bench.run();
    expect((await statesOf(bench.db))['orders']).toEqual(three('walked none'));
  });

  test('one record changed for another: no count can tell, the next walk does', async () => {
    bench = await createBench(givenOrders, onlyOrders);
    await bench.run();
    expect(await statesOf(bench.db)).toEqual({ orders: three('sealed walk') });
    bench.simulator.hide('orders', 'o-2026-04-02-7');
    bench.simulator.insert('orders', orderOf('2026-04-02', 30));
    await runLater(25 * hour);
    expect((await statesOf(bench.db))['orders']).toEqual([
      'sealed walk',
      'sealed counts',
      'sealed counts',
    ]);
    // What a count proves, and no more: the list was not read.
    expect(await falseSeals(bench)).toMatchObject([
      { missing: ['o-2026-04-02-30'], extra: ['o-2026-04-02-7'] },
    ]);
    await bench.skipTo(Date.parse('2026-05-28T01:00:00Z'));
    await bench.run();
    await bench.run();
    expect(await falseSeals(bench)).toEqual([]);
    expect((await statesOf(bench.db))['orders']).toEqual([
      'sealed walk',
      'walked none',
      'sealed walk',
    ]);
  });
});

test('what is hidden from the list and its totals alike is not claimed; it is found by the count of the day it is shown', async () => {
  const faults = { emptied: { with: 'start_date=2026-04-02' } };
  bench = await createBench({ ...givenOrders, faults }, onlyOrders);
  await bench.run();
  expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
  bench.simulator.setFaults({ emptied: null });
  await runLater(25 * hour);
  expect(await falseSeals(bench)).toEqual([]);
  expect(await differences(bench)).toEqual([]);
});

// The books: what the platform counts beside what its lists showed. They notice a list that leaves something out, and
// no answer that is empty, cut or too late makes a seal false (P6).
import { expect, test } from 'vitest';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { countProvedDays } from '../../src/sync/ask-proved-days-again.ts';
import { differences, noon, type Bench } from '../support/archive.ts';
import {
  orderOf,
  recordsOf,
  saidOf,
  statesOf,
  threeDays,
  threeDaysOfRecords,
} from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;

const minute = 60_000;
const hour = 60 * minute;
const noClasses = { scope: { classes: 'none' } } as const;
const { days, dialect } = threeDaysOfRecords;
/** Of every three orders one has failed. */
const orders = threeDays.flatMap((on) =>
  recordsOf([on]).orders.map((_, i) => orderOf(on, i, { status: i % 3 === 0 ? 3 : 2 })),
);
const given = { days, dialect, records: { orders, classes: [] } };

const states = async (): Promise<string[] | undefined> => (await statesOf(bench.db))['orders'];

async function runAt(hours: number): Promise<void> {
  bench.simulator.setNow(noon + hours * hour);
  await bench.run();
  expect(await falseSeals(bench)).toEqual([]);
}

// Where the filter takes numbers: older.e2e.test.ts.
test.each([
  ['beside others', orders],
  ['and there is no other', orders.filter(({ record }) => record.status === 3)],
])(
  'a list that leaves out a status, %s, and the filter wants words: the first books notice it, and its days are read by status',
  async (_, all) => {
    const hiding = { statusUnasked: 3, statusFilter: 'words' } as const;
    const records = { orders: all, classes: [] };
    bench = await createBench({ ...given, records, dialect: { ...dialect, ...hiding } }, noClasses);
    await runAt(0);
    expect(await differences(bench)).toEqual([]);
    const { rows } = await bench.db.query(
      'select distinct asks, in_words from sync.books where day_from >= $1',
      [days[1]],
    );
    expect(rows).toEqual([{ asks: 'each status', in_words: true }]);
    await runAt(2.1);
    expect(await states()).toEqual(Array(3).fill('sealed books'));
    const asked = bench.simulator.requests
      .recent()
      .filter(({ query }) => query.includes('sort_by=DATE_ASC') && query.includes('status=failed'));
    expect(asked.length).toBeGreaterThan(2);
  },
);

test('records that become visible 90 minutes late are held, and their day is sealed afterwards', async () => {
  bench = await createBench({ ...given, days: [...days, '2026-04-05'] }, noClasses);
  await runAt(0);
  // The day is over at midnight; its last hour's orders are shown one after the other.
  for (let i = 0; i < 3; i++) {
    await runAt(12.3 + i * 0.6);
    const time = { create_time: `2026-04-06T23:${10 + i}:00Z` };
    bench.simulator.insert('orders', orderOf('2026-04-06', i, time));
  }
  for (const h of [14.6, 17, 19.5, 22]) await runAt(h);
  expect(await differences(bench)).toEqual([]);
  const [late] = await saidOf(bench.db, ['2026-04-06']);
  expect([late?.said, late?.held]).toEqual(['sealed books', 3]);
});

test('an index that answers empty lists and totals of 0 for hours seals nothing', async () => {
  bench = await createBench({ ...given, faults: { emptied: {} } }, noClasses);
  for (const h of [0, 4, 12]) await runAt(h);
  expect((await states())?.every((state) => state === 'walked none')).toBe(true);
  bench.simulator.setFaults({ emptied: null });
  for (const h of [26, 29, 32]) await runAt(h);
  expect((await states())?.every((state) => state.startsWith('sealed'))).toBe(true);
  expect(await differences(bench)).toEqual([]);
});

test('a day that was never read keeps no other from being compared', async () => {
  const fails = { with: `start_date=${threeDays[1]}` };
  bench = await createBench({ ...given, faults: { serverError: fails } }, noClasses);
  for (const h of [0, 2.1]) await runAt(h);
  expect(await states()).toEqual(['sealed books', 'open none', 'sealed books']);
});

test('a list that is cut below its total is not proved, and it is said', async () => {
  bench = await createBench({ ...given, dialect: { ...dialect, listCap: 5 } }, noClasses);
  // Read from the other end it shows others, and not those it had shown.
  for (const [h, why] of [
    [0, 'counts more'],
    [2.1, 'showed less'],
    [26, 'showed less'],
  ] as const) {
    await runAt(h);
    const said = (await saidOf(bench.db, threeDays)).map((one) => one.said);
    expect(said).toEqual(Array(3).fill(`walked none ${why}`));
  }
  bench.simulator.setDialect({ listCap: 0 });
  for (const h of [54, 57]) await runAt(h);
  expect(await states()).toEqual(Array(3).fill('sealed books'));
  expect(await differences(bench)).toEqual([]);
});

// Fewer says nothing, but of a day of which the platform had counted all.
test.each<[Partial<Dialect>, one: string, fewer: string]>([
  [{}, 'agrees', 'differs'],
  [{ statusUnasked: 3 }, 'agrees', 'unclear'],
  [{ totalsCap: 2 }, 'unclear', 'unclear'],
  [{ totals: 'page' }, 'unclear', 'unclear'],
  [{ totals: 'absent' }, 'unclear', 'unclear'],
])('of proved days that are counted again with %o it says what is so', async (more, one, fewer) => {
  const { days: all } = threeDaysOfRecords;
  bench = await createBench({ ...given, days: all, dialect: { ...dialect, ...more } }, noClasses);
  for (const h of [0, 2.1]) await runAt(h);
  const [on] = threeDays;
  const outcome = async (): Promise<string | undefined> => {
    const told = new Map<string, string>();
    const { signal } = new AbortController();
    await countProvedDays(
      { ...bench.worker, signal },
      null,
      ({ day, outcome: is }) => void told.set(day, is),
    );
    return told.get(on);
  };
  expect(await outcome()).toBe(one);
  bench.simulator.hide('orders', `o-${on}-1`);
  expect(await outcome()).toBe(fewer);
});

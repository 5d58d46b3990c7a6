// Every switch of the simulator, every reading of what the document leaves open, ends in an exact archive.
import { afterEach, describe, expect, test } from 'vitest';
import { switches, type Dialect } from '../../src/simulator/dialect.ts';
import { differences, fiveDays, smallWorld, tenDays, type Bench } from '../support/archive.ts';
import { classOf } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

/** Records of two days and of today, an empty day before them, and the window's first. */
const few = {
  world: { ...smallWorld, quietShare: 0, since: '2026-04-04' },
  days: ['2026-03-01', '2026-04-03', '2026-04-04', '2026-04-05', '2026-04-06'],
};

async function expectExact(dialect: Partial<Dialect>): Promise<void> {
  // That dates are ignored shows at once only where most records lie on other days.
  bench = await createBench({ ...(dialect.dates === 'ignored' ? tenDays : few), dialect });
  const report = await bench.run();
  expect(await differences(bench)).toEqual([]);
  expect(report.recordsNew).toBeGreaterThan(100);
  const { statusFilter = 'honoured' } = dialect;
  // That a filter does nothing for good, and not for a moment, is known after an hour.
  const isSlow = statusFilter === 'ignored' || statusFilter === 'empty';
  const settled = isSlow ? await bench.runLater(61 * minute) : report;
  expect(settled).toMatchObject({ outcome: 'done', problem: null });
}

/** Switches that do not touch each other: the first of each value together, the second, and so on. */
const together: string[][] = [
  ['totals', 'classTotals'],
  ['dayEnd', 'statusFilter', 'ties', 'monthEnd'],
  [
    'lastKey',
    'emptyList',
    'prevKey',
    'timeForm',
    'classTimeForm',
    'statusForm',
    'batchForm',
    'otherBodies',
    'heightForm',
    'feePath',
  ],
];

/** Those that differ only beside others: expired keys with keys that expire, limits with small ones. */
const isBelow = (name: string): boolean => name === 'keyExpired' || name === 'overLimit';

/** The values that are not standard. */
const choices: [string, readonly string[]][] = Object.entries(switches).flatMap(([name, of]) =>
  'values' in of && !isBelow(name) ? [[name, of.values.slice(1)]] : [],
);

const dialects = [
  ...choices.filter(([name]) => !together.flat().includes(name)).map((choice) => [choice]),
  ...together.map((names) => choices.filter(([name]) => names.includes(name))),
].flatMap((group) =>
  Array.from({ length: Math.max(...group.map(([, values]) => values.length)) }, (_, i) =>
    Object.fromEntries(
      group.flatMap(([name, values]) => (values[i] === undefined ? [] : [[name, values[i]]])),
    ),
  ),
);

describe('each value of each switch', () => {
  test.each<Partial<Dialect>>([
    {},
    ...dialects,
    { maxOrders: 20, maxClasses: 50 },
    { maxOrders: 20, maxClasses: 50, overLimit: 'refuse' },
    { maxClasses: 10, overLimit: 'refuse', classTotals: 'absent' },
    { shortPages: 7, unknownFields: true },
    { shortPages: 7, totals: 'absent', classTotals: 'zero' },
  ])('%o', expectExact);

  test.each(['refuse', 'ignore', 'empty'] as const)(
    'keys that live for two requests, expired by: %s',
    async (keyExpired) => {
      await expectExact({ keyLifeRequests: 2, keyExpired });
    },
  );
});

test('the worst of all at once', async () => {
  await expectExact({
    dayEnd: 'instant',
    lastKey: 'repeated',
    overLimit: 'refuse',
    maxOrders: 20,
    maxClasses: 50,
    emptyList: 'null',
    totals: 'zero',
    classTotals: 'null',
    timeForm: 'mixed',
    statusForm: 'word',
    batchForm: 'null',
    ties: 'insertion',
    monthEnd: 'utc+8',
    unknownFields: true,
    shortPages: 9,
  });
});

test('classes that outlive their month: the window is exact, and what is older is left to a person to ask for', async () => {
  const classes = ['2026-02-10', '2026-03-01', '2026-04-03'].flatMap((on) =>
    Array.from({ length: 120 }, (_, i) => classOf(on, i)),
  );
  bench = await createBench({
    days: fiveDays.days,
    records: { orders: [], classes },
    dialect: { classesWindow: false },
  });
  expect((await bench.run()).outcome).toBe('done');
  const found = await differences(bench);
  expect(found).toHaveLength(120);
  const inside = found.filter(({ shown }) => shown === null || createdAt(shown) >= '2026-03-01');
  expect(inside).toEqual([]);
});

/** A class's day of creation, from its text in the standard time form. */
const createdAt = (text: string): string =>
  (JSON.parse(text) as { timestamp: string }).timestamp.slice(0, 10);

describe('a quiet project', () => {
  const days = ['2026-03-01', '2026-03-15', '2026-04-04', '2026-04-05', '2026-04-06'];

  /** How many days are proved to hold nothing. */
  async function provedEmpty(): Promise<number | undefined> {
    const { rows } = await bench.db.query<{ proved: number }>(
      `select count(*)::int as proved from sync.slices
        where day < '2026-04-06' and shown_total = 0 and proof <> 'none'`,
    );
    return rows[0]?.proved;
  }

  test('with nothing at all: a total of 0 for the whole window proves all its past days empty', async () => {
    bench = await createBench({ days, records: { orders: [], classes: [] } });
    expect(await bench.run()).toMatchObject({ outcome: 'done', recordsNew: 0 });
    expect(await provedEmpty()).toBe(2 * 4);
  });

  test('where totals are absent nothing proves its days empty', async () => {
    bench = await createBench({
      days,
      records: { orders: [], classes: [] },
      dialect: { totals: 'absent', classTotals: 'null' },
    });
    await bench.run();
    await bench.runLater(2 * hour);
    expect(await provedEmpty()).toBe(0);
  });

  test('with one order today: no past day is proved empty before an end date is understood, the day after', async () => {
    const order = { operation_id: 'a', status: 2, create_time: '2026-04-06T10:00:00Z' };
    bench = await createBench({ days, records: { orders: [{ record: order }], classes: [] } });
    await bench.run();
    expect(await provedEmpty()).toBe(4);
    await bench.runLater(25 * hour);
    expect(await provedEmpty()).toBe(2 * 4);
  });
});

const minute = 60_000;
const hour = 60 * minute;

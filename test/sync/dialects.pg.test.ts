// Every switch of the simulator, every reading of what the document leaves open, ends in an exact archive.
import { afterEach, describe, expect, test } from 'vitest';
import { switches, type Dialect } from '../../src/simulator/dialect.ts';
import type { SimulatorOptions } from '../../src/simulator/server.ts';
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
  expect(report).toMatchObject({ outcome: 'done', problem: null });
}

/** Switches that do not touch each other: the first of each value together, the second, and so on. */
const together: string[][] = [
  ['dayEnd', 'statusFilter', 'ties', 'monthEnd'],
  ['lastKey', 'emptyList', 'timeForm', 'feePath'],
];

/** Those that differ only beside others: expired keys with keys that expire, limits with small ones. */
const isBelow = (name: string): boolean => name === 'keyExpired' || name === 'overLimit';

/** The values that are not standard. */
const choices = Object.entries(switches).flatMap(
  ([name, { values }]): [string, readonly (string | number | boolean)[]][] =>
    values === undefined || isBelow(name) ? [] : [[name, values.slice(1)]],
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
    { maxClasses: 10, overLimit: 'refuse', totals: 'absent' },
    { maxOrders: 7, maxClasses: 7, unknownFields: true },
    { maxOrders: 7, maxClasses: 7, totals: 'absent' },
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
    timeForm: 'go',
    ties: 'insertion',
    monthEnd: 'utc+8',
    unknownFields: true,
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

test('an end date that is an instant: a record at midnight vouches for no day', async () => {
  bench = await createBench({ ...fiveDays, dialect: { dayEnd: 'instant' } });
  const at = Date.parse('2026-04-03T00:00:00Z');
  bench.simulator.insert('orders', { record: { operation_id: 'midnight', status: 2 }, at });
  await bench.seal();
  expect(await differences(bench)).toEqual([]);
});

describe('a quiet project', () => {
  const days = ['2026-03-01', '2026-03-15', '2026-04-04', '2026-04-05', '2026-04-06'];
  const today = { operation_id: 'a', status: 2, create_time: '2026-04-06T10:00:00Z' };

  /** How many days are sealed that show nothing. */
  async function sealedEmpty(): Promise<number | undefined> {
    const { rows } = await bench.db.query<{ proved: number }>(
      `select count(*)::int as proved from sync.slices
        where day < '2026-04-05' and shown_total = 0 and state = 'sealed'`,
    );
    return rows[0]?.proved;
  }

  test.each<[string, SimulatorOptions]>([
    ['with nothing at all', { records: { orders: [], classes: [] } }],
    ['with one order today', { records: { orders: [{ record: today }], classes: [] } }],
    [
      'where totals are absent',
      {
        records: { orders: [], classes: [] },
        dialect: { totals: 'absent' },
      },
    ],
  ])('%s: its days are sealed by two readings a day apart, not before', async (_name, given) => {
    bench = await createBench({ ...given, days });
    await bench.seal();
    expect(await sealedEmpty()).toBe(0);
    await bench.runLater(24 * hour + 60_000);
    expect(await sealedEmpty()).toBe(2 * 3);
  });
});

const hour = 3_600_000;

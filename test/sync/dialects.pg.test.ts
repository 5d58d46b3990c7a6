// Every switch of the simulator, every reading of what the document leaves open, ends in an exact archive.
import { afterEach, describe, expect, test } from 'vitest';
import { switches, type Dialect } from '../../src/simulator/dialect.ts';
import { createBench, differences, tenDays, type Bench } from '../support/archive.ts';

let bench: Bench;
afterEach(() => bench.close());

async function expectExact(dialect: Partial<Dialect>): Promise<void> {
  bench = await createBench({ ...tenDays, dialect });
  const report = await bench.run();
  expect(await differences(bench)).toEqual([]);
  expect(report).toMatchObject({ outcome: 'done', problem: null });
  expect(report.recordsNew).toBeGreaterThan(400);
}

const choices = Object.entries(switches).flatMap(([name, of]) =>
  'values' in of
    ? of.values
        // Page keys that nobody can send back leave all but first pages unread: sync-poison has them.
        .filter((value) => value !== 'surrogate')
        .map((value) => [name, value] as const)
    : [],
);

describe('one switch at a time', () => {
  test.each(choices)('%s %s', async (name, value) => {
    await expectExact({ [name]: value });
  });

  test.each([
    { maxOrders: 10 },
    { maxOrders: 10, overLimit: 'refuse' as const },
    { maxClasses: 50 },
    { maxClasses: 50, overLimit: 'refuse' as const },
    { maxClasses: 10, overLimit: 'refuse' as const, classTotals: 'absent' as const },
    { shortPages: 7 },
    { shortPages: 7, totals: 'absent' as const, classTotals: 'zero' as const },
    { unknownFields: true },
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
  bench = await createBench({ dialect: { classesWindow: false } });
  expect((await bench.run()).outcome).toBe('done');
  const found = await differences(bench);
  expect(found.length).toBeGreaterThan(100);
  const inside = found.filter(({ shown }) => shown === null || createdAt(shown) >= '2026-03-01');
  expect(inside).toEqual([]);
});

/** A class's day of creation, from its text in the standard time form. */
const createdAt = (text: string): string =>
  (JSON.parse(text) as { timestamp: string }).timestamp.slice(0, 10);

test('what was learned is recorded as facts', async () => {
  await expectExact({ dayEnd: 'exclusive', lastKey: 'null', maxClasses: 50, totals: 'absent' });
  const { rows } = await bench.db.query<{ fact: string; value: string }>(
    'select fact, value from sync.facts order by fact',
  );
  expect(Object.fromEntries(rows.map(({ fact, value }) => [fact, value]))).toMatchObject({
    'orders.day_end': 'exclusive',
    'orders.limit': '50',
    'orders.totals': 'absent',
    'orders.last_key': 'null',
    'nft_classes.day_end': 'exclusive',
    'nft_classes.limit': '50',
    'nft_classes.totals': 'present',
  });
});

describe('a quiet project', () => {
  /** How many days are proved to hold nothing. */
  async function provedEmpty(): Promise<number | undefined> {
    const { rows } = await bench.db.query<{ proved: number }>(
      `select count(*)::int as proved from sync.slices
        where day < '2026-04-06' and shown_total = 0 and proof <> 'none'`,
    );
    return rows[0]?.proved;
  }

  test('with nothing at all: a total of 0 for the whole window proves all its past days empty', async () => {
    bench = await createBench({ records: { orders: [], classes: [] } });
    expect(await bench.run()).toMatchObject({ outcome: 'done', recordsNew: 0 });
    expect(await provedEmpty()).toBe(2 * 36);
  });

  test('where totals are absent nothing proves its days empty', async () => {
    bench = await createBench({
      records: { orders: [], classes: [] },
      dialect: { totals: 'absent', classTotals: 'null' },
    });
    await bench.run();
    await bench.runLater(2 * hour);
    expect(await provedEmpty()).toBe(0);
  });

  test('with one order today: no past day is proved empty before an end date is understood, the day after', async () => {
    const order = { operation_id: 'a', status: 2, create_time: '2026-04-06T10:00:00Z' };
    bench = await createBench({ records: { orders: [{ record: order }], classes: [] } });
    await bench.run();
    expect(await provedEmpty()).toBe(36);
    await bench.runLater(25 * hour);
    expect(await provedEmpty()).toBe(2 * 36);
  });
});

const hour = 3_600_000;

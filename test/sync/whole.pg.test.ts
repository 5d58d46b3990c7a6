// P7: a day that was read from its first record to its last is never called lost, whatever the totals say; without
// proof it becomes final with a reservation. A walk that lost its way is not read whole.
import { afterEach, describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Faults } from '../../src/simulator/faults.ts';
import type { Bench } from '../support/archive.ts';
import { statesOf, threeDaysOfRecords } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const hour = 3_600_000;
const three = (state: string): string[] => [state, state, state];
const { dialect: small } = threeDaysOfRecords;

async function bench3(dialect: Partial<Dialect>, faults: Partial<Faults> = {}): Promise<void> {
  bench = await createBench({ ...threeDaysOfRecords, dialect: { ...small, ...dialect }, faults });
}

async function reservations(): Promise<unknown> {
  const { rows } = await bench.db.query(
    `select distinct state, reservations from analytics.coverage
      where day between '2026-04-01' and '2026-04-03'`,
  );
  return rows;
}

async function missing(): Promise<unknown> {
  const { rows } = await bench.db.query(
    'select count(*)::int as missing from analytics.missing_records',
  );
  return rows[0]?.['missing'];
}

test('totals that stand on the first page only are asked for without a page key, and prove', async () => {
  await bench3({ totals: 'first' });
  expect(await bench.run()).toMatchObject({ outcome: 'done', problem: null });
  expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
  expect(await falseSeals(bench)).toEqual([]);
});

describe('totals that are always one too many', () => {
  test.each<[string, Partial<Dialect>, Partial<Faults>]>([
    ['and keys that end', {}, {}],
    ['and keys that lead to an empty page', { lastKey: 'onward' }, {}],
    ['and keys that repeat the last page', { lastKey: 'repeated' }, {}],
    [
      'and records that are all hidden on a day',
      {},
      { emptied: { with: 'start_date=2026-04-02' } },
    ],
  ])(
    '%s: its days are walked, and final without proof when their month goes',
    async (_name, dialect, faults) => {
      await bench3(dialect, { lyingTotal: { by: 1 }, ...faults });
      expect(await bench.run()).toMatchObject({ outcome: 'left' });
      expect(await statesOf(bench.db)).toEqual({
        orders: three('walked none'),
        nft_classes: three('walked none'),
      });
      await bench.runLater(25 * hour);
      expect(await falseSeals(bench)).toEqual([]);
      expect(await missing()).toBe(0);
      // April goes at the end of May.
      await bench.skipTo(Date.parse('2026-06-01T12:30:00Z'));
      await bench.runLater(0);
      await bench.runLater(hour);
      expect(await reservations()).toEqual([{ state: 'final', reservations: ['no_proof'] }]);
    },
  );
});

describe('keys that expire on the way, with nothing behind them: such a day is not read whole', () => {
  const orders = { resource: 'orders', days: { from: '2026-04-01', to: '2026-04-04' } } as const;

  test('whatever the lanes ask between', async () => {
    // Each day alone asks more often than its keys live.
    await bench3({ keyLifeRequests: 1, keyExpired: 'empty' });
    await bench.run({ only: orders });
    expect((await statesOf(bench.db))['orders']).not.toContain('walked none');
    expect(await falseSeals(bench)).toEqual([]);
  });

  test('also where its parts show nearly all of it; it is read again, and sealed once keys live', async () => {
    await bench3({}, { emptied: { with: 'page_key=' } });
    await bench.run({ only: orders });
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('open none') });
    const { rows } = await bench.db.query(
      `select count(*)::int as held from archive.orders where slice_day = '2026-04-02'`,
    );
    expect(rows).toEqual([{ held: 10 }]);
    bench.simulator.setFaults({ emptied: [] });
    bench.simulator.advance(25 * hour);
    await bench.run({ only: orders });
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('sealed walk') });
    expect(await missing()).toBe(0);
  });
});

describe('a day that was proved', () => {
  test('and is contradicted keeps what it was shown, and is not marked', async () => {
    await bench3({});
    await bench.run();
    bench.simulator.setFaults({ dropped: { positions: [1] } });
    for (let i = 0; i < 3; i++) {
      bench.simulator.advance(25 * hour);
      await bench.run({
        only: { resource: 'orders', days: { from: '2026-04-01', to: '2026-04-04' } },
      });
      await bench.run();
    }
    expect(await statesOf(bench.db)).toMatchObject({ orders: three('walked none') });
    const { rows } = await bench.db.query(
      `select distinct shown_total::int from sync.slices where resource = 'orders' and day between '2026-04-01' and '2026-04-03'`,
    );
    expect(rows).toEqual([{ shown_total: 12 }]);
    expect(await missing()).toBe(0);
  });
});

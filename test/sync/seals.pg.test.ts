// P6: what is sealed is true, on every honest platform; and the oracle that says so sees whatever is not.
import { afterEach, describe, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { openDb } from '../../src/store/db.ts';
import type { Bench } from '../support/archive.ts';
import { orderOf, recordsOf, someIds, threeDaysOfRecords } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const hour = 3_600_000;

describe('P6: an honest platform ends sealed, however it reads what the document leaves open', () => {
  /** No order stays pending, so that every past day can be sealed. */
  const world = { ordersPerDay: 9, classesPerDay: 6, pendingShare: 0, settleMs: 60_000 };

  const days = ['2026-03-01', ...daysIn({ from: '2026-04-04', to: '2026-04-07' })];
  const records = recordsOf(['2026-03-01', '2026-04-05', '2026-04-06']);
  /** Of two lists, and not today. */
  const past = 2 * (days.length - 1);

  test.each([
    { dayEnd: 'exclusive', lastKey: 'null', emptyList: 'null' },
    { dayEnd: 'instant', lastKey: 'absent', ties: 'insertion' },
    { lastKey: 'repeated', emptyList: 'absent' },
    { dayEnd: 'exclusive', totals: 'absent' },
    { dayEnd: 'instant', totals: 'zero', lastKey: 'onward' },
    { dates: 'utc+8', monthEnd: 'utc+8' },
    { dates: 'utc+8', dayEnd: 'exclusive', totals: 'absent' },
    { monthEnd: 'utc-8', classesWindow: false },
    { keyLifeRequests: 2, keyExpired: 'empty' },
    { maxOrders: 10, maxClasses: 10, overLimit: 'refuse' },
    { dates: 'ignored' },
    { dates: 'ignored', totals: 'absent' },
  ] satisfies Partial<Dialect>[])('%o', async (dialect) => {
    // Where dates are ignored nothing new may come.
    const given = 'dates' in dialect && dialect.dates === 'ignored' ? { records } : { world };
    bench = await createBench({
      ...given,
      days,
      dialect: { maxOrders: 4, maxClasses: 4, ...dialect },
    });
    await bench.run();
    // Two readings two hours apart; a day apart, where a day shows nothing.
    for (const laterMs of [2 * hour + 60_000, 24 * hour + 60_000]) {
      bench.simulator.advance(laterMs);
      await bench.run();
      expect(await falseSeals(bench)).toEqual([]);
    }
    const { rows } = await bench.db.query<{ sealed: number }>(
      `select count(*)::int as sealed from sync.slices where state = 'sealed' and day < '2026-04-06'`,
    );
    expect(rows).toEqual([{ sealed: past }]);
  });
});

describe('sabotaged: the oracle of seals sees', () => {
  test('a day sealed by hand, and a proof entered by hand', async () => {
    bench = await createBench({ ...threeDaysOfRecords, faults: { dropped: { ids: someIds } } });
    await bench.seal();
    expect(await falseSeals(bench)).toEqual([]);
    const now = new Date(bench.simulator.clock.now()).toISOString();
    for (const [state, proof] of [
      ['sealed', 'none'],
      ['walked', 'readings'],
    ]) {
      await bench.db.query(
        `update sync.slices set state = $1, proof = $2, proved_at = $3 where day = '2026-04-02' and resource = 'orders'`,
        [state, proof, now],
      );
      expect(await falseSeals(bench)).toMatchObject([{ missing: ['o-2026-04-02-7'] }]);
    }
  });

  test('a sealed day whose archive lost a record, holds one nobody showed, and one that was altered', async () => {
    bench = await createBench(threeDaysOfRecords);
    await bench.seal();
    const owner = await openDb({
      connectionString: bench.connectionString,
      role: null,
      log: bench.worker.log,
    });
    await owner.query(
      `delete from archive.orders where operation_id = 'o-2026-04-02-3';
       update archive.orders set raw = raw || '{"operation_id": "invented"}' where operation_id = 'o-2026-04-02-4';
       update archive.orders set raw = raw || '{"message": "x"}' where operation_id = 'o-2026-04-02-5'`,
    );
    await owner.close();
    const [found, ...others] = await falseSeals(bench);
    expect(others).toEqual([]);
    expect(found?.missing.toSorted()).toEqual(['o-2026-04-02-3', 'o-2026-04-02-4']);
    expect(found?.extra).toEqual(['invented']);
    expect(found?.other).toEqual(['o-2026-04-02-5']);
  });

  test('a day sealed with an order pending, or too early', async () => {
    bench = await createBench({
      days: threeDaysOfRecords.days,
      records: {
        orders: [orderOf('2026-04-02', 1, { status: 1 }), orderOf('2026-04-06', 1)],
        classes: [],
      },
    });
    await bench.seal();
    expect(await falseSeals(bench)).toEqual([]);
    const now = new Date(bench.simulator.clock.now()).toISOString();
    await bench.db.query(
      `update sync.slices set state = 'sealed', proved_at = $1
        where resource = 'orders' and day in ('2026-04-02', '2026-04-06')`,
      [now],
    );
    expect(await falseSeals(bench)).toMatchObject([
      { slice: 'orders  2026-04-02 sealed books', pending: 1 },
      { slice: 'orders  2026-04-06 sealed none', early: true },
    ]);
  });
});

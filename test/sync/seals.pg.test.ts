// P6: what is sealed is true, on every honest platform; and the oracle that says so sees whatever is not.
import { afterEach, describe, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { openDb } from '../../src/store/db.ts';
import type { Bench } from '../support/archive.ts';
import { orderOf, someIds, threeDaysOfRecords } from '../support/days.ts';
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
  /** Of two lists, and not today. */
  const past = 2 * (days.length - 1);

  test.each([
    [{ dayEnd: 'exclusive', lastKey: 'null', emptyList: 'null' }, past],
    [{ dayEnd: 'instant', lastKey: 'absent', ties: 'insertion' }, past],
    [{ lastKey: 'repeated', emptyList: 'absent', statusForm: 'word' }, past],
    [{ dayEnd: 'exclusive', totals: 'null', classTotals: 'zero' }, past],
    [{ dayEnd: 'instant', totals: 'zero', classTotals: 'absent', lastKey: 'onward' }, past],
    [{ dates: 'utc+8', monthEnd: 'utc+8' }, past],
    [{ dates: 'utc+8', dayEnd: 'exclusive', totals: 'absent' }, past],
    [{ monthEnd: 'utc-8', classesWindow: false }, past],
    [{ keyLifeRequests: 2, keyExpired: 'empty' }, past],
    [{ maxOrders: 10, maxClasses: 10, overLimit: 'refuse' }, past],
    // A slice is a month there: March of both lists.
    [{ dates: 'ignored' }, 2],
    [{ dates: 'ignored', totals: 'absent', classTotals: 'null' }, 2],
  ] satisfies [Partial<Dialect>, number][])('%o', async (dialect, sealed) => {
    bench = await createBench({
      world,
      days,
      dialect: { shortPages: 4, ...dialect },
    });
    // That days are no use may be found out by the first run's reading: then the second one walks by month.
    await bench.run();
    if (sealed !== past) await bench.run();
    expect(await falseSeals(bench)).toEqual([]);
    // Where totals are not given, the second walk comes an hour later.
    bench.simulator.advance(hour + 60_000);
    await bench.run();
    expect(await falseSeals(bench)).toEqual([]);
    const { rows } = await bench.db.query<{ sealed: number }>(
      `select count(*)::int as sealed from sync.slices where state = 'sealed'`,
    );
    expect(rows).toEqual([{ sealed }]);
  });
});

describe('sabotaged: the oracle of seals sees', () => {
  test('a day sealed by hand, and a proof entered by hand', async () => {
    bench = await createBench({ ...threeDaysOfRecords, faults: { dropped: { ids: someIds } } });
    await bench.run();
    expect(await falseSeals(bench)).toEqual([]);
    const now = new Date(bench.simulator.clock.now()).toISOString();
    for (const [state, proof] of [
      ['sealed', 'none'],
      ['walked', 'walk'],
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
    await bench.run();
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
    await bench.run();
    expect(await falseSeals(bench)).toEqual([]);
    await bench.db.query(`update sync.slices set state = 'sealed' where resource = 'orders'`);
    expect(await falseSeals(bench)).toMatchObject([
      { slice: 'orders  2026-04-02 sealed walk', pending: 1 },
      { slice: 'orders  2026-04-06 sealed walk', early: true },
    ]);
  });
});

// P11 over days: what a small project costs the platform at first, and on a day on which nothing is new.
import { expect, test } from 'vitest';
import { createProcessMetrics } from '../../src/http/metrics.ts';
import type { Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();

test.each([
  ['without a record', { ordersPerDay: 0, classesPerDay: 0 }, 29, [150, 150, 150, 150]],
  [
    'without a record, of a slow platform',
    { ordersPerDay: 0, classesPerDay: 0 },
    29,
    [150, 250, 150, 150],
    20_000,
  ],
  ['with ten orders a day', { ordersPerDay: 10, classesPerDay: 0, quietShare: 0 }, 80, [150, 150]],
  ['with five hundred orders a day', { ordersPerDay: 500, classesPerDay: 0 }, 570, [600, 660]],
  ['with two orders and a class a day', { ordersPerDay: 2, classesPerDay: 1 }, 138, [150, 150]],
])(
  'a project %s costs no more requests than so many at first, and a quiet day beside its ticks',
  async (_name, world, atFirst, quiet, answersMs = 0) => {
    // The platform's time passes with each answer; one at a time, or each machine would see another order.
    const meter = {
      ...createProcessMetrics(['p']).meter.of('p'),
      request: (): void => bench.simulator.advance(answersMs),
    };
    const bench: Bench = await createBench(
      {
        startAt: Date.parse('2026-04-24T12:00:00Z'),
        world: { settleMs: 0, pendingShare: 0, ...world },
      },
      { meter, concurrency: 1 },
    );
    const costOfRun = async (): Promise<number> => {
      bench.simulator.requests.clear();
      await bench.run();
      const { byPath } = bench.simulator.requests;
      return (byPath['/v3/orders'] ?? 0) + (byPath['/v1beta1/nft/classes'] ?? 0);
    };
    expect(await costOfRun()).toBeLessThanOrEqual(atFirst);
    // Tick by tick: after a leap of a day its readings would come due later.
    const nextDay = async (): Promise<number> => {
      let cost = 0;
      for (let hours = 1; hours <= 24; hours++) {
        bench.simulator.advance(3_600_000);
        // A tick hears the time, and asks each list for what is new today.
        cost += (await costOfRun()) - 3;
      }
      return cost;
    };
    await nextDay();
    // Days that show nothing are proved by a span from one end and by themselves from the other; then each is read by spans but for every fourth day.
    for (const cost of quiet) expect(await nextDay()).toBeLessThanOrEqual(cost);
    const { rows } = await bench.db.query(
      'select distinct from_end from sync.readings where days_asked > 2',
    );
    expect(rows).not.toContainEqual({ from_end: 'desc' });
    const states = await bench.db.query(
      `select distinct state from sync.slices where day between '2026-03-01' and '2026-04-25'`,
    );
    expect(states.rows).toEqual([{ state: 'sealed' }]);
  },
);

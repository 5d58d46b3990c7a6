// What daily looks see, over days of the platform's time: an order in another's place, a pending order that settles
// where the filter by status is no use, and one whose own time lies nowhere near the day that shows it.
import { afterEach, describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { differences, type Bench } from '../support/archive.ts';
import { costOf } from '../support/cost.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const startAt = Date.parse('2026-03-05T12:00:00Z');
const [small, large] = ['2026-03-02', '2026-03-03'];

const order = (on: string, i: number, status = 2, more: object = {}) => ({
  record: {
    operation_id: `o-${on}-${i}`,
    status,
    create_time: `${on}T${String(10 + Math.floor(i / 60)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}:00Z`,
    update_time: `${on}T23:00:00Z`,
    ...more,
  },
});
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** One day that fits in a page and one that takes three; `pending` are these numbers of each. */
function open(
  dialect: Partial<Dialect> = {},
  pending: number[] = [],
  more: ReturnType<typeof order>[] = [],
) {
  const of = (on: string, count: number) =>
    numbers(count).map((i) => order(on, i, pending.includes(i) ? 1 : 2));
  return createBench(
    {
      startAt,
      dialect,
      days: ['2026-02-01', '2026-03-01', small, large, '2026-03-04', '2026-03-05'],
      records: { orders: [...of(small, 8), ...of(large, 120), ...more], classes: [] },
    },
    { scope: { classes: 'none' } },
  );
}

async function stateOf(on: string): Promise<string> {
  const { rows } = await bench.db.query<{ state: string }>(
    `select state || ' ' || unresolved as state from sync.slices where day = $1`,
    [on],
  );
  return rows[0]?.state ?? '';
}

const settle = (id: string): boolean =>
  bench.simulator.mutate('orders', id, (one) => ({
    ...one,
    status: 2,
    update_time: '2026-03-05T12:01:00Z',
  }));

test('an order in the place of another of the same status: a day of one page sees it the next day, another within a week', async () => {
  bench = await open();
  await bench.run();
  for (const on of [small, large]) {
    bench.simulator.hide('orders', `o-${on}-3`);
    bench.simulator.insert('orders', order(on, 3, 2, { operation_id: `o-${on}-new` }));
  }
  await bench.runLater(day + hour);
  // P6, sabotaged: what only counts have looked at is sealed with an order missing, and the oracle sees it.
  expect((await falseSeals(bench)).map(({ slice, missing }) => [slice, ...missing])).toEqual([
    [`orders  ${large} sealed counts`, `o-${large}-new`],
  ]);
  expect(await stateOf(small)).toBe('walked 0');
  await bench.runLater(6 * day);
  expect(await falseSeals(bench)).toEqual([]);
  const unheld = (await differences(bench)).filter(({ archived }) => archived === null);
  expect(unheld).toEqual([]);
  await bench.runLater(day + hour);
  // Both are proved again a whole day after the one that went was missed.
  expect([await stateOf(small), await stateOf(large)]).toEqual(['sealed 0', 'sealed 0']);
});

test('P11: a day of one page costs one request a day, whatever its statuses', async () => {
  bench = await open();
  await bench.run();
  bench.simulator.advance(day + hour);
  await bench.run();
  bench.simulator.requests.clear();
  await bench.runLater(day + hour);
  const asked = bench.simulator.requests.recent().map(({ query }) => query);
  expect(asked.filter((query) => query.includes(`start_date=${small}`))).toHaveLength(1);
});

describe('a pending order that settles is noticed', () => {
  test.each([
    ['honoured', 16 * minute, null],
    ['ignored', 16 * minute, 'ignored'],
    ['empty', 16 * minute, 'incomplete'],
    // It is in the list of pending ones still, and looks like it.
    ['stale', day + hour, null],
  ] as const)('with a filter that is %s', async (statusFilter, within, fact) => {
    bench = await open({ statusFilter }, [2, 7]);
    await bench.run();
    // By then a filter that does so for good is told from one that does so for a moment.
    await bench.runLater(61 * minute);
    expect([await stateOf(small), await stateOf(large)]).toEqual(['walked 2', 'walked 2']);
    // Nothing has settled: whatever is asked, nothing is sealed and little is asked.
    bench.simulator.advance(16 * minute);
    await bench.run();
    const { orders } = await costOf(bench, () => bench.runLater(16 * minute));
    expect(orders).toBeLessThanOrEqual(2 * (1 + 1 + 2) + 2);
    for (const on of [small, large]) {
      settle(`o-${on}-2`);
      settle(`o-${on}-7`);
    }
    await bench.runLater(within);
    expect([await stateOf(small), await stateOf(large)]).toEqual(['sealed 0', 'sealed 0']);
    expect(await falseSeals(bench)).toEqual([]);
    const { rows } = await bench.db.query<{ value: string }>(
      `select value from sync.facts where fact = 'orders.status_filter'`,
    );
    expect(rows[0]?.value ?? null).toBe(fact);
  });
});

describe('a pending order whose time is not of the day that lists it', () => {
  const times = ['0001-01-01T00:00:00Z', 'never', '2026-03-04T10:00:00Z', '2019-05-05T10:00:00Z'];

  test('keeps that day from being sealed and no other, until it settles', async () => {
    const rogues = times.map((time, i) => ({
      ...order(large, 200, 1, { operation_id: `rogue-${i}`, create_time: time, update_time: time }),
      at: Date.parse(`${large}T15:0${i}:00Z`),
    }));
    bench = await open({}, [], [...rogues, order('2026-03-04', 1)]);
    const states = async (): Promise<string[]> =>
      Promise.all([large, small, '2026-03-04'].map((on) => stateOf(on)));
    await bench.run();
    expect(await states()).toEqual([`walked ${times.length}`, 'sealed 0', 'sealed 0']);
    // They settle one after the other.
    for (const i of times.keys()) {
      bench.simulator.advance(16 * minute);
      await bench.run();
      expect(await states()).toEqual([`walked ${times.length - i}`, 'sealed 0', 'sealed 0']);
      settle(`rogue-${i}`);
    }
    await bench.runLater(16 * minute);
    expect(await states()).toEqual(['sealed 0', 'sealed 0', 'sealed 0']);
    const { rows } = await bench.db.query(
      `select distinct status from archive.orders where starts_with(operation_id, 'rogue')`,
    );
    expect(rows).toEqual([{ status: 2 }]);
  });
});

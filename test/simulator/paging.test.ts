// The simulator's lists, read by a naive client: in every dialect each record is shown once, in order.
import { afterEach, describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/simulator/dialect.ts';
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/server.ts';
import { practiceClient } from '../support/practice-client.ts';

const startAt = Date.parse('2026-03-18T09:30:00Z');
const small = { ordersPerDay: 6, classesPerDay: 4 };

let simulator: Simulator;
afterEach(() => simulator.close());

async function start(options: SimulatorOptions = {}): Promise<ReturnType<typeof practiceClient>> {
  simulator = await createSimulator({ startAt, speed: 0, world: small, ...options });
  return practiceClient(simulator);
}

const shownIds = (resource: 'orders' | 'nft_classes'): string[] =>
  [...simulator.oracle.shown(resource)].map(({ id }) => id);

describe('a naive reader sees every record once, oldest or newest first', () => {
  const dialects: Partial<Dialect>[] = [
    {},
    { lastKey: 'null' },
    { lastKey: 'absent' },
    { lastKey: 'repeated' },
    { lastKey: 'onward' },
    { emptyList: 'null' },
    { shortPages: 7 },
    { maxOrders: 20, maxClasses: 50 },
    { ties: 'insertion', timeForm: 'mixed' },
    { keyLifeMs: 60_000 },
    { emptyList: 'absent', totals: 'absent', unknownFields: true },
    { monthEnd: 'utc+8' },
  ];
  test.each(dialects)('%o', async (dialect) => {
    const client = await start({ dialect });
    const orders = shownIds('orders');
    expect(orders.length).toBeGreaterThan(200);
    expect(new Set(orders).size).toBe(orders.length);
    expect(await client.allOrders({ limit: '50', sort_by: 'DATE_ASC' })).toEqual(orders);
    expect(await client.allOrders({ limit: '17' })).toEqual(orders.toReversed());
    const classes = shownIds('nft_classes');
    expect(await client.allClasses({ limit: '200', sort_by: 'DATE_ASC' })).toEqual(classes);
    expect(await client.allClasses({ limit: '13' })).toEqual(classes.toReversed());
  });
});

test('the comparison notices a record that a page leaves out', async () => {
  const client = await start({ faults: { dropped: { next: 1 } } });
  const read = await client.allOrders({ limit: '50', sort_by: 'DATE_ASC' });
  expect(read).not.toEqual(shownIds('orders'));
});

test('prev_page_key leads back to the first page', async () => {
  const client = await start();
  const query = { limit: '10', sort_by: 'DATE_ASC' };
  const first = await client.orders(query);
  const second = await client.orders({ ...query, page_key: first.next_page_key ?? '' });
  const third = await client.orders({ ...query, page_key: second.next_page_key ?? '' });
  const back = await client.orders({ ...query, page_key: third.prev_page_key ?? '' });
  expect(back.order_infos).toEqual(second.order_infos);
  const start1 = await client.orders({ ...query, page_key: back.prev_page_key ?? '' });
  expect(start1.order_infos).toEqual(first.order_infos);
  expect(start1.prev_page_key).toBe('');
});

test('the three statuses together are the whole list, and their totals add up', async () => {
  const client = await start({ world: { ...small, pendingShare: 0.2 } });
  const parts: string[] = [];
  for (const status of ['1', '2', '3']) {
    const ids = await client.allOrders({ status, limit: '7', sort_by: 'DATE_ASC' });
    expect(ids.length).toBeGreaterThan(0);
    expect((await client.orders({ status, count_total: '1' })).total_count).toBe(ids.length);
    parts.push(...ids);
  }
  expect(parts.toSorted()).toEqual(shownIds('orders').toSorted());
});

test('a page key survives what is added and hidden before it', async () => {
  const client = await start();
  const query = { limit: '20', sort_by: 'DATE_ASC' };
  const first = await client.orders(query);
  const key = first.next_page_key ?? '';
  const second = await client.orders({ ...query, page_key: key });
  simulator.hide('orders', shownIds('orders')[3] ?? '');
  simulator.insert('orders', {
    record: { operation_id: 'late', create_time: '2026-02-01T00:00:01Z' },
  });
  expect((await client.orders({ ...query, page_key: key })).order_infos).toEqual(
    second.order_infos,
  );
});

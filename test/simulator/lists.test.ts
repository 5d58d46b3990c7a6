// Lists of the simulator through real HTTP: a naive reader sees every record once, and each switch does what it says.
import { afterEach, describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/simulator/dialect.ts';
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/simulator-server.ts';
import { practiceClient } from '../support/practice-client.ts';

const startAt = Date.parse('2026-03-18T09:30:00Z');
const small = { ordersPerDay: 9, classesPerDay: 6, quietShare: 0.2, since: '2026-02-01' };

let simulator: Simulator;
afterEach(() => simulator.close());

async function start(options: SimulatorOptions = {}): Promise<ReturnType<typeof practiceClient>> {
  simulator = await createSimulator({ startAt, speed: 0, world: small, ...options });
  return practiceClient(simulator);
}

const shownIds = (resource: 'orders' | 'nft_classes'): string[] =>
  [...simulator.oracle.shown(resource)].map(({ id }) => id);

/** A record as either list shows it. */
const dated = (id: string, at: string, status = 2) => ({
  record: { id, operation_id: id, create_time: at, timestamp: at, status },
});
const midnights = {
  orders: [
    dated('start', '2026-03-10T00:00:00Z'),
    dated('noon', '2026-03-10T12:00:00Z'),
    dated('last', '2026-03-10T23:59:59Z'),
    dated('next', '2026-03-11T00:00:00Z'),
    dated('later', '2026-03-11T00:00:01Z'),
  ],
};

test.each<Partial<Dialect>>([
  {},
  { lastKey: 'absent', ties: 'insertion', timeForm: 'fraction' },
  { lastKey: 'repeated', maxOrders: 20, maxClasses: 50 },
  { lastKey: 'onward', emptyList: 'null', unknownFields: true, keyLifeRequests: 9 },
])(
  'a naive reader sees every record once, oldest or newest first, also with %o',
  async (dialect) => {
    const client = await start({ dialect });
    const orders = shownIds('orders');
    expect(orders.length).toBeGreaterThan(200);
    expect(new Set(orders).size).toBe(orders.length);
    expect(await client.allOrders({ limit: '50', sort_by: 'DATE_ASC' })).toEqual(orders);
    expect(await client.allOrders({ limit: '17' })).toEqual(orders.toReversed());
    const classes = shownIds('nft_classes');
    expect(await client.allClasses({ limit: '200', sort_by: 'DATE_ASC' })).toEqual(classes);
    expect(await client.allClasses({ limit: '13' })).toEqual(classes.toReversed());
  },
);

test('prev_page_key leads back to the first page', async () => {
  const client = await start();
  const query = { limit: '10', sort_by: 'DATE_ASC' };
  const first = await client.orders(query);
  const second = await client.orders({ ...query, page_key: first.next_page_key ?? '' });
  const third = await client.orders({ ...query, page_key: second.next_page_key ?? '' });
  const back = await client.orders({ ...query, page_key: third.prev_page_key ?? '' });
  expect(back.order_infos).toEqual(second.order_infos);
  const again = await client.orders({ ...query, page_key: back.prev_page_key ?? '' });
  expect(again).toMatchObject({ order_infos: first.order_infos, prev_page_key: '' });
});

test.each<[Partial<Dialect>, string[], string[]]>([
  [{ dayEnd: 'inclusive' }, ['start', 'noon', 'last'], ['next', 'later']],
  [{ dayEnd: 'exclusive' }, [], ['start', 'noon', 'last']],
  [{ dayEnd: 'instant' }, ['start'], ['noon', 'last', 'next']],
  [{ dates: 'utc+8' }, ['start', 'noon'], ['last', 'next', 'later']],
  [{ dates: 'ignored' }, ['start', 'noon', 'last', 'next', 'later'], []],
])('%o: what a day shows, and what its next day adds', async (dialect, day, added) => {
  const client = await start({ records: midnights, dialect });
  const query = { start_date: '2026-03-10', sort_by: 'DATE_ASC' };
  expect(await client.allOrders({ ...query, end_date: '2026-03-10' })).toEqual(day);
  const both = await client.allOrders({ ...query, end_date: '2026-03-11' });
  expect(both).toEqual([...day, ...added]);
});

test.each<[Partial<Dialect>, string, string]>([
  [{ lastKey: 'empty' }, '/v3/orders', '"next_page_key":"","limit":10,"order_infos":[]}}'],
  [{ lastKey: 'null' }, '/v3/orders', '"next_page_key":null,"limit":10,'],
  [{ lastKey: 'absent' }, '/v3/orders', '{"data":{"prev_page_key":"","limit":10,'],
  [{ emptyList: 'null' }, '/v3/orders', '"limit":10,"order_infos":null}}'],
  [{ emptyList: 'array' }, '/v1beta1/nft/classes', '"limit":10,"total_count":0,"classes":[]}}'],
  [
    { emptyList: 'absent' },
    '/v1beta1/nft/classes',
    '{"data":{"offset":0,"limit":10,"total_count":0}}',
  ],
])('%o: an empty page of %s has %s', async (dialect, path, text) => {
  const client = await start({ records: { orders: [], classes: [] }, dialect });
  expect((await client.get(path)).text).toContain(text);
});

test('a last key that leads to the same page again, or to an empty one', async () => {
  const client = await start({ records: midnights, dialect: { lastKey: 'repeated' } });
  const only = await client.orders();
  expect(await client.orders({ page_key: only.next_page_key ?? '' })).toMatchObject({
    order_infos: only.order_infos,
  });
  simulator.setDialect({ lastKey: 'onward' });
  const key = (await client.orders()).next_page_key ?? '';
  expect(await client.orders({ page_key: key })).toMatchObject({
    order_infos: [],
    next_page_key: key,
  });
});

test('totals of first pages only, of the page alone, and capped; lists that are cut at both ends; no sorting', async () => {
  const client = await start({ world: { ordersPerDay: 100, classesPerDay: 100, flat: true } });
  const range = { start_date: '2026-03-10', end_date: '2026-03-10', count_total: '1' };
  const query = { ...range, limit: '50', sort_by: 'DATE_ASC' };
  const key = (await client.orders(query)).next_page_key ?? '';
  simulator.setDialect({ totals: 'first' });
  expect(await client.orders(query)).toMatchObject({ total_count: 100 });
  expect(await client.orders({ ...query, page_key: key })).not.toHaveProperty('total_count');
  simulator.setDialect({ totals: 'page' });
  expect(await client.orders({ ...query, limit: '7' })).toMatchObject({ total_count: 7 });
  expect(await client.classes({ ...query, limit: '7' })).toMatchObject({ total_count: 7 });
  simulator.setDialect({ totals: 'present', totalsCap: 60 });
  expect(await client.orders(query)).toMatchObject({ total_count: 60 });
  expect((await client.orders({ ...query, page_key: key })).order_infos).toHaveLength(50);
  simulator.setDialect({ totalsCap: 0, listCap: 60 });
  expect(await client.orders({ ...query, page_key: key })).toMatchObject({
    total_count: 100,
    next_page_key: '',
    order_infos: { length: 10 },
  });
  const ends = async () =>
    new Set([
      ...(await client.allOrders(query)),
      ...(await client.allOrders({ ...query, sort_by: 'DATE_DESC' })),
    ]);
  expect((await ends()).size).toBe(100);
  const behind = await client.classes({ ...range, sort_by: 'DATE_ASC', offset: '59' });
  expect(behind.classes).toHaveLength(1);
  simulator.setDialect({ sort: 'ignored' });
  expect((await ends()).size).toBe(60);
});

test('a limit above the greatest is clamped or refused', async () => {
  const client = await start({ world: { ordersPerDay: 10, classesPerDay: 10, flat: true } });
  expect((await client.orders({ limit: '500' })).order_infos).toHaveLength(50);
  expect((await client.classes({ limit: '500' })).classes).toHaveLength(200);
  simulator.setDialect({ maxClasses: 50 });
  expect(await client.classes({ limit: '200' })).toMatchObject({ limit: 50 });
  simulator.setDialect({ overLimit: 'refuse' });
  expect((await client.get('/v3/orders', { limit: '51' })).status).toBe(400);
  expect((await client.get('/v1beta1/nft/classes', { limit: '51' })).status).toBe(400);
  expect((await client.orders({ limit: '50' })).order_infos).toHaveLength(50);
});

test('orders of one second go by id or as they were inserted', async () => {
  const at = '2026-03-10T12:00:00Z';
  const client = await start({ records: { orders: ['b', 'C', 'a'].map((id) => dated(id, at)) } });
  expect(await client.allOrders({ sort_by: 'DATE_ASC', limit: '1' })).toEqual(['C', 'a', 'b']);
  simulator.setDialect({ ties: 'insertion' });
  expect(await client.allOrders({ sort_by: 'DATE_ASC', limit: '1' })).toEqual(['b', 'C', 'a']);
  expect(await client.allOrders({ limit: '1' })).toEqual(['a', 'C', 'b']);
});

test('page keys expire after a number of requests, and are refused, ignored or answered with an empty page', async () => {
  const client = await start({ records: midnights, dialect: { keyLifeRequests: 2 } });
  const ask = async (key: string) => {
    const { status, text } = await client.get('/v3/orders', { limit: '2', page_key: key });
    return `${status} ${/"(?:operation_id":"\w+|page_key has expired|order_infos":\[\])/.exec(text)?.[0]}`;
  };
  const aged = async () => {
    const { next_page_key: key = '' } = await client.orders({ limit: '2' });
    expect([await ask(key ?? ''), await ask(key ?? '')]).toEqual([
      '200 "operation_id":"last',
      '200 "operation_id":"last',
    ]);
    return ask(key ?? '');
  };
  expect(await aged()).toContain('400');
  simulator.setDialect({ keyExpired: 'ignore' });
  expect(await aged()).toBe('200 "operation_id":"later');
  simulator.setDialect({ keyExpired: 'empty' });
  expect(await aged()).toBe('200 "order_infos":[]');
});

describe('the window', () => {
  const times = ['2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'];
  const records = {
    orders: times.map((at) => dated(at, at)),
    classes: times.map((at) => dated(at, at)),
  };

  test('is the current and the previous calendar month, and vanishes a month at a time', async () => {
    const client = await start({ records, startAt: Date.parse('2026-03-31T23:59:59Z') });
    expect(await client.allOrders({ sort_by: 'DATE_ASC' })).toEqual(times.slice(1));
    expect(await client.allClasses({ sort_by: 'DATE_ASC' })).toEqual(times.slice(1));
    simulator.advance(1000);
    expect(await client.allOrders({})).toEqual(times.slice(2));
    const outside = { start_date: '2026-01-01', end_date: '2026-02-28', count_total: '1' };
    expect(await client.orders(outside)).toMatchObject({ order_infos: [], total_count: 0 });
    simulator.setDialect({ ordersWindow: false, classesWindow: false });
    expect(await client.allOrders({ sort_by: 'DATE_ASC' })).toEqual(times);
    expect(await client.allClasses({ sort_by: 'DATE_ASC' })).toEqual(times);
  });

  test('ends by another clock, or piece by piece, oldest first', async () => {
    const client = await start({ records, startAt: Date.parse('2026-03-31T15:59:59Z') });
    simulator.setDialect({ monthEnd: 'utc+8' });
    expect(await client.allOrders({ sort_by: 'DATE_ASC' })).toEqual(times);
    simulator.advance(1000);
    expect(await client.allOrders({})).toEqual(times.slice(2));

    simulator.setDialect({ monthEnd: 'batches' });
    for (const on of ['05', '14', '28'])
      simulator.insert('orders', dated(on, `2026-02-${on}T00:00:00Z`));
    const left: number[] = [];
    for (const at of ['15:59:59', '16:00:00', '20:00:00', '23:59:59', '24:00:00']) {
      simulator.setNow(Date.parse(`2026-03-31T${at}Z`));
      left.push((await client.allOrders({})).length);
    }
    expect(left).toEqual([5, 4, 2, 2, 1]);
  });
});

test('statusFilter: what it does with 2, and with success; a status that is left out unless it is asked for', async () => {
  const orders = [dated('1', '2026-03-10T10:00:00Z', 1), dated('2', '2026-03-10T11:00:00Z', 2)];
  const client = await start({ records: { orders } });
  const ask = async (status: string): Promise<string[] | number> => {
    const { status: code } = await client.get('/v3/orders', { status });
    return code === 200 ? client.allOrders({ status }) : code;
  };
  const shown = {
    honoured: [['2'], 400],
    ignored: [['2', '1'], 400],
    empty: [[], 400],
    refused: [400, 400],
    words: [400, ['2']],
  } as const;
  for (const [statusFilter, expected] of Object.entries(shown)) {
    simulator.setDialect({ statusFilter: statusFilter as keyof typeof shown });
    expect([await ask('2'), await ask('success')], statusFilter).toEqual(expected);
  }
  simulator.setDialect({ statusFilter: 'honoured', statusUnasked: 1 });
  expect([await client.allOrders({}), await ask('1')]).toEqual([['2'], ['1']]);
});

test('lagMs shows list and total as they were so long ago, and the clock as it is', async () => {
  const client = await start({ records: midnights, startAt: Date.parse('2026-03-10T13:00:00Z') });
  simulator.setDialect({ lagMs: 2 * 3_600_000 });
  expect(await client.orders({ count_total: '1' })).toMatchObject({ total_count: 1 });
  expect((await client.get('/v3/orders')).date).toBe('Tue, 10 Mar 2026 13:00:00 GMT');
});

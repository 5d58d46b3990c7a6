// Each switch of the simulator does what it says, through real HTTP.
import { afterEach, describe, expect, test } from 'vitest';
import { readDialect } from '../../src/simulator/dialect.ts';
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/server.ts';
import { practiceClient } from '../support/practice-client.ts';

const startAt = Date.parse('2026-03-18T09:30:00Z');

let simulator: Simulator;
afterEach(() => simulator.close());

async function start(options: SimulatorOptions): Promise<ReturnType<typeof practiceClient>> {
  simulator = await createSimulator({ startAt, speed: 0, ...options });
  return practiceClient(simulator);
}

const order = (operation_id: string, create_time: string) => ({
  record: { operation_id, create_time, status: 2 },
});
const midnights = {
  orders: [
    order('start', '2026-03-10T00:00:00Z'),
    order('noon', '2026-03-10T12:00:00Z'),
    order('last', '2026-03-10T23:59:59Z'),
    order('next', '2026-03-11T00:00:00Z'),
    order('later', '2026-03-11T00:00:01Z'),
  ],
};

describe('end_date', () => {
  const shown = {
    inclusive: ['start', 'noon', 'last'],
    exclusive: [],
    instant: ['start'],
  } as const;
  const shownWithNext = {
    inclusive: ['start', 'noon', 'last', 'next', 'later'],
    exclusive: ['start', 'noon', 'last'],
    instant: ['start', 'noon', 'last', 'next'],
  } as const;
  test.each(['inclusive', 'exclusive', 'instant'] as const)('dayEnd=%s', async (dayEnd) => {
    const client = await start({ records: midnights, dialect: { dayEnd } });
    const query = { start_date: '2026-03-10', sort_by: 'DATE_ASC' };
    expect(await client.allOrders({ ...query, end_date: '2026-03-10' })).toEqual(shown[dayEnd]);
    const next = await client.allOrders({ ...query, end_date: '2026-03-11' });
    expect(next).toEqual(shownWithNext[dayEnd]);
  });

  test('dates=utc+8 moves the day eight hours, dates=ignored shows everything', async () => {
    const client = await start({ records: midnights, dialect: { dates: 'utc+8' } });
    const query = { start_date: '2026-03-10', end_date: '2026-03-10', sort_by: 'DATE_ASC' };
    expect(await client.allOrders(query)).toEqual(['start', 'noon']);
    simulator.setDialect({ dates: 'ignored' });
    expect(await client.allOrders(query)).toHaveLength(5);
  });
});

test('lastKey says how the last page is told', async () => {
  const client = await start({ records: midnights });
  const text = async (query = {}) => (await client.get('/v3/orders', query)).text;
  expect(await text()).toContain('"next_page_key":"",');
  simulator.setDialect({ lastKey: 'null' });
  expect(await text()).toContain('"next_page_key":null,');
  simulator.setDialect({ lastKey: 'absent' });
  expect(await text()).not.toContain('next_page_key');
  simulator.setDialect({ lastKey: 'repeated' });
  const key = (await client.orders({ limit: '4' })).next_page_key ?? '';
  const last = await client.orders({ limit: '4', page_key: key });
  expect(last.order_infos).toHaveLength(1);
  expect(last.next_page_key).toBe(key);
  const only = await client.orders();
  expect((await client.orders({ page_key: only.next_page_key ?? '' })).order_infos).toEqual(
    only.order_infos,
  );
  simulator.setDialect({ lastKey: 'onward' });
  const onward = (await client.orders()).next_page_key ?? '';
  const behind = await client.orders({ page_key: onward });
  expect(behind).toMatchObject({ order_infos: [], next_page_key: onward });
});

test('lastKey=around leads back into the list for ever, by a key that is new each time', async () => {
  const client = await start({ records: midnights, dialect: { lastKey: 'around' } });
  const keys = new Set<string>();
  let key = '';
  for (let i = 0; i < 20; i++) {
    const page = await client.orders({ limit: '5', ...(key === '' ? {} : { page_key: key }) });
    key = page.next_page_key ?? '';
    keys.add(key);
  }
  expect(keys.size).toBe(20);
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
  const ends = async () => [
    ...(await client.allOrders(query)),
    ...(await client.allOrders({ ...query, sort_by: 'DATE_DESC' })),
  ];
  expect(new Set(await ends()).size).toBe(100);
  const behind = await client.classes({ ...range, sort_by: 'DATE_ASC', offset: '59' });
  expect(behind.classes).toHaveLength(1);
  simulator.setDialect({ sort: 'ignored' });
  expect(new Set(await ends()).size).toBe(60);
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

test('an empty list is [], null or absent', async () => {
  const client = await start({ records: { orders: [], classes: [] } });
  const texts = async () => [
    (await client.get('/v3/orders')).text,
    (await client.get('/v1beta1/nft/classes')).text,
  ];
  expect(await texts()).toEqual([
    '{"data":{"prev_page_key":"","next_page_key":"","limit":10,"order_infos":[]}}',
    '{"data":{"offset":0,"limit":10,"total_count":0,"classes":[]}}',
  ]);
  simulator.setDialect({ emptyList: 'null' });
  expect((await texts())[0]).toContain('"order_infos":null}}');
  simulator.setDialect({ emptyList: 'absent' });
  expect((await texts())[1]).toBe('{"data":{"offset":0,"limit":10,"total_count":0}}');
});

test('orders of one second go by id or as they were inserted', async () => {
  const at = '2026-03-10T12:00:00Z';
  const client = await start({
    records: { orders: [order('b', at), order('C', at), order('a', at)] },
  });
  expect(await client.allOrders({ sort_by: 'DATE_ASC', limit: '1' })).toEqual(['C', 'a', 'b']);
  simulator.setDialect({ ties: 'insertion' });
  expect(await client.allOrders({ sort_by: 'DATE_ASC', limit: '1' })).toEqual(['b', 'C', 'a']);
  expect(await client.allOrders({ limit: '1' })).toEqual(['a', 'C', 'b']);
});

describe('page keys expire', () => {
  const second = async (client: ReturnType<typeof practiceClient>, wait: () => void) => {
    const { next_page_key } = await client.orders({ limit: '2' });
    wait();
    return client.get('/v3/orders', { limit: '2', page_key: next_page_key ?? '' });
  };

  test('after a time', async () => {
    const client = await start({ records: midnights, dialect: { keyLifeMs: 1000 } });
    expect((await second(client, () => simulator.advance(1000))).status).toBe(200);
    const refused = await second(client, () => simulator.advance(1001));
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('BAD_REQUEST');
  });

  test('after a number of requests', async () => {
    const client = await start({ records: midnights, dialect: { keyLifeRequests: 2 } });
    const { next_page_key } = await client.orders({ limit: '2' });
    const query = { limit: '2', page_key: next_page_key ?? '' };
    expect((await client.get('/v3/orders', query)).status).toBe(200);
    expect((await client.get('/v3/orders', query)).status).toBe(200);
    expect((await client.get('/v3/orders', query)).status).toBe(400);
  });

  test('and are then ignored or answered with an empty page', async () => {
    const client = await start({
      records: midnights,
      dialect: { keyExpired: 'ignore', keyLifeMs: 1 },
    });
    const late = () => simulator.advance(2);
    const page = JSON.parse((await second(client, late)).text) as {
      data: { order_infos: unknown[] };
    };
    expect(page.data.order_infos).toEqual((await client.orders({ limit: '2' })).order_infos);
    simulator.setDialect({ keyExpired: 'empty' });
    expect((await second(client, late)).text).toContain('"order_infos":[]');
  });
});

describe('the window', () => {
  const dated = (at: string) => ({
    record: { id: at, operation_id: at, create_time: at, timestamp: at },
  });
  const times = ['2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'];
  const records = { orders: times.map(dated), classes: times.map(dated) };

  test('is the current and the previous calendar month, and vanishes a month at a time', async () => {
    const client = await start({ records, startAt: Date.parse('2026-03-31T23:59:59Z') });
    expect(await client.allOrders({ sort_by: 'DATE_ASC' })).toEqual(times.slice(1));
    expect(await client.allClasses({ sort_by: 'DATE_ASC' })).toEqual(times.slice(1));
    simulator.advance(1000);
    expect(await client.allOrders({})).toEqual(times.slice(2));
    const outside = { start_date: '2026-01-01', end_date: '2026-02-28', count_total: '1' };
    expect(await client.orders(outside)).toMatchObject({ order_infos: [], total_count: 0 });
  });

  test('monthEnd=batches lets the month go piece by piece, oldest first', async () => {
    const client = await start({
      records: { orders: ['01', '05', '14', '28'].map((on) => dated(`2026-02-${on}T00:00:00Z`)) },
      startAt: Date.parse('2026-03-31T15:59:59Z'),
      dialect: { monthEnd: 'batches' },
    });
    const left = async (at: string): Promise<number> => {
      simulator.setNow(Date.parse(`2026-03-31T${at}Z`));
      return (await client.allOrders({})).length;
    };
    expect([await left('15:59:59'), await left('16:00:00'), await left('20:00:00')]).toEqual([
      4, 3, 1,
    ]);
    expect([await left('23:59:59'), await left('24:00:00')]).toEqual([1, 0]);
  });

  test('monthEnd=utc+8 ends the month eight hours earlier', async () => {
    const client = await start({
      records,
      startAt: Date.parse('2026-03-31T15:59:59Z'),
      dialect: { monthEnd: 'utc+8' },
    });
    expect(await client.allOrders({ sort_by: 'DATE_ASC' })).toEqual(times);
    simulator.advance(1000);
    expect(await client.allOrders({})).toEqual(times.slice(2));
  });
});

test('statusFilter: what it does with 2, and with success', async () => {
  const records = {
    orders: ['1', '2'].map((id) => ({
      record: { operation_id: id, status: Number(id) },
      at: startAt,
    })),
  };
  const client = await start({ records });
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
    simulator.setDialect(readDialect({ statusFilter }));
    expect([await ask('2'), await ask('success')], statusFilter).toEqual(expected);
  }
});

test('lagMs shows list and total as they were so long ago, and the clock as it is', async () => {
  const client = await start({ records: midnights, startAt: Date.parse('2026-03-10T13:00:00Z') });
  simulator.setDialect({ lagMs: 2 * 3_600_000 });
  expect(await client.orders({ count_total: '1' })).toMatchObject({ total_count: 1 });
  expect((await client.get('/v3/orders')).date).toBe('Tue, 10 Mar 2026 13:00:00 GMT');
});

test('a switch or value that does not exist is refused with a sentence that names what there is', async () => {
  await start({});
  expect(() => readDialect({ dayEnds: 'inclusive' })).toThrow(/no switch "dayEnds".*dayEnd/);
  expect(() => readDialect({ dayEnd: 'sometimes' })).toThrow('inclusive, exclusive, instant');
  expect(() => readDialect({ shortPages: '-1' })).toThrow('whole number');
  expect(() => readDialect({ classesWindow: 'maybe' })).toThrow('on or off');
  expect(readDialect({ classesWindow: 'off', maxClasses: '50', lastKey: 'null' })).toEqual({
    classesWindow: false,
    maxClasses: 50,
    lastKey: 'null',
  });
});

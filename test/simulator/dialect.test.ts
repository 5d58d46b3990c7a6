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
  simulator.setDialect({ totals: 'page', classTotals: 'page' });
  expect(await client.orders({ ...query, limit: '7' })).toMatchObject({ total_count: 7 });
  expect(await client.classes({ ...query, limit: '7' })).toMatchObject({ total_count: 7 });
  simulator.setDialect({ totals: 'present', classTotals: 'present', totalsCap: 60 });
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

test('prevKey says what stands on the first page', async () => {
  const client = await start({ records: midnights });
  const text = async (query = {}) => (await client.get('/v3/orders', query)).text;
  expect(await text()).toContain('"prev_page_key":"",');
  simulator.setDialect({ prevKey: 'null' });
  expect(await text()).toContain('"prev_page_key":null,');
  simulator.setDialect({ prevKey: 'absent' });
  expect(await text()).not.toContain('prev_page_key');
  const { next_page_key } = await client.orders({ limit: '2' });
  const second = { limit: '2', page_key: next_page_key ?? '' };
  expect(await text(second)).toContain('prev_page_key');
  simulator.setDialect({ prevKey: 'never' });
  expect(await text(second)).not.toContain('prev_page_key');
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

test('shortPages shows fewer than were asked, and goes on behind them', async () => {
  const client = await start({ records: midnights, dialect: { shortPages: 2 } });
  expect((await client.orders({ limit: '50' })).order_infos).toHaveLength(2);
  expect(await client.allOrders({ limit: '50' })).toHaveLength(5);
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

test('totals are given when asked, absent, null or zero', async () => {
  const client = await start({
    records: { ...midnights, classes: [{ record: { id: 'c' }, at: startAt }] },
  });
  const asked = { count_total: '1' };
  expect(await client.orders()).not.toHaveProperty('total_count');
  expect(await client.orders({ count_total: '0' })).not.toHaveProperty('total_count');
  expect((await client.orders(asked)).total_count).toBe(5);
  expect((await client.classes()).total_count).toBe(1);
  simulator.setDialect({ totals: 'zero', classTotals: 'zero' });
  expect((await client.orders(asked)).total_count).toBe(0);
  expect((await client.classes()).total_count).toBe(0);
  simulator.setDialect({ totals: 'null', classTotals: 'null' });
  expect((await client.orders(asked)).total_count).toBeNull();
  expect((await client.classes()).total_count).toBeNull();
  simulator.setDialect({ totals: 'absent', classTotals: 'absent' });
  expect(await client.orders(asked)).not.toHaveProperty('total_count');
  expect(await client.classes()).not.toHaveProperty('total_count');
});

test('times, statuses and bulk purchases take the form that was set', async () => {
  const client = await start({ world: { ordersPerDay: 20, classesPerDay: 5, batchShare: 0.5 } });
  const first = async () => {
    const data = await client.orders({ limit: '50', sort_by: 'DATE_ASC' });
    return (data.order_infos ?? [])[0] ?? {};
  };
  const texts = async () => (await client.get('/v3/orders', { limit: '50' })).text;
  const iso = String((await first())['create_time']);
  expect(iso).toMatch(/^2026-02-\d\dT\d\d:\d\d:\d\dZ$/);
  simulator.setDialect({ timeForm: 'space' });
  expect((await first())['create_time']).toBe(iso.replace('T', ' ').replace('Z', ''));
  simulator.setDialect({ timeForm: 'go' });
  expect((await first())['create_time']).toBe(iso.replace('T', ' ').replace('Z', ' +0000 UTC'));
  simulator.setDialect({ timeForm: 'fraction' });
  expect((await first())['create_time']).toMatch(/^2026-02-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  simulator.setDialect({ timeForm: 'mixed' });
  const mixed = await texts();
  for (const form of [/"2026-\S+\dZ"/, /"2026-\S+ \S+"/, /\+0000 UTC"/, /\.\d{3}Z"/]) {
    expect(mixed).toMatch(form);
  }
  expect(await texts()).toContain('"status":2');
  simulator.setDialect({ statusForm: 'text' });
  expect(await texts()).toContain('"status":"2"');
  simulator.setDialect({ statusForm: 'word' });
  expect(await texts()).toContain('"status":"success"');
  expect(await texts()).not.toContain('"amount":""');
  simulator.setDialect({ batchForm: 'empty' });
  expect(await texts()).toContain('"account":"","amount":"","number":""');
  simulator.setDialect({ batchForm: 'null' });
  expect(await texts()).toContain('"account":null,"amount":null,"number":null');
  expect((await client.get('/v1beta1/nft/classes')).text).toMatch(/:\d\d \+0000 UTC"/);
  simulator.setDialect({ classTimeForm: 'rfc3339' });
  expect((await client.get('/v1beta1/nft/classes')).text).toMatch(/T\d\d:\d\d:\d\dZ"/);
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

  test('a key from before they did counts as expired', async () => {
    const client = await start({ records: midnights });
    const before = () => simulator.setDialect({ keyLifeMs: 1_000_000 });
    expect((await second(client, before)).status).toBe(400);
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

  test('classesWindow=off shows classes of any age', async () => {
    const client = await start({ records, dialect: { classesWindow: false } });
    expect(await client.allClasses({ sort_by: 'DATE_ASC' })).toEqual(times);
    expect(await client.allOrders({})).toHaveLength(2);
  });
});

test('unknownFields adds fields that no document names, with numbers no double holds', async () => {
  const client = await start({ world: { ordersPerDay: 5 }, dialect: { unknownFields: true } });
  const { text } = await client.get('/v3/orders', { limit: '1' });
  expect(text).toMatch(/"ref":\d{20,}\.10/);
  expect(text).toContain('"server_time"');
  expect((await client.get('/v1beta1/nft/classes')).text).toContain('"ext":[');
});

test('feePath, heightForm and otherBodies', async () => {
  const client = await start({});
  expect((await client.get('/token/tokens/credita/fee')).text).toContain('"exist":true');
  expect((await client.get('/token/tokens/credita/fees')).status).toBe(404);
  const id = simulator.oracle.operationIds('2026-03-16')[0];
  const lookup = async () => (await client.get(`/v3/native/tx/${id}`)).text;
  expect(await lookup()).toMatch(/"block_height":"\d+"/);
  expect(await lookup()).not.toContain('null');
  simulator.setDialect({ feePath: 'fees', heightForm: 'number', otherBodies: 'null' });
  expect((await client.get('/token/tokens/credita/fees')).status).toBe(200);
  expect(await lookup()).toMatch(/"block_height":\d+/);
  expect((await lookup()).match(/:null/g)).toHaveLength(2);
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

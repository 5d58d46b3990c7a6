// Each fault of the simulator does what it says, when and where it says.
import { afterEach, describe, expect, test } from 'vitest';
import { parseFault } from '../../src/simulator/fault-text.ts';
import type { FaultName } from '../../src/simulator/faults.ts';
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/server.ts';
import { practiceClient } from '../support/practice-client.ts';

const startAt = Date.parse('2026-03-18T09:30:00Z');
const orders = ['a', 'b', 'c', 'd'].map((operation_id, i) => ({
  record: { operation_id, create_time: `2026-03-10T12:00:0${i}Z`, status: 2 },
}));

let simulator: Simulator;
afterEach(() => simulator.close());

async function start(options: SimulatorOptions = {}): Promise<ReturnType<typeof practiceClient>> {
  simulator = await createSimulator({ startAt, speed: 0, records: { orders }, ...options });
  return practiceClient(simulator);
}

const ascending = { sort_by: 'DATE_ASC', count_total: '1' };

describe('answers that are none', () => {
  const expected: [FaultName, object, number, string][] = [
    ['tooMany', {}, 429, 'TOO_MANY_REQUESTS'],
    ['serverError', {}, 500, 'INTERNAL_ERROR'],
    ['serverError', { status: 503 }, 503, 'INTERNAL_ERROR'],
    ['htmlPage', { status: 502 }, 502, '<!DOCTYPE html>'],
    ['htmlPage', {}, 200, '<!DOCTYPE html>'],
    ['textNotFound', {}, 404, '404 page not found'],
    ['forbidden', {}, 403, 'authentication failed'],
    ['forbidden', { status: 401 }, 401, 'authentication failed'],
  ];
  test.each(expected)('%s %o', async (name, rule, status, text) => {
    const client = await start({ faults: { [name]: { ...rule, next: 2 } } });
    for (let i = 0; i < 2; i++) {
      const reply = await client.get('/v3/orders');
      expect(reply.status).toBe(status);
      expect(reply.text).toContain(text);
      expect(reply.date).toBe('Wed, 18 Mar 2026 09:30:00 GMT');
    }
    expect((await client.get('/v3/orders')).text).toContain('"order_infos":[{');
  });
});

test('reset, truncated and hang leave the client without an answer', async () => {
  const client = await start();
  simulator.setFaults({ reset: { next: 1 } });
  await expect(client.get('/v3/orders')).rejects.toThrow();
  simulator.setFaults({ truncated: { next: 1 } });
  await expect(client.get('/v3/orders')).rejects.toThrow();
  simulator.setFaults({ hang: { next: 1 } });
  const hanging = client.get('/v3/orders').then(
    () => 'answered',
    () => 'cut off',
  );
  const waited = new Promise((resolve) => {
    setTimeout(resolve, 50, 'still waiting');
  });
  expect(await Promise.race([hanging, waited])).toBe('still waiting');
  expect((await client.get('/v3/orders')).status).toBe(200);
  expect(simulator.requests.recent().map(({ status, fault }) => fault ?? status)).toEqual([
    'reset',
    'truncated',
    'hang',
    200,
  ]);
  await simulator.close();
  expect(await hanging).toBe('cut off');
});

test('wrongDate moves the Date header and nothing else', async () => {
  const client = await start({ faults: { wrongDate: { next: 1, ms: -86_400_000 } } });
  const reply = await client.get('/v3/orders');
  expect(reply.date).toBe('Tue, 17 Mar 2026 09:30:00 GMT');
  expect(reply.status).toBe(200);
  expect((await client.get('/v3/orders')).date).toBe('Wed, 18 Mar 2026 09:30:00 GMT');
});

test('records are shown twice or left out while the total counts them', async () => {
  const client = await start();
  const page = async (): Promise<[string, number | null | undefined]> => {
    const { order_infos, total_count } = await client.orders(ascending);
    return [
      (order_infos ?? []).map((order) => String(order['operation_id'])).join(''),
      total_count,
    ];
  };
  expect(await page()).toEqual(['abcd', 4]);
  simulator.setFaults({ duplicated: { next: 1, rows: 2 } });
  expect(await page()).toEqual(['abcdcd', 4]);
  simulator.setFaults({ dropped: { next: 1 } });
  expect(await page()).toEqual(['abc', 4]);
  simulator.setFaults({ dropped: { ids: ['b'] } });
  expect(await page()).toEqual(['acd', 4]);
  expect(await page()).toEqual(['acd', 4]);
  simulator.setFaults({ dropped: null, lyingTotal: { next: 1, by: -3 } });
  expect(await page()).toEqual(['abcd', 1]);
  expect(await page()).toEqual(['abcd', 4]);
});

test('a list may be shown empty, and counted so', async () => {
  const client = await start({ faults: { emptied: { next: 1 } } });
  expect(await client.orders(ascending)).toMatchObject({ order_infos: [], total_count: 0 });
  expect(await client.orders(ascending)).toMatchObject({ total_count: 4 });
});

test('an answer may have nothing in it, and be none the less 200', async () => {
  const client = await start({ faults: { hollow: { next: 1, path: '/v3/orders' } } });
  const { status, text } = await client.get('/v3/orders', ascending);
  expect({ status, text }).toEqual({ status: 200, text: '{"data":{}}' });
  expect(await client.orders(ascending)).toMatchObject({ total_count: 4 });
});

test('a lagging copy answers as the platform did some time ago, whatever it shows by now', async () => {
  const client = await start({
    records: { orders: [...orders, { record: { operation_id: 'new' }, at: startAt - 5_000 }] },
    faults: { stale: { next: 1, ms: 10_000 } },
  });
  expect((await client.orders(ascending)).total_count).toBe(4);
  expect((await client.orders(ascending)).total_count).toBe(5);
});

test('a fault for a part of the query, or for all without it, leaves the other requests alone', async () => {
  const client = await start({ faults: { lyingTotal: { with: 'status=2' } } });
  const total = async (more: Record<string, string>): Promise<unknown> =>
    (await client.orders({ ...ascending, ...more })).total_count;
  expect([await total({}), await total({ status: '2' })]).toEqual([4, 5]);
  simulator.setFaults({ lyingTotal: { without: 'limit=1' } });
  expect([await total({}), await total({ limit: '1' })]).toEqual([5, 4]);
});

test('chance is seeded: the same seed has the same requests fail, another seed others', async () => {
  const failing = async (seed: number): Promise<string> => {
    const client = await start({ seed, faults: { serverError: { share: 0.3 } } });
    let statuses = '';
    for (let i = 0; i < 60; i++)
      statuses += (await client.get('/v3/orders')).status === 200 ? '.' : 'x';
    await simulator.close();
    return statuses;
  };
  const first = await failing(1);
  expect(first.match(/x/g)?.length).toBeGreaterThan(8);
  expect(first.match(/x/g)?.length).toBeLessThan(30);
  expect(await failing(1)).toBe(first);
  expect(await failing(2)).not.toBe(first);
});

test('faults of the command line are checked', () => {
  expect(parseFault('tooMany')).toEqual({ tooMany: [{}] });
  expect(parseFault('tooMany=0.25@/v3/orders,retryAfter=3')).toEqual({
    tooMany: [{ share: 0.25, path: '/v3/orders', retryAfter: 3 }],
  });
  expect(parseFault('dropped=3x,ids=a+b')).toEqual({ dropped: [{ next: 3, ids: ['a', 'b'] }] });
  expect(parseFault('lyingTotal,by=2,with=status=1')).toEqual({
    lyingTotal: [{ by: 2, with: 'status=1' }],
  });
  expect(() => parseFault('tooMuch=1x')).toThrow(/no fault "tooMuch".*tooMany/);
  expect(() => parseFault('tooMany=often')).toThrow('name=0.05 or name=3x');
  expect(() => parseFault('slow,speed=3')).toThrow('no detail "speed"');
  expect(() => parseFault('tooMany=7')).toThrow('from 0 to 1');
  expect(() => parseFault('slow,ms=long')).toThrow('milliseconds');
});

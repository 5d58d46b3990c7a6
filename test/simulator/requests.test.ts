// What becomes of a request to the simulator: who is let in, what is asked wrongly, what goes wrong on demand, and what
// is noted of it.
import { afterEach, describe, expect, test } from 'vitest';
import { deliver, type DeliveryProblem } from '../../src/alert/deliver.ts';
import { testBody } from '../../src/alert/message.ts';
import type { AlertFormat } from '../../src/alert/receivers.ts';
import { sign } from '../../src/platform/sign.ts';
import { readFaults, type FaultName } from '../../src/simulator/faults.ts';
import { alertSecret } from '../../src/simulator/practice-receiver.ts';
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/simulator-server.ts';
import { practiceClient } from '../support/practice-client.ts';

const startAt = Date.parse('2026-03-18T09:30:00Z');
const path = '/v3/orders';
const orders = ['a', 'b', 'c', 'd'].map((operation_id, i) => ({
  record: { operation_id, create_time: `2026-03-10T12:00:0${i}Z`, status: 2 },
}));

let simulator: Simulator;
afterEach(() => simulator.close());

async function start(options: SimulatorOptions = {}): Promise<ReturnType<typeof practiceClient>> {
  simulator = await createSimulator({ startAt, speed: 0, records: { orders }, ...options });
  return practiceClient(simulator);
}

/** Headers that sign these parameters at that time, whatever is sent. */
function signed(
  query: Record<string, string>,
  timestamp = String(startAt),
  secret = simulator.projects[0]?.apiSecret ?? '',
): Record<string, string> {
  const signature = sign({ path, query, timestamp, secret });
  return { 'x-timestamp': timestamp, 'x-signature': signature };
}

const ascending = { sort_by: 'DATE_ASC', count_total: '1' };

describe('who is let in', () => {
  const refused =
    '{"error":{"code_space":"simulator","code":"FORBIDDEN","message":"authentication failed"}}';

  test('a wrong key, signature, secret or timestamp is answered 403 with the clock in Date', async () => {
    const client = await start();
    const wrong: Record<string, string>[] = [
      { 'x-api-key': 'nobody' },
      { 'x-signature': '0'.repeat(64) },
      { 'x-signature': 'short' },
      { 'x-timestamp': String(startAt + 1) },
      signed({}, String(startAt), 'another secret'),
      signed({}, String(startAt - 300_001)),
      signed({}, String(startAt + 300_001)),
      signed({}, String(startAt / 1000)),
      signed({}, 'now'),
    ];
    for (const headers of wrong) {
      const { status, text, date } = await client.get(path, {}, headers);
      expect([status, text, date]).toEqual([403, refused, 'Wed, 18 Mar 2026 09:30:00 GMT']);
    }
    const early = signed({}, String(startAt - 300_000));
    expect((await client.get(path, {}, early)).status).toBe(200);
  });

  test('parameters are verified decoded and as received, empty ones included; the first of a name counts', async () => {
    const client = await start({ records: {}, world: { ordersPerDay: 3 } });
    const ask = async (query: string, meant: Record<string, string>): Promise<number> =>
      (await client.get(`${path}?${query}`, {}, signed(meant))).status;
    expect(await ask('limit=5&status=', { limit: '5', status: '' })).toBe(200);
    expect(await ask('limit=5&status=', { limit: '5' })).toBe(403);
    expect(await ask('limit=5&limit=6', { limit: '5' })).toBe(200);
    // A key whose "+" was not encoded arrives with a space: signed as meant, it no longer fits.
    let key = '';
    while (!key.includes('+')) {
      const next = { limit: '1', ...(key !== '' && { page_key: key }) };
      key = (await client.orders(next)).next_page_key ?? '';
    }
    expect(await ask(`page_key=${key}`, { page_key: key })).toBe(403);
    expect(await ask(`page_key=${encodeURIComponent(key)}`, { page_key: key })).toBe(200);
  });

  test('each project has its own orders, and a rotated key opens the same ones', async () => {
    const projects = ['one', 'two', 'one'].map((name, i) => ({
      apiKey: `k${i}`,
      apiSecret: `s${i}`,
      name,
    }));
    await start({ records: {}, projects });
    const pages = (asked: string) =>
      Promise.all([0, 1, 2].map(async (i) => (await practiceClient(simulator, i).get(asked)).text));
    const [first, other, rotated] = await pages(path);
    expect(rotated).toBe(first);
    expect(other).not.toBe(first);
    expect(new Set(await pages('/v1beta1/nft/classes')).size).toBe(1);
  });

  test('tokens need no key, and unknown paths are a bare 404', async () => {
    const client = await start();
    expect((await fetch(`${simulator.url}/token/tokens`)).status).toBe(200);
    for (const unknown of ['/', '/v3/nothing', '/v3/tx/x', '/token/other']) {
      const { status, text } = await client.get(unknown);
      expect([status, text]).toEqual([404, '404 page not found']);
    }
  });
});

test.each<[string, Record<string, string>, string]>([
  [path, { limit: 'ten' }, 'limit must be'],
  [path, { limit: '0' }, 'limit must be'],
  [path, { status: '4' }, 'status must be'],
  [path, { sort_by: 'date_asc' }, 'sort_by must be'],
  [path, { start_date: '2026-02-30' }, 'start_date must be'],
  [path, { end_date: '20260201' }, 'end_date must be'],
  [path, { count_total: 'yes' }, 'count_total must be'],
  [path, { page_key: 'made-up' }, 'page_key is not valid'],
  ['/v1beta1/nft/classes', { offset: '-1' }, 'offset must be'],
  ['/v1beta1/nft/classes', { limit: '1e2' }, 'limit must be'],
])('%s with %o is answered 400 with a sentence', async (asked, query, sentence) => {
  const { status, text } = await (await start()).get(asked, query);
  expect([status, text]).toEqual([400, expect.stringContaining(sentence)]);
  expect(text).toContain('"code":"BAD_REQUEST"');
});

describe('faults', () => {
  test.each<[FaultName, object, number, string]>([
    ['tooMany', {}, 429, 'TOO_MANY_REQUESTS'],
    ['serverError', {}, 500, 'INTERNAL_ERROR'],
    ['serverError', { status: 503 }, 503, 'INTERNAL_ERROR'],
    ['htmlPage', { status: 502 }, 502, '<!DOCTYPE html>'],
    ['htmlPage', {}, 200, '<!DOCTYPE html>'],
    ['textNotFound', {}, 404, '404 page not found'],
    ['forbidden', {}, 403, 'authentication failed'],
    ['forbidden', { status: 401 }, 401, 'authentication failed'],
    ['hollow', { path }, 200, '{"data":{}}'],
  ])(
    '%s %o answers for two requests, as told, and then no more',
    async (name, rule, status, text) => {
      const client = await start({ faults: { [name]: { ...rule, next: 2 } } });
      for (let i = 0; i < 2; i++) {
        const reply = await client.get(path);
        expect([reply.status, reply.date]).toEqual([status, 'Wed, 18 Mar 2026 09:30:00 GMT']);
        expect(reply.text).toContain(text);
      }
      expect((await client.get(path)).text).toContain('"order_infos":[{');
    },
  );

  test('reset, truncated and hang leave the client without an answer', async () => {
    const client = await start();
    simulator.setFaults({ reset: { next: 1 } });
    await expect(client.get(path)).rejects.toThrow();
    simulator.setFaults({ truncated: { next: 1 } });
    await expect(client.get(path)).rejects.toThrow();
    simulator.setFaults({ hang: { next: 1 } });
    const hanging = client.get(path).then(
      () => 'answered',
      () => 'cut off',
    );
    const waited = new Promise((resolve) => {
      setTimeout(resolve, 50, 'still waiting');
    });
    expect(await Promise.race([hanging, waited])).toBe('still waiting');
    expect((await client.get(path)).status).toBe(200);
    const noted = simulator.requests.recent().map(({ status, fault }) => fault ?? status);
    expect(noted).toEqual(['reset', 'truncated', 'hang', 200]);
    await simulator.close();
    expect(await hanging).toBe('cut off');
  });

  test('wrongDate moves the Date header and nothing else', async () => {
    const client = await start({ faults: { wrongDate: { next: 1, ms: -86_400_000 } } });
    const reply = await client.get(path);
    expect([reply.status, reply.date]).toEqual([200, 'Tue, 17 Mar 2026 09:30:00 GMT']);
    expect((await client.get(path)).date).toBe('Wed, 18 Mar 2026 09:30:00 GMT');
  });

  test('records are shown twice, left out, grown or shown as they were, and totals err', async () => {
    const client = await start();
    const page = async (more = {}): Promise<[string, number | null | undefined]> => {
      const { order_infos, total_count } = await client.orders({ ...ascending, ...more });
      const ids = (order_infos ?? []).map((order) => String(order['operation_id'])).join('');
      return [ids, total_count];
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
    simulator.setFaults({ emptied: { next: 1 } });
    expect(await page()).toEqual(['', 0]);
    simulator.setFaults({ giant: { next: 1, ids: ['c'], bytes: 1000 } });
    const { order_infos: grown } = await client.orders(ascending);
    expect(grown?.map((one) => 'padding' in one)).toEqual([false, false, true, false]);
    // A lagging copy answers as the platform did some time ago, whatever it shows by now.
    simulator.insert('orders', { record: { operation_id: 'e' }, at: startAt - 5_000 });
    simulator.setFaults({ stale: { next: 1, ms: 10_000 } });
    expect([await page(), await page()]).toEqual([
      ['abcd', 4],
      ['abcde', 5],
    ]);
    // For a part of the query, or for all without it.
    simulator.setFaults({ lyingTotal: { with: 'status=2' } });
    expect([(await page())[1], (await page({ status: '2' }))[1]]).toEqual([5, 5]);
    simulator.setFaults({ lyingTotal: { without: 'limit=1' } });
    expect([(await page())[1], (await page({ limit: '1' }))[1]]).toEqual([6, 5]);
  });

  test('chance is seeded: the same seed has the same requests fail, another seed others', async () => {
    const failing = async (seed: number): Promise<string> => {
      const client = await start({ seed, faults: { serverError: { share: 0.3 } } });
      let statuses = '';
      for (let i = 0; i < 60; i++) statuses += (await client.get(path)).status === 200 ? '.' : 'x';
      await simulator.close();
      return statuses;
    };
    const first = await failing(1);
    expect(first.match(/x/g)?.length).toBeGreaterThan(8);
    expect(first.match(/x/g)?.length).toBeLessThan(30);
    expect(await failing(1)).toBe(first);
    expect(await failing(2)).not.toBe(first);
  });

  test('of the command line', async () => {
    await start();
    expect(
      readFaults(['tooMany', 'dropped=3x,ids=a+b', 'tooMany=0.25@/v3/orders,retryAfter=3']),
    ).toEqual({
      tooMany: [{}, { share: 0.25, path, retryAfter: 3 }],
      dropped: [{ next: 3, ids: ['a', 'b'] }],
    });
    expect(readFaults(['lyingTotal,by=2,with=status=1'])).toEqual({
      lyingTotal: [{ by: 2, with: 'status=1' }],
    });
  });
});

test('its own door shows records one a line, and requests with their counts', async () => {
  const client = await start();
  await client.get(path);
  const door = (asked: string) => fetch(`${simulator.url}/_simulator/${asked}`);
  const texts = [...simulator.oracle.shown('orders')].map(({ text }) => text);
  expect(await (await door('records?resource=orders')).text()).toBe(`${texts.join('\n')}\n`);
  expect(await (await door('requests')).json()).toMatchObject({
    total: 1,
    byPath: { [path]: 1 },
    recent: [{ path, status: 200, project: 'demo' }],
  });
  expect((await door('records?resource=everything')).status).toBe(404);
  const ids = simulator.oracle.operationIds('2026-03-17');
  expect(ids.length).toBeGreaterThan(0);
  expect(await (await door('operations?day=2026-03-17')).text()).toBe(`${ids.join('\n')}\n`);
});

describe('a receiver to practise on', () => {
  const cases: [AlertFormat, string | null, DeliveryProblem, string][] = [
    ['json', null, null, 'alert as json'],
    ['slack', null, null, 'alert as slack'],
    ['wecom', null, null, 'alert as wecom'],
    ['dingtalk', null, null, 'alert as dingtalk, not signed'],
    ['dingtalk', alertSecret, null, 'alert as dingtalk, its signature is right'],
    ['feishu', alertSecret, null, 'alert as feishu, its signature is right'],
    ['dingtalk', 'x', 'errcode 310000', 'refused, its signature is wrong: alert as dingtalk'],
    ['feishu', 'x', 'code 19021', 'refused, its signature is wrong: alert as feishu'],
  ];
  test.each(cases)('takes %s signed with %s as the robot does', async (...given) => {
    const [format, secret, problem, heading] = given;
    const told: string[][] = [];
    await start({ onReceived: (lines) => told.push(lines) });
    const url = `${simulator.url}/_simulator/alerts/${format}`;
    const sent = await deliver({ url, body: testBody(format), format, secret });
    expect(sent).toEqual(problem === null ? null : expect.stringContaining(problem));
    expect(told).toEqual([[heading, '  Outlast: a test message. Alerts will arrive here.']]);
  });

  test('takes heartbeats, refuses what is of another format, and knows no others', async () => {
    const told: string[][] = [];
    await start({ onReceived: (lines) => told.push(lines) });
    const deliverTo = (path: string, body: string | null): Promise<DeliveryProblem> =>
      deliver({ url: `${simulator.url}/_simulator/${path}`, body });
    expect(await deliverTo('heartbeat', null)).toBeNull();
    expect(await deliverTo('alerts/feishu', testBody('json'))).toContain('status 400');
    expect(await deliverTo('alerts/teams', testBody('json'))).toContain('status 404');
    expect(told).toEqual([['heartbeat from outlast'], ['refused: no alert as feishu']]);
  });
});

test('its own door is not there beyond loopback; a port that is taken is one clear sentence', async () => {
  await start({ host: '0.0.0.0' });
  const response = await fetch(`http://127.0.0.1:${simulator.port}/_simulator/requests`);
  expect(await response.text()).toBe('404 page not found');
  const second = createSimulator({ port: simulator.port });
  await expect(second).rejects.toThrow(/cannot listen on 127.0.0.1 port \d+/);
});

// Who the simulator lets in, and what it says to whom it does not.
import { afterEach, expect, test } from 'vitest';
import { sign } from '../../src/platform/sign.ts';
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../src/simulator/server.ts';
import { practiceClient } from '../support/practice-client.ts';

const startAt = Date.parse('2026-03-18T09:30:00Z');
const path = '/v3/orders';

let simulator: Simulator;
afterEach(() => simulator.close());

async function start(options: SimulatorOptions = {}): Promise<ReturnType<typeof practiceClient>> {
  simulator = await createSimulator({ startAt, speed: 0, ...options });
  return practiceClient(simulator);
}

const refused =
  '{"error":{"code_space":"simulator","code":"FORBIDDEN","message":"authentication failed"}}';

test('a wrong key, signature, secret or timestamp is answered 403 with the clock in Date', async () => {
  const client = await start();
  const secret = simulator.projects[0]?.apiSecret ?? '';
  const signedAt = (timestamp: string, by = secret) => ({
    'x-timestamp': timestamp,
    'x-signature': sign({ path, query: {}, timestamp, secret: by }),
  });
  const wrong: Record<string, string>[] = [
    { 'x-api-key': 'nobody' },
    { 'x-signature': '0'.repeat(64) },
    { 'x-signature': 'short' },
    { 'x-timestamp': String(startAt + 1) },
    signedAt(String(startAt), 'another secret'),
    signedAt(String(startAt - 300_001)),
    signedAt(String(startAt + 300_001)),
    signedAt(String(startAt / 1000)),
    signedAt('now'),
  ];
  for (const headers of wrong) {
    const reply = await client.get(path, {}, headers);
    expect([reply.status, reply.text, reply.date]).toEqual([
      403,
      refused,
      'Wed, 18 Mar 2026 09:30:00 GMT',
    ]);
  }
  expect((await client.get(path, {}, signedAt(String(startAt - 300_000)))).status).toBe(200);
  simulator.setDialect({ toleranceMs: 0 });
  expect((await client.get(path, {}, signedAt(String(startAt - 300_001)))).status).toBe(200);
});

test('parameters are verified decoded and as received, empty ones included; the first of a name counts', async () => {
  const client = await start({ world: { ordersPerDay: 3 } });
  const ask = async (query: string, signed: Record<string, string>): Promise<number> => {
    const timestamp = String(startAt);
    const { apiKey, apiSecret } = simulator.projects[0] ?? { apiKey: '', apiSecret: '' };
    const response = await fetch(`${simulator.url}${path}?${query}`, {
      headers: {
        'content-type': 'application/json',
        'x-api-key': apiKey,
        'x-timestamp': timestamp,
        'x-signature': sign({ path, query: signed, timestamp, secret: apiSecret }),
      },
    });
    return response.status;
  };
  expect(await ask('limit=5&status=', { limit: '5', status: '' })).toBe(200);
  expect(await ask('limit=5&status=', { limit: '5' })).toBe(403);
  expect(await ask('limit=5&limit=6', { limit: '5' })).toBe(200);
  // A key whose "+" was not encoded arrives with a space: signed as meant, it no longer fits.
  let key = '';
  for (let page_key = ''; !key.includes('+');) {
    page_key =
      (await client.orders({ limit: '1', ...(page_key !== '' && { page_key }) })).next_page_key ??
      '';
    key = page_key;
  }
  expect(await ask(`page_key=${key}`, { page_key: key })).toBe(403);
  expect(await ask(`page_key=${encodeURIComponent(key)}`, { page_key: key })).toBe(200);
});

test('each project has its own orders, and a rotated key opens the same ones', async () => {
  await start({
    projects: [
      { apiKey: 'k1', apiSecret: 's1', name: 'one' },
      { apiKey: 'k2', apiSecret: 's2', name: 'two' },
      { apiKey: 'k3', apiSecret: 's3', name: 'one' },
    ],
  });
  const firstPage = async (number: number) =>
    (await practiceClient(simulator, number).get(path, { limit: '50' })).text;
  expect(await firstPage(2)).toBe(await firstPage(0));
  expect(await firstPage(1)).not.toBe(await firstPage(0));
  const classes = async (number: number) =>
    (await practiceClient(simulator, number).get('/v1beta1/nft/classes')).text;
  expect(await classes(1)).toBe(await classes(0));
});

test('what is asked wrongly is answered 400 with a sentence', async () => {
  const client = await start();
  const wrong: [string, Record<string, string>, string][] = [
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
  ];
  for (const [asked, query, sentence] of wrong) {
    const reply = await client.get(asked, query);
    expect([
      reply.status,
      reply.text.includes(sentence),
      reply.text.includes('BAD_REQUEST'),
    ]).toEqual([400, true, true]);
  }
});

test('tokens need no key, and unknown paths are a bare 404', async () => {
  await start();
  const list = await fetch(`${simulator.url}/token/tokens`);
  expect(list.status).toBe(200);
  for (const unknown of ['/', '/v3/nothing', '/v3/tx/x', '/token/other']) {
    const response = await practiceClient(simulator).get(unknown);
    expect([response.status, response.text]).toEqual([404, '404 page not found']);
  }
});

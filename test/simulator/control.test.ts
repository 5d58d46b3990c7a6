// The simulator's own door over HTTP, for whoever runs it as a child process.
import { afterEach, expect, test } from 'vitest';
import { createSimulator, type Simulator } from '../../src/simulator/server.ts';
import { practiceClient } from '../support/practice-client.ts';

const startAt = Date.parse('2026-03-18T09:30:00Z');

let simulator: Simulator;
afterEach(() => simulator.close());

async function post(body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${simulator.url}/_simulator`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('clock, switches, faults and records can be set from outside', async () => {
  simulator = await createSimulator({ startAt, speed: 0, world: { ordersPerDay: 4 } });
  const client = practiceClient(simulator);
  const done = await post({
    now: '2026-03-20T00:00:00Z',
    advanceMs: 1000,
    dialect: { maxOrders: 3 },
    faults: { serverError: { next: 1 } },
    insert: { resource: 'orders', text: '{"operation_id":"late"}', at: startAt },
  });
  expect(done.status).toBe(200);
  expect(done.body).toMatchObject({ now: '2026-03-20T00:00:01.000Z', dialect: { maxOrders: 3 } });
  expect((await client.get('/v3/orders')).status).toBe(500);
  expect((await client.orders({ limit: '50' })).order_infos).toHaveLength(3);
  expect(await client.allOrders({})).toContain('late');
  await post({ hide: { resource: 'orders', id: 'late' }, speed: 0 });
  expect(await client.allOrders({})).not.toContain('late');
});

test('the records shown now come one a line, and the requests with their counts', async () => {
  simulator = await createSimulator({ startAt, speed: 0 });
  await practiceClient(simulator).get('/v3/orders');
  const records = await fetch(`${simulator.url}/_simulator/records?resource=orders`);
  const texts = [...simulator.oracle.shown('orders')].map(({ text }) => text);
  expect(await records.text()).toBe(`${texts.join('\n')}\n`);
  const requests = await fetch(`${simulator.url}/_simulator/requests`);
  expect(await requests.json()).toMatchObject({
    total: 1,
    byStatus: { 200: 1 },
    byPath: { '/v3/orders': 1 },
    recent: [{ path: '/v3/orders', status: 200, project: 'demo' }],
  });
});

test('a mistake is answered with a sentence and changes nothing', async () => {
  simulator = await createSimulator({ startAt, speed: 0 });
  const mistakes: [unknown, string][] = [
    [{ now: startAt + 1, dialect: { dayEnd: 'never' } }, 'inclusive'],
    [{ now: startAt + 1, faults: { meteor: {} } }, 'no fault "meteor"'],
    [{ now: startAt + 1, later: 3 }, 'no "later"'],
    [{ now: 'soon' }, 'now must be'],
    [{ hide: { resource: 'tokens', id: 'x' } }, 'resource must be'],
    [{ hide: { resource: 'orders', id: 'x', project: 'nobody' } }, 'project must be one of demo'],
    [{ insert: { resource: 'orders' } }, 'needs the text'],
    ['{', 'must be JSON'],
    [[], 'must be a JSON object'],
  ];
  for (const [body, sentence] of mistakes) {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body['error']).toContain(sentence);
  }
  expect(simulator.clock.now()).toBe(startAt);
  const records = await fetch(`${simulator.url}/_simulator/records?resource=everything`);
  expect(records.status).toBe(400);
});

test('beyond loopback the door is not there', async () => {
  simulator = await createSimulator({ startAt, speed: 0, host: '0.0.0.0' });
  const response = await fetch(`http://127.0.0.1:${simulator.port}/_simulator`);
  expect(response.status).toBe(404);
});

test('a port that is taken is one clear sentence', async () => {
  simulator = await createSimulator();
  const second = createSimulator({ port: simulator.port });
  await expect(second).rejects.toThrow(/cannot listen on 127.0.0.1 port \d+/);
});

// The simulator's own door over HTTP, for whoever runs it as a child process.
import { afterEach, expect, test } from 'vitest';
import { createSimulator, type Simulator } from '../../src/simulator/server.ts';
import { practiceClient } from '../support/practice-client.ts';

const startAt = Date.parse('2026-03-18T09:30:00Z');

let simulator: Simulator;
afterEach(() => simulator.close());

test('the records shown now come one a line, and the requests with their counts', async () => {
  simulator = await createSimulator({ startAt, speed: 0 });
  await practiceClient(simulator).get('/v3/orders');
  const records = await fetch(`${simulator.url}/_simulator/records?resource=orders`);
  const texts = [...simulator.oracle.shown('orders')].map(({ text }) => text);
  expect(await records.text()).toBe(`${texts.join('\n')}\n`);
  const requests = await fetch(`${simulator.url}/_simulator/requests`);
  expect(await requests.json()).toMatchObject({
    total: 1,
    byPath: { '/v3/orders': 1 },
    recent: [{ path: '/v3/orders', status: 200, project: 'demo' }],
  });
  expect((await fetch(`${simulator.url}/_simulator/records?resource=everything`)).status).toBe(404);
});

test('beyond loopback the door is not there', async () => {
  simulator = await createSimulator({ startAt, speed: 0, host: '0.0.0.0' });
  const response = await fetch(`http://127.0.0.1:${simulator.port}/_simulator/requests`);
  expect(await response.text()).toBe('404 page not found');
});

test('a port that is taken is one clear sentence', async () => {
  simulator = await createSimulator();
  const second = createSimulator({ port: simulator.port });
  await expect(second).rejects.toThrow(/cannot listen on 127.0.0.1 port \d+/);
});

// One delivery, against real servers in every mood: a verdict each time, in time, and never a word of the address.
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deliver } from '../../src/alert/deliver.ts';
import { startReceiver, type Mood, type Receiver } from '../support/receiver.ts';

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const to = (more: object = {}) =>
  deliver({ url: `${receiver.url}/in?token=sesame`, body: '{}', timeoutMs: 300, ...more });

it.each<[Mood, string | null]>([
  ['takes', null],
  ['drips', null],
  ['fails', 'status 500'],
  ['redirects', 'status 302, and redirects are not followed'],
  ['hangs', 'no answer within 0.3 s'],
  ['cuts', 'UND_ERR_SOCKET'],
])('a receiver that %s: %s', async (mood, verdict) => {
  receiver.be(mood);
  const began = performance.now();
  expect(await to()).toBe(verdict);
  expect(performance.now() - began).toBeLessThan(1500);
  // Once: nothing is repeated, and no redirect is followed.
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/in?token=sesame']);
});

it('posts JSON, and calls a heartbeat with a plain GET', async () => {
  await to({ body: '{"a":1}' });
  await to({ body: null });
  expect(receiver.bodies).toEqual(['{"a":1}', '']);
});

it('names the heads of the journal as its user agent, which receivers log of a plain GET', async () => {
  const head = { project: 'p', n: 17, at: '2026-04-06T12:00:00Z', head: '3f'.repeat(32) };
  await to({ body: null, heads: [head] });
  await to({ body: null });
  expect(receiver.requests.map(({ agent }) => agent)).toEqual([
    `outlast (p 17 ${head.head})`,
    'outlast',
  ]);
});

it('sends a user and a password in the address as a header', async () => {
  const url = new URL('/in', receiver.url);
  url.username = 'ops';
  url.password = 'p@ss word';
  await to({ url: url.href });
  expect(receiver.requests).toMatchObject([
    {
      path: '/in',
      authorization: `Basic ${Buffer.from('ops:p@ss word').toString('base64')}`,
    },
  ]);
});

it('ends at once when the process leaves', async () => {
  receiver.be('hangs');
  const stop = new AbortController();
  const delivery = to({ timeoutMs: 60_000, signal: stop.signal });
  setTimeout(() => stop.abort(), 50);
  expect(await delivery).toBe('stopped before it was answered');
  expect(await to({ signal: stop.signal })).toBe('stopped before it was answered');
});

it('says of nobody listening, or of a server that speaks no HTTP, only a code', async () => {
  const silent = createServer((socket) =>
    socket
      .on('error', () => undefined)
      .resume()
      .end('SSH-2.0-nonsense\r\n'),
  );
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
  const { port } = silent.address() as AddressInfo;
  const odd = await to({ url: `http://127.0.0.1:${port}/secret` });
  await new Promise((resolve) => silent.close(resolve));
  const nobody = await to({ url: `http://127.0.0.1:${port}/secret` });
  expect(odd).toMatch(/^[A-Z_]+$|^the connection failed$/);
  expect(nobody).toBe('ECONNREFUSED');
});

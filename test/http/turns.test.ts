// A large page is written in pieces: whoever asks something short meanwhile is answered before it is done. Only some
// are made at once.
import { once } from 'node:events';
import timers from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Served } from '../../src/http/server.ts';
import type { Archive, Order } from '../../src/index.ts';
import { setUp } from '../support/fresh.ts';
import { replaceInModule } from '../support/replaced.ts';
import { serveArchive } from '../support/served.ts';
import { connectTo } from './ask.ts';

/** Some 20 MB. */
const items = Array.from({ length: 10_000 }, (_, i) => ({
  operationId: `op-${i}`,
  message: 'é"'.repeat(500),
  rawJson: `{"operation_id":"op-${i}","more":"${'x'.repeat(500)}"}`,
}));
let begin = (): Promise<void> | void => undefined;
let served: Served;
setUp(async (keep) => {
  const list = async ({ limit }: { limit: number }) => {
    await begin();
    return { items: items.slice(0, limit) as unknown as Order[], next: 'more', previous: null };
  };
  const archive = { orders: { list, stream: () => items } } as unknown as Archive;
  served = await keep(serveArchive(archive));
});

/**
 * What came first: the answer to a short question that was put when the page's records had been read, or the page's
 * beginning.
 */
async function firstAnswered(): Promise<{ first: string; page: string }> {
  const order: string[] = [];
  const asked = new Promise<void>((resolve, reject) => {
    begin = () => {
      fetch(`${served.url}/healthz`)
        .then(async (answer) => answer.text())
        .then(() => order.push('health'))
        .then(() => resolve(), reject);
    };
  });
  const answer = await fetch(`${served.url}/archive/v1/orders?limit=10000`);
  order.push('page');
  const page = await answer.text();
  await asked;
  return { first: order[0] ?? '', page };
}

test('who asks whether the service is well while a page is written is answered first, and the page is whole', async () => {
  const { first, page } = await firstAnswered();
  expect(first).toBe('health');
  const { items: given, ...beside } = JSON.parse(page) as { items: Record<string, unknown>[] };
  expect(beside).toEqual({ next: 'more', previous: null });
  expect(given).toHaveLength(10_000);
  expect(given.at(-1)).toEqual({
    operation_id: 'op-9999',
    message: 'é"'.repeat(500),
    raw: { operation_id: 'op-9999', more: 'x'.repeat(500) },
  });
});

test('sabotaged, a page that is written in one go is noticed', async () => {
  onTestFinished(replaceInModule(timers, 'setImmediate', () => Promise.resolve()));
  expect((await firstAnswered()).first).toBe('page');
});

/** How many of twelve that came together were begun before the first was done. */
async function begunTogether(path: string): Promise<number> {
  let begun = 0;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  begin = () => {
    begun += 1;
    return held;
  };
  const all = Array.from({ length: 12 }, async () => {
    const answer = await fetch(served.url + path);
    await answer.arrayBuffer();
    return answer.status;
  });
  // All have come by the time one that came after them is answered, several times over.
  for (let i = 0; i < 20; i++) await (await fetch(`${served.url}/healthz`)).text();
  const before = begun;
  release();
  expect(new Set(await Promise.all(all))).toEqual(new Set([200]));
  expect(begun).toBe(12);
  return before;
}

test('four answers are made at once, for each holds a page; all come in the end', async () => {
  expect(await begunTogether('/archive/v1/orders?limit=1')).toBe(4);
});

test('what has no places is begun at once: the check can fail', async () => {
  expect(await begunTogether('/v3/orders?limit=1')).toBe(12);
});

test('nor does an answer that is taken slowly keep a place, whatever its form', async () => {
  begin = () => undefined;
  const slow = await Promise.all(
    ['limit=10000', 'format=ndjson', 'format=csv', 'limit=10000', 'format=csv'].map(
      async (query) => {
        const socket = connectTo(served);
        socket.on('error', () => undefined);
        socket.write(`GET /archive/v1/orders?${query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
        // The beginning has come; the rest is not taken.
        await once(socket, 'readable');
        return socket;
      },
    ),
  );
  const answer = await fetch(`${served.url}/archive/v1/orders?limit=1`);
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
  for (const socket of slow) socket.destroy();
});

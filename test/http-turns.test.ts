// A large page is written in pieces: whoever asks something short meanwhile is answered before it is done.
import type * as timers from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { serve, type Served } from '../src/http/server.ts';
import type { Archive, Order } from '../src/index.ts';
import { silentLog } from '../src/log.ts';

let isSabotaged = false;
vi.mock('node:timers/promises', async (original) => {
  const real = await original<typeof timers>();
  const setImmediate = () => (isSabotaged ? Promise.resolve() : real.setImmediate());
  return { ...real, setImmediate };
});

/** Some 20 MB. */
const items = Array.from({ length: 10_000 }, (_, i) => ({
  operationId: `op-${i}`,
  message: 'é"'.repeat(500),
  rawJson: `{"operation_id":"op-${i}","more":"${'x'.repeat(500)}"}`,
}));
let begin = (): void => undefined;
let served: Served;
beforeAll(async () => {
  const list = async () => {
    begin();
    return { items: items as unknown as Order[], next: 'more', previous: null };
  };
  served = await serve({
    archive: { orders: { list } } as unknown as Archive,
    host: '127.0.0.1',
    port: 0,
    keys: [],
    projects: [{ id: 'p', classesOf: 'p' }],
    log: silentLog(),
    now: Date.now,
  });
});
afterAll(() => served.close());
afterEach(() => {
  isSabotaged = false;
});

/** What came first: the answer to a short question that was put when the page's records had been read, or the page's beginning. */
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
  isSabotaged = true;
  expect((await firstAnswered()).first).toBe('page');
});

// Transaction results and tokens over HTTP as the platform and a node answer them, and ids that come in that way.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Served, ServerOptions } from '../../src/http/server.ts';
import { openArchive, watch, type Archive } from '../../src/index.ts';
import { watchOperations } from '../../src/store/operations/watch-operations.ts';
import { createBench, tenDays, type Bench } from '../support/archive.ts';
import { serveArchive } from '../support/served.ts';
import { signedHeaders } from './ask.ts';

let bench: Bench;
let archive: Archive;
let served: Served;
let remote: Served;
let ids: string[];
const pair = { key: 'reader-1', secret: 'a secret of its own', projects: ['p'], mayWatch: true };
const world = {
  ordersPerDay: 1,
  classesPerDay: 1,
  quietShare: 0,
  transactionsPerDay: 5,
  tokens: 3,
};

beforeAll(async () => {
  bench = await createBench({ world, days: tenDays.days }, { tokensEveryMs: 86_400_000 });
  await bench.run();
  ids = bench.simulator.oracle.operationIds('2026-04-02');
  const operations = ids.map((operationId) => ({ operationId }));
  await watch({ connectionString: bench.connectionString, project: 'p', operations });
  await bench.run();
  archive = await openArchive({ connectionString: bench.connectionString });
  served = await serveOn({});
  remote = await serveOn({ host: '0.0.0.0' });
});
afterAll(async () => {
  await served.close();
  await remote.close();
  await archive.close();
  await bench.close();
});

const serveOn = (more: Partial<ServerOptions>): Promise<Served> =>
  serveArchive(archive, {
    keys: [pair],
    watch: (project, operations) => watchOperations(bench.db, project, operations),
    ...more,
  });

type Answered = { status: number; body: unknown };
async function ask(url: string, init: RequestInit = {}): Promise<Answered> {
  const answer = await fetch(url, init);
  return { status: answer.status, body: await answer.json() };
}
/** What the platform itself says. */
const platformSays = async (path: string): Promise<unknown> => {
  const { apiKey: key = '', apiSecret: secret = '' } = bench.simulator.projects[0] ?? {};
  const timestamp = String(bench.simulator.clock.now());
  const headers = {
    'content-type': 'application/json',
    ...signedHeaders({ key, secret }, path, { timestamp }),
  };
  return (await fetch(`${bench.simulator.url}${path}`, { headers })).json();
};

describe('transaction results', () => {
  test('are answered as the platform answered them, by both lookups', async () => {
    for (const id of ids) {
      for (const path of [`/v1beta1/tx/${id}`, `/v3/native/tx/${id}`]) {
        expect(await ask(served.url + path)).toEqual({
          status: 200,
          body: await platformSays(path),
        });
      }
    }
  });

  test('that are not held are 404 in the platform’s shape; odd ids are no trouble', async () => {
    for (const id of ['nothing', 'x'.repeat(400), '%00', '%ff', '..%2F..', '%F0%9F%98%80']) {
      const { status, body } = await ask(`${served.url}/v1beta1/tx/${id}`);
      expect([400, 404]).toContain(status);
      expect(body).toMatchObject({ error: { code_space: 'outlast' } });
    }
    expect((await ask(`${served.url}/v1beta1/tx/nothing`)).status).toBe(404);
  });
});

describe('tokens', () => {
  test('are answered as the node answered them', async () => {
    const list = (await platformSays('/token/tokens')) as {
      result: { value: { symbol: string; owner: string } }[];
    };
    const held = await ask(`${served.url}/token/tokens`);
    expect(held).toMatchObject({
      status: 200,
      body: { height: expect.stringMatching(/^\d+$/) as string },
    });
    const bySymbol = (
      a: { value: { symbol: string } },
      b: { value: { symbol: string } },
    ): number => (a.value.symbol < b.value.symbol ? -1 : 1);
    expect((held.body as typeof list).result).toEqual(list.result.toSorted(bySymbol));
    for (const { value } of list.result) {
      for (const path of [`/token/tokens/${value.symbol}`, `/token/tokens/${value.symbol}/fee`]) {
        const { result } = (await platformSays(path)) as { result: unknown };
        expect(await ask(served.url + path)).toMatchObject({ status: 200, body: { result } });
      }
      const of = (await ask(`${served.url}/token/tokens?owner=${value.owner}`)).body as typeof list;
      expect(of.result.map((one) => one.value.owner)).toContain(value.owner);
      expect(new Set(of.result.map((one) => one.value.owner)).size).toBe(1);
    }
    expect(await ask(`${served.url}/token/tokens?owner=nobody`)).toMatchObject({
      body: { result: null },
    });
  });

  test('have a node’s errors', async () => {
    for (const path of [
      '/token/tokens/nothing',
      '/token/tokens/nothing/fee',
      '/token/tokens/%00',
    ]) {
      const error = expect.any(String) as string;
      expect(await ask(served.url + path)).toEqual({ status: 400, body: { error } });
    }
  });

  test('beyond loopback need a key and no signature', async () => {
    const url = `${remote.url}/token/tokens`;
    expect(await ask(url)).toEqual({ status: 403, body: { error: 'authentication failed' } });
    expect((await ask(url, { headers: { 'x-api-key': 'nobody' } })).status).toBe(403);
    expect((await ask(url, { headers: { 'x-api-key': pair.key } })).status).toBe(200);
  });

  test('are given by the library with their zeros', async () => {
    const { items, takenAt } = await archive.tokens.list({ project: 'p' });
    expect(items).toHaveLength(3);
    expect(takenAt).toMatch(/Z$/);
    for (const token of items) {
      expect(token).toMatchObject({
        mintable: expect.any(Boolean) as boolean,
        scale: expect.any(Number) as number,
      });
      expect(token.initialSupply).toMatch(/^\d+$/);
      expect(token.issueFee).toMatchObject({ denom: 'ugas' });
      expect(await archive.tokens.get('p', token.symbol)).toEqual(token);
    }
    expect(await archive.tokens.get('p', 'nothing')).toBeNull();
  });
});

describe('POST /archive/v1/watch', () => {
  const post = (body: unknown, headers: Record<string, string> = {}, base = served.url) =>
    ask(`${base}/archive/v1/watch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test('takes ids in, each once', async () => {
    const given = { operation_ids: ['new-1', 'new-2', 'new-1'], created_on: '2026-04-01' };
    expect(await post(given)).toEqual({
      status: 200,
      body: { data: { given: 2, added: 2, changed: 0 } },
    });
    expect(await post(given)).toEqual({
      status: 200,
      body: { data: { given: 2, added: 0, changed: 0 } },
    });
    const { rows } = await bench.db.query(
      `select operation_id, created_on from sync.watched_operations where operation_id like 'new-%' order by 1`,
    );
    expect(rows).toEqual([
      { operation_id: 'new-1', created_on: '2026-04-01' },
      { operation_id: 'new-2', created_on: '2026-04-01' },
    ]);
  });

  test.each([
    ['no JSON', '{"operation_ids":'],
    ['nothing', ''],
    ['a byte order mark', '\ufeff{}'],
    ['no object', '[]'],
    ['null', 'null'],
    ['a prototype', '{"__proto__":{"a":1},"operation_ids":["fine"]}'],
    ['no list', {}],
    ['an empty list', { operation_ids: [] }],
    ['too many', { operation_ids: Array.from({ length: 1001 }, (_, i) => `many-${i}`) }],
    ['no texts', { operation_ids: [1] }],
    ['objects', { operation_ids: [{}] }],
    ['an id with a blank', { operation_ids: ['fine', 'not fine'] }],
    ['no day', { operation_ids: ['fine'], created_on: '2026-02-30' }],
    ['no lookup', { operation_ids: ['fine'], api_version: 'v2' }],
    ['a field nobody knows', { operation_ids: ['fine'], createdOn: '2026-04-01' }],
  ])('P12: %s is answered 400, and nothing is entered', async (_, body) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'BAD_REQUEST' } } });
    const { rows } = await bench.db.query(
      `select from sync.watched_operations where operation_id = 'fine' or operation_id like 'many-%'`,
    );
    expect(rows).toHaveLength(0);
  });

  test('no page of the web can post to it, and beyond loopback it needs a signature', async () => {
    const body = { operation_ids: ['foreign'] };
    expect((await post(body, { 'content-type': 'text/plain' })).status).toBe(415);
    const base = remote.url;
    expect((await post(body, {}, base)).status).toBe(401);
    expect((await post(body, { 'x-api-key': pair.key }, base)).status).toBe(403);
    expect(
      (
        await post(
          body,
          signedHeaders(pair, '/archive/v1/watch', { body: JSON.stringify(body) }),
          base,
        )
      ).status,
    ).toBe(200);
  });
});

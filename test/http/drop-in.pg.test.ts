// The platform's own interface, answered from the archive: whoever changes the base URL sees the same records, the same
// paging, the same errors, and any date.
import { describe, expect, onTestFinished, test } from 'vitest';
import { dayOf } from '../../src/day.ts';
import type { Served } from '../../src/http/server.ts';
import { openArchive, watch, type Archive } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';
import { createPlatform } from '../../src/platform/client.ts';
import { sign } from '../../src/platform/sign.ts';
import { run } from '../../src/sync/run.ts';
import { createBench, differences, tenDays, type Bench } from '../support/archive.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { serveArchive } from '../support/served.ts';
import { signedHeaders } from './ask.ts';

let bench: Bench;
let archive: Archive;
let served: Served;
/** Bound beyond loopback. */
let remote: Served;
/** Of operations whose results are held. */
let ids: string[];
const pair = { key: 'reader-1', secret: 'a secret of its own', projects: ['p'] };

setUp(async (keep) => {
  const world = { ...tenDays.world, transactionsPerDay: 5, tokens: 3 };
  bench = await keep(createBench({ ...tenDays, world }, { tokensEveryMs: 86_400_000 }));
  const { connectionString } = bench;
  await bench.run();
  ids = bench.simulator.oracle.operationIds('2026-04-02');
  const operations = ids.map((operationId) => ({ operationId }));
  await watch({ connectionString, project: 'p', operations });
  await bench.run();
  archive = await keep(openArchive({ connectionString }));
  served = await keep(serveArchive(archive, { keys: [pair] }));
  remote = await keep(serveArchive(archive, { keys: [pair], host: '0.0.0.0' }));
});

type Answered = { status: number; body: Record<string, unknown>; text: string };

async function ask(
  target: string,
  headers: Record<string, string> = {},
  of = served,
): Promise<Answered> {
  const answer = await fetch(`${of.url}${target}`, { headers });
  const text = await answer.text();
  expect(answer.headers.get('content-type')).toContain('application/json');
  return { status: answer.status, body: JSON.parse(text) as Record<string, unknown>, text };
}

type OrdersData = {
  prev_page_key: string;
  next_page_key: string;
  limit: number;
  total_count?: number;
  order_infos: { operation_id: string; create_time: string; status: number }[];
};
const orders = async (target: string): Promise<OrdersData> => {
  const { status, body, text } = await ask(target);
  expect(status, text).toBe(200);
  return body['data'] as OrdersData;
};

describe('orders', () => {
  test('the newest ten without a parameter, as the platform gave them', async () => {
    const data = await orders('/v3/orders');
    const shown = [...bench.simulator.oracle.shown('orders')].toReversed().slice(0, 10);
    expect(data.limit).toBe(10);
    expect(data.prev_page_key).toBe('');
    expect('total_count' in data).toBe(false);
    expect(data.order_infos).toEqual(shown.map(({ text }) => JSON.parse(text) as unknown));
  });

  test('back again from a page, within the days that were asked for', async () => {
    const query = 'limit=50&sort_by=DATE_ASC&start_date=2026-03-01&end_date=2026-04-03';
    const first = await orders(`/v3/orders?${query}`);
    const second = await orders(`/v3/orders?${query}&page_key=${first.next_page_key}`);
    const back = await orders(`/v3/orders?${query}&page_key=${second.prev_page_key}`);
    expect(back).toEqual(first);
    for (const { create_time: time } of second.order_infos) expect(time < '2026-04-04').toBe(true);
  });

  test('a status and a total', async () => {
    const { total_count: all } = await orders('/v3/orders?count_total=1&limit=1');
    let sum = 0;
    for (const status of [1, 2, 3]) {
      const data = await orders(`/v3/orders?count_total=1&limit=50&status=${status}`);
      expect(new Set(data.order_infos.map((one) => one.status))).toEqual(new Set([status]));
      sum += data.total_count ?? 0;
    }
    expect(all).toBe(bench.simulator.oracle.count('orders'));
    expect(sum).toBe(all);
  });

  test('an end date is the last day; before the start it selects nothing, and the last of all is no bound', async () => {
    const total = async (query: string): Promise<number | undefined> =>
      (await orders(`/v3/orders?count_total=1&limit=1&${query}`)).total_count;
    const days = ['2026-04-01', '2026-04-02'];
    const each = await Promise.all(days.map((day) => total(`start_date=${day}&end_date=${day}`)));
    const both = await total('start_date=2026-04-01&end_date=2026-04-02');
    expect(both).toBe((each[0] ?? 0) + (each[1] ?? 0));
    const asked = { project: 'p', from: '2026-04-01', to: '2026-04-02' };
    expect(both).toBe(await archive.orders.count(asked));
    expect(both).toBeGreaterThan(0);
    expect(await total('start_date=2026-04-10&end_date=2026-04-01')).toBe(0);
    expect(await total('end_date=9999-12-31')).toBe(await total(''));
  });

  test('an empty list is [], with empty keys', async () => {
    const data = await orders('/v3/orders?start_date=2020-01-01&end_date=2020-01-31&count_total=1');
    const keys = { prev_page_key: '', next_page_key: '' };
    expect(data).toEqual({ ...keys, limit: 10, total_count: 0, order_infos: [] });
  });

  const wrong =
    'limit=51 limit=0 limit=ten limit=-1 limit=1e1 status=4 status=success start_date=2026-02-30 start_date=yesterday ' +
    'end_date=1.3.2026 end_date=10000-01-01 end_date=0000-01-01 sort_by=date_asc count_total=yes page_key=forged ' +
    `page_key=${'A'.repeat(9_000)} page_key=%00`;
  test.each(wrong.split(' '))('P12: %s is answered 400 in the platform’s shape', async (query) => {
    const { status, body } = await ask(`/v3/orders?${query}`);
    expect(status).toBe(400);
    expect(body).toEqual({
      error: { code_space: 'outlast', code: 'BAD_REQUEST', message: expect.any(String) as string },
    });
  });

  test('a key of another query is refused; an empty parameter asks for nothing', async () => {
    const { next_page_key: key } = await orders('/v3/orders?limit=2&status=2');
    expect((await ask(`/v3/orders?limit=2&status=3&page_key=${key}`)).status).toBe(400);
    const further = await orders(`/v3/orders?limit=5&status=2&page_key=${key}`);
    expect(further.order_infos).toHaveLength(5);
    expect((await orders('/v3/orders?status=&start_date=&page_key=')).limit).toBe(10);
  });
});

describe('classes', () => {
  type ClassesData = {
    offset: number;
    limit: number;
    total_count: number;
    classes: { id: string; name: string; owner: string; tx_hash: string }[];
  };
  const classes = async (query: string): Promise<ClassesData> => {
    const { status, body, text } = await ask(`/v1beta1/nft/classes?${query}`);
    expect(status, text).toBe(200);
    return body['data'] as ClassesData;
  };

  test('by offset, newest first, with the total', async () => {
    // Of one second the archive has its own order, by id.
    const shown = [...bench.simulator.oracle.shown('nft_classes')]
      .map(({ text }) => JSON.parse(text) as { id: string; timestamp: string })
      .toSorted((a, b) => (`${a.timestamp} ${a.id}` < `${b.timestamp} ${b.id}` ? 1 : -1));
    const data = await classes('offset=5&limit=20');
    expect(data.total_count).toBe(shown.length);
    expect({ offset: data.offset, limit: data.limit }).toEqual({ offset: 5, limit: 20 });
    expect(data.classes).toEqual(shown.slice(5, 25));
    expect((await classes(`offset=${shown.length}`)).classes).toEqual([]);
    expect((await classes('offset=999999999999999')).classes).toEqual([]);
  });

  test('by id, owner, hash and a part of the name, whatever characters it holds', async () => {
    const { classes: some } = await classes('limit=200&sort_by=DATE_ASC');
    const odd = some.find(({ name }) => /[%&<]/.test(name)) ?? some[0];
    if (odd === undefined) throw new Error('there are no classes');
    expect((await classes(`id=${encodeURIComponent(odd.id)}`)).classes).toEqual([odd]);
    expect((await classes(`tx_hash=${odd.tx_hash}`)).classes).toEqual([odd]);
    const named = await classes(`limit=200&name=${encodeURIComponent(odd.name.slice(1))}`);
    expect(named.classes.map(({ id }) => id)).toContain(odd.id);
    const owned = await classes(`limit=200&owner=${odd.owner}`);
    expect(new Set(owned.classes.map(({ owner }) => owner))).toEqual(new Set([odd.owner]));
    const harmful = encodeURIComponent("%'; drop table x; --");
    expect((await classes(`name=${harmful}`)).total_count).toBe(0);
  });

  const wrong =
    'offset=-1 offset=1000000000000000 offset=x limit=201 limit=0 name=%00 id=%ED%A0%80%00 sort_by=x';
  test.each(wrong.split(' '))('P12: %s is answered 400', async (query) => {
    expect((await ask(`/v1beta1/nft/classes?${query}`)).status).toBe(400);
  });
});

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
        const { status, body } = await ask(path);
        expect({ status, body }).toEqual({ status: 200, body: await platformSays(path) });
      }
    }
  });

  test('that are not held are 404 in the platform’s shape; odd ids are no trouble', async () => {
    for (const id of ['nothing', 'x'.repeat(400), '%00', '%ff', '..%2F..', '%F0%9F%98%80']) {
      const { status, body } = await ask(`/v1beta1/tx/${id}`);
      expect([400, 404]).toContain(status);
      expect(body).toMatchObject({ error: { code_space: 'outlast' } });
    }
    expect((await ask('/v1beta1/tx/nothing')).status).toBe(404);
  });
});

describe('tokens', () => {
  test('are answered as the node answered them', async () => {
    type Token = { value: { symbol: string; owner: string } };
    const list = (await platformSays('/token/tokens')) as { result: Token[] };
    const held = await ask('/token/tokens');
    const height = expect.stringMatching(/^\d+$/) as string;
    expect(held).toMatchObject({ status: 200, body: { height } });
    const bySymbol = (a: Token, b: Token): number => (a.value.symbol < b.value.symbol ? -1 : 1);
    expect((held.body as typeof list).result).toEqual(list.result.toSorted(bySymbol));
    expect((await archive.tokens.list({ project: 'p' })).takenAt).toMatch(/Z$/);
    for (const { value } of list.result) {
      for (const path of [`/token/tokens/${value.symbol}`, `/token/tokens/${value.symbol}/fee`]) {
        const { result } = (await platformSays(path)) as { result: unknown };
        expect(await ask(path)).toMatchObject({ status: 200, body: { result } });
      }
      const of = (await ask(`/token/tokens?owner=${value.owner}`)).body as typeof list;
      expect(of.result.map((one) => one.value.owner)).toContain(value.owner);
      expect(new Set(of.result.map((one) => one.value.owner)).size).toBe(1);
    }
    expect(await ask('/token/tokens?owner=nobody')).toMatchObject({ body: { result: null } });
  });

  test('have a node’s errors', async () => {
    for (const symbol of ['nothing', 'nothing/fee', '%00']) {
      const error = expect.any(String) as string;
      const { status, body } = await ask(`/token/tokens/${symbol}`);
      expect({ status, body }).toEqual({ status: 400, body: { error } });
    }
  });

  test('beyond loopback need a key and no signature', async () => {
    const none = await ask('/token/tokens', {}, remote);
    expect([none.status, none.body]).toEqual([403, { error: 'authentication failed' }]);
    for (const [key, status] of [
      ['nobody', 403],
      [pair.key, 200],
    ] as const) {
      expect((await ask('/token/tokens', { 'x-api-key': key }, remote)).status).toBe(status);
    }
  });
});

describe('who may read', () => {
  type Given = Partial<{ key: string; secret: string; timestamp: string }>;
  const signed = (to: string, { timestamp, ...other }: Given = {}): Record<string, string> =>
    signedHeaders({ ...pair, ...other }, to, timestamp === undefined ? {} : { timestamp });
  const target = '/v3/orders?limit=2&status=';

  test('on loopback nobody needs a key; one that is there must be right', async () => {
    expect((await ask(target, signed(target))).status).toBe(200);
    expect(
      (await ask(target, signed(target, { timestamp: String(Math.floor(Date.now() / 1000)) })))
        .status,
    ).toBe(200);
    const wrong = [
      signed(target, { secret: 'another' }),
      signed(target, { key: 'nobody' }),
      signed('/v3/orders?limit=3', {}),
      signed(target, { timestamp: String(Date.now() - 16 * 60_000) }),
      signed(target, { timestamp: String(Date.now() + 16 * 60_000) }),
      { ...signed(target), 'x-signature': '' },
      { 'x-api-key': pair.key },
      { 'x-signature': 'x' },
    ];
    for (const headers of wrong) {
      const { status, body } = await ask(target, headers);
      expect(status).toBe(403);
      expect(body).toEqual({
        error: { code_space: 'outlast', code: 'FORBIDDEN', message: 'authentication failed' },
      });
    }
  });

  test('with a slash too many: signed as it is sent, or as it is known', async () => {
    const [query, timestamp] = [{ limit: '2' }, String(Date.now())];
    const askAs = async (path: string, sent = '//v3/orders'): Promise<number> => {
      const { key, secret } = pair;
      const signature = sign({ path, query, timestamp, secret });
      const headers = { 'x-api-key': key, 'x-timestamp': timestamp, 'x-signature': signature };
      return (await ask(`${sent}?limit=2`, headers)).status;
    };
    expect([await askAs('//v3/orders'), await askAs('/v3/orders')]).toEqual([200, 200]);
    expect(await askAs('/v3/order')).toBe(403);
    // A signature for the one path is none for another that was sent.
    expect(await askAs('//v3/orders', '/v3/orders')).toBe(403);
  });

  test('bound beyond loopback every reader needs a key; health needs none', async () => {
    expect((await ask(target, {}, remote)).status).toBe(403);
    expect((await ask(target, signed(target), remote)).status).toBe(200);
    expect((await ask('/healthz', {}, remote)).status).toBe(200);
    expect((await ask('/readyz', {}, remote)).status).toBe(200);
  });

  test('what is no path, no method and no request is answered in the same shape', async () => {
    expect((await ask('/v3/nothing')).status).toBe(404);
    expect((await ask('/v3/orders/../../etc/passwd')).status).toBe(404);
    const long = await ask(`/v3/orders?page_key=${'A'.repeat(40_000)}`);
    expect(long.status).toBe(431);
    expect(long.body['error']).toMatchObject({ code: 'BAD_REQUEST' });
    const posted = await fetch(`${served.url}/v3/orders`, { method: 'POST', body: '{}' });
    expect(posted.status).toBe(405);
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
  });
});

test('an archive filled from an archive is equal to it, over the window and beyond', async () => {
  const now = Date.now();
  const second = await fresh(createBench({ startAt: now, days: [dayOf(now)] }));
  const platform = createPlatform({
    baseUrl: served.url,
    apiKey: pair.key,
    apiSecret: pair.secret,
    timeoutMs: 20_000,
    limiter: { permit: async () => undefined, pause: async () => undefined },
    log: silentLog(),
  });
  onTestFinished(() => platform.close());
  const source = { baseUrl: served.url, apiKey: pair.key };
  const worker = { ...second.worker, platform, source };
  const { signal } = new AbortController();
  // The first archive is of a spring long gone, as its reader's clock has it: all of it lies beyond the window.
  expect(await run(worker, { signal })).toMatchObject({ outcome: 'done', recordsNew: 0 });
  // The days that hold something, and some beside them.
  const only = { days: { from: '2026-03-26', to: '2026-04-09' } };
  expect(await run(worker, { signal, only })).toMatchObject({ outcome: 'done', problem: null });
  expect(await differences({ simulator: bench.simulator, db: second.db })).toEqual([]);
  const hashes = async ({ db }: Bench) =>
    (await db.query(`select operation_id, raw_sha256 from archive.orders order by 1`)).rows;
  expect(await hashes(second)).toEqual(await hashes(bench));
});

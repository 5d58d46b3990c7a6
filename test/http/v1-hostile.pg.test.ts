// What /archive/v1 does with whatever comes in, and with readers that come slowly, stop taking, or leave: one sentence
// for each mistake, nothing told that must not be, and no half for a whole (P10, P12).
import { describe, expect, test, vi } from 'vitest';
import type { Document } from '../../src/http/docs/openapi.ts';
import type { Served, ServerOptions } from '../../src/http/server.ts';
import type { Archive, Order } from '../../src/index.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { observe } from '../support/observe.ts';
import { openEmpty } from '../support/opened.ts';
import { nextGetBegun, serveArchive } from '../support/served.ts';
import { connectTo, textFrom } from './ask.ts';
import { archivePaths } from './document-paths.ts';

let archive: Archive;
let served: Served;
let document: Document;

setUp(async (keep) => {
  const opened = await keep(openEmpty());
  ({ archive } = opened);
  const orders = [1, 2, 3].map((n) => ({
    operation_id: `op-${n}`,
    create_time: `2026-03-05T09:00:0${n}Z`,
    status: 2,
  }));
  await observe(opened.db, { project: 'p', resource: 'orders' }, orders, '2026-03-05T10:00:00Z');
  served = await keep(serveOn({}));
  document = (await (await fetch(`${served.url}/openapi.json`)).json()) as Document;
});

const serveOn = (more: Partial<ServerOptions>): Promise<Served> =>
  serveArchive(archive, {
    watch: async () => ({ given: 0, added: 0, changed: 0 }),
    ...more,
  });
/** For one test. */
const freshOn = (more: Partial<ServerOptions>): Promise<Served> => fresh(serveOn(more));

/** What no answer may hold: statements, stacks, paths of this machine, addresses of the database. */
const leaks = /select |\bat \S+ \(|node_modules|\.ts:\d|postgres|\/tmp\/|sqlstate|archive\.orders/i;

type Refusal = { status: number; message: string };
async function refusal(target: string, init: RequestInit = {}): Promise<Refusal> {
  const answer = await fetch(served.url + target, init);
  const text = await answer.text();
  expect(text).not.toMatch(leaks);
  expect(text).not.toContain(process.cwd());
  expect(answer.headers.get('content-type')).toContain('application/json');
  const body = JSON.parse(text) as { error: { code_space: string; code: string; message: string } };
  expect(Object.keys(body)).toEqual(['error']);
  expect(body.error.code_space).toBe('outlast');
  return { status: answer.status, message: body.error.message };
}

/** Every path that is read, and the parameters that it takes. */
const gets = () =>
  archivePaths(document).map(({ path, operation }) => ({
    path,
    known: operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name),
  }));

describe('every parameter of every route', () => {
  /** What no parameter takes, whatever it is called. */
  const never = ['', '%00', '%ED%A0%80', '%ff', '%', '%zz', 'x'.repeat(9000)];
  /** What its kind does not take, between blanks. */
  const wrong: Record<string, string> = {
    project: `P ../p p%27 ${'x'.repeat(41)}`,
    limit: '0 -1 10001 1e3 0x10 1.0 +1 %201 ９ 99999999999999999999 NaN',
    from: 'yesterday 2026-02-30 2026-3-1 0000-01-01 10000-01-01 2026-03-01T00:00:00Z',
    to: '2026-13-01 -2026-01-01',
    as_of:
      'now 2026-02-30 2026-03-01T00:00:00 2026-03-01T24:00:00Z 2026-03-01T00:00:00.1234567Z ' +
      '0000-01-01T00:00:00Z 2026-03-01%2000:00:00Z 2016-12-31T23:59:60Z',
    order: 'up ASC asc,desc',
    status: '-1 2147483648 1, 1,1,x pending 1;2 1%20or%201=1',
    cursor: `forged WyJhIl0 '%20or%201=1-- bnVsbA ${'x'.repeat(8193)} W10 e30`,
    count: 'yes 1 TRUE',
    format: 'xml CSV json,csv',
    resource: "token orders,nft_classes orders'--",
    by: 'week DAY',
    group_by: 'owner; name ,',
    month: '2026-3 2026-13-01 march',
    state: 'none OPEN',
  };

  test('refuses what is wrong with a sentence that names it', async () => {
    for (const { path, known } of gets()) {
      for (const name of known) {
        for (const value of [...never, ...(wrong[name]?.split(' ') ?? [])]) {
          const target = `${path}?${name}=${value.includes('%') ? value : encodeURIComponent(value)}`;
          const { status, message } = await refusal(target).catch((error: unknown) => {
            throw new Error(`${target.slice(0, 120)}: ${String(error)}`);
          });
          expect([target, status >= 400 && status < 404]).toEqual([target, true]);
          expect(message).not.toBe('');
        }
      }
    }
  });

  test('a status nobody has heard of: of results it is a question, of orders a mistake', async () => {
    const asked = await fetch(`${served.url}/archive/v1/transactions?status=4,2147483647`);
    expect(asked.status).toBe(200);
    expect((await refusal('/archive/v1/orders?status=4')).message).toMatch(/one of 1, 2, 3/);
  });

  test('is taken once, and no other', async () => {
    for (const { path, known } of gets()) {
      for (const name of known) {
        const { status, message } = await refusal(`${path}?${name}=1&${name}=1`);
        expect([status, message]).toEqual([400, expect.stringContaining('twice')]);
      }
      const { status, message } = await refusal(`${path}?Limit=1`);
      expect(status).toBe(400);
      for (const name of known) expect(message).toContain(name);
      if (known.includes('as_of')) continue;
      const then = await refusal(`${path}?as_of=2026-03-01T00:00:00Z`);
      expect(then.message).toMatch(/certificates/);
    }
  });

  test('free text finds what it says and harms nothing', async () => {
    const texts = ["'; drop table archive.orders; --", '%', '_', '\\', '{{7*7}}', '😀'];
    for (const text of [...texts, '\u202e', '\r\nX: y']) {
      for (const field of [
        'orders?account',
        'nft_classes?name',
        'nft_classes?owner',
        'tokens?owner',
      ]) {
        const target = `/archive/v1/${field}=${encodeURIComponent(text)}`;
        const answer = await fetch(served.url + target);
        expect([target, answer.status]).toEqual([target, 200]);
        expect(await answer.json()).toMatchObject({ items: [] });
      }
    }
  });

  test('ids of 512 bytes are asked for, longer ones refused, and an empty one names nothing', async () => {
    const asked = async (path: string, id: string): Promise<number> => {
      const encoded = id.includes('%') ? id : encodeURIComponent(id);
      return (await refusal(`/archive/v1/${path}/${encoded}`)).status;
    };
    for (const id of ['é'.repeat(256), 'x'.repeat(512), "';--", '😀', '..%2F..', '%20']) {
      for (const path of ['orders', 'nft_classes', 'transactions', 'tokens']) {
        expect(await asked(path, id)).toBe(404);
      }
    }
    for (const id of ['é'.repeat(257), 'x'.repeat(513), '%00', '%ED%A0%80', '%']) {
      expect(await asked('orders', id)).toBe(400);
    }
    for (const path of ['orders', 'tokens', 'rejects/orders']) {
      expect([path, await asked(path, '')]).toEqual([path, 404]);
    }
    expect((await refusal('/archive/v1/orders//history')).status).toBe(404);
  });

  test('what does not go together is refused', async () => {
    const { next } = (await (await fetch(`${served.url}/archive/v1/orders?limit=1`)).json()) as {
      next: string;
    };
    for (const query of [
      'from=2026-03-02&to=2026-03-01',
      `format=csv&cursor=${next}`,
      'format=ndjson&count=true',
      `cursor=${next.slice(0, -1)}`,
      `cursor=${next}A`,
      `cursor=${next.toLowerCase()}`,
    ]) {
      expect((await refusal(`/archive/v1/orders?${query}`)).status).toBe(400);
    }
  });

  test('other methods are refused with what there is, other paths are not there', async () => {
    for (const { path } of gets()) {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const answer = await fetch(served.url + path, { method });
        expect([path, method, answer.status]).toEqual([path, method, 405]);
        expect(answer.headers.get('allow')).toBe('GET, HEAD');
      }
    }
    for (const path of ['v1/order', 'v2/orders', 'v1/orders/', 'v1/orders/op-1/']) {
      expect([path, (await refusal(`/archive/${path}`)).status >= 400]).toEqual([path, true]);
    }
    expect((await refusal('/archive')).status).toBeGreaterThanOrEqual(400);
  });
});

describe('a whole list', () => {
  /** Orders without end, or until something happens; `ended` tells that the read was given up. */
  function endless(until: (n: number) => Promise<void> = async () => undefined) {
    const state = { read: 0, ended: false };
    const stream = async function* (): AsyncGenerator<Order> {
      try {
        const [order] = (await archive.orders.list({ project: 'p', limit: 1 })).items;
        for (;;) {
          state.read += 1;
          await until(state.read);
          yield { ...(order as Order), message: 'x'.repeat(1000) };
        }
      } finally {
        state.ended = true;
      }
    };
    const of: Archive = { ...archive, orders: { ...archive.orders, stream } };
    return { state, archive: of };
  }
  const fails = (after: number) => async (n: number) => {
    if (n > after) throw new Error('select secret from archive.orders: the disk is gone');
  };
  const until = (condition: () => boolean, interval = 25): Promise<unknown> =>
    vi.waitUntil(condition, { timeout: 100_000, interval });

  test('that fails at once is answered with a status; one that fails midway breaks off', async () => {
    for (const format of ['csv', 'ndjson']) {
      const early = await freshOn({ archive: endless(fails(0)).archive });
      const answer = await fetch(`${early.url}/archive/v1/orders?format=${format}`);
      expect(answer.status).toBe(500);
      expect(answer.headers.get('content-disposition')).toBeNull();
      expect(await answer.text()).not.toMatch(leaks);

      const late = endless(fails(500));
      const server = await freshOn({ archive: late.archive });
      const half = await fetch(`${server.url}/archive/v1/orders?format=${format}`);
      expect(half.status).toBe(200);
      await expect(half.text()).rejects.toThrow();
      await until(() => late.state.ended);
    }
  });

  test('that fails midway is reset where only the connection’s end is the end: nginx asks by HTTP/1.0', async () => {
    let [received, before] = [0, -1];
    // Node's own client takes a reset that comes with the last bytes for an end.
    const failsOnceAllIsTaken = async (n: number): Promise<void> => {
      if (n <= 500) return;
      await until(() => {
        const isStill = received === before;
        before = received;
        return isStill;
      }, 100);
      throw new Error('the disk is gone');
    };
    const server = await freshOn({ archive: endless(failsOnceAllIsTaken).archive });
    const socket = connectTo(server);
    socket.on('data', ({ length }) => (received += length));
    const broken = new Promise((resolve, reject) => {
      socket.once('error', resolve).once('end', () => reject(new Error('it looks whole')));
    });
    socket.write('GET /archive/v1/orders?format=csv HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n');
    expect(await broken).toMatchObject({ code: 'ECONNRESET' });
  });

  test('an open connection is kept for longer than a balancer keeps it', async () => {
    const { headers } = await fetch(`${served.url}/healthz`);
    const [, seconds] = /timeout=(\d+)/.exec(headers.get('keep-alive') ?? '') ?? [];
    // Google's: 600 seconds; Traefik's 90; Amazon's and nginx's 60.
    expect(Number(seconds)).toBeGreaterThan(600);
  });

  test('ends when its reader leaves, and is read no faster than it is taken', async () => {
    const { state, archive: of } = endless();
    const server = await freshOn({ archive: of });
    const leaving = new AbortController();
    const answer = await fetch(`${server.url}/archive/v1/orders?format=ndjson`, {
      signal: leaving.signal,
    });
    const reader = answer.body?.getReader();
    await reader?.read();
    // What fits between here and there is read, and no more: some look finds it standing still.
    let read = -1;
    await until(() => {
      const isStill = state.read === read;
      read = state.read;
      return isStill;
    }, 200);
    expect(read).toBeLessThan(20_000);
    leaving.abort();
    await until(() => state.ended);
  });

  test('of a reader that stops taking is cut off', async () => {
    const { state, archive: of } = endless();
    const server = await freshOn({ archive: of, stalledAfterMs: 200 });
    const socket = connectTo(server);
    socket.write('GET /archive/v1/orders?format=csv HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    socket.on('error', () => undefined);
    socket.pause();
    await until(() => state.ended);
    socket.destroy();
  });

  test('does not keep a stopping server, and does not look whole then', async () => {
    const { state, archive: of } = endless();
    const server = await freshOn({ archive: of });
    const answer = await fetch(`${server.url}/archive/v1/orders?format=csv`);
    await answer.body?.getReader().read();
    await server.close();
    await until(() => state.ended);
    const broken = await fetch(`${served.url}/archive/v1/orders?format=csv`);
    expect(await broken.text()).toContain('op-3');
  });

  test('nor does a connection on which nothing was ever asked', async () => {
    const server = await freshOn({ requestTimeoutMs: 3_600_000 });
    const socket = connectTo(server);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.once('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve));
    await server.close();
    await closed;
  });

  test('is not begun any more by a server that stops, which answers in its own shape to its end', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const server = await freshOn({
      watch: async () => {
        begin();
        await held;
        return { given: 1, added: 1, changed: 0 };
      },
    });
    const socket = connectTo(server);
    const text = textFrom(socket);
    const head = 'Host: 127.0.0.1\r\nContent-Type: application/json\r\n';
    const body = '{"operation_ids":["a"]}';
    socket.write(
      `POST /archive/v1/watch HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    await begun;
    const stopped = server.close();
    const asked = nextGetBegun();
    socket.write(`GET /archive/v1/orders?format=csv HTTP/1.1\r\n${head}\r\n`);
    await asked;
    release();
    await stopped;
    expect(await text).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 503 .*"code_space":"outlast"/s);
  });

  test('is not read for HEAD', async () => {
    const { state, archive: of } = endless();
    const server = await freshOn({ archive: of });
    const answer = await fetch(`${server.url}/archive/v1/orders?format=csv`, { method: 'HEAD' });
    expect([answer.status, state.read]).toEqual([200, 0]);
    expect(answer.headers.get('content-type')).toContain('text/csv');
  });
});

describe('what is no request', () => {
  const raw = (bytes: string): Promise<string> => {
    const socket = connectTo(served);
    socket.write(bytes);
    return textFrom(socket);
  };

  test('one that comes a byte at a time is given up', async () => {
    const server = await freshOn({ requestTimeoutMs: 300 });
    const socket = connectTo(server);
    const text = textFrom(socket);
    const drip = setInterval(() => socket.write('X'), 50);
    socket.write('GET /archive/v1/orders HTTP/1.1\r\nHost: x\r\nA: ');
    expect(await text.finally(() => clearInterval(drip))).toMatch(
      /^HTTP\/1\.1 408 .*"code_space":"outlast"/s,
    );
  });

  test.each([
    ['no HTTP', 'hello\r\n\r\n', '400'],
    ['a header without an end', `GET / HTTP/1.1\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, '431'],
    [
      'an address without an end',
      `GET /archive/v1/orders?cursor=${'a'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      '431',
    ],
    [
      'two lengths',
      'POST /archive/v1/watch HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
      '400',
    ],
    [
      'a smuggled length',
      'POST /archive/v1/watch HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '400',
    ],
  ])('%s is answered in the same shape', async (_, bytes, status) => {
    const text = await raw(bytes);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const body = JSON.parse(text.slice(text.indexOf('{'))) as unknown;
    expect(body).toMatchObject({ error: { code_space: 'outlast', code: 'BAD_REQUEST' } });
  });
});

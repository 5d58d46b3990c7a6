import { getEventListeners } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { Writable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { byteBounds } from '../../src/platform/bytes.ts';
import { createPlatform, type PlatformOptions } from '../../src/platform/client.ts';
import type { ListQuery, Platform } from '../../src/platform/platform.ts';
import { sign } from '../../src/platform/sign.ts';
import { createSemaphore, unbounded, type Semaphore } from '../../src/semaphore.ts';
import { listenHere } from '../support/loopback.ts';

const apiKey = 'test-key-ABCDEFG';
const apiSecret = 'test-secret-HIJKLMN';
const query: ListQuery = { resource: 'orders', limit: 50, sortBy: 'DATE_ASC' };
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Answers a request as no decent platform does; it is told the request's number, the first being 1. */
type Handler = (request: IncomingMessage, response: ServerResponse, number: number) => void;

/** Answers with JSON text and whatever headers are given. */
function answer(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

const emptyPage = '{"data":{"prev_page_key":"","next_page_key":"","order_infos":[]}}';

/** The platform's error envelope. */
const errorBody = (code: string, message: string): string =>
  JSON.stringify({ error: { code_space: 'test', code, message } });

/** `realSleep`: waits take their time instead of being noted and over. */
type Overrides = Partial<PlatformOptions> & { realSleep?: boolean };

type Scene = {
  server: { url: string; requests: IncomingMessage[]; close(): Promise<void> };
  platform: Platform;
  waits: number[];
  pauses: number[];
  permits: () => number;
  log: () => string;
};

async function scene(
  handler: Handler,
  { realSleep = false, ...options }: Overrides = {},
): Promise<Scene> {
  const requests: IncomingMessage[] = [];
  const here = createServer((request, response) => {
    requests.push(request);
    handler(request, response, requests.length);
  });
  const { port, close } = await listenHere(here);
  const server = { url: `http://127.0.0.1:${port}`, requests, close };
  const waits: number[] = [];
  const pauses: number[] = [];
  let permits = 0;
  let log = '';
  const platform = createPlatform({
    baseUrl: server.url,
    apiKey,
    apiSecret,
    timeoutMs: 60_000,
    limiter: {
      permit: () => Promise.resolve(void permits++),
      pause: (forMs) => Promise.resolve(void pauses.push(forMs)),
    },
    log: pino(
      { level: 'trace' },
      new Writable({
        write(line: Buffer, _encoding, done) {
          log += line.toString();
          done();
        },
      }),
    ),
    random: () => 0,
    ...(realSleep ? {} : { sleep: (forMs) => Promise.resolve(void waits.push(forMs)) }),
    ...options,
  });
  closing.push(
    () => server.close(),
    () => platform.close(),
  );
  return { server, platform, waits, pauses, permits: () => permits, log: () => log };
}

/** It fails with this, and more of it where given. */
const failsWith = (promise: Promise<unknown>, code: string, more: object = {}): Promise<void> =>
  expect(promise).rejects.toMatchObject({ code, ...more });

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.unreachable('it should have failed'),
    (error: unknown) => error,
  );

/** Passes through a fault on the first request, and answers the second. */
const once =
  (fault: Handler): Handler =>
  (request, response, number) => {
    if (number === 1) fault(request, response, number);
    else answer(response, 200, emptyPage);
  };

describe('a request', () => {
  it('is signed as the platform expects, with every parameter sent and no empty one', async () => {
    const { platform, server } = await scene((_, response) => answer(response, 200, emptyPage));
    await platform.page({
      ...query,
      pageKey: 'a+b/c==&x<y> é',
      status: 1,
      startDate: '2026-03-01',
      endDate: '',
      countTotal: true,
    });
    await platform.page({ ...query, pageKey: '' });
    await platform.page({
      resource: 'nft_classes',
      offset: 0,
      limit: 200,
      sortBy: 'DATE_ASC',
      owner: 'c 1',
    });
    expect(server.requests.map((request) => request.url)).toEqual([
      '/v3/orders?page_key=a%2Bb%2Fc%3D%3D%26x%3Cy%3E%20%C3%A9&limit=50&status=1&start_date=2026-03-01&sort_by=DATE_ASC&count_total=1',
      '/v3/orders?limit=50&sort_by=DATE_ASC',
      '/v1beta1/nft/classes?offset=0&limit=200&owner=c%201&sort_by=DATE_ASC',
    ]);
    for (const { url = '', headers, method } of server.requests) {
      const { pathname, searchParams } = new URL(url, server.url);
      const timestamp = String(headers['x-timestamp']);
      expect(method).toBe('GET');
      expect(Math.abs(Number(timestamp) - Date.now())).toBeLessThan(120_000);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'x-api-key': apiKey,
        'x-signature': sign({
          path: pathname,
          query: Object.fromEntries(searchParams),
          timestamp,
          secret: apiSecret,
        }),
      });
    }
    expect(platform.requests()).toBe(3);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('asks for no compression, and reads an answer in %s all the same', async (name, packed) => {
    const { platform, server, waits } = await scene((_, response) =>
      answer(response, 200, packed(emptyPage), { 'content-encoding': name }),
    );
    expect((await platform.page(query)).records).toEqual([]);
    expect(server.requests.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity']);
    expect(waits).toEqual([]);
  });

  it('reads an answer behind a byte order mark, and tells the time by it', async () => {
    const now = Date.parse('2031-07-01T12:00:00Z');
    const { platform } = await scene((_, response) =>
      answer(response, 200, `\uFEFF${emptyPage}`, { date: new Date(now).toUTCString() }),
    );
    expect((await platform.page(query)).records).toEqual([]);
    expect(platform.clock.lastDate()).toBe(now);
  });

  it('goes below the path of the base URL, and leaves that path out of the signature', async () => {
    const { server } = await scene((_, response) => answer(response, 200, emptyPage));
    const { platform } = await scene(() => {}, { baseUrl: `${server.url}/api/` });
    await platform.page(query);
    const [request] = server.requests;
    expect(request?.url).toBe('/api/v3/orders?limit=50&sort_by=DATE_ASC');
    expect(request?.headers['x-signature']).toBe(
      sign({
        path: '/v3/orders',
        query: { limit: '50', sort_by: 'DATE_ASC' },
        timestamp: String(request?.headers['x-timestamp']),
        secret: apiSecret,
      }),
    );
  });

  it('is dated by the clock of the platform, also the very first', async () => {
    const now = Date.parse('2031-07-01T12:00:00Z');
    const { platform } = await scene(
      (_, response) => answer(response, 200, emptyPage, { date: new Date(now).toUTCString() }),
      { wallNow: () => now + 100_000 },
    );
    const page = await platform.page(query);
    expect(Math.abs(page.askedAt - now)).toBeLessThan(60_000);
    expect(platform.clock.lastDate()).toBe(now);
  });

  it.each([
    ...['ftp://127.0.0.1', 'localhost:80', 'https://a:b@host', 'https://host/?x=1', ''].map(
      (baseUrl) => ({ baseUrl, says: /the base URL must be/ }),
    ),
    ...[{ apiKey: 'a\nb' }, { apiKey: 'clé' }, { apiKey: '' }, { apiSecret: '' }].map((pair) => ({
      ...pair,
      says: /the API (key|secret) must/,
    })),
  ])('is never sent with %j', ({ says, ...wrong }) => {
    const options = { apiKey, apiSecret, timeoutMs: 1, baseUrl: 'http://h', ...wrong };
    expect(() => createPlatform(options as PlatformOptions)).toThrow(says);
  });
});

describe('a passing fault', () => {
  // What is an answer, and cannot be read, says nothing of other questions.
  const faults: [string, Handler, 'platform_unusable'?][] = [
    ['http_500', (_, response) => answer(response, 500, errorBody('INTERNAL_ERROR', 'sorry'))],
    ['http_502', (_, response) => answer(response, 502, '<html>', { 'content-type': 'text/html' })],
    ['http_404', (_, response) => answer(response, 404, '404 page not found')],
    ['http_404', (_, response) => answer(response, 404, errorBody('NOT_FOUND', 'nothing'))],
    ['http_429', (_, response) => answer(response, 429, '')],
    ['http_408', (_, response) => answer(response, 408, '')],
    ['unreadable_page', (_, response) => answer(response, 200, '<html>maintenance</html>')],
    [
      'unreadable_page',
      (_, response) => answer(response, 200, '{"data":{"order_infos":['),
      'platform_unusable',
    ],
    [
      'unreadable_page',
      (_, response) => answer(response, 200, errorBody('X', 'y')),
      'platform_unusable',
    ],
    ['unreadable_page', (_, response) => response.writeHead(204).end()],
    ['ECONNRESET|UND_ERR_SOCKET', (request) => request.socket.resetAndDestroy()],
    ['UND_ERR_SOCKET', (request) => request.socket.destroy()],
    [
      'UND_ERR_SOCKET',
      (request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"data":{', () => request.socket.destroy());
      },
    ],
    [
      'UND_ERR_SOCKET',
      (request, response) => {
        response.write('{"data":{', () => request.socket.destroy());
      },
    ],
    ['HPE_|HTTPParserError', (request) => request.socket.end('no HTTP at all\r\n\r\n')],
  ];

  it.each(faults)(
    '(%s) is asked again and logged; one that lasts ends the call',
    async (code, fault, ends) => {
      const { platform, server, log, waits, permits } = await scene(once(fault));
      expect(await platform.page(query)).toMatchObject({ shown: 0 });
      expect([server.requests.length, platform.requests(), permits()]).toEqual([2, 2, 2]);
      expect(waits).toEqual([125]);
      expect(log()).toMatch(new RegExp(`"fault":"(${code})`));

      const lasting = await scene(fault);
      const endsAs = ends ?? 'platform_unavailable';
      await failsWith(lasting.platform.page(query), endsAs, { kind: 'transient' });
      expect(lasting.server.requests.length).toBe(5);
      expect(lasting.waits).toEqual([125, 250, 500, 1000]);
    },
  );

  it('is signed afresh on every retry', async () => {
    const { platform, server } = await scene((_, response, number) => {
      if (number < 3) setTimeout(() => answer(response, 500, ''), 5);
      else answer(response, 200, emptyPage);
    });
    await platform.page(query);
    const signatures = new Set(server.requests.map(({ headers }) => headers['x-signature']));
    expect(signatures.size).toBe(3);
  });

  it('may be a platform that does not answer, or not to the end', async () => {
    const hang: Handler = () => {};
    const drip: Handler = (_, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    };
    for (const fault of [hang, drip]) {
      const { platform, log } = await scene(once(fault), { timeoutMs: 500 });
      expect(await platform.page(query)).toMatchObject({ shown: 0 });
      expect(log()).toContain('"fault":"timeout"');
    }
  });

  it('may be a platform that is not there', async () => {
    const { platform, server } = await scene(() => {});
    await server.close();
    const message = expect.stringContaining('ECONNREFUSED') as string;
    await failsWith(platform.page(query), 'platform_unavailable', { message });
  });

  const tooLong = Buffer.alloc(byteBounds.answer + 1, '{"data":x');

  it('that is an endless answer is asked for again in smaller pages only', async () => {
    const isSmall = (url = ''): boolean => /limit=(?:13|[1-9])(?:&|$)/.test(url);
    const { platform, server } = await scene(({ url }, response) =>
      answer(response, 200, url?.includes('/orders') && isSmall(url) ? emptyPage : tooLong),
    );
    expect(await platform.page(query)).toMatchObject({ shown: 0 });
    const classes = { resource: 'nft_classes', limit: 3, sortBy: 'DATE_ASC' } as const;
    await failsWith(platform.page(classes), 'platform_unusable', {
      kind: 'transient',
      message: expect.stringMatching(/\/nft\/classes is of no use$/) as string,
      cause: { message: 'an answer longer than 67108864 bytes' },
    });
    const limits = server.requests.map(({ url }) => /limit=(\d+)/.exec(url ?? '')?.[1]);
    expect(limits).toEqual(['50', '25', '13', '3', '2', '1']);
    // It told the time all the same.
    expect(platform.clock.lastDate()).not.toBeNull();
  });

  it('that is a token too long sets that token aside, and a result too long is of no use', async () => {
    const token = (symbol: string, length: number): string =>
      `{"value":{"symbol":"${symbol}","x":"${'x'.repeat(length)}"}}`;
    const long = token('b', byteBounds.record);
    const { platform, server } = await scene(({ url }, response) => {
      const isList = url?.startsWith('/token') === true;
      const tokens = [token('a', 10), long, token('c', 10)].join(',');
      answer(response, 200, isList ? `{"height":"1","result":[${tokens}]}` : `{"data":${long}}`);
    });
    const list = await platform.tokens();
    expect(list?.tokens.map(({ symbol }) => symbol)).toEqual(['a', 'c']);
    expect(list?.rejects).toMatchObject([{ wholeLength: long.length }]);
    const kind = 'transient';
    await failsWith(platform.transaction('v3', 'op'), 'platform_unusable', { kind });
    expect(server.requests.length).toBe(2);
  });

  it('that is an endless refusal is read no further than its beginning', async () => {
    const { platform, server } = await scene((_, response) => {
      response.writeHead(400);
      response.write(`{"error":{"code":"BAD","message":"${'no '.repeat(1000)}"},"x":"`);
      for (let i = 0; i < 50; i++) response.write('x'.repeat(10_000));
    });
    await failsWith(platform.page(query), 'platform_refused', { refusal: { status: 400 } });
    expect(server.requests.length).toBe(1);
  });
});

describe('Retry-After', () => {
  const hour = 3_600_000;
  it.each<[number, string | null, number[], number[]]>([
    // The least time waited, by this call and by everybody.
    [503, '3', [3000], [3000]],
    ...['soon', '-5', '0'].map((odd): [number, string, number[], number[]] => [
      429,
      odd,
      [125],
      [125],
    ]),
    // Not needed with a 429 for everybody to keep quiet.
    [429, null, [125], [125]],
    // Beyond a minute this call ends, and everybody is quiet for an hour at most.
    [429, '99999999999', [], [hour]],
  ])('with %i of %j: waits %j, and everybody %j', async (status, header, waited, paused) => {
    const headers: Record<string, string> = header === null ? {} : { 'retry-after': header };
    const { platform, server, waits, pauses } = await scene(
      once((_, response) => answer(response, status, '', headers)),
    );
    const answered = platform.page(query);
    if (waited.length === 0) {
      await failsWith(answered, 'platform_unavailable');
    } else await answered;
    expect([waits, pauses, server.requests.length]).toEqual([waited, paused, 1 + waited.length]);
  });

  it('may be a date on the clock of the platform', async () => {
    const at = Date.parse('2026-04-06T12:00:00Z');
    const asDate = (one: number): string => new Date(one).toUTCString();
    const { platform, waits } = await scene(
      once((_, response) =>
        answer(response, 503, '', { date: asDate(at), 'retry-after': asDate(at + 20_000) }),
      ),
      { wallNow: () => at, monotonicNow: () => 0 },
    );
    await platform.page(query);
    expect(waits[0]).toBeGreaterThan(18_000);
    expect(waits[0]).toBeLessThanOrEqual(20_000);
  });
});

describe.each([401, 403])('a %i', (status) => {
  const forbidden = errorBody('FORBIDDEN', 'authentication failed');

  it('under a right clock is final at once', async () => {
    const { platform, server } = await scene((_, response) => answer(response, status, forbidden));
    const refusal = { status, code: 'FORBIDDEN', message: 'authentication failed' };
    await failsWith(platform.page(query), 'platform_forbidden', { kind: 'fatal', refusal });
    expect(server.requests.length).toBe(1);
  });

  it.each([
    [forbidden, 'check the API key and secret'],
    ['', 'check the API key and secret'],
    [
      '<!DOCTYPE html><title>Just a moment</title>',
      'what came is a page and no error of the platform’s own',
    ],
  ])('of %j advises what helps', async (body, advice) => {
    const { platform } = await scene((_, response) => answer(response, status, body));
    const message = expect.stringContaining(`; ${advice}`) as string;
    await failsWith(platform.page(query), 'platform_forbidden', { message });
  });

  it('under a wrong clock is asked again, signed with the clock of the platform', async () => {
    const wallNow = (): number => Date.now() - 600_000;
    const { platform, server, log } = await scene(
      (request, response) => {
        const offMs = Math.abs(Number(request.headers['x-timestamp']) - Date.now());
        const isRight = offMs < 60_000;
        answer(response, isRight ? 200 : status, isRight ? emptyPage : forbidden);
      },
      { wallNow },
    );
    await platform.page(query);
    expect(server.requests.length).toBe(2);
    expect(log()).toContain(`"fault":"http_${status}"`);
    // The next request is signed by the time that the refusal told.
    await platform.page(query);
    expect(server.requests.length).toBe(3);
  });

  it('from clocks that jump with every answer says nothing of the key, and ends as every fault', async () => {
    const { platform, server } = await scene((_, response, number) =>
      answer(response, status, forbidden, {
        date: new Date(Date.now() + number * 3_600_000).toUTCString(),
      }),
    );
    await failsWith(platform.page(query), 'platform_unavailable');
    expect(server.requests.length).toBe(5);
  });

  it.each([
    ['that a right clock does not mend', true, 600_000, 2],
    ['without a Date', false, -Date.now(), 1],
  ])('%s is final', async (_, sendDate, offMs, asked) => {
    const { platform, server } = await scene(
      (_request, response) => {
        response.sendDate = sendDate;
        answer(response, status, forbidden);
      },
      { wallNow: () => Date.now() + offMs },
    );
    await failsWith(platform.page(query), 'platform_forbidden');
    expect(server.requests.length).toBe(asked);
  });
});

describe('a refusal', () => {
  it.each([400, 405, 422])('with %i is final and says why', async (status) => {
    const { platform, server } = await scene((_, response) =>
      answer(response, status, errorBody('BAD_REQUEST', 'page_key expired')),
    );
    await failsWith(platform.page(query), 'platform_refused', {
      kind: 'fatal',
      refusal: { status, code: 'BAD_REQUEST', message: 'page_key expired' },
      message: expect.stringContaining(`${status} BAD_REQUEST "page_key expired"`) as string,
    });
    expect(server.requests.length).toBe(1);
  });

  it('tells the time as a page does, and the HTML of somebody in between does not', async () => {
    const date = new Date(Date.now() + 86_400_000).toUTCString();
    for (const body of [errorBody('BAD_REQUEST', 'no'), '<html>log in first</html>']) {
      const { platform } = await scene((_, response) => answer(response, 400, body, { date }));
      await failsWith(platform.page(query), 'platform_refused');
      expect(platform.clock.lastDate()).toBe(body.startsWith('{') ? Date.parse(date) : null);
    }
  });

  it('may be a redirect, which is not followed', async () => {
    const { platform, server } = await scene((_, response) =>
      answer(response, 302, '', { location: '/elsewhere' }),
    );
    const message = expect.stringContaining('check the base URL') as string;
    await failsWith(platform.page(query), 'platform_refused', { message });
    expect(server.requests.length).toBe(1);
  });

  it.each([
    ['', null, null],
    ['no', null, null],
    ['{"error":"plain words"}', null, 'plain words'],
    ['{"error":[]}', null, null],
    ['[]', null, null],
    // P12: what Postgres cannot hold goes no further than the door.
    [
      String.raw`{"error":{"code":"BAD\u0000","message":"no\u0000 \ud800"}}`,
      'BAD\ufffd',
      'no\ufffd \ufffd',
    ],
  ])('may come with the body %j', async (body, code, message) => {
    const { platform } = await scene((_, response) => answer(response, 400, body));
    const refusal = { status: 400, code, message };
    await failsWith(platform.page(query), 'platform_refused', { refusal });
  });
});

describe('an abort', () => {
  it.each(['while the platform is silent', 'while the body drips', 'before anything was sent'])(
    '%s ends the call at once',
    async (moment) => {
      const control = new AbortController();
      const { platform } = await scene((_, response) => {
        if (moment.includes('drips')) response.write('{');
        setTimeout(() => control.abort(), 30);
      });
      if (moment.startsWith('before')) control.abort();
      await failsWith(platform.page(query, control.signal), 'aborted', { kind: 'transient' });
    },
  );

  it('while waiting to ask again ends the call at once', async () => {
    const control = new AbortController();
    const { platform } = await scene(
      (_, response) => {
        answer(response, 503, '', { 'retry-after': '50' });
        setTimeout(() => control.abort(), 30);
      },
      { realSleep: true },
    );
    const started = performance.now();
    await failsWith(platform.page(query, control.signal), 'aborted');
    expect(performance.now() - started).toBeLessThan(40_000);
  });

  it('leaves no listeners on a signal that outlives many calls', async () => {
    const { platform } = await scene((_, response) => answer(response, 200, emptyPage));
    const { signal } = new AbortController();
    for (let i = 0; i < 20; i++) await platform.page(query, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('slots', () => {
  /** How many of six requests were under way at most. None is answered before so many are. */
  const mostUnderWay = async (slots: Semaphore, expected: number): Promise<number> => {
    const underWay: (() => void)[] = [];
    let most = 0;
    const { platform } = await scene((_, response) => {
      underWay.push(() => answer(response, 200, emptyPage));
      most = Math.max(most, underWay.length);
    });
    const all = Array.from({ length: 6 }, () => platform.page(query, undefined, slots));
    for (let left = all.length; left > 0; left--) {
      await expect.poll(() => underWay.length).toBe(Math.min(expected, left));
      underWay.shift()?.();
    }
    await Promise.all(all);
    return most;
  };

  // The sabotaged twin: it is they that bound them.
  it.each([
    ['two', createSemaphore(2), 2],
    ['any number', unbounded, 6],
  ])(
    'of %s bound how many requests of those who share them are under way',
    async (_, slots, expected) => {
      expect(await mostUnderWay(slots, expected)).toBe(expected);
    },
  );

  it('are free again while a call waits to ask again', async () => {
    let wake = (): void => undefined;
    const asleep = new Promise<void>((resolve) => (wake = resolve));
    const slots = createSemaphore(1);
    const { platform, server } = await scene(
      once((_, response) => answer(response, 503, '')),
      { sleep: () => asleep },
    );
    const waiting = platform.page(query, undefined, slots);
    await platform.page(
      { resource: 'nft_classes', limit: 50, sortBy: 'DATE_ASC' },
      undefined,
      slots,
    );
    wake();
    await waiting;
    expect(server.requests).toHaveLength(3);
  });

  it('are free again before a page is read, and not before quiet is kept where it was asked for', async () => {
    const events: string[] = [];
    const slots: Semaphore = async (work) => {
      const result = await work(() => events.push('left early'));
      events.push('left');
      return result;
    };
    const { platform } = await scene(
      once((_, response) => answer(response, 429, '', { 'retry-after': '1' })),
      {
        limiter: {
          permit: () => Promise.resolve(void events.push('permit')),
          pause: () => Promise.resolve(void events.push('quiet')),
        },
        sleep: () => Promise.resolve(void events.push('waited')),
        meter: { request: (outcome) => events.push(outcome), waited: () => undefined },
      },
    );
    await platform.page(query, undefined, slots);
    expect(events.join(', ')).toBe(
      'permit, throttled, quiet, left, waited, permit, left early, answered, left',
    );
  });
});

describe('the key and the secret', () => {
  // P10
  const quoting =
    (status: number): Handler =>
    (request, response) =>
      answer(
        response,
        status,
        errorBody(apiKey, `${apiSecret} ${String(request.headers['x-signature'])} ${apiKey}`),
      );
  const signature = /[0-9a-f]{64}/;

  const troubles: [string, Handler][] = [
    ['a quoting 400', quoting(400)],
    ['a quoting 403', quoting(403)],
    ['a quoting 500', quoting(500)],
    ['a quoting 200', quoting(200)],
    ['a reset', (request) => request.socket.resetAndDestroy()],
    ['a time-out', () => {}],
    ['garbage', (request) => request.socket.end(`${apiSecret} ${apiKey}\r\n\r\n`)],
    ['a redirect', (_, response) => answer(response, 301, '', { location: `/?k=${apiSecret}` })],
  ];

  it.each(troubles)('stand in no error and no log line after %s', async (_name, trouble) => {
    const { platform, log } = await scene(trouble, { timeoutMs: 100, maxAttempts: 2 });
    const error = await errorOf(platform.page({ ...query, pageKey: 'page-key-in-url' }));
    const everything = inspect(error, { depth: 20, showHidden: true }) + log();
    for (const secret of [apiKey, apiSecret, signature, 'page-key-in-url']) {
      expect(everything).not.toMatch(secret);
    }
    expect(everything).toMatch(/\/v3\/orders/);
  });

  it('would be found there if they were (the sabotaged twin)', async () => {
    const { platform, log } = await scene(quoting(400), { apiKey: 'other', apiSecret: 'other' });
    const error = await errorOf(platform.page(query));
    expect(inspect(error, { depth: 20, showHidden: true }) + log()).toMatch(apiSecret);
  });
});

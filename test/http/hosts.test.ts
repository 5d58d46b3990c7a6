// For which host a request is meant decides who may read, so that nobody can say it twice, twice differently, or by
// half.
import { expect, test } from 'vitest';
import type { Served } from '../../src/http/server.ts';
import type { Archive } from '../../src/index.ts';
import { setUp } from '../support/fresh.ts';
import { serveArchive } from '../support/served.ts';
import { connectTo, textFrom } from './ask.ts';

let served: Served;
setUp(async (keep) => {
  // Whatever a page asks of it is refused: who is let in is the subject here.
  const refused: object = new Proxy(() => Promise.reject(new Error('nothing is archived')), {
    get: (_, name) => (name === 'then' ? undefined : refused),
  });
  served = await keep(serveArchive(refused as Archive));
});

/** Lines of a request as they go over the wire. */
async function askWith(lines: string[], target = '/archive/v1/projects', version = '1.1') {
  const socket = connectTo(served);
  socket.write(
    [`GET ${target} HTTP/${version}`, ...lines, 'Connection: close', '', ''].join('\r\n'),
  );
  const text = await textFrom(socket);
  return { status: Number(text.split(' ')[1]), text };
}

test.each('localhost LOCALHOST:8080 127.0.0.1 127.9.8.7:1 [::1] [::1]:8080'.split(' '))(
  '%s is this machine',
  async (host) => {
    expect((await askWith([`Host: ${host}`])).status).toBe(200);
  },
);

const others =
  'evil.example localhost.evil.example 127.0.0.1.evil.example [::1]evil.example [::1 localhost:80:evil.example ' +
  'localhost:evil localhost@evil.example';
test.each([...others.split(' '), ''])('%s is not', async (host) => {
  expect((await askWith([`Host: ${host}`])).status).toBe(401);
});

test.each(['X-Forwarded-For: ::1', 'Forwarded: for=x', 'Via: 1.1 proxy', 'X-Real-IP: ::1'])(
  'whoever comes by a proxy that says %s is asked for a key',
  async (line) => {
    expect((await askWith(['Host: localhost', line])).status).toBe(401);
    expect((await askWith(['Host: localhost', line], '/v3/orders')).status).toBe(403);
  },
);

test.each(['cross-site', 'same-site', 'same-origin, cross-site', ''])(
  'a page of another site (%s) is asked for a key like anybody outside',
  async (site) => {
    const lines = ['Host: localhost', `Sec-Fetch-Site: ${site}`];
    expect((await askWith(lines)).status).toBe(401);
    expect((await askWith(lines, '/v3/orders')).status).toBe(403);
    expect((await askWith(lines, '/token/tokens')).status).toBe(403);
    expect((await askWith(lines, '/')).status).toBe(303);
    // What needs no key, and a page for people, may be led to from anywhere: that other page sees nothing of it.
    const led = [...lines, 'Sec-Fetch-Mode: navigate'];
    expect((await askWith([...led, 'Sec-Fetch-Dest: document'], '/')).status).not.toBe(303);
    expect((await askWith([...led, 'Sec-Fetch-Dest: iframe'], '/')).status).toBe(303);
    expect((await askWith(lines, '/docs')).status).toBe(200);
    expect((await askWith(lines, '/healthz')).status).toBe(200);
  },
);

test.each(['same-origin', 'none'])(
  'our own page, and whoever types the address (%s), is not',
  async (site) => {
    expect((await askWith(['Host: localhost', `Sec-Fetch-Site: ${site}`])).status).toBe(200);
  },
);

test('a request with two hosts or none is refused in the shape of every refusal', async () => {
  for (const lines of [
    ['Host: localhost', 'Host: evil.example'],
    ['Host: localhost', 'host: localhost'],
    [],
  ]) {
    const { status, text } = await askWith(lines);
    expect(status).toBe(400);
    expect(text).toContain('"code_space":"outlast"');
  }
  // Older than the header: somebody's, and not this machine's.
  expect((await askWith([], undefined, '1.0')).status).toBe(401);
});

test('a target that names a host goes before the header', async () => {
  const target = (host: string): string => `http://${host}/archive/v1/projects`;
  expect((await askWith(['Host: localhost'], target('evil.example'))).status).toBe(401);
  expect((await askWith(['Host: localhost'], target('localhost@evil.example'))).status).toBe(401);
  expect((await askWith(['Host: evil.example'], target('localhost:1'))).status).toBe(200);
});

test('an expectation that nobody meets is refused in the same shape', async () => {
  const { status, text } = await askWith(['Host: localhost', 'Expect: everything']);
  expect(status).toBe(417);
  expect(text).toContain('"code_space":"outlast"');
});

// The file behind a certificate link, from a real HTTPS server: kept whole or not at all, and nothing else is ever asked.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { causeChain } from '../src/errors.ts';
import {
  createFileFetcher,
  isPrivateAddress,
  type FileFetcher,
  type FileFetcherOptions,
} from '../src/platform/certificate-file.ts';
import { startHttpsServer, type HttpsServer } from './support/https-server.ts';

let server: HttpsServer;
const fetchers: FileFetcher[] = [];
beforeEach(async () => {
  server = await startHttpsServer((request, response) => {
    const [, status = '200', to = ''] = /^\/(\d+)\/?(.*)$/.exec(request.url ?? '') ?? [];
    if (request.url === '/hang') return;
    if (Number(status) >= 300 && Number(status) < 400) {
      response.writeHead(Number(status), { location: decodeURIComponent(to) }).end();
      return;
    }
    response.writeHead(Number(status), { 'content-type': 'application/pdf' }).end('certificate\0');
  });
});
afterEach(async () => {
  for (const fetcher of fetchers.splice(0)) await fetcher.close();
  await server.close();
});

function fetcher(options: Partial<FileFetcherOptions> = {}): FileFetcher {
  const made = createFileFetcher({
    hosts: ['localhost'],
    connect: { ca: server.certificate },
    isPrivate: () => false,
    ...options,
  });
  fetchers.push(made);
  return made;
}

const failure = (promise: Promise<unknown>): Promise<{ code: string; message: string }> =>
  promise.then(
    () => expect.unreachable('it should have failed'),
    (error: unknown) => ({ code: (error as { code: string }).code, message: causeChain(error) }),
  );

describe('a file', () => {
  it('comes with its bytes, digest and type, also over a redirect', async () => {
    const direct = await fetcher().fetch(`${server.url}/200?token=secret`);
    expect(direct).toEqual({
      url: `${server.url}/200?token=secret`,
      bytes: Buffer.from('certificate\0'),
      sha256: 'a5ab5e5d6eb405103d7fa3c61124087a692ed8d368aa1ddca24481dc3e781a12',
      mediaType: 'application/pdf',
    });
    const led = await fetcher().fetch(`${server.url}/302/%2F200`);
    expect(led.bytes).toEqual(direct.bytes);
  });

  it.each([
    ['plain http', () => server.url.replace('https', 'http'), {}, 'file_refused', 'not https'],
    ['no address', () => 'certificate', {}, 'file_refused', 'no address'],
    ['a user in it', () => server.url.replace('//', '//me:secret@'), {}, 'file_refused', 'user'],
    ['a foreign host', () => 'https://other.example/secret', {}, 'file_refused', 'not among'],
    [
      'a redirect to a foreign host',
      () => `${server.url}/302/${encodeURIComponent('https://other.example/secret')}`,
      {},
      'file_refused',
      'not among',
    ],
    [
      'a redirect to plain http',
      () => `${server.url}/302/${encodeURIComponent('http://localhost/secret')}`,
      {},
      'file_refused',
      'not https',
    ],
    [
      'a redirect to a private address',
      () => `${server.url}/302/${encodeURIComponent('https://169.254.169.254/secret')}`,
      { hosts: ['*'], isPrivate: (address: string) => address.startsWith('169.254.') },
      'file_refused',
      'private address',
    ],
    ['redirects without end', () => `${server.url}/302/`, {}, 'file_refused', 'more than 3 times'],
    [
      'too long a file',
      () => `${server.url}/200`,
      { maxBytes: 5 },
      'file_refused',
      'longer than 5',
    ],
    ['a server that fails', () => `${server.url}/503`, {}, 'file_unavailable', '503'],
    ['a link that has expired', () => `${server.url}/403`, {}, 'file_unavailable', '403'],
    [
      'a server that hangs',
      () => `${server.url}/hang`,
      { timeoutMs: 300 },
      'file_unavailable',
      '300 ms',
    ],
    [
      'a certificate nobody vouches for',
      () => `${server.url}/200`,
      { connect: {} },
      'file_unavailable',
      'could not be read',
    ],
  ])('is not taken from %s', async (_, link, options, code, sentence) => {
    const error = await failure(fetcher(options).fetch(link()));
    expect(error.code).toBe(code);
    expect(error.message).toContain(sentence);
    // P10: a link may be as good as a key.
    expect(error.message).not.toContain('secret');
  });

  it('is never asked of a private address, whatever name it hides behind', async () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433']) {
      const url = server.url.replace('localhost', host);
      const error = await failure(
        fetcher({ hosts: ['*'], isPrivate: isPrivateAddress }).fetch(`${url}/200`),
      );
      expect(error).toMatchObject({ code: 'file_refused' });
      expect(error.message).toContain('private address');
    }
    expect(server.paths).toEqual([]);
  });
});

describe('private addresses', () => {
  it.each([
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '127.0.0.2',
    '169.254.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001:db8::1',
    'ff02::1',
    '255.255.255.255',
  ])('%s is one', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });
  it.each(['8.8.8.8', '172.32.0.1', '2606:4700::1111'])('%s is none', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

describe('hosts', () => {
  it('below a name are covered by *.name, and the name itself is not', async () => {
    const options = { hosts: ['*.example.org'], isPrivate: () => true };
    for (const host of ['example.org', 'badexample.org', 'example.org.evil.test']) {
      const error = await failure(fetcher(options).fetch(`https://${host}/`));
      expect(error.message).toContain('not among');
    }
  });
});

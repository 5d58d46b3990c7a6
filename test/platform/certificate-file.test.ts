// The file behind a certificate link, from a real HTTPS server: kept whole or not at all, and nothing else is ever
// asked.
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { causeChain } from '../../src/errors.ts';
import {
  createFileFetcher,
  isPrivateAddress,
  type FileFetcher,
  type FileFetcherOptions,
} from '../../src/platform/certificate-file.ts';
import { replaceInModule } from '../support/replaced.ts';
import { startHttpsServer, type HttpsServer } from '../support/https-server.ts';

/** What names stand for, answer by answer; what the system says once there is none left. */
const names = { answers: [] as LookupAddress[][], asked: 0 };
let putBack = (): void => undefined;
beforeAll(() => {
  const { lookup } = dns;
  type Done = (error: Error | null, addresses: LookupAddress[]) => void;
  const answered = (host: string, options: LookupOptions | Done, done: Done): void => {
    // A server that begins to listen asks without options.
    if (typeof options === 'function') return lookup(host, options as never);
    names.asked += 1;
    const answer = names.answers.shift();
    if (answer === undefined) lookup(host, { ...options, all: true }, done);
    else done(null, answer);
  };
  putBack = replaceInModule(dns, 'lookup', answered);
});
afterAll(() => putBack());

let server: HttpsServer;
const fetchers: FileFetcher[] = [];
beforeEach(async () => {
  names.asked = 0;
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

/** IANA's registries of special-purpose addresses, each block, and multicast. */
const special = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29 192.0.0.8/32
  192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24
  192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32
  ::1/128 ::/128 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128
  2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32
  2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 ff00::/8`
  .trim()
  .split(/\s+/);

/** The first and the last address of a block. */
function ends(block: string): [string, string] {
  const [net = '', bits = ''] = block.split('/');
  const isV4 = isIP(net) === 4;
  const [size, length] = isV4 ? [8, 4] : [16, 8];
  const parts = isV4 ? net.split('.').map(Number) : wordsOf(net);
  const last = parts.map((part, i) => {
    const fixed = Math.min(size, Math.max(0, Number(bits) - i * size));
    return part | (2 ** (size - fixed) - 1);
  });
  expect(last).toHaveLength(length);
  return [net, isV4 ? last.join('.') : last.map((word) => word.toString(16)).join(':')];
}

function wordsOf(net: string): number[] {
  const [head = '', tail = ''] = net.split('::');
  const words = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16));
  const [before, after] = [words(head), words(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

describe('private addresses', () => {
  it.each(special)('are all of %s', (block) => {
    expect(ends(block).filter((address) => !isPrivateAddress(address))).toEqual([]);
  });
  it.each([
    // IPv4 in other clothes: mapped, compatible, translated, NAT64, 6to4, Teredo; and what is given out to nobody.
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '::127.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b:1::a00:1',
    '2002:a00:1::',
    '2001:0:a00:1::',
    'fec0::1',
    'fe80::1%eth0',
    '4000::1',
    'no address',
  ])('%s is one', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });
  it.each([
    '8.8.8.8',
    '172.32.0.1',
    '192.88.98.255',
    '192.88.100.0',
    '198.17.255.255',
    '223.255.255.255',
    '2001:200::1',
    '2606:4700::1111',
    '3ffe:ffff::1',
    '3fff:1000::1',
  ])('%s is none', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

describe('a name that stands for another address each time', () => {
  const answer = (...addresses: string[]): void => {
    names.answers.push(addresses.map((address) => ({ address, family: 4 })));
  };
  const own = (address: string): boolean => address !== '127.0.0.1';
  afterEach(() => {
    names.answers.splice(0);
  });

  it('is asked once for a connection, which goes where was looked', async () => {
    answer('127.0.0.1');
    answer('10.0.0.1');
    await fetcher({ isPrivate: own }).fetch(`${server.url}/200`);
    expect(names.asked).toBe(1);
    expect(server.paths).toEqual(['/200']);
  });

  it('is refused where one of its addresses is private, and again behind a redirect', async () => {
    answer('127.0.0.1', '10.0.0.1');
    const mixed = await failure(fetcher({ isPrivate: own }).fetch(`${server.url}/200`));
    expect(mixed.message).toContain('private address');
    answer('127.0.0.1');
    answer('10.0.0.1');
    const to = `${server.url.replace('localhost', 'other.localhost')}/200`;
    const led = await failure(
      fetcher({ hosts: ['localhost', '*.localhost'], isPrivate: own }).fetch(
        `${server.url}/302/${encodeURIComponent(to)}`,
      ),
    );
    expect(led.message).toContain('private address');
    expect(server.paths).toEqual([`/302/${encodeURIComponent(to)}`]);
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

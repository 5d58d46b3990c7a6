// The file behind a certificate link, from a real HTTPS server: kept whole or not at all, and nothing else is ever
// asked.
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { causeChain } from '../../src/errors.ts';
import {
  createFileFetcher,
  isPrivateAddress,
  type FileFetcher,
  type FileFetcherOptions,
} from '../../src/platform/certificate-file.ts';
import { replaceInModule } from '../support/replaced.ts';
import { startHttpsServer, type HttpsServer } from '../support/certificates.ts';

/** What names stand for, answer by answer; what the system says once there is none left. */
const names = { answers: [] as LookupAddress[][], asked: 0 };
let putBack = (): void => undefined;
beforeAll(() => {
  const { lookup } = dns;
  type Done = (error: Error | null, addresses: LookupAddress[]) => void;
  const answered = (host: string, options: LookupOptions | Done, done: Done): void => {
    // A server that begins to listen asks without options, up to Node 24.
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
  server = await startHttpsServer((request, response) => {
    const [, status = '200', to = ''] = /^\/(\d+)\/?(.*)$/.exec(request.url ?? '') ?? [];
    if (request.url === '/hang') return;
    if (Number(status) >= 300 && Number(status) < 400) {
      response.writeHead(Number(status), { location: decodeURIComponent(to) }).end();
      return;
    }
    response.writeHead(Number(status), { 'content-type': 'application/pdf' }).end('certificate\0');
  });
  // To listen asks for a name as well.
  names.asked = 0;
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

  const leading = (to: string): string => `${server.url}/302/${encodeURIComponent(to)}`;
  const noMetadata = { hosts: ['*'], isPrivate: (of: string) => of.startsWith('169.254.') };
  it.each<
    [what: string, link: () => string, code: string, says: string, Partial<FileFetcherOptions>?]
  >([
    ['plain http', () => server.url.replace('https', 'http'), 'file_refused', 'not https'],
    ['no address', () => 'certificate', 'file_refused', 'no address'],
    ['a user in it', () => server.url.replace('//', '//me:secret@'), 'file_refused', 'user'],
    ['a foreign host', () => 'https://other.example/secret', 'file_refused', 'not among'],
    ['one led to', () => leading('https://other.example/secret'), 'file_refused', 'not among'],
    ['plain http led to', () => leading('http://localhost/secret'), 'file_refused', 'not https'],
    [
      'a private address led to',
      () => leading('https://169.254.169.254/secret'),
      'file_refused',
      'private address',
      noMetadata,
    ],
    ['redirects without end', () => leading(''), 'file_refused', 'more than 3 times'],
    [
      'too long a file',
      () => `${server.url}/200`,
      'file_refused',
      'longer than 5',
      { maxBytes: 5 },
    ],
    ['a server that fails', () => `${server.url}/503`, 'file_unavailable', '503'],
    ['a link that has expired', () => `${server.url}/403`, 'file_unavailable', '403'],
    [
      'a server that hangs',
      () => `${server.url}/hang`,
      'file_unavailable',
      '300 ms',
      { timeoutMs: 300 },
    ],
    [
      'whom nobody vouches for',
      () => `${server.url}/200`,
      'file_unavailable',
      'be read',
      { connect: {} },
    ],
  ])('is not taken from %s', async (_, link, code, sentence, options = {}) => {
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
  // The first and the last of each block of IANA's registries of special-purpose addresses, and of multicast.
  const v4 = `0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.255.255.255
    169.254.0.0 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255 192.31.196.0
    192.31.196.255 192.52.193.0 192.52.193.255 192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 192.175.48.0
    192.175.48.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0
    239.255.255.255 240.0.0.0 255.255.255.255`;
  const v6 = `:: ::1 ::ffff:0:0 ::ffff:ffff:ffff 64:ff9b:: 64:ff9b::ffff:ffff 64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff
    100:: 100::ffff:ffff:ffff:ffff 100:0:0:1:: 2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8::
    2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2620:4f:8000::
    2620:4f:8000:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 5f00::
    5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe80::
    febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff ff00:: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff`;
  // IPv4 in other clothes: mapped, compatible, translated, NAT64, 6to4, Teredo; and what is given out to nobody.
  const odd = `::ffff:8.8.8.8 ::ffff:127.0.0.1 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::a00:1 64:ff9b:1::a00:1 2002:a00:1::
    2001:0:a00:1:: fec0::1 fe80::1%eth0 4000::1 nonsense`;
  const open = `8.8.8.8 172.32.0.1 192.88.98.255 192.88.100.0 198.17.255.255 223.255.255.255 2001:200::1 2606:4700::1111
    3ffe:ffff::1 3fff:1000::1`;
  const words = (text: string): string[] => text.split(/\s+/);

  it.each([
    ['IPv4', v4],
    ['IPv6', v6],
    ['odd', odd],
  ])('are all of these: %s', (_, addresses) => {
    expect(words(addresses).filter((one) => !isPrivateAddress(one))).toEqual([]);
  });

  it('are none of those beside them', () => {
    expect(words(open).filter(isPrivateAddress)).toEqual([]);
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

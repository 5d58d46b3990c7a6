// Fetches the file behind a certificate link: https only, from hosts that were allowed, with limits of size and time,
// and never from a private address, whatever a name or a redirect leads to. The link may be a secret: it is in no error
// (P10).
import { lookup as lookUp, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { Agent, type buildConnector, request } from 'undici';
import { codeOf, fatal, OutlastError, transient } from '../errors.ts';
import { connectionProblem, connector, decompressed } from '../http-client.ts';
import { sha256, storable } from './canonical.ts';

export type FetchedFile = {
  /** As it stood in the record. */
  url: string;
  bytes: Buffer;
  /** Lower-case hex. */
  sha256: string;
  mediaType: string | null;
};

export type FileFetcher = {
  /**
   * Throws transient `file_unavailable` for what may pass, fatal `file_refused` for what asking again will not change,
   * and transient `aborted`.
   */
  fetch(url: string, signal?: AbortSignal): Promise<FetchedFile>;
  close(): Promise<void>;
};

export type FileFetcherOptions = {
  /** Names of hosts; `*.example.org` stands for every host below it, `*` for all. */
  hosts: readonly string[];
  /** From connecting to the last byte, redirects included; 30 s. */
  timeoutMs?: number;
  /** Longer files are not kept; 16 MiB. */
  maxBytes?: number;
  /** For tests: how to trust a server, and which addresses count as private. */
  connect?: buildConnector.BuildOptions;
  isPrivate?: (address: string) => boolean;
};

const redirectsAtMost = 3;
/** No honest media type is as long. */
const maxTypeLength = 200;

export function createFileFetcher(options: FileFetcherOptions): FileFetcher {
  const { hosts, timeoutMs = 30_000, maxBytes = 16 * 1024 * 1024 } = options;
  const { isPrivate = isPrivateAddress } = options;
  const agent = new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxBytes,
    // What a name stands for is looked at where the connection is made: there is no second look-up to be told
    // otherwise.
    connect: connector(timeoutMs, { ...options.connect, lookup: publicLookup(isPrivate) }),
  });

  async function fetchFile(url: string, signal?: AbortSignal): Promise<FetchedFile> {
    const within = AbortSignal.any([
      AbortSignal.timeout(timeoutMs),
      ...(signal === undefined ? [] : [signal]),
    ]);
    let at = checked(url, hosts, isPrivate);
    // Ends: so many redirects at most (P9).
    for (let redirects = 0; redirects <= redirectsAtMost; redirects++) {
      const answer = await request(at.href, {
        headers: { 'accept-encoding': 'identity' },
        dispatcher: agent,
        signal: within,
      });
      const { statusCode: status, headers, body } = answer;
      const location = headers['location'];
      if (status >= 300 && status < 400 && typeof location === 'string') {
        await body.dump();
        if (!URL.canParse(location, at.href)) throw refused('it leads to no address');
        at = checked(new URL(location, at).href, hosts, isPrivate);
        continue;
      }
      if (status !== 200) {
        await body.dump();
        throw transient('file_unavailable', `its server answered ${status}`);
      }
      const pieces: Buffer[] = [];
      let length = 0;
      const whole = decompressed(body, String(headers['content-encoding'] ?? ''));
      for await (const piece of whole as AsyncIterable<Buffer>) {
        length += piece.length;
        if (length > maxBytes) throw tooManyBytes(maxBytes);
        pieces.push(piece);
      }
      const bytes = Buffer.concat(pieces);
      const type = headers['content-type'];
      return {
        url: storable(url),
        bytes,
        sha256: sha256(bytes),
        mediaType: typeof type === 'string' ? storable(type.slice(0, maxTypeLength)) : null,
      };
    }
    throw refused(`it was redirected more than ${redirectsAtMost} times`);
  }

  return {
    fetch: (url, signal) =>
      fetchFile(url, signal).catch((error: unknown) => {
        if (signal?.aborted === true)
          throw transient('aborted', 'stopped before the file was read');
        throw named(error, timeoutMs, maxBytes);
      }),
    close: () => agent.close(),
  };
}

const tooManyBytes = (maxBytes: number): OutlastError =>
  refused(`it is longer than ${maxBytes} bytes`);

const refused = (why: string): OutlastError => fatal('file_refused', why);

/** Foreign errors carry pieces of the address: only their codes are told. */
function named(error: unknown, timeoutMs: number, maxBytes: number): OutlastError {
  if (error instanceof OutlastError) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return tooManyBytes(maxBytes);
  if (code === privateAddress) return refused('its host has a private address');
  const isSlow = (error as Error).name === 'TimeoutError' || /TIMEOUT|ETIMEDOUT/.test(code ?? '');
  const problem = connectionProblem(error);
  const why = isSlow
    ? `it was not read within ${timeoutMs} ms`
    : `it could not be read${problem === null ? ` (${code ?? 'no code'})` : `: ${problem}`}`;
  return transient('file_unavailable', why);
}

/** An address that may be asked. Throws fatal `file_refused`. */
function checked(text: string, hosts: readonly string[], isPrivate: (a: string) => boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw refused('the link is no address');
  if (url.protocol !== 'https:') throw refused('the link is not https');
  if (url.username + url.password !== '') throw refused('the link holds a user or a password');
  if (!hosts.some((allowed) => covers(allowed.toLowerCase(), url.hostname))) {
    throw refused(`its host ${url.hostname} is not among those allowed`);
  }
  const address = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && isPrivate(address)) throw refused('its host has a private address');
  return url;
}

const covers = (allowed: string, host: string): boolean =>
  allowed === '*' ||
  allowed === host ||
  (allowed.startsWith('*.') && host.endsWith(allowed.slice(1)) && host.length >= allowed.length);

const privateAddress = 'OUTLAST_PRIVATE_ADDRESS';

type Done = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** The system's own look-up, which fails where any of the addresses is private. */
function publicLookup(isPrivate: (address: string) => boolean) {
  return (host: string, options: LookupOptions, done: Done): void => {
    lookUp(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, []);
      if (addresses.some(({ address }) => isPrivate(address))) {
        return done(Object.assign(new Error('private address'), { code: privateAddress }), []);
      }
      const [first] = addresses;
      if (options.all === true || first === undefined) return done(null, addresses);
      done(null, first.address, first.family);
    });
  };
}

// Everything in IANA's registries of special-purpose addresses (IPv4 and IPv6, as of October 2025), also what they call
// globally reachable: sinks and relays of the network itself, which any network may run for itself and no certificate
// lies behind. Besides those multicast. ipaddr.js 2.5 knows less: what no registry mentions is `unicast` to it
// (4000::/3, ::7f00:1), and so is 100:0:0:1::/64.
const notPublic = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  notPublic.addSubnet(net, bits, 'ipv4');
}

// The only addresses given out so far. Outside lie, with all that is not given out: mapped and translated IPv4
// addresses.
const global = new BlockList();
global.addSubnet('2000::', 3, 'ipv6');
// Of those, what stands for another network, as Teredo and 6to4 do for any IPv4 address, or is an example.
const notGlobal = new BlockList();
notGlobal.addSubnet('2001::', 23, 'ipv6');
notGlobal.addSubnet('2001:db8::', 32, 'ipv6');
notGlobal.addSubnet('2002::', 16, 'ipv6');
notGlobal.addSubnet('2620:4f:8000::', 48, 'ipv6');
notGlobal.addSubnet('3fff::', 20, 'ipv6');

/** Whether an IP address is not of the open internet. */
export function isPrivateAddress(address: string): boolean {
  if (isIP(address) === 4) return notPublic.check(address, 'ipv4');
  return !global.check(address, 'ipv6') || notGlobal.check(address, 'ipv6');
}

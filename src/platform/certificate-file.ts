// Fetches the file behind a certificate link: https only, from hosts that were allowed, with limits of size and time,
// and never from a private address, whatever a name or a redirect leads to. The link may be a secret: it is in no error
// (P10).
import { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
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
  const { connect, isPrivate = isPrivateAddress } = options;
  // What a name stands for is looked at where the connection is made: no second look-up is told otherwise.
  const lookup: LookupFunction = (host, how, done) =>
    lookUp(host, { ...how, all: true }, (error, all) => {
      const isSafe = error !== null || !all.some(({ address }) => isPrivate(address));
      done(isSafe ? error : refused('its host has a private address'), isSafe ? all : []);
    });
  const agent = new Agent({ connect: connector(timeoutMs, { ...connect, lookup }) });

  /** An address that may be asked. */
  function checked(link: string, from?: URL): URL {
    if (!URL.canParse(link, from?.href)) throw refused('it leads to no address');
    const url = new URL(link, from);
    if (url.protocol !== 'https:') throw refused('the link is not https');
    if (url.username + url.password !== '') throw refused('the link holds a user or a password');
    if (!hosts.some((allowed) => covers(allowed.toLowerCase(), url.hostname))) {
      throw refused(`its host ${url.hostname} is not among those allowed`);
    }
    const address = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(address) !== 0 && isPrivate(address)) throw refused('its host has a private address');
    return url;
  }

  async function fetchFile(link: string, signal: AbortSignal): Promise<FetchedFile> {
    let url = checked(link);
    // Ends: so many redirects at most (P9).
    for (let redirects = 0; redirects <= redirectsAtMost; redirects++) {
      const asked = { headers: { 'accept-encoding': 'identity' }, dispatcher: agent, signal };
      const { statusCode: status, headers, body } = await request(url, asked);
      const { location, 'content-type': type, 'content-encoding': encoding } = headers;
      if (status !== 200) {
        await body.dump();
        if (status < 300 || status >= 400 || typeof location !== 'string') {
          throw transient('file_unavailable', `its server answered ${status}`);
        }
        url = checked(location, url);
        continue;
      }
      const pieces: Buffer[] = [];
      let length = 0;
      for await (const piece of decompressed(body, String(encoding ?? ''))) {
        length += (piece as Buffer).length;
        if (length > maxBytes) throw refused(`it is longer than ${maxBytes} bytes`);
        pieces.push(piece as Buffer);
      }
      const bytes = Buffer.concat(pieces);
      const mediaType = typeof type === 'string' ? storable(type.slice(0, maxTypeLength)) : null;
      return { url: storable(link), bytes, sha256: sha256(bytes), mediaType };
    }
    throw refused(`it was redirected more than ${redirectsAtMost} times`);
  }

  return {
    async fetch(link, signal) {
      const late = AbortSignal.timeout(timeoutMs);
      try {
        return await fetchFile(link, signal === undefined ? late : AbortSignal.any([late, signal]));
      } catch (error) {
        if (signal?.aborted) throw transient('aborted', 'stopped before the file was read');
        throw named(error, timeoutMs);
      }
    },
    close: () => agent.close(),
  };
}

const refused = (why: string): OutlastError => fatal('file_refused', why);

/** Foreign errors carry pieces of the address: only their codes are told. */
function named(error: unknown, timeoutMs: number): OutlastError {
  if (error instanceof OutlastError) return error;
  const code = codeOf(error) ?? 'no code';
  const isSlow = (error as Error).name === 'TimeoutError' || /TIMED?OUT/.test(code);
  if (isSlow) return transient('file_unavailable', `it was not read within ${timeoutMs} ms`);
  const problem = connectionProblem(error);
  const why = problem === null ? ` (${code})` : `: ${problem}`;
  return transient('file_unavailable', `it could not be read${why}`);
}

const covers = (allowed: string, host: string): boolean =>
  allowed === '*' ||
  allowed === host ||
  (allowed.startsWith('*.') && host.endsWith(allowed.slice(1)));

/** The only IPv6 addresses given out so far. Outside lie, with all that no registry mentions, IPv4 ones in disguise. */
const givenOut = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an IP address is not of the open internet. */
export function isPrivateAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return true;
  const address = ipaddr.parse(text);
  // Whatever IANA's registries of special-purpose addresses name has a range of its own.
  if (address.range() !== 'unicast') return true;
  return address instanceof ipaddr.IPv6 && !address.match(givenOut);
}

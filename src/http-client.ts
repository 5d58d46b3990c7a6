// How this process asks over HTTP, whomever it asks: through the proxies that the environment names
// (settings/proxies.ts), and by whichever of a host's addresses answers first.
import type { LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { buildConnector, EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici';
import { causeChain, certificateProblem, codeOf, isOutlastError, transient } from './errors.ts';
import { dial } from './dial.ts';

type HttpClientOptions = {
  /** How long connecting may take; so may TLS after it. */
  connectMs: number;
  /** For an answer's headers to come, and for the next piece of a body; 0: as long as the caller waits. */
  idleMs: number;
};

/** The caller closes it, or destroys it. */
export const createHttpClient = ({ connectMs, idleMs }: HttpClientOptions): Dispatcher =>
  new EnvHttpProxyAgent({
    connect: connector(connectMs),
    requestTls: { timeout: connectMs },
    // The way to a proxy is Node's own, which tries one address after the other.
    proxyTls: { timeout: connectMs, autoSelectFamilyAttemptTimeout: connectMs / 2 },
    // As every client does: proxies open tunnels for https alone.
    proxyTunnel: false,
    clientFactory: (origin, options) =>
      createTunnelPool(origin, { ...options, headersTimeout: connectMs }),
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  });

/** What asks a proxy for tunnels. Of one that breaks off undici would ask again at once and for ever, and hear no signal. */
function createTunnelPool(origin: URL, options: object): Dispatcher {
  const pool = new Pool(origin, options);
  const open = pool.connect.bind(pool) as (to: object) => Promise<Dispatcher.ConnectData>;
  const connect = (to: object): Promise<Dispatcher.ConnectData> =>
    open(to).catch((error: unknown) => {
      throw transient('proxy_unreachable', 'the proxy opens no tunnel', error);
    });
  return Object.assign(pool, { connect });
}

/** What undici's agents connect by, without a proxy. */
export function connector(
  timeoutMs: number,
  options: buildConnector.BuildOptions & { lookup?: LookupFunction } = {},
): buildConnector.connector {
  const { lookup, ...tls } = options;
  const secure = buildConnector({ ...tls, timeout: timeoutMs });
  return (to, done) => {
    const isTls = to.protocol === 'https:';
    const port = Number(to.port) || (isTls ? 443 : 80);
    const target = { host: to.hostname, port, ...(lookup === undefined ? {} : { lookup }) };
    dial(target, timeoutMs, (error, socket) => {
      if (socket === null) done(error ?? new Error('no connection'), null);
      else if (isTls) secure({ ...to, httpSocket: socket }, done);
      else done(null, socket.setNoDelay(true).setKeepAlive(true, 60_000));
    });
  };
}

const advice = {
  authority:
    'Name the file of its certificate in NODE_EXTRA_CA_CERTS, in the environment and not in .env',
  host: 'Use the name that stands in it',
};

/**
 * Why nobody answered, where a code alone says too little, as a sentence without a full stop that names no address
 * (P10): the certificate, or a proxy that leads nowhere. Null for anything else.
 */
export function connectionProblem(error: unknown): string | null {
  if (isOutlastError(error, 'proxy_unreachable')) {
    return `the proxy is not reached or breaks off (${codeOf(error.cause) ?? 'no code'})`;
  }
  const untrusted = certificateProblem(codeOf(error) ?? '', advice);
  if (untrusted !== null) return `the certificate is not accepted ${untrusted}`;
  // undici gives it no code of its own.
  const [, status] = /Proxy response \((\d+)\)/.exec(causeChain(error)) ?? [];
  if (status === undefined) return null;
  return status === '407'
    ? 'the proxy wants a user and a password (407): write them into HTTPS_PROXY as http://user:password@host:port'
    : `the proxy leads nowhere (${status})`;
}

/**
 * A body without its Content-Encoding, for some compress whatever they are asked; of another encoding it stays as it is.
 * What it comes to is for the reader to bound.
 */
export function decompressed(body: Readable, encoding = ''): Readable {
  const name = encoding.trim().toLowerCase();
  const isZipped = ['gzip', 'x-gzip', 'deflate'].includes(name);
  if (!isZipped && name !== 'br') return body;
  // What breaks off, here or there, ends both: whoever reads gets the error.
  return pipeline(body, isZipped ? createUnzip() : createBrotliDecompress(), () => undefined);
}

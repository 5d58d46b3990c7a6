// How this process asks over HTTP, whomever it asks: through the proxies that the environment names
// (settings/proxies.ts), and by whichever of a host's addresses answers first.
import type { LookupFunction } from 'node:net';
import { buildConnector, EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { dial } from './dial.ts';

export type HttpClientOptions = {
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
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  });

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

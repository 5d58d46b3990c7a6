// A TCP connection to a host, by whichever of its addresses answers first (RFC 8305). Node's own way gives every address
// but the last 250 ms, one after the other: where an address is of no use here and another is far away, none is reached.
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { connect, isIP, Socket, type LookupFunction } from 'node:net';

type Target = { host: string; port: number; lookup?: LookupFunction };
type Settle = (error: Error | null, socket: Socket | null) => void;

/** After so long another address is tried beside those that have not answered yet (RFC 8305, section 8). */
const headStartMs = 250;

/**
 * Settles once: with a socket that is connected, or with why there is none: the look-up's error, an attempt's,
 * ETIMEDOUT. Gives what ends it without a word.
 */
export function dial(target: Target, timeoutMs: number, settle: Settle): () => void {
  const { host, port, lookup = systemLookup } = target;
  const trying = new Set<Socket>();
  const failures: Error[] = [];
  let waiting: string[] = [];
  let isOver = false;
  let next: NodeJS.Timeout | undefined;
  const give = (error: Error | null, socket: Socket | null): void => {
    if (isOver) return;
    end();
    settle(error, socket);
  };
  const limit = setTimeout(() => {
    const late = new Error(`connect ETIMEDOUT ${host}:${port} (${timeoutMs} ms)`);
    give(Object.assign(late, { code: 'ETIMEDOUT' }), null);
  }, timeoutMs);

  function end(): void {
    isOver = true;
    clearTimeout(limit);
    clearTimeout(next);
    for (const socket of trying) socket.destroy();
  }

  /** Ends: every call takes one from those that wait. */
  function tryNext(): void {
    clearTimeout(next);
    const address = waiting.shift();
    if (address === undefined) {
      if (trying.size === 0) give(asOne(failures), null);
      return;
    }
    const socket = connect({ host: address, port });
    trying.add(socket);
    const failed = (error: Error): void => {
      trying.delete(socket);
      failures.push(error);
      if (!isOver) tryNext();
    };
    socket.once('error', failed).once('connect', () => {
      trying.delete(socket);
      socket.off('error', failed);
      give(null, socket);
    });
    next = setTimeout(tryNext, headStartMs);
  }

  const found = (error: Error | null, addresses: LookupAddress[]): void => {
    if (isOver) return;
    if (error !== null) return give(error, null);
    waiting = alternating(addresses);
    tryNext();
  };
  const family = isIP(host);
  if (family !== 0) found(null, [{ address: host, family }]);
  else lookup(host, { all: true }, (error, all) => found(error, Array.isArray(all) ? all : []));
  return end;
}

/** One family after the other, in the order of the look-up: the first of each is most likely the best. */
function alternating(addresses: LookupAddress[]): string[] {
  const isFirst = ({ family }: LookupAddress): boolean => family === addresses[0]?.family;
  const others = addresses.filter((one) => !isFirst(one));
  return addresses
    .filter(isFirst)
    .flatMap((one) => [one, ...others.splice(0, 1)])
    .concat(others)
    .map(({ address }) => address);
}

function asOne(failures: Error[]): Error {
  const [first = new Error('the host has no address')]: NodeJS.ErrnoException[] = failures;
  if (failures.length < 2) return first;
  const all = new AggregateError(failures, failures.map(({ message }) => message).join('; '));
  return Object.assign(all, { code: first.code });
}

/**
 * A socket for whoever connects it himself, by `connect(port, host)` or `connect(path)`, as pg does. Of a host with
 * several addresses it takes one that has answered just before.
 */
export function createDialingSocket(timeoutMs: number): Socket {
  const socket = new Socket();
  const connectTo = socket.connect.bind(socket) as (options: object) => Socket;
  socket.connect = ((port: number | string, host?: string): Socket => {
    if (host === undefined) return connectTo({ path: port });
    const lookup: LookupFunction = (name, options, done) =>
      systemLookup(name, { ...options, all: true }, (error, addresses) => {
        // With an error there are no addresses, whatever their type says.
        if (error !== null || addresses.length < 2) return done(error, addresses);
        const known: LookupFunction = (_name, _options, give) => give(null, addresses);
        const target = { host: name, port: Number(port), lookup: known };
        const stop = dial(target, timeoutMs, (failed, reached) => {
          const { remoteAddress: address = '', remoteFamily } = reached ?? {};
          reached?.destroy();
          done(failed, [{ address, family: remoteFamily === 'IPv6' ? 6 : 4 }]);
        });
        socket.once('close', stop);
      });
    // Without it Node would ask the look-up for one address alone.
    return connectTo({ port: Number(port), host, lookup, autoSelectFamily: true });
  }) as Socket['connect'];
  return socket;
}

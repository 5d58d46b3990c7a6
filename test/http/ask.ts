// How tests ask a server: signed, or by the bytes of a request.
import { hash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Served } from '../../src/http/server.ts';
import { sign } from '../../src/platform/sign.ts';
import { targetOf } from '../../src/platform/target.ts';

type Pair = { key: string; secret: string };

/** The headers of a request that is signed. `body`: as it is sent. */
export function signedHeaders(
  { key, secret }: Pair,
  target: string,
  { body, timestamp = String(Date.now()) }: { body?: string; timestamp?: string } = {},
): Record<string, string> {
  const { path, signed: query } = targetOf(target);
  const bodySha256 = body === undefined ? undefined : hash('sha256', body, 'hex');
  return {
    'x-api-key': key,
    'x-timestamp': timestamp,
    'x-signature': sign({ path, query, timestamp, secret, bodySha256 }),
  };
}

/** A reader that has a bearer key, which names it, and no secret. */
export const bearerKey = (bearer: string, projects: string[]) => ({
  key: `bears ${bearer}`,
  bearerSha256: hash('sha256', bearer, 'hex'),
  projects,
});

export const bearing = (bearer: string) => ({ authorization: `Bearer ${bearer}` });

export const connectTo = ({ url }: Served): Socket =>
  connect(Number(new URL(url).port), '127.0.0.1');

/** What comes until the connection is closed, in whatever way. */
export function textFrom(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => (text += part));
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.once('close', () => resolve(text));
  });
}

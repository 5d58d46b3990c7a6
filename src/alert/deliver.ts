// One request to an address a person gave us, once, within a time limit. What comes back is a verdict and never an
// error: nothing of the address gets into it (P10), for such addresses carry tokens. Which answers are a yes,
// receivers.ts knows.
import type { Readable } from 'node:stream';
import { request } from 'undici';
import { codeOf } from '../errors.ts';
import { connectionProblem, createHttpClient } from '../http-client.ts';
import type { NamedHead } from '../store/journal/heads.ts';
import { refusalIn, signed, type AlertFormat } from './receivers.ts';

/** Null: taken. Otherwise why not, in words for a log: a status, a code, what was said, never the address. */
export type DeliveryProblem = string | null;

const deliveryTimeoutMs = 10_000;

type Delivery = {
  url: string;
  /** JSON text to post; null: a plain GET. */
  body: string | null;
  /** What the body is written as, and the answer with it. */
  format?: AlertFormat;
  /** What a robot wants it signed with. */
  secret?: string | null;
  /** Heads of the journal, which stand in the user agent: what receivers log of a plain GET. */
  heads?: readonly NamedHead[];
  timeoutMs?: number;
  signal?: AbortSignal;
};

/** Asks once: no redirect, and no retry, which is alerts.ts's (`restMs`). */
export async function deliver(delivery: Delivery): Promise<DeliveryProblem> {
  const { format = 'json', secret = null, timeoutMs = deliveryTimeoutMs, signal } = delivery;
  const late = AbortSignal.timeout(timeoutMs);
  // Its own connection, gone afterwards: minutes lie between two deliveries.
  const client = createHttpClient({ connectMs: timeoutMs, idleMs: timeoutMs });
  const isStopped = (): boolean => signal?.aborted === true;
  try {
    const { url: plain, headers } = addressed(delivery.url, delivery.heads ?? []);
    const { url, body } =
      delivery.body === null
        ? { url: plain, body: null }
        : signed(plain, delivery.body, { format, secret, now: Date.now() });
    const response = await request(url, {
      method: body === null ? 'GET' : 'POST',
      headers: body === null ? headers : { ...headers, 'content-type': 'application/json' },
      body,
      dispatcher: client,
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    const text = hidden(await textOf(response.body), delivery.url, url.href, secret ?? '');
    return isStopped() ? stopped : refusalIn(response.statusCode, text, format);
  } catch (error) {
    if (isStopped()) return stopped;
    if (late.aborted) return `no answer within ${timeoutMs / 1000} s`;
    // A message would name the host (P10).
    return connectionProblem(error) ?? codeOf(error) ?? 'the connection failed';
  } finally {
    await client.destroy();
  }
}

/** More than any verdict takes. */
const readAtMost = 64_000;

/** What came of an answer before it was cut off or took too long: one that drips for ever is judged by that. */
async function textOf(body: Readable): Promise<string> {
  let text = '';
  try {
    for await (const part of body.setEncoding('utf8')) {
      text += String(part);
      if (text.length > readAtMost) break;
    }
  } catch {
    // As above.
  }
  return text;
}

/** P10: a receiver may repeat what it was sent. Shorter pieces of an address are words of any language. */
function hidden(text: string, ...secrets: string[]): string {
  const pieces = secrets.flatMap((one) => one.split(/[/?&=#:@]/));
  return pieces
    .filter((piece) => piece.length >= 8)
    .flatMap((piece) => [piece, unescaped(piece), unescaped(piece.replaceAll('+', '%2B'))])
    .reduce((rest, piece) => rest.replaceAll(piece, '…'), text);
}

/** Leniently; a plus is a space, as in a query. */
const unescaped = (text: string): string => new URLSearchParams(`=${text}`).get('') ?? text;

/** Servers refuse long headers; `outlast status` has all. */
const namedAtMost = 20;

const stopped = 'stopped before it was answered';

/** A user and a password in the address become a header: no HTTP client sends them by itself. */
function addressed(
  text: string,
  heads: readonly NamedHead[],
): { url: URL; headers: Record<string, string> } {
  const url = new URL(text);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.hash = '';
  const named = heads
    .slice(0, namedAtMost)
    .map(({ project, no, head }) => `${project} ${no} ${head}`);
  const headers = {
    // The little that is answered is not decompressed here.
    'accept-encoding': 'identity',
    'user-agent': `outlast${named.length === 0 ? '' : ` (${named.join('; ')})`}`,
  };
  if (username + password === '') return { url, headers };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    url,
    headers: { ...headers, authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
  };
}

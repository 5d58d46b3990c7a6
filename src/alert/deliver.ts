// One request to an address a person gave us, once, within a time limit. What comes back is a verdict and never an
// error: nothing of the address gets into it (P10), for such addresses carry tokens.
import { request } from 'undici';
import { codeOf } from '../errors.ts';
import { createHttpClient } from '../http-client.ts';
import type { NamedHead } from '../store/journal/heads.ts';

/** Null: taken. Otherwise why not, in words for a log: a status or a code, never the address. */
export type DeliveryProblem = string | null;

export const deliveryTimeoutMs = 10_000;

export type Delivery = {
  url: string;
  /** JSON text to post; null: a plain GET. */
  body: string | null;
  /** Heads of the journal, which stand in the user agent: what receivers log of a plain GET. */
  heads?: readonly NamedHead[];
  timeoutMs?: number;
  signal?: AbortSignal;
};

/** Asks once: no retry, no redirect. Any 2xx means taken; what the answer says is not read. */
export async function deliver(delivery: Delivery): Promise<DeliveryProblem> {
  const { body, timeoutMs = deliveryTimeoutMs, signal } = delivery;
  const isStopped = (): boolean => signal?.aborted === true;
  if (isStopped()) return stopped;
  const control = new AbortController();
  const abort = (): void => control.abort();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    abort();
  }, timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  // Its own connection, gone afterwards: minutes lie between two deliveries.
  const client = createHttpClient({ connectMs: timeoutMs, idleMs: timeoutMs });
  try {
    const { url, headers } = addressed(delivery.url, delivery.heads ?? []);
    const response = await request(url, {
      method: body === null ? 'GET' : 'POST',
      headers: body === null ? headers : { ...headers, 'content-type': 'application/json' },
      body,
      dispatcher: client,
      signal: control.signal,
    });
    // The status is the verdict: a body that drips for ever is not waited for.
    response.body.on('error', () => undefined).destroy();
    const { statusCode: status } = response;
    if (status >= 200 && status < 300) return null;
    return `status ${status}${status >= 300 && status < 400 ? ', and redirects are not followed' : ''}`;
  } catch (error) {
    if (isLate) return `no answer within ${timeoutMs / 1000} s`;
    // A message would name the host (P10).
    return isStopped() ? stopped : (codeOf(error) ?? 'the connection failed');
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    await client.destroy();
  }
}

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
    .map(({ project, n, head }) => `${project} ${n} ${head}`);
  const headers = { 'user-agent': `outlast${named.length === 0 ? '' : ` (${named.join('; ')})`}` };
  if (username + password === '') return { url, headers };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    url,
    headers: { ...headers, authorization: `Basic ${Buffer.from(pair).toString('base64')}` },
  };
}

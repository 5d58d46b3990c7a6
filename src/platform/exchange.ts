// One request and its whole answer, over undici, taken in within bounds. Knows HTTP and nothing of signatures, pages or
// retries.
import { causeChain, codeOf, settingsError, transient } from '../errors.ts';
import { connectionProblem, createHttpClient, decompressed } from '../http-client.ts';
import { byteBounds } from './bytes.ts';

/** A whole answer. `sentAt` and `receivedAt` (of the headers) are monotonic milliseconds. */
export type PlatformAnswer = {
  status: number;
  body: Buffer;
  date: string | undefined;
  retryAfter: string | undefined;
  /** Whether the body is longer than its bound: then this is its beginning. */
  isTooLong: boolean;
  sentAt: number;
  receivedAt: number;
};

/** A passing fault: what the platform did instead of answering. */
export type Fault = {
  /** Stable name for logs. */
  code: string;
  /** What happened, as the end of a sentence. */
  text: string;
  status: number | null;
  /** What Retry-After asked for, capped; null without one. */
  retryAfterMs: number | null;
  /** True when asking again would only bring the same. */
  final: boolean;
  /** The platform did answer, in its own way: other questions may fare better. */
  isAnswer?: boolean;
};

export type Exchange = {
  /** The path and query to ask for, below the base URL. Throws transient `aborted`. */
  get(
    target: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<PlatformAnswer | Fault>;
  close(): Promise<void>;
};

type ExchangeOptions = {
  baseUrl: string;
  /** Covers connecting, headers and body together. */
  timeoutMs: number;
  monotonicNow: () => number;
  hide: (text: string) => string;
};

export function createExchange(options: ExchangeOptions): Exchange {
  const { timeoutMs, monotonicNow, hide } = options;
  const { origin, prefix } = splitBaseUrl(options.baseUrl);
  // One timer of our own covers the whole exchange; a body that drips would outlive one for its pieces.
  const client = createHttpClient({ connectMs: timeoutMs, idleMs: 0 });

  async function get(
    target: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<PlatformAnswer | Fault> {
    const control = new AbortController();
    const abort = (): void => control.abort();
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      abort();
    }, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      if (signal?.aborted === true) throw aborted();
      const sentAt = monotonicNow();
      const response = await client.request({
        origin,
        path: prefix + target,
        method: 'GET',
        // Left out, it would leave the choice to whoever answers (RFC 9110, section 12.5.3).
        headers: { ...headers, 'accept-encoding': 'identity' },
        signal: control.signal,
      });
      const receivedAt = monotonicNow();
      const status = response.statusCode;
      const isAnswer = status >= 200 && status < 300;
      const most = isAnswer ? byteBounds.answer : byteBounds.refusal;
      const pieces: Buffer[] = [];
      let length = 0;
      const body = decompressed(response.body, text(response.headers['content-encoding']));
      for await (const piece of body as AsyncIterable<Buffer>) {
        pieces.push(piece);
        length += piece.length;
        // Leaving the loop gives up the rest, and the connection with it.
        if (length > most) break;
      }
      const isTooLong = length > most;
      return {
        status,
        // A cache's answer is of another time.
        date: response.headers['age'] === undefined ? text(response.headers['date']) : undefined,
        retryAfter: text(response.headers['retry-after']),
        body: Buffer.concat(isTooLong ? pieces.slice(0, 1) : pieces),
        isTooLong,
        sentAt,
        receivedAt,
      };
    } catch (error) {
      if (signal?.aborted === true) throw aborted();
      if (timedOut) return fault('timeout', `no whole answer within ${timeoutMs} ms`);
      const code = codeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
      // In words alone: a foreign error may carry pieces of the answer.
      const said =
        connectionProblem(error) ?? `no whole answer: ${hide(causeChain(error)) || code}`;
      return fault(code, said);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  // Closing twice is no mistake of the caller's; the client would take it for one.
  let closed: Promise<void> | null = null;
  return { get, close: () => (closed ??= client.close()) };
}

const aborted = (): Error => transient('aborted', 'stopped before the platform answered');

const fault = (code: string, said: string): Fault => ({
  code,
  text: said,
  status: null,
  retryAfterMs: null,
  final: false,
});

const text = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

/** The origin, and the path prefix without a closing slash. The prefix is sent and not signed. */
function splitBaseUrl(baseUrl: string): { origin: string; prefix: string } {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username + url.password + url.search + url.hash !== ''
  ) {
    // Not quoted: people paste secrets into the wrong place. P10
    throw settingsError(
      'bad_base_url',
      'the base URL must be http(s)://host[:port][/path], without user, query or fragment',
    );
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

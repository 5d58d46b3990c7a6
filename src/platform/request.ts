// One request and its whole answer, over undici, read within bounds and told apart: an answer, a passing fault, or a
// refusal (thrown). What to do about it is the retry loop's, in client.ts.
import { setImmediate } from 'node:timers/promises';
import { causeChain, codeOf, OutlastError, settingsError, transient } from '../errors.ts';
import { connectionProblem, createHttpClient, decompressed } from '../http-client.ts';
import type { RequestOutcome } from '../meter.ts';
import type { Instant } from '../model.ts';
import { byteBounds } from './bytes.ts';
import { clockErrorMs, type LearningClock } from './clock.ts';
import { readRefusal, RefusalError, refusalText } from './refusal.ts';
import { signedHeaders } from './sign.ts';
import { queryText, type Params } from './target.ts';
import { readHttpDate } from './times.ts';

/** A question: the endpoint's path, version segment included, its parameters, and how its answers are read. */
export type Question<T> = {
  path: string;
  /** The path as logs and errors name it, without ids; absent: as it is. */
  name?: string;
  params: Params;
  read: (body: Buffer, askedAt: Instant) => T;
  /** What a 404 with this body stands for; null, or absent: a passing fault. */
  missing?: (body: Buffer, askedAt: Instant) => { value: T } | null;
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

/** A whole answer. `sentAt` and `receivedAt` (of the headers) are monotonic milliseconds. */
type Answer = {
  status: number;
  body: Buffer;
  date: string | undefined;
  retryAfter: string | undefined;
  /** Whether the body is longer than its bound: then this is its beginning. */
  isTooLong: boolean;
  sentAt: number;
  receivedAt: number;
};

export type AttemptOutcome<T> = { value: T } | Fault;

/** The same in a word, for whoever counts. */
export function outcomeName<T>(outcome: AttemptOutcome<T>): RequestOutcome {
  if ('value' in outcome) return 'answered';
  const { status } = outcome;
  if (status === null) return 'unreachable';
  if (refusesKey(status)) return 'refused';
  if (status === 429) return 'throttled';
  return status < 300 ? 'unusable' : 'failed';
}

/** `onArrived` is told when a whole answer with a page or a record is here, before it is read. */
export type Request = <T>(
  question: Question<T>,
  signal: AbortSignal | undefined,
  onArrived: () => void,
) => Promise<AttemptOutcome<T>>;

/**
 * Statuses that pass. 404 is one: lists have been answered with a bare `404 page not found` now and then, and a
 * list that is not there at all shows soon enough.
 */
const isPassing = (status: number): boolean =>
  status === 404 || status === 408 || status === 425 || status === 429 || status >= 500;

/** Gateways say 401 where the platform itself says 403: of a key, a signature or a clock that is not taken. */
const refusesKey = (status: number): boolean => status === 401 || status === 403;

/** Clocks farther apart than this explain a refused key (docs/design.md, "Clocks"). */
const maxClockErrorMs = 5000;

const fault = (code: string, text: string, status: number | null = null): Fault => ({
  code,
  text,
  status,
  retryAfterMs: null,
  final: false,
});

type RequestOptions = {
  baseUrl: string;
  /** Covers connecting, headers and body together. */
  timeoutMs: number;
  monotonicNow: () => number;
  clock: LearningClock;
  /** Null: nothing is signed and the clock learns nothing, for whoever answers is another. */
  pair: { apiKey: string; secret: string } | null;
  /** Blots secrets out of the platform's own words. */
  hide: (text: string) => string;
};

/** Throws settings `bad_base_url`. */
export function createRequest(options: RequestOptions): {
  request: Request;
  close: () => Promise<void>;
} {
  const { timeoutMs, monotonicNow, clock, pair, hide } = options;
  const { origin, prefix } = splitBaseUrl(options.baseUrl);
  // One timer of our own covers the whole exchange; a body that drips would outlive one for its pieces.
  const client = createHttpClient({ connectMs: timeoutMs, idleMs: 0 });

  /** The path and query to ask for, below the base URL. Throws transient `aborted`. */
  async function get(
    target: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<Answer | Fault> {
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
        body: withoutMark(Buffer.concat(isTooLong ? pieces.slice(0, 1) : pieces)),
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

  const request: Request = async (question, signal, onArrived) => {
    const { path, params } = question;
    const signedAt = clock.now();
    // Afresh for every request: the timestamp is part of what is signed.
    const timestamp = String(signedAt);
    const headers = pair === null ? {} : signedHeaders({ path, query: params, timestamp, ...pair });
    const answer = await get(path + queryText(params), headers, signal);
    if ('code' in answer) return answer;
    const { status, date, retryAfter, sentAt, receivedAt } = answer;
    if (status >= 200 && status < 300) {
      onArrived();
      // The next request goes out first.
      await setImmediate();
      return readAnswer(question, answer);
    }
    if (status === 404) {
      const instead = question.missing?.(answer.body, clock.askedAt(sentAt)) ?? null;
      if (instead !== null) {
        if (startsLikeJson(answer.body)) observe(date, sentAt, receivedAt);
        return instead;
      }
    }
    // An error of the platform's own tells the time as well as a page does; a gateway's page does not.
    if (refusesKey(status) || startsLikeJson(answer.body)) observe(date, sentAt, receivedAt);
    if (isPassing(status)) {
      const retryAfterMs = readRetryAfter(retryAfter, clock.now());
      return { ...fault(`http_${status}`, `status ${status}`, status), retryAfterMs };
    }
    if (refusesKey(status) && pair !== null) {
      // By now the clock has heard that answer's time: the next one is signed by it.
      const errorMs = clockErrorMs(date, signedAt, receivedAt - sentAt);
      if (errorMs > maxClockErrorMs) {
        const apart = `${Math.round(errorMs / 1000)} s from the clock it was signed by`;
        return fault(`http_${status}`, `status ${status}, dated ${apart}`, status);
      }
    }
    throw refused(question.name ?? path, answer);
  };

  function observe(date: string | undefined, sentAt: number, receivedAt: number): void {
    if (pair !== null) clock.observe(date, sentAt, receivedAt);
  }

  function readAnswer<T>(
    { read }: Question<T>,
    { status, date, body, sentAt, receivedAt, isTooLong }: Answer,
  ): { value: T } | Fault {
    // Only from what could be the platform's own answer: a captive portal has a clock too.
    if (startsLikeJson(body)) observe(date, sentAt, receivedAt);
    if (isTooLong) {
      const said = `an answer longer than ${byteBounds.answer} bytes`;
      return { ...fault('too_long', said, status), final: true };
    }
    try {
      return { value: read(body, clock.askedAt(sentAt)) };
    } catch (error) {
      if (!(error instanceof OutlastError) || error.kind !== 'transient') throw error;
      const { code, message } = error;
      return {
        ...fault(code, message, status),
        final: code === 'unusable_answer' || code === 'too_long',
        isAnswer: startsLikeJson(body),
      };
    }
  }

  function refused(path: string, { status, body }: Answer): RefusalError {
    const refusal = readRefusal(status, body, hide);
    const said = `the platform refused ${path}: ${refusalText(refusal)}`;
    if (refusesKey(status) && pair !== null) {
      const isPage = body.length > 0 && !startsLikeJson(body);
      const advice = isPage
        ? 'what came is a page and no error of the platform’s own, most likely of a firewall or proxy in between: ask whether the address of this machine is admitted'
        : 'check the API key and secret, and whether the platform still admits them';
      return new RefusalError('platform_forbidden', `${said}; ${advice}`, refusal);
    }
    const advice = status < 400 ? '; redirects are not followed: check the base URL' : '';
    return new RefusalError('platform_refused', said + advice, refusal);
  }

  // Closing twice is no mistake of the caller's; the client would take it for one.
  let closed: Promise<void> | null = null;
  return { request, close: () => (closed ??= client.close()) };
}

/** .NET, PHP and gateways on Windows put a byte order mark in front, which RFC 8259 lets a reader ignore. */
const withoutMark = (body: Buffer): Buffer =>
  body.subarray(0, 3).equals(byteOrderMark) ? body.subarray(3) : body;

const byteOrderMark = Buffer.from('\uFEFF');

const startsLikeJson = (body: Buffer): boolean => /^\s*\{/.test(body.toString('utf8', 0, 64));

/** Longer requests for quiet are taken for this long: one mistaken header must not cost days of a month that closes. */
const maxQuietMs = 3_600_000;

/** `Retry-After` (RFC 9110): seconds or an HTTP date on the platform's clock; null if absent or unreadable. */
function readRetryAfter(header: string | undefined, platformNow: Instant): number | null {
  if (header === undefined) return null;
  const date = readHttpDate(header);
  if (date === null && !/^\d+$/.test(header)) return null;
  const forMs = date === null ? Number(header) * 1000 : date - platformNow;
  return Math.min(Math.max(forMs, 0), maxQuietMs);
}

const aborted = (): Error => transient('aborted', 'stopped before the platform answered');

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

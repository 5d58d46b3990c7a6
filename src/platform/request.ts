// One signed request, judged: a page, a passing fault, a clock that was off, or a refusal (thrown). What to do
// about it is the retry loop's, in client.ts.
import { OutlastError } from '../errors.ts';
import type { Day, Instant, Page } from '../model.ts';
import { clockErrorMs, type LearningClock } from './clock.ts';
import type { Answer, Exchange } from './exchange.ts';
import { type Params, queryText } from './params.ts';
import { readRefusal, RefusalError, refusalText } from './refusal.ts';
import { type Fault, readRetryAfter } from './retry.ts';
import { signedHeaders } from './sign.ts';

/** A question: the endpoint's path, version segment included, its parameters, and how its answers are read. */
export type Question = {
  path: string;
  params: Params;
  read: (body: Buffer, askedAt: Instant, askedDay?: Day) => Page;
  askedDay: Day | undefined;
};

/** `clockErrorMs`: a 403 that the clock it was signed with may explain; never given when `final403` was. */
export type Outcome = Page | Fault | { clockErrorMs: number };

export type Request = (
  question: Question,
  final403: boolean,
  signal: AbortSignal | undefined,
) => Promise<Outcome>;

/** Clocks farther apart than this explain a 403 (docs/design.md, "Clocks"). */
const maxClockErrorMs = 5000;

export function createRequest(context: {
  exchange: Exchange;
  clock: LearningClock;
  apiKey: string;
  apiSecret: string;
  /** Blots secrets out of the platform's own words. */
  hide: (text: string) => string;
}): Request {
  const { exchange, clock, apiKey, apiSecret, hide } = context;

  return async (question, final403, signal) => {
    const { path, params } = question;
    // Afresh for every request: the timestamp is part of what is signed.
    const signedAt = clock.now();
    const headers = signedHeaders({
      path,
      query: params,
      timestamp: String(signedAt),
      secret: apiSecret,
      apiKey,
    });
    const answer = await exchange.get(path + queryText(params), headers, signal);
    if ('code' in answer) return answer;
    const { status, date, retryAfter, sentAt, receivedAt } = answer;
    if (status >= 200 && status < 300) return readAnswer(question, answer);
    if (isPassing(status)) {
      const retryAfterMs = readRetryAfter(retryAfter, clock.now());
      return {
        code: `http_${status}`,
        text: `status ${status}`,
        status,
        retryAfterMs,
        final: false,
      };
    }
    // A refusal tells the time as well as a page does.
    if (status === 403 || startsLikeJson(answer.body)) clock.observe(date, sentAt, receivedAt);
    if (status === 403) {
      const errorMs = clockErrorMs(date, signedAt, receivedAt - sentAt);
      if (Math.abs(errorMs) > maxClockErrorMs && !final403) return { clockErrorMs: errorMs };
    }
    throw refused(path, answer);
  };

  function readAnswer({ read, askedDay }: Question, answer: Answer): Page | Fault {
    const { status, date, body, sentAt, receivedAt } = answer;
    // Only from what could be the platform's own answer: a captive portal has a clock too.
    if (startsLikeJson(body)) clock.observe(date, sentAt, receivedAt);
    try {
      return read(body, clock.at(sentAt), askedDay);
    } catch (error) {
      if (!(error instanceof OutlastError) || error.kind !== 'transient') throw error;
      return { code: error.code, text: error.message, status, retryAfterMs: null, final: false };
    }
  }

  function refused(path: string, { status, body }: Answer): RefusalError {
    const refusal = readRefusal(status, body, hide);
    const said = `the platform refused ${path}: ${refusalText(refusal)}`;
    if (status === 403) {
      const advice = 'check the API key and secret, and whether the platform still admits them';
      return new RefusalError('platform_forbidden', `${said}; ${advice}`, refusal);
    }
    const advice = status < 400 ? '; redirects are not followed: check the base URL' : '';
    return new RefusalError('platform_refused', said + advice, refusal);
  }
}

/**
 * Statuses that pass. 404 is one: lists have been answered with a bare `404 page not found` now and then, and a
 * list that is not there at all shows soon enough.
 */
const isPassing = (status: number): boolean =>
  status === 404 || status === 408 || status === 425 || status === 429 || status >= 500;

const startsLikeJson = (body: Buffer): boolean =>
  /^\ufeff?\s*\{/.test(body.toString('utf8', 0, 64));

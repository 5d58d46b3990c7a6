// A project's door to its platform, and the only retry loop of the house. Everything a caller must decide on
// comes out as one of the errors named in platform.ts; nothing that comes out holds a secret (P10).
import { setTimeout as wait } from 'node:timers/promises';
import { isOutlastError, OutlastError, settingsError, transient } from '../errors.ts';
import { createLogThrottle, type Log } from '../log.ts';
import type { ProjectMeter, RequestOutcome } from '../meter.ts';
import type { Instant, PlatformPage } from '../model.ts';
import { unbounded } from '../semaphore.ts';
import { inSpan } from '../tracing.ts';
import { createClock } from './clock.ts';
import { feesQuestion, tokensQuestion } from './tokens.ts';
import { transactionQuestion } from './transactions.ts';
import { readPage } from './pages.ts';
import type { Limiter, ListQuery, Platform } from './platform.ts';
import { createHide, refusalOf, UnansweredError } from './refusal.ts';
import {
  createRequest,
  outcomeName,
  type AttemptOutcome,
  type Fault,
  type Question,
  type Request,
} from './request.ts';
import { listParams } from './target.ts';

export type PlatformOptions = {
  /** http(s)://host[:port][/prefix]. The prefix is sent; the signature covers what follows it: `/v3/orders`. */
  baseUrl: string;
  /** The node interface for tokens, likewise; absent or null: the base URL. No key is ever sent there. */
  tokensUrl?: string | null;
  apiKey: string;
  apiSecret: string;
  /** For one request, from connecting to the body's last byte. */
  timeoutMs: number;
  limiter: Limiter;
  log: Log;
  /** Counts what is sent; absent: nobody does. */
  meter?: Pick<ProjectMeter, 'request' | 'waited'> | undefined;
  /** Requests for one call at most, the first included: 5. */
  maxAttempts?: number;
  /** In [0, 1). */
  random?: () => number;
  /** Resolves after so many milliseconds, rejects when the signal is aborted. */
  sleep?: (forMs: number, signal?: AbortSignal) => Promise<void>;
  /** Milliseconds on a clock that never jumps. */
  monotonicNow?: () => number;
  wallNow?: () => Instant;
};

/** Requests for one call, the first included. */
const attemptsAtMost = 5;

/**
 * A call waits no longer than this, whether for an answer or out of a silence that the platform asked for: then it ends,
 * and its slice is due again later.
 */
export const maxPatienceMs = 60_000;

const listPaths = { orders: '/v3/orders', nft_classes: '/v1beta1/nft/classes' };

const firstWaitMs = 250;
const maxWaitMs = 8000;

/** Exponential with jitter: attempt 1 is followed by 125–250 ms, each further one by twice that, up to 4–8 s. */
function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(firstWaitMs * 2 ** (attempt - 1), maxWaitMs);
  return Math.round(full * (0.5 + random() / 2));
}

/**
 * Opens the door; nothing is sent before the first question. Throws a settings error for an unusable URL, key or
 * secret.
 */
export function createPlatform(options: PlatformOptions): Platform {
  const { apiKey, apiSecret, limiter, log, meter, maxAttempts = attemptsAtMost } = options;
  const { random = Math.random, sleep = wakeable } = options;
  const { monotonicNow = () => performance.now(), wallNow = Date.now } = options;
  checkPair(apiKey, apiSecret);
  const hide = createHide(apiKey, apiSecret);
  const clock = createClock({ monotonicNow, wallNow });
  const { tokensUrl = null } = options;
  const pair = { apiKey, secret: apiSecret };
  const { request, close } = createRequest({ ...options, monotonicNow, clock, pair, hide });
  const node = createRequest({
    ...options,
    baseUrl: tokensUrl ?? options.baseUrl,
    monotonicNow,
    clock,
    pair: null,
    hide,
  });
  /** Newer nodes have another path for fees; the one that was known is asked first the next time. */
  let feePaths: readonly ('fee' | 'fees')[] = ['fee', 'fees'];
  let sent = 0;
  /** An outage has many of these. */
  const isToTell = createLogThrottle(monotonicNow);

  /** Asks until there is an answer, a refusal, or too many faults. */
  async function ask<T>(
    question: Question<T>,
    signal: AbortSignal | undefined,
    slots = unbounded,
    through: Request = request,
  ): Promise<T> {
    const path = question.name ?? question.path;
    // P9: every turn adds to `faults`, which `recover` bounds, or leaves.
    for (let faults = 1; ; faults++) {
      const attempt = await slots(async (leave): Promise<{ value: T } | { waitMs: number }> => {
        const askedAt = monotonicNow();
        await limiter.permit(signal); // P11
        meter?.waited((monotonicNow() - askedAt) / 1000);
        sent++;
        const outcome = await metered(path, () => through(question, signal, leave));
        return 'value' in outcome ? outcome : { waitMs: await recover(path, outcome, faults) };
      });
      if ('value' in attempt) return attempt.value;
      await waitToAskAgain(attempt.waitMs, signal);
    }
  }

  const waitToAskAgain = (forMs: number, signal: AbortSignal | undefined): Promise<void> =>
    sleep(forMs, signal).catch((error: unknown) => {
      throw signal?.aborted === true ? transient('aborted', 'stopped before asking again') : error;
    });

  /** One request, counted by what comes of it. `path` as logs name it. */
  function metered<T>(
    path: string,
    request: () => Promise<AttemptOutcome<T>>,
  ): Promise<AttemptOutcome<T>> {
    const sentAt = monotonicNow();
    const attributes = { 'http.request.method': 'GET', 'url.template': path };
    return inSpan(`GET ${path}`, { kind: 'client', attributes }, async (span) => {
      const count = (name: RequestOutcome): void => {
        meter?.request(name, (monotonicNow() - sentAt) / 1000);
        span.set({ 'outlast.outcome': name });
      };
      try {
        const outcome = await request();
        count(outcomeName(outcome));
        return outcome;
      } catch (error) {
        const isStopped = isOutlastError(error, 'aborted');
        count(isStopped ? 'stopped' : refusalOf(error) === null ? 'unusable' : 'refused');
        throw error;
      }
    });
  }

  /**
   * After a fault: how long manners and Retry-After (read, and cut to an hour, in request.ts) demand to wait, or throws
   * `platform_unavailable` or `…_unusable`.
   * Where the platform asked for quiet, it is quiet once this resolves.
   */
  async function recover(path: string, fault: Fault, faults: number): Promise<number> {
    const { code, status, retryAfterMs } = fault;
    const waitMs = Math.max(backoffMs(faults, random), retryAfterMs ?? 0);
    // Everybody keeps quiet, not this call alone. P11
    if (retryAfterMs !== null || status === 429) await limiter.pause(waitMs);
    if (fault.final) {
      const cause = transient(code, fault.text);
      throw transient('platform_unusable', `the platform's answer of ${path} is of no use`, cause);
    }
    if (faults >= maxAttempts || waitMs > maxPatienceMs) {
      const attempts = faults === 1 ? '1 attempt' : `${faults} attempts`;
      throw new UnansweredError(
        fault.isAnswer === true ? 'platform_unusable' : 'platform_unavailable',
        `the platform gave no page of ${path} in ${attempts}; at last: ${fault.text}`,
        status,
      );
    }
    log[isToTell() ? 'warn' : 'debug'](
      { path, fault: code, status, faults, waitMs },
      'The platform gave no page; asking again',
    );
    return waitMs;
  }

  return {
    clock,
    page: (query, signal, slots) =>
      inPages(query, (asked) => {
        const { resource, startDate } = asked;
        const read = (body: Buffer, askedAt: Instant): PlatformPage =>
          readPage(resource, body, askedAt, startDate);
        return ask({ path: listPaths[resource], params: listParams(asked), read }, signal, slots);
      }),
    transaction: (version, operationId, signal) =>
      ask(transactionQuestion(version, operationId), signal),
    tokens: (signal) => ask(tokensQuestion(), signal, unbounded, node.request),
    tokenFees: async (symbol, signal) => {
      for (const path of feePaths) {
        const fees = await ask(feesQuestion(symbol, path), signal, unbounded, node.request);
        if (fees === null) continue;
        feePaths = path === 'fee' ? ['fee', 'fees'] : ['fees', 'fee'];
        return fees;
      }
      return null;
    },
    requests: () => sent,
    close: async () => {
      await close();
      await node.close();
    },
  };
}

/**
 * A page that is too long is asked for in a smaller one: how many records it has is a wish, and a walk goes on by what
 * it was shown. Ends: at one record.
 */
async function inPages(
  query: ListQuery,
  ask: (query: ListQuery) => Promise<PlatformPage>,
): Promise<PlatformPage> {
  for (let { limit } = query; ; limit = Math.ceil(limit / 2)) {
    try {
      return await ask({ ...query, limit });
    } catch (error) {
      const isTooLong =
        error instanceof OutlastError && isOutlastError(error.cause, 'too_long') && limit > 1;
      if (!isTooLong) throw error;
    }
  }
}

function checkPair(apiKey: string, apiSecret: string): void {
  // A header can hold nothing else, and the HTTP client's own complaint would come with every request.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw settingsError(
      'bad_api_key',
      'the API key must be visible ASCII characters without spaces',
    );
  }
  if (apiSecret === '') throw settingsError('bad_api_secret', 'the API secret must not be empty');
}

const wakeable = (forMs: number, signal?: AbortSignal): Promise<void> =>
  wait(forMs, undefined, signal === undefined ? {} : { signal });

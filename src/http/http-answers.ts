// Answers in the server's one shape, which is the platform's (docs/http.md, "The platform's own interface"), and what
// is answered when something went wrong, also for what is no request yet: their mistake in a sentence, ours without
// details, which go to the log (P10).
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { causeChain, codeOf, isOutlastError } from '../errors.ts';
import type { Log } from '../log.ts';

/** `body` in pieces: a record is sent as it was archived, also where its bytes are no valid UTF-8. */
export type Answer = {
  status: number;
  body: string | Buffer;
  headers?: Readonly<Record<string, string>>;
};

export const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: JSON.stringify({ error: { code_space: 'outlast', code, message } }),
});

/** Kept by nobody. Who needs a key is told of which kind (RFC 6750). */
export function sendAnswer(
  reply: FastifyReply,
  { status, body, headers = {} }: Answer,
): FastifyReply {
  if (status === 401) void reply.header('www-authenticate', 'Bearer realm="outlast"');
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .headers(headers)
    .send(body);
}

export const badRequest = (message: string): Answer => refusal(400, 'BAD_REQUEST', message);
export const notFound = (message: string): Answer => refusal(404, 'NOT_FOUND', message);
/** As the platform says it: who may not read learns nothing more. */
export const forbidden = (): Answer => refusal(403, 'FORBIDDEN', 'authentication failed');
/** Long enough for a restart or a burst of long questions to be over. */
const retryAfterSeconds = 10;

/** 503 with `Retry-After`: what was asked makes sense, and may be answered later. */
export const unavailable = (message: string, code = 'INTERNAL_ERROR'): Answer => ({
  ...refusal(503, code, message),
  headers: { 'retry-after': String(retryAfterSeconds) },
});

/** Thrown where a parameter makes no sense; the server answers it. */
export class Refused extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('refused');
    this.name = 'Refused';
    this.answer = answer;
  }
}

export const refuse = (message: string): never => {
  throw new Refused(badRequest(message));
};

/**
 * The library's sentence for whoever asked what cannot be asked, without the name of its call, which is no part of what
 * was asked; null for any other error.
 */
export const sentenceOf = (error: unknown): string | null =>
  isOutlastError(error, 'argument_invalid') || isOutlastError(error, 'cursor_invalid')
    ? error.message.replace(/^[A-Za-z.]+: /, '')
    : null;

/** What is read, or the library's sentence of why it cannot be asked. Throws any other error. */
export async function foundOrSentence<T>(
  read: () => Promise<T>,
): Promise<{ found: T; sentence: null } | { found: null; sentence: string }> {
  try {
    return { found: await read(), sentence: null };
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === null) throw error;
    return { found: null, sentence };
  }
}

const unreadable = new Map<string | undefined, [status: string, sentence: string]>([
  ['HPE_HEADER_OVERFLOW', ['431 Request Header Fields Too Large', 'the request is too long']],
  ['ERR_HTTP_REQUEST_TIMEOUT', ['408 Request Timeout', 'the request did not come in time']],
]);

/** What Node's parser turns down before there is a request: a line too long, a broken header. */
export function answerUnreadable(
  this: FastifyInstance,
  error: { code?: string },
  socket: Socket,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [status, sentence] = unreadable.get(error.code) ?? [
    '400 Bad Request',
    'the request cannot be read',
  ];
  const { body } = badRequest(sentence);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${String(body)}`,
  );
}

/** A read's time-out, and a write's: its statement's (57014) or that of waiting for another's (55P03). */
const tookTooLong = new Set(['query_timed_out', '57014', '55P03']);

/** What went wrong, for whoever asked: their mistake in a sentence, ours without details, which go to the log. */
export function answerOf(error: unknown, log: Log): Answer {
  if (error instanceof Refused) return error.answer;
  if (isOutlastError(error, 'cursor_invalid')) {
    return badRequest('page_key is not valid for this query');
  }
  if (isOutlastError(error, 'position_unknown')) return refusal(410, 'GONE', error.message);
  if (isOutlastError(error, 'position_ahead')) return unavailable(error.message, 'BEHIND');
  if (isOutlastError(error, 'argument_invalid')) return badRequest(error.message);
  const { statusCode } = error as { statusCode?: unknown };
  if (statusCode === 413) return refusal(413, 'BAD_REQUEST', 'the body is too large');
  if (statusCode === 415) {
    return refusal(415, 'BAD_REQUEST', 'Content-Type must be application/json');
  }
  if (typeof statusCode === 'number' && statusCode < 500) {
    return badRequest('the request cannot be read');
  }
  if (tookTooLong.has(codeOf(error) ?? '')) {
    return unavailable('the query took too long: narrow it, or try again later', 'TIMEOUT');
  }
  log.error({ error: causeChain(error) }, 'A request could not be answered');
  return isOutlastError(error) && error.kind === 'transient'
    ? unavailable('the archive cannot be reached: try again later')
    : refusal(500, 'INTERNAL_ERROR', 'something went wrong here; the log says what');
}

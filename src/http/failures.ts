// What is answered when something went wrong: their mistake in a sentence, ours without details, which go to the log (P10). One
// shape everywhere, also for what is no request yet.
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { causeChain, codeOf, isOutlastError } from '../errors.ts';
import type { Log } from '../log.ts';
import { badRequest, Refused, refusal, unavailable, type Answer } from './answers.ts';

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

// Answers on the wire. The Date header comes from the simulator's clock on every answer, for a wrong clock is
// learned from it; faults of the connection happen here.
import type { ServerResponse } from 'node:http';
import type { Instant } from '../model.ts';
import type { Hits } from './faults.ts';
import type { SimulatedAnswer } from './page.ts';

let dateSecond = NaN;
let dateLine = '';

/** An instant as HTTP writes it; the last second's text is kept, for that is the common case. */
export function httpDate(at: Instant): string {
  const second = Math.floor(at / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = new Date(second * 1000).toUTCString();
  }
  return dateLine;
}

/** Sends an answer; false if a fault kept it from arriving whole. */
export function deliverAnswer(
  response: ServerResponse,
  answer: SimulatedAnswer,
  now: Instant,
  hits: Hits,
): boolean {
  const { socket } = response;
  if (hits.has('hang')) return false;
  if (hits.has('reset')) {
    socket?.resetAndDestroy();
    return false;
  }
  const wrongDate = hits.get('wrongDate');
  const date = wrongDate === undefined ? now : now + (wrongDate.ms ?? 3_600_000);
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  response.sendDate = false;
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    date: httpDate(date),
    ...answer.headers,
  });
  if (hits.has('truncated')) {
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => socket?.destroy());
    return false;
  }
  response.end(body);
  return true;
}

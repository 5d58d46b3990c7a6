// One request from arrival to answer: faults are drawn, the platform is asked, what was shown is noted.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../log.ts';
import type { Target } from '../platform/target.ts';
import type { SimulatorClock } from './clock.ts';
import { deliverAnswer } from './delivery.ts';
import type { FaultPlan, Hits } from './faults.ts';
import type { LoggedRequest } from './request-log.ts';
import { faultAnswer, mangle } from './mangle.ts';
import type { SentPage } from './options.ts';
import { isPage, noSuchPath, ok, type SimulatedRow } from './page.ts';
import type { Answered, SimulatedPlatform } from './platform.ts';

export type Handler = {
  handle(request: IncomingMessage, response: ServerResponse, target: Target): void;
  /** Forgets the answers that were still to come. */
  close(): void;
};

export function createHandler(context: {
  platform: SimulatedPlatform;
  faults: FaultPlan;
  clock: SimulatorClock;
  /** Real time in milliseconds. */
  outside: () => number;
  latencyMs: number;
  note: (request: LoggedRequest) => void;
  onPage: ((page: SentPage) => void) | null;
  log: Log;
}): Handler {
  const { platform, faults, clock, outside, latencyMs, note, onPage, log } = context;
  const timers = new Set<NodeJS.Timeout>();
  let requests = 0;

  function handle(request: IncomingMessage, response: ServerResponse, target: Target): void {
    const receivedAt = outside();
    const number = ++requests;
    const hits = faults.draw(target.path, queryOf(request, target), number);
    const answered: Answered =
      request.method === 'GET' ? answerTo(request, target, number, hits) : pathNotFound;
    const prepared = { ...answered, ...afterFaults(answered, hits) };
    const send = (): void => deliver(request, response, target, hits, receivedAt, prepared);
    const delayMs = latencyMs + (hits.has('slow') ? (hits.get('slow')?.ms ?? 2000) : 0);
    if (delayMs === 0) {
      send();
      return;
    }
    // From its arrival on: what it took to make the answer is a part of it.
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        send();
      },
      Math.max(0, delayMs - (outside() - receivedAt)),
    );
    timers.add(timer);
  }

  function answerTo(
    request: IncomingMessage,
    target: Target,
    number: number,
    hits: Hits,
  ): Answered {
    const behindMs = hits.has('stale') ? (hits.get('stale')?.ms ?? 60_000) : 0;
    return platform.answer(target, request.headers, number, behindMs);
  }

  function deliver(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    hits: Hits,
    receivedAt: number,
    prepared: Prepared,
  ): void {
    const now = clock.now();
    const { sent, project } = prepared;
    const isWhole = deliverAnswer(response, sent, now, hits);
    if (isWhole) noteShown(prepared);
    const status = hits.has('hang') || hits.has('reset') ? 0 : sent.status;
    const names = [...hits.keys()];
    note({
      at: now,
      receivedAt,
      method: request.method ?? '',
      path: target.path,
      query: queryOf(request, target),
      status,
      ...(names.length > 0 && { fault: names.join(' ') }),
      ...(project !== null && { project: project.name }),
    });
    if (log.isLevelEnabled('debug')) {
      log.debug({ path: target.path, status, faults: names }, 'a request was answered');
    }
  }

  function noteShown({ answer: given, rows }: Prepared): void {
    if (!isPage(given)) return;
    const { resource } = given;
    onPage?.({ resource, records: rows.map((row) => ({ id: row.id(), text: row.text })) });
  }

  return {
    handle,
    close: () => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

const pathNotFound: Answered = { answer: noSuchPath, project: null };

/** As it stands in the URL. */
const queryOf = (request: IncomingMessage, { path }: Target): string =>
  request.url?.slice(path.length + 1) ?? '';

/** What leaves in the end, and the records in it. */
type Sent = { sent: ReturnType<typeof ok>; rows: SimulatedRow[] };
type Prepared = Answered & Sent;

function afterFaults({ answer }: Answered, hits: Hits): Sent {
  const instead = faultAnswer(hits);
  if (instead !== null) return { sent: instead, rows: [] };
  if (!isPage(answer)) return { sent: answer, rows: [] };
  const { rows, total } = mangle(answer, hits);
  return { sent: ok(answer.write(rows, total)), rows };
}

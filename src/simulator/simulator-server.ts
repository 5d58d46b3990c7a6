// A platform to practise on: docs/platform.md over HTTP on a port of its own, with the unknowns of the document as
// switches and faults on demand. It archives nothing and knows nothing of who reads it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { dayOf, isDay } from '../day.ts';
import { settingsError } from '../errors.ts';
import type { Instant, ListedResource } from '../model.ts';
import { targetOf, type QueryParameters, type Target } from '../platform/target.ts';
import { noSuchPath, ok, type SimulatedAnswer } from './simulated-answers.ts';
import { standardDialect, type Dialect } from './dialect.ts';
import { createFaultPlan, faultAnswer, mangle, type Faults, type Hits } from './faults.ts';
import type { Change, Literal } from './simulated-list.ts';
import {
  demoProject,
  type LoggedRequest,
  type SentPage,
  type SimulatorOptions,
} from './simulator-options.ts';
import { receiveAlert } from './practice-receiver.ts';
import { createSimulatedPlatform, type Answered } from './simulated-platform.ts';
import { standardWorld } from './world.ts';

export { demoProject };
export type { SimulatorOptions };
export type Simulator = Awaited<ReturnType<typeof createSimulator>>;

const controlPath = '/_simulator';

/** Throws settings `simulator_listen` if the port or host cannot be had. */
export async function createSimulator(options: SimulatorOptions = {}) {
  const { seed = 1, host = '127.0.0.1', latencyMs = 0 } = options;
  const { projects = [demoProject], records = {}, now: outside = Date.now, onPage } = options;
  const { onReceived = () => undefined } = options;
  const world = { ...standardWorld, ...options.world };
  const clock = createSimulatedClock(outside, options.startAt, options.speed ?? 1);
  let dialect: Dialect = { ...standardDialect, ...options.dialect };
  const faults = createFaultPlan(seed);
  faults.set(options.faults ?? {});
  const requests = createRequestLog();
  const platform = createSimulatedPlatform({
    seed,
    world,
    projects,
    records,
    clock,
    dialect: () => dialect,
  });
  /** The answers that are still to come. */
  const timers = new Set<NodeJS.Timeout>();
  let received = 0;

  /** One request from arrival to answer: faults are drawn, the platform is asked, what was shown is noted. */
  function handle(request: IncomingMessage, response: ServerResponse, target: Target): void {
    const receivedAt = outside();
    const number = ++received;
    const query = request.url?.slice(target.path.length + 1) ?? '';
    const hits = faults.draw(target.path, query, number);
    const behindMs = hits.has('stale') ? (hits.get('stale')?.ms ?? 60_000) : 0;
    const { answer, project }: Answered =
      request.method === 'GET'
        ? platform.answer(target, request.headers, number, behindMs)
        : { answer: noSuchPath, project: null };
    const { sent, page } = afterFaults(answer, hits);

    const send = (): void => {
      const now = clock.now();
      const isWhole = deliverAnswer(response, sent, now, hits);
      if (isWhole && page !== null) onPage?.(page);
      const status = hits.has('hang') || hits.has('reset') ? 0 : sent.status;
      const names = [...hits.keys()];
      requests.add({
        at: now,
        receivedAt,
        method: request.method ?? '',
        path: target.path,
        query,
        status,
        ...(names.length > 0 && { fault: names.join(' ') }),
        ...(project !== null && { project: project.name }),
      });
    };
    const delayMs = latencyMs + (hits.has('slow') ? (hits.get('slow')?.ms ?? 2000) : 0);
    if (delayMs === 0) return send();
    // From its arrival on: what it took to make the answer is a part of it.
    const leftMs = Math.max(0, delayMs - (outside() - receivedAt));
    const timer = setTimeout(() => {
      timers.delete(timer);
      send();
    }, leftMs);
    timers.add(timer);
  }

  /** Alerts and heartbeats to practise on. */
  async function receive(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: QueryParameters,
  ): Promise<void> {
    if (path === '/heartbeat') {
      onReceived([`heartbeat from ${request.headers['user-agent'] ?? 'somebody'}`]);
      response.end('OK');
      return;
    }
    const [, format = ''] = /^\/alerts\/(\w+)$/.exec(path) ?? [];
    // Whoever hangs up has sent nothing.
    const sent = await text(request).catch(() => '');
    const received = receiveAlert(format, sent, query, Date.now());
    if (received === null) {
      response.writeHead(404).end(controlHelp);
      return;
    }
    onReceived(received.lines);
    response.writeHead(received.status).end(received.body);
  }

  const server = createServer((request, response) => {
    const target = targetOf(request.url ?? '/');
    const { path, query } = target;
    if (path !== controlPath && !path.startsWith(`${controlPath}/`)) {
      handle(request, response, target);
    } else if (simulator.isLoopback) {
      const asked = path.slice(controlPath.length);
      void (request.method === 'POST' || asked === '/heartbeat'
        ? receive(request, response, asked, query)
        : answerControl(simulator, response, asked, query));
    } else {
      // Whoever reaches it rules the platform: it is only where nobody else can.
      deliverAnswer(response, noSuchPath, clock.now(), new Map());
    }
  });
  const port = await listen(server, options.port ?? 0, host);

  const simulator = {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    /** Only then is its own door open: `/_simulator`. */
    isLoopback: /^(?:127\.|::1$|localhost$)/.test(host),
    projects,
    world,
    clock,
    requests,
    oracle: platform.oracle,
    dialect: (): Dialect => ({ ...dialect }),
    setDialect: (changed: Partial<Dialect>): void => {
      dialect = { ...dialect, ...changed };
      platform.refresh();
    },
    setFaults: (changed: Partial<Faults>): void => faults.set(changed),
    setNow: clock.setNow,
    advance: clock.advance,
    /** The platform stops showing a record, by id; false if there is none. Orders are those of the first project. */
    hide: (resource: ListedResource, id: string): boolean =>
      platform.list(resource).hide(id, clock.now()),
    insert: (resource: ListedResource, literal: Literal): void =>
      platform.list(resource).insert(literal, clock.now()),
    mutate: (resource: ListedResource, id: string, change: Change): boolean =>
      platform.list(resource).mutate(id, change, clock.now()),
    close: (): Promise<void> =>
      new Promise((resolve) => {
        for (const timer of timers) clearTimeout(timer);
        server.close(() => resolve());
        // Hanging answers would keep it open for ever.
        server.closeAllConnections();
      }),
  };
  return simulator;
}

/**
 * The platform's own clock: it may start at another instant than real time, run at another speed, or stand still.
 * `outside` is real time, milliseconds since 1970.
 */
function createSimulatedClock(outside: () => number, startAt: Instant | undefined, speed: number) {
  let since = outside();
  let base = startAt ?? since;
  let factor = speed;
  const now = (): Instant => Math.floor(base + (outside() - since) * factor);
  /** Sets the clock; it goes on from there at its speed. */
  const setNow = (at: Instant): void => {
    base = at;
    since = outside();
  };
  return {
    now,
    setNow,
    advance: (byMs: number): void => setNow(now() + byMs),
    /** 1 is real time, 0 stands still, 3600 is an hour a second. */
    setSpeed: (next: number): void => {
      setNow(now());
      factor = next;
    },
  };
}

/** What leaves in the end, and the page in it. */
function afterFaults(
  answer: Answered['answer'],
  hits: Hits,
): { sent: SimulatedAnswer; page: SentPage | null } {
  const instead = faultAnswer(hits);
  if (instead !== null) return { sent: instead, page: null };
  if (!('rows' in answer)) return { sent: answer, page: null };
  const { rows, total } = mangle(answer, hits);
  const page = { resource: answer.resource, records: rows };
  return { sent: ok(answer.write(rows, total)), page };
}

/**
 * Sends an answer; false if a fault of the connection kept it from arriving whole. `Date` comes from the simulator's
 * clock on every answer, for a wrong clock is learned from it.
 */
function deliverAnswer(
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
  const body = Buffer.from(answer.body);
  response.sendDate = false;
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    date: new Date(date).toUTCString(),
    ...answer.headers,
  });
  if (hits.has('truncated')) {
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => socket?.destroy());
    return false;
  }
  response.end(body);
  return true;
}

const maxRequests = 5000;

/** What was asked: for tests and benchmarks that ask whether the platform was treated gently. */
function createRequestLog() {
  let newest: LoggedRequest[] = [];
  const log = {
    /** All, also those no longer among the newest. */
    total: 0,
    byPath: {} as Record<string, number>,
    /** The newest 5,000, oldest first. */
    recent: () => newest.slice(-maxRequests),
    add: (request: LoggedRequest) => {
      newest.push(request);
      // Seldom, for it copies all of them.
      if (newest.length > 2 * maxRequests) newest = log.recent();
      log.total++;
      // Lookups carry an id in their path: counted together.
      const path = request.path.replace(/^(\/\w+(?:\/native)?\/tx\/).*/, '$1');
      log.byPath[path] = (log.byPath[path] ?? 0) + 1;
    },
    clear: () => {
      newest = [];
      log.total = 0;
      log.byPath = {};
    },
  };
  return log;
}

/**
 * The simulator's own door, for whoever runs it as another process: what was asked, and what is shown, over HTTP. No
 * platform has it. `path` is what follows `/_simulator`.
 */
async function answerControl(
  simulator: Simulator,
  response: ServerResponse,
  path: string,
  query: QueryParameters,
): Promise<void> {
  const resource = query.get('resource');
  const day = query.get('day') ?? dayOf(simulator.clock.now());
  if (path === '/requests') {
    const { total, byPath } = simulator.requests;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ total, byPath, recent: simulator.requests.recent() }));
  } else if (path === '/records' && (resource === 'orders' || resource === 'nft_classes')) {
    response.setHeader('content-type', 'application/x-ndjson');
    // Whoever hangs up has read enough.
    await pipeline(Readable.from(linesOf(simulator, resource)), response).catch(() => undefined);
  } else if (path === '/operations' && isDay(day)) {
    response.end(
      simulator.oracle
        .operationIds(day)
        .map((id) => `${id}\n`)
        .join(''),
    );
  } else {
    response.writeHead(404).end(controlHelp);
  }
}

const controlHelp = `there are ${[
  'requests',
  'records?resource=orders (or nft_classes)',
  'operations?day=2026-03-31 (today without)',
  'heartbeat, and to POST to alerts/json (or slack, dingtalk, wecom, feishu)',
]
  .map((one) => `${controlPath}/${one}`)
  .join(', ')}\n`;

/** One record a line, as shown now. A record whose text holds line breaks of its own spreads over several. */
function* linesOf(simulator: Simulator, resource: ListedResource): Generator<string> {
  for (const { text } of simulator.oracle.shown(resource)) yield `${text}\n`;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const sentence = `cannot listen on ${host} port ${port}: take another --port or --host`;
      reject(settingsError('simulator_listen', sentence, cause));
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

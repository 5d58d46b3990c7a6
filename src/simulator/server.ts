// A platform to practise on: `interface.md` over HTTP on a port of its own, with the unknowns of the document as
// switches and faults on demand. It archives nothing and knows nothing of who reads it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { settingsError } from '../errors.ts';
import { type Log, silentLog } from '../log.ts';
import type { Day, Instant, ListedResource } from '../model.ts';
import type { SimulatorProject } from './access.ts';
import { noSuchPath, ok } from './answers.ts';
import { createClock, type SimulatorClock } from './clock.ts';
import { answerControl } from './control.ts';
import { deliver } from './delivery.ts';
import { type Dialect, standardDialect } from './dialect.ts';
import { createFaultPlan, type Faults, type Hits } from './faults.ts';
import { createRequestLog, createShownLog, type RequestLog } from './journal.ts';
import type { Change } from './list.ts';
import { faultAnswer, mangle } from './mangle.ts';
import { isPage } from './pages.ts';
import { createSimulatedPlatform, type LiteralRecords, type ShownRecord } from './platform.ts';
import { targetOf } from './query.ts';
import type { Literal } from './shelf.ts';
import { standardWorld, type World } from './world.ts';

export type SimulatorOptions = {
  /** 0 (standard) takes a free one. */
  port?: number;
  host?: string;
  seed?: number;
  /** Standard: one, `demoProject`. */
  projects?: readonly SimulatorProject[];
  world?: Partial<World>;
  records?: LiteralRecords;
  /** Real time in milliseconds; `Date.now` unless given. */
  now?: () => number;
  /** The simulator's clock starts here instead of at real time, and runs at `speed` (1; 0 stands still). */
  startAt?: Instant;
  speed?: number;
  dialect?: Partial<Dialect>;
  faults?: Partial<Faults>;
  /** Every answer takes so much longer. */
  latencyMs?: number;
  /** Remember up to so many texts ever shown, for `oracle.everShown`; 0 (standard): none. */
  recordAnswers?: number;
  log?: Log;
};

/** What the platform knows of itself. `project` is a name; the first project unless given. */
export type Oracle = {
  /** What it shows now, in its window, as exact JSON texts, oldest first. */
  shown(resource: ListedResource, project?: string): Generator<ShownRecord>;
  count(resource: ListedResource, project?: string): number;
  /** Every text that left in an answer, by id; a client that hung up may have missed some. */
  everShown(resource: ListedResource, project?: string): ReadonlyMap<string, ReadonlySet<string>>;
  /** True once more was shown than `recordAnswers` allows. */
  overflowed(): boolean;
  /** Ids to look transactions up by. */
  operationIds(day: Day, project?: string): string[];
};

export type Simulator = {
  url: string;
  port: number;
  projects: readonly SimulatorProject[];
  world: World;
  clock: SimulatorClock;
  requests: RequestLog;
  oracle: Oracle;
  dialect(): Dialect;
  setDialect(dialect: Partial<Dialect>): void;
  setFaults(faults: Partial<Faults>): void;
  setNow(at: Instant): void;
  advance(byMs: number): void;
  /** The platform stops showing a record, by id; false if there is none. */
  hide(resource: ListedResource, id: string, project?: string): boolean;
  insert(resource: ListedResource, literal: Literal, project?: string): void;
  mutate(resource: ListedResource, id: string, change: Change, project?: string): boolean;
  close(): Promise<void>;
};

/** Fake on sight: what a demo and a test use. */
export const demoProject: SimulatorProject = {
  apiKey: 'demo-key-not-a-secret',
  apiSecret: 'demo-secret-not-a-secret',
  name: 'demo',
};

/** Throws settings `simulator_listen` if the port or host cannot be had. */
export async function createSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { seed = 1, host = '127.0.0.1', latencyMs = 0, log = silentLog() } = options;
  const projects = options.projects ?? [demoProject];
  const firstProject = projects[0]?.name ?? '';
  const world = { ...standardWorld, ...options.world };
  const outside = options.now ?? Date.now;
  const clock = createClock(outside, options.startAt, options.speed ?? 1);
  let dialect: Dialect = { ...standardDialect(), ...options.dialect };
  const faults = createFaultPlan(seed);
  faults.set(options.faults ?? {});
  const requests = createRequestLog();
  const shownTexts = createShownLog(options.recordAnswers ?? 0);
  const records = options.records ?? {};
  const platform = createSimulatedPlatform({
    seed,
    world,
    projects,
    records,
    clock,
    dialect: () => dialect,
  });
  const timers = new Set<NodeJS.Timeout>();
  let asked = 0;

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const target = targetOf(request.url ?? '/');
    if (target.path === '/_simulator' || target.path.startsWith('/_simulator/')) {
      void control(request, response, target.path.slice('/_simulator'.length), target.query);
      return;
    }
    const receivedAt = outside();
    const number = ++asked;
    const hits = faults.draw(target.path, number);
    const delayMs = latencyMs + (hits.has('slow') ? (hits.get('slow')?.ms ?? 2000) : 0);
    if (delayMs === 0) {
      answer(request, response, target, number, hits, receivedAt);
      return;
    }
    const timer = setTimeout(() => {
      timers.delete(timer);
      answer(request, response, target, number, hits, receivedAt);
    }, delayMs);
    timers.add(timer);
  }

  function answer(
    request: IncomingMessage,
    response: ServerResponse,
    target: ReturnType<typeof targetOf>,
    number: number,
    hits: Hits,
    receivedAt: number,
  ): void {
    const now = clock.now();
    const { answer: given, project } =
      request.method === 'GET'
        ? platform.answer(target, request.headers, number)
        : { answer: noSuchPath, project: null };
    const name = project?.name ?? '';
    let sent = faultAnswer(hits);
    let shown: readonly { text: string; id(): string }[] = [];
    if (sent === null && isPage(given)) {
      const { rows, total } = mangle(given, hits);
      sent = ok(given.write(rows, total));
      if ((options.recordAnswers ?? 0) > 0) shown = rows;
    }
    sent ??= isPage(given) ? noSuchPath : given;
    const isWhole = deliver(response, sent, now, hits);
    if (isWhole && isPage(given)) {
      const owner = given.resource === 'orders' ? name : '';
      for (const row of shown) shownTexts.add(given.resource, owner, row.id(), row.text);
    }
    const query = request.url?.slice(target.path.length + 1) ?? '';
    const status = hits.has('hang') || hits.has('reset') ? 0 : sent.status;
    requests.add({
      at: now,
      receivedAt,
      method: request.method ?? '',
      path: target.path,
      query,
      status,
      ...(hits.size > 0 && { fault: [...hits.keys()].join(' ') }),
      ...(project !== null && { project: name }),
    });
    if (log.isLevelEnabled('debug')) {
      log.debug({ path: target.path, status, faults: [...hits.keys()] }, 'answered');
    }
  }

  async function control(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: ReadonlyMap<string, string>,
  ): Promise<void> {
    // Whoever reaches it rules the platform: only where nobody else can.
    if (!isLoopback(host)) deliver(response, noSuchPath, clock.now(), new Map());
    else await answerControl(simulator, request, response, path, query);
  }

  const listOf = (resource: ListedResource, project: string) =>
    resource === 'orders' ? platform.orders(project) : platform.classes;

  const server = createServer(handle);
  const port = await listen(server, options.port ?? 0, host);
  const simulator: Simulator = {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    projects,
    world,
    clock,
    requests,
    dialect: () => ({ ...dialect }),
    oracle: {
      shown: (resource, project = firstProject) => platform.shown(resource, project),
      count: (resource, project = firstProject) => {
        let count = 0;
        for (const _ of platform.shown(resource, project)) count++;
        return count;
      },
      everShown: (resource, project = firstProject) =>
        shownTexts.of(resource, resource === 'orders' ? project : ''),
      overflowed: () => shownTexts.overflowed(),
      operationIds: (day, project = firstProject) => platform.transactions(project).idsOn(day),
    },
    setDialect: (changed) => {
      dialect = { ...dialect, ...changed };
      platform.refresh();
    },
    setFaults: (changed) => faults.set(changed),
    setNow: (at) => clock.setNow(at),
    advance: (byMs) => clock.advance(byMs),
    hide: (resource, id, project = firstProject) => listOf(resource, project).hide(id, clock.now()),
    insert: (resource, literal, project = firstProject) =>
      listOf(resource, project).insert(literal, clock.now()),
    mutate: (resource, id, change, project = firstProject) =>
      listOf(resource, project).mutate(id, change, clock.now()),
    close: () =>
      new Promise((resolve) => {
        for (const timer of timers) clearTimeout(timer);
        server.close(() => resolve());
        // Hanging answers would keep it open for ever.
        server.closeAllConnections();
      }),
  };
  return simulator;
}

const isLoopback = (host: string): boolean => /^(?:127\.|::1$|localhost$)/.test(host);

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const sentence = `cannot listen on ${host} port ${port}: take another --port or --host`;
      reject(settingsError('simulator_listen', sentence, cause));
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

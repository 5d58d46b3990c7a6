// A platform to practise on: docs/platform.md over HTTP on a port of its own, with the unknowns of the document as
// switches and faults on demand. It archives nothing and knows nothing of who reads it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { settingsError } from '../errors.ts';
import { silentLog } from '../log.ts';
import type { ListedResource } from '../model.ts';
import { targetOf } from '../platform/target.ts';
import { createSimulatedClock } from './clock.ts';
import { answerControl } from './control.ts';
import { deliverAnswer } from './delivery.ts';
import { standardDialect, type Dialect } from './dialect.ts';
import { createFaultPlan } from './faults.ts';
import { createHandler } from './handler.ts';
import { createRequestLog } from './request-log.ts';
import type { RecordList } from './list.ts';
import { demoProject, type Oracle, type Simulator, type SimulatorOptions } from './options.ts';
import { noSuchPath } from './page.ts';
import { createSimulatedPlatform, type SimulatedPlatform } from './platform.ts';
import { standardWorld } from './world.ts';

export { demoProject };
export type { Oracle, Simulator, SimulatorOptions };

const controlPath = '/_simulator';

/** Throws settings `simulator_listen` if the port or host cannot be had. */
export async function createSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { seed = 1, host = '127.0.0.1', latencyMs = 0, log = silentLog() } = options;
  const projects = options.projects ?? [demoProject];
  const firstProject = projects[0]?.name ?? '';
  const world = { ...standardWorld, ...options.world };
  const outside = options.now ?? Date.now;
  const clock = createSimulatedClock(outside, options.startAt, options.speed ?? 1);
  let dialect: Dialect = { ...standardDialect(), ...options.dialect };
  const faults = createFaultPlan(seed);
  faults.set(options.faults ?? {});
  const requests = createRequestLog();
  const records = options.records ?? {};
  const platform = createSimulatedPlatform({
    seed,
    world,
    projects,
    records,
    clock,
    dialect: () => dialect,
  });
  const handler = createHandler({
    platform,
    faults,
    clock,
    outside,
    latencyMs,
    note: (request) => requests.add(request),
    onPage: options.onPage ?? null,
    log,
  });
  const server = createServer((request, response) => {
    const target = targetOf(request.url ?? '/');
    const { path, query } = target;
    if (path !== controlPath && !path.startsWith(`${controlPath}/`)) {
      handler.handle(request, response, target);
    } else if (isLoopback(host)) {
      void answerControl(simulator, response, path.slice(controlPath.length), query);
    } else {
      // Whoever reaches it rules the platform: it is only where nobody else can.
      deliverAnswer(response, noSuchPath, clock.now(), new Map());
    }
  });
  const port = await listen(server, options.port ?? 0, host);

  const listOf = (resource: ListedResource, project: string): RecordList<never> =>
    resource === 'orders' ? platform.orders(project) : platform.classes;
  const simulator: Simulator = {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    projects,
    world,
    clock,
    requests,
    oracle: createOracle(platform, firstProject),
    dialect: () => ({ ...dialect }),
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
        handler.close();
        server.close(() => resolve());
        // Hanging answers would keep it open for ever.
        server.closeAllConnections();
      }),
  };
  return simulator;
}

const createOracle = (platform: SimulatedPlatform, firstProject: string): Oracle => ({
  shown: (resource, project = firstProject) => platform.shown(resource, project),
  count: (resource, project = firstProject) => platform.count(resource, project),
  operationIds: (day, project = firstProject) => platform.transactions(project).idsOn(day),
});

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

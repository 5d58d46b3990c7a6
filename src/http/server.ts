// The HTTP server: the pages, the platform's own paths, `/archive/v1`, `/docs` and `/metrics`, and whether it is well.
// It reads through the library and nothing else. Every answer has the platform's shape, errors too; none says more than
// it must (P10).
import { createServer, type AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { causeChain, codeOf, settingsError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Instant, ProjectId, SettingInForce } from '../model.ts';
import type { Archive } from '../query/types.ts';
import { answerOf, answerUnreadable, badRequest, notFound, sendAnswer } from './http-answers.ts';
import { addDocs } from './docs/docs-page.ts';
import { isLoopbackHost, type Gate, type ReaderKey } from './gate.ts';
import { addMetrics, type MetricsOptions } from './metrics.ts';
import { addPlatform } from './platform/platform-routes.ts';
import { closeUnasked, noteMethods, settleRequests, traceRequests } from './requests.ts';
import type { Serving } from './serving.ts';
import { addArchive, type ArchiveOptions } from './v1/serve-archive.ts';
import { addWeb } from './web/serve.tsx';
import { createSessions } from './web/session.ts';

export type ServerOptions = ArchiveOptions & {
  archive: Archive;
  /**
   * Reads for `/archive/v1`, with connections of its own: its lists, counts and sums may take seconds, and neither the
   * platform's clients nor whoever asks whether the service is well are to wait for them. The same by default.
   */
  archiveOfV1?: Archive;
  host: string;
  /** 0 takes any free one. */
  port: number;
  keys: readonly ReaderKey[];
  /** The projects served, each with the one whose classes stand for the platform's list, which depends on no key. */
  projects: readonly { id: string; classesOf: string }[];
  /** Whether the process still works, beside answering; absent: it does. */
  isAlive?: (() => boolean) | undefined;
  /** What `/archive/v1/settings` shows; none by default. */
  settings?: readonly SettingInForce[];
  /** What `/metrics` shows; absent: there is no such path. */
  metrics?: MetricsOptions;
  log: Log;
  /** This machine's clock, milliseconds: signatures are checked by it. */
  now: () => Instant;
  /** The time by which a project's deadlines are told: the platform's. This machine's clock by default. */
  timeOf?: (project: ProjectId) => Instant;
  /** A request that has not come in after so long is given up, milliseconds; half a minute by default. */
  requestTimeoutMs?: number;
};

export type Served = { url: string; close(): Promise<void> };

/** Throws settings `serve_failed` when the address cannot be had. */
export async function serve(options: ServerOptions): Promise<Served> {
  const { host, port } = options;
  const app = createApp(options);
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw cannotServe(host, port, error);
  }
  const bound = (app.server.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () => app.close(),
  };
}

/** Takes the address and gives it back. Throws as `serve` does. */
export function checkAddress(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => reject(cannotServe(host, port, error)));
    server.listen({ host, port }, () => server.close(() => resolve()));
  });
}

function cannotServe(host: string, port: number, error: unknown): Error {
  const why = codeOf(error) === 'EADDRINUSE' ? 'it is taken' : causeChain(error);
  return settingsError(
    'serve_failed',
    `Cannot serve on ${host} port ${port}: ${why}. Give another OUTLAST_HOST or OUTLAST_PORT.`,
    error,
  );
}

function createApp(options: ServerOptions): FastifyInstance {
  const { archive, log, projects, requestTimeoutMs = 30_000 } = options;
  const app = Fastify({
    logger: false,
    requestTimeout: requestTimeoutMs,
    // Longer than any balancer in front keeps a connection for its next request (Google's: ten minutes): the one that
    // closes first must be the one that asks, or a request meets a closed door and is answered 502.
    keepAliveTimeout: 650_000,
    http: {
      // Node's own interval would double the time-out.
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 5000),
      requireHostHeader: false,
    },
    // A stopping server answers what it has begun and no more.
    forceCloseConnections: 'idle',
    // What comes in on an open connection meanwhile is answered, and closes it; Fastify's own refusal has another
    // shape.
    return503OnClosing: false,
    routerOptions: {
      // An id of 512 bytes, each percent-encoded.
      maxParamLength: 1536,
      // Clients whose base URL ends with a slash ask for `//v3/orders`, and so do proxies that cut a path short.
      ignoreDuplicateSlashes: true,
    },
    clientErrorHandler: answerUnreadable,
    // A path whose percent-signs stand for no text.
    frameworkErrors: (_error, _request, reply) => {
      void sendAnswer(reply, badRequest('the request cannot be read'));
    },
  });
  traceRequests(app);
  closeUnasked(app);
  settleRequests(app);
  const refuseOtherMethods = noteMethods(app);
  const gate: Gate = {
    isLoopback: isLoopbackHost(options.host),
    keys: options.keys,
    projects: projects.map(({ id }) => id),
  };

  const { now } = options;
  const serving: Serving = {
    archive,
    archiveOfV1: options.archiveOfV1 ?? archive,
    gate,
    sessions: createSessions(gate),
    classesOf: (project) => projects.find(({ id }) => id === project)?.classesOf ?? project,
    settings: options.settings ?? [],
    isAlive: options.isAlive ?? (() => true),
    now,
    timeOf: options.timeOf ?? now,
    answerOf: (error) => answerOf(error, log),
  };
  addPlatform(app, serving);
  addArchive(app, serving, options);
  if (options.metrics !== undefined) addMetrics(app, options.metrics, serving);
  const web = addWeb(app, serving);
  addDocs(app, { takesOperations: options.watch !== undefined, isLoopback: gate.isLoopback });
  // Where signing in has its own way of reading a body, its routes come later.
  app.after(() => refuseOtherMethods());
  app.setNotFoundHandler((request, reply) =>
    wantsPage(request)
      ? web.answerNotFound(request, reply)
      : sendAnswer(reply, notFound('there is no such path')),
  );
  app.setErrorHandler((error, _request, reply) => sendAnswer(reply, serving.answerOf(error)));
  return app;
}

/** A browser in which somebody opened an address. */
const wantsPage = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '');

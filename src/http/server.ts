// The HTTP server: the pages, the platform's own paths, `/archive/v1`, `/docs` and `/metrics`, and whether it is well.
// It reads through the library and nothing else. Every answer has the platform's shape, errors too; none says more than
// it must (P10).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { causeChain, codeOf, settingsError } from '../errors.ts';
import type { Log } from '../log.ts';
import { inSpan, type SpanOptions } from '../tracing.ts';
import { addDocs } from './docs/docs-page.ts';
import { isLoopbackHost, type Gate, type ReaderKey } from './access.ts';
import {
  answerOf,
  answerUnreadable,
  badRequest,
  notFound,
  refusal,
  Refused,
  sendAnswer,
} from './http-answers.ts';
import { addMetrics, type MetricsOptions } from './metrics.ts';
import { addPlatform } from './platform/platform-routes.ts';
import type { ServerContext } from './server-context.ts';
import { addArchive, type ArchiveRoutesOptions } from './v1/serve-archive.ts';
import { addWeb } from './web/web-routes.tsx';
import { createSessions } from './web/session.ts';

/** Unless given, there is one archive for all, no settings are shown, it is alive, and deadlines are told by `now`. */
export type ServerOptions = ArchiveRoutesOptions &
  Pick<ServerContext, 'archive' | 'now'> &
  Partial<Pick<ServerContext, 'archiveOfV1' | 'settings' | 'isAlive' | 'timeOf'>> & {
    host: string;
    /** 0 takes any free one. */
    port: number;
    keys: readonly ReaderKey[];
    /** The projects served, each with the one whose classes stand for the platform's list, which depends on no key. */
    projects: readonly { id: string; classesOf: string }[];
    /** What `/metrics` shows; absent: there is no such path. */
    metrics?: MetricsOptions;
    log: Log;
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
  const serving: ServerContext = {
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

// What is settled of connections and requests before any route, or where there is none: for which host a request is
// meant, that it expects nothing we do not do, which methods a path answers to, and what becomes of connections when
// the server stops.

/** A span for each request, by the route's path, within the one that the request names. Before any other hook. */
function traceRequests(app: FastifyInstance): void {
  app.addHook('onRequest', ({ method, headers, routeOptions }, reply, done) => {
    const { url: route } = routeOptions;
    const attributes = { 'http.request.method': method };
    const options: SpanOptions = {
      kind: 'server',
      from: headers,
      attributes: route === undefined ? attributes : { ...attributes, 'http.route': route },
    };
    void inSpan(route === undefined ? method : `${method} ${route}`, options, async (span) => {
      const closed = new Promise((resolve) => reply.raw.once('close', resolve));
      done();
      await closed;
      span.set({ 'http.response.status_code': reply.statusCode });
    });
  });
}

/**
 * Who may read depends on the host (access.ts): two of them, or none, are refused and not chosen from. To be called
 * before any route is added. Node's own refusal of a missing Host must be off: it has no body.
 */
function settleRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers, httpVersion, rawHeaders, url = '' } = request.raw;
    const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && /^host$/i.test(name));
    if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1')) {
      done(new Refused(badRequest('a request names its Host once')));
      return;
    }
    // A target with a host of its own goes before the header (RFC 9112 §3.2.2).
    const [, named] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
    if (named !== undefined) headers.host = named;
    done();
  });
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, body } = refusal(417, 'EXPECTATION_FAILED', 'Expect may be 100-continue only');
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(body);
  });
}

/**
 * 405, and which methods a path does answer to. To be called before any route is added. What it gives is called after
 * the last one.
 */
function noteMethods(app: FastifyInstance): () => void {
  const noted = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = noted.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    noted.set(url, methods);
  });
  return () => {
    for (const [url, methods] of noted) {
      const allow = [...methods].toSorted().join(', ');
      const refused = refusal(405, 'METHOD_NOT_ALLOWED', `here only: ${allow}`);
      app.route({
        url,
        method: app.supportedMethods.filter((method) => !methods.has(method)),
        // Before a body is read: whatever it is, nobody takes it.
        onRequest: async (_request, reply) => sendAnswer(reply.header('allow', allow), refused),
        handler: (_request, reply) => reply,
      });
    }
  };
}

/**
 * Connections that are being answered are waited for; Node closes the ones that were answered, but waits a minute for
 * one on which nothing was ever asked, as browsers and balancers open them ahead.
 */
function closeUnasked(app: FastifyInstance): void {
  const unasked = new Set<Socket>();
  let isStopping = false;
  app.server.on('connection', (socket: Socket) => {
    if (isStopping) {
      socket.destroy();
      return;
    }
    unasked.add(socket);
    socket.once('close', () => unasked.delete(socket));
  });
  app.server.on('request', ({ socket }) => unasked.delete(socket));
  app.addHook('preClose', (done) => {
    isStopping = true;
    for (const socket of unasked) socket.destroy();
    done();
  });
}

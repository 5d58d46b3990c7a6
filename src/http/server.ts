// The HTTP server: the platform's own interface from the archive, and whether the service is well. It reads through
// the library and nothing else. Every answer has the platform's shape, errors too; none says more than it must (P10).
import type { AddressInfo, Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { causeChain, codeOf, isOutlastError, settingsError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Instant } from '../model.ts';
import type { Archive } from '../query/types.ts';
import { badRequest, forbidden, notFound, Refused, refusal, unavailable } from './answers.ts';
import type { Answer } from './answers.ts';
import { admit, isLoopbackHost, type Gate, type ReaderKey } from './gate.ts';
import { answerClasses } from './nft-classes.ts';
import { answerOrders } from './orders.ts';
import { addUnlisted } from './unlisted.ts';
import type { Watch } from './watch.ts';
import { targetOf, type Query } from '../platform/target.ts';

export type ServerOptions = {
  archive: Archive;
  host: string;
  /** 0 takes any free one. */
  port: number;
  keys: readonly ReaderKey[];
  /** The projects served, each with the one whose classes stand for the platform's list, which depends on no key. */
  projects: readonly { id: string; classesOf: string }[];
  /** Takes in operations to watch; absent: none are taken in over HTTP. */
  watch?: Watch;
  log: Log;
  /** This machine's clock, milliseconds: signatures are checked by it. */
  now: () => Instant;
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
    const why = codeOf(error) === 'EADDRINUSE' ? 'it is taken' : causeChain(error);
    throw settingsError(
      'serve_failed',
      `Cannot serve on ${host} port ${port}: ${why}. Give another OUTLAST_HOST or OUTLAST_PORT.`,
      error,
    );
  }
  const bound = (app.server.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () => app.close(),
  };
}

type Route = (archive: Archive, project: string, query: Query) => Promise<Answer>;

function createApp(options: ServerOptions): FastifyInstance {
  const { archive, log, projects } = options;
  const app = Fastify({
    logger: false,
    requestTimeout: 30_000,
    // A stopping server answers what it has begun and no more.
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 500 },
    clientErrorHandler: answerUnreadable,
    // A path whose percent-signs stand for no text.
    frameworkErrors: (_error, _request, reply) => {
      void send(reply, badRequest('the request cannot be read'));
    },
  });
  const gate: Gate = {
    isLoopback: isLoopbackHost(options.host),
    keys: options.keys,
    projects: projects.map(({ id }) => id),
  };

  const admitted = (request: FastifyRequest): { project: string; query: Query } | Answer => {
    const target = targetOf(request.raw.url ?? '/');
    const admission = admit(gate, target, request.headers, options.now());
    if (admission.kind === 'forbidden') return forbidden();
    if (admission.kind === 'unnamed') {
      return badRequest(
        'several projects are served: name one by the X-Api-Key of a reader of its own',
      );
    }
    return { project: admission.project, query: target.query };
  };
  const dropIn = (route: Route) => async (request: FastifyRequest, reply: FastifyReply) => {
    const admission = admitted(request);
    if ('status' in admission) return send(reply, admission);
    return send(reply, await route(archive, admission.project, admission.query));
  };
  const classesOf = (project: string): string =>
    projects.find(({ id }) => id === project)?.classesOf ?? project;

  app.get('/v3/orders', dropIn(answerOrders));
  app.get(
    '/v1beta1/nft/classes',
    dropIn((_archive, project, query) => answerClasses(archive, classesOf(project), query)),
  );
  const answered = (error: unknown): Answer => answerOf(error, log);
  addUnlisted(app, { archive, gate, admitted, send, answerOf: answered, watch: options.watch });
  app.get('/healthz', (_request, reply) => send(reply, { status: 200, body: '{"status":"ok"}' }));
  app.get('/readyz', async (_request, reply) => {
    await archive.facts({ project: projects[0]?.id ?? 'none' });
    return send(reply, { status: 200, body: '{"status":"ready"}' });
  });
  app.setNotFoundHandler((_request, reply) => send(reply, notFound('there is no such path')));
  app.setErrorHandler((error, _request, reply) => send(reply, answerOf(error, log)));
  return app;
}

/** What Node's parser turns down before there is a request: a line too long, a broken header. */
function answerUnreadable(this: FastifyInstance, error: { code?: string }, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const isLong = error.code === 'HPE_HEADER_OVERFLOW';
  const status = isLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
  const { body } = badRequest(isLong ? 'the request is too long' : 'the request cannot be read');
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${String(body)}`,
  );
}

function send(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(body);
}

/** What went wrong, for whoever asked: their mistake in a sentence, ours without details, which go to the log. */
function answerOf(error: unknown, log: Log): Answer {
  if (error instanceof Refused) return error.answer;
  if (isOutlastError(error, 'cursor_invalid')) {
    return badRequest('page_key is not valid for this query');
  }
  if (isOutlastError(error, 'argument_invalid')) return badRequest(error.message);
  const { statusCode } = error as { statusCode?: unknown };
  if (typeof statusCode === 'number' && statusCode < 500) {
    return badRequest('the request cannot be read');
  }
  if (isOutlastError(error, 'query_timed_out')) return unavailable('The query took too long.');
  log.error({ error: causeChain(error) }, 'A request could not be answered');
  return isOutlastError(error) && error.kind === 'transient'
    ? unavailable('The archive cannot be reached.')
    : refusal(500, 'INTERNAL_ERROR', 'something went wrong here; the log says what');
}

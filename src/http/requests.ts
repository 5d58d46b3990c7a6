// What is settled of connections and requests before any route, or where there is none: for which host a request is
// meant, that it expects nothing we do not do, which methods a path answers to, and what becomes of connections when
// the server stops.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { inSpan, type SpanOptions } from '../tracing.ts';
import { badRequest, Refused, refusal, sendAnswer } from './http-answers.ts';

/** A span for each request, by the route's path, within the one that the request names. Before any other hook. */
export function traceRequests(app: FastifyInstance): void {
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
 * Who may read depends on the host (gate.ts): two of them, or none, are refused and not chosen from. To be called
 * before any route is added. Node's own refusal of a missing Host must be off: it has no body.
 */
export function settleRequests(app: FastifyInstance): void {
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
export function noteMethods(app: FastifyInstance): () => void {
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
export function closeUnasked(app: FastifyInstance): void {
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

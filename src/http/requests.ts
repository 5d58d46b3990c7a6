// What is settled of a request before anybody looks at it: for which host it is meant, and that it expects nothing we do not do. Who
// may read depends on the host (gate.ts): two of them, or none, are refused and not chosen from.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { badRequest, Refused, refusal } from './answers.ts';

/** To be called before any route is added. Node's own refusal of a missing Host must be off: it has no body. */
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

// What a path does not answer to: 405, and which methods it does answer to.
import type { FastifyInstance } from 'fastify';
import { refusal } from './answers.ts';

/** To be called before any route is added. What it gives is called after the last one, and adds the refusals. */
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
      const { status, body } = refusal(405, 'METHOD_NOT_ALLOWED', `here only: ${allow}`);
      app.route({
        url,
        method: app.supportedMethods.filter((method) => !methods.has(method)),
        // Before a body is read: whatever it is, nobody takes it.
        onRequest: async (_request, reply) =>
          reply
            .code(status)
            .headers({ allow, 'cache-control': 'no-store' })
            .type('application/json; charset=utf-8')
            .send(body),
        handler: (_request, reply) => reply,
      });
    }
  };
}

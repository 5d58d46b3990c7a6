// The platform's own interface: which routes there are, who is let in, and in whose shape a refusal is told.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { targetOf } from '../../platform/target.ts';
import { sendAnswer, type Answer } from '../http-answers.ts';
import { projectByKey, projectBySignature } from '../gate.ts';
import type { Serving } from '../serving.ts';
import { healthRoutes } from './health.ts';
import { classesRoute } from './nft-classes.ts';
import { ordersRoute } from './orders.ts';
import type { PlatformRoute } from './platform-route.ts';
import { nodeError, tokenRoutes } from './tokens.ts';
import { transactionRoutes } from './transactions.ts';

export const platformRoutes: readonly PlatformRoute[] = [
  ordersRoute,
  classesRoute,
  ...transactionRoutes,
  ...tokenRoutes,
  ...healthRoutes,
];

export function addPlatform(app: FastifyInstance, serving: Serving): void {
  for (const route of platformRoutes) {
    app.get(route.path.replace(/\{(\w+)\}/, ':$1'), async (request, reply) => {
      const told = await answerTo(route, request, serving).catch(serving.answerOf);
      return sendAnswer(reply, route.isNodes && told.status !== 200 ? asNode(told) : told);
    });
  }
}

async function answerTo(
  route: PlatformRoute,
  request: FastifyRequest,
  serving: Serving,
): Promise<Answer> {
  const { gate, now } = serving;
  const path = request.params as Record<string, string>;
  const target = targetOf(request.raw.url ?? '/');
  if (route.needs === 'nothing') {
    return route.read(path, target.query, { ...serving, project: gate.projects[0] ?? 'none' });
  }
  // Group A of the platform's document, the tokens, is not signed.
  const project =
    route.needs === 'signature'
      ? projectBySignature(gate, target, request.headers, now())
      : projectByKey(gate, request.headers);
  return route.read(path, target.query, { ...serving, project });
}

/** The platform's error body as a node's. */
function asNode({ body, ...answer }: Answer): Answer {
  const { error } = JSON.parse(String(body)) as { error: string | { message: string } };
  const message = typeof error === 'string' ? error : error.message;
  return { ...answer, body: nodeError(answer.status, message).body };
}

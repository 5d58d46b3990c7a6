// The platform's own interface: which routes there are, who is let in, and in whose shape a refusal is told.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Instant } from '../../model.ts';
import { targetOf } from '../../platform/target.ts';
import { badRequest, forbidden, type Answer } from '../http-answers.ts';
import { admit, admitByKey, type Gate } from '../gate.ts';
import { healthRoutes } from './health.ts';
import { classesRoute } from './nft-classes.ts';
import { ordersRoute } from './orders.ts';
import type { PlatformRequest, PlatformRoute } from './platform-route.ts';
import { nodeError, tokenRoutes } from './tokens.ts';
import { transactionRoutes } from './transactions.ts';

export const platformRoutes: readonly PlatformRoute[] = [
  ordersRoute,
  classesRoute,
  ...transactionRoutes,
  ...tokenRoutes,
  ...healthRoutes,
];

/** What these routes need of the server: who is let in, how an answer is sent, what an error is answered with. */
export type PlatformServing = Omit<PlatformRequest, 'project'> & {
  gate: Gate;
  now: () => Instant;
  send: (reply: FastifyReply, answer: Answer) => FastifyReply;
  answerOf: (error: unknown) => Answer;
};

export function addPlatform(app: FastifyInstance, serving: PlatformServing): void {
  for (const route of platformRoutes) {
    app.get(route.path.replace(/\{(\w+)\}/, ':$1'), async (request, reply) => {
      const told = await answerTo(route, request, serving).catch(serving.answerOf);
      return serving.send(reply, route.isNodes && told.status !== 200 ? asNode(told) : told);
    });
  }
}

async function answerTo(
  route: PlatformRoute,
  request: FastifyRequest,
  serving: PlatformServing,
): Promise<Answer> {
  const { gate, now } = serving;
  const path = request.params as Record<string, string>;
  const target = targetOf(request.raw.url ?? '/');
  if (route.needs === 'nothing') {
    return route.read(path, target.query, { ...serving, project: gate.projects[0] ?? 'none' });
  }
  // Group A of the platform's document, the tokens, is not signed.
  const admission =
    route.needs === 'signature'
      ? admit(gate, target, request.headers, now())
      : admitByKey(gate, request.headers);
  if (admission.kind === 'forbidden') return forbidden();
  if (admission.kind === 'unnamed') {
    return badRequest(
      'several projects are served: name one by the X-Api-Key of a reader of its own',
    );
  }
  return route.read(path, target.query, { ...serving, project: admission.project });
}

/** The platform's error body as a node's. */
function asNode({ body, ...answer }: Answer): Answer {
  const { error } = JSON.parse(String(body)) as { error: string | { message: string } };
  const message = typeof error === 'string' ? error : error.message;
  return { ...answer, body: nodeError(answer.status, message).body };
}

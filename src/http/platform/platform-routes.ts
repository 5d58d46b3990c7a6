// The platform's own interface, and whether the service is well: which routes there are, who is let in, and in whose
// shape a refusal is told.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { transient } from '../../errors.ts';
import { sendAnswer, unavailable, type Answer } from '../http-answers.ts';
import { askedBy, projectByKey, projectBySignature } from '../access.ts';
import type { ServerContext } from '../server-context.ts';
import {
  nodeError,
  platformRoute,
  platformRecordRoutes,
  type PlatformRoute,
} from './platform-records.ts';

/** Whether the service is well, as those who run it ask: no key is needed and nothing is told. */
const health = (
  path: string,
  name: string,
  summary: string,
  read: Parameters<typeof platformRoute>[0]['read'],
): PlatformRoute =>
  platformRoute({
    path,
    name,
    group: 'The service',
    summary,
    about: 'Needs no key and tells nothing.',
    inPath: {},
    inQuery: {},
    answer: z.object({ status: z.string() }),
    refusals: [],
    needs: 'nothing',
    read,
  });

const healthRoutes = [
  health(
    '/healthz',
    'isAlive',
    'Whether the process lives, and its schedule',
    async (_, { isAlive }) => {
      if (!isAlive()) return unavailable('the ticks of the schedule do not come');
      return { status: 200, body: '{"status":"ok"}' };
    },
  ),
  health(
    '/readyz',
    'isReady',
    'Whether it can answer from the archive, whose schema is this release’s',
    async (_, { archive }) => {
      try {
        await archive.ready();
      } catch (error) {
        // Also where a newer release migrated it: what it holds may mean something else now. The log says why.
        throw transient('not_ready', 'The service is not ready', error);
      }
      return { status: 200, body: '{"status":"ready"}' };
    },
  ),
];

export const platformRoutes: readonly PlatformRoute[] = [...platformRecordRoutes, ...healthRoutes];

export function addPlatform(app: FastifyInstance, serving: ServerContext): void {
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
  serving: ServerContext,
): Promise<Answer> {
  const { gate, now } = serving;
  const path = request.params as object;
  const asked = askedBy(request, now());
  const { query } = asked.target;
  if (route.needs === 'nothing') {
    return route.read(path, query, { ...serving, project: gate.projects[0] ?? 'none' });
  }
  // Group A of the platform's document, the tokens, is not signed.
  const project =
    route.needs === 'signature'
      ? projectBySignature(gate, asked)
      : projectByKey(gate, request.headers);
  return route.read(path, query, { ...serving, project });
}

/** The platform's error body as a node's. */
function asNode({ body, ...answer }: Answer): Answer {
  const { error } = JSON.parse(String(body)) as { error: string | { message: string } };
  const message = typeof error === 'string' ? error : error.message;
  return { ...answer, body: nodeError(answer.status, message).body };
}

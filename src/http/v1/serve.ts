// `/archive/v1`: who asks is let in, the route reads through the library, the answer goes out in the form asked for. Every refusal
// has the server's one shape.
import * as z from 'zod';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isOutlastError } from '../../errors.ts';
import type { Instant, ProjectId } from '../../model.ts';
import { targetOf } from '../../platform/target.ts';
import type { Archive } from '../../query/types.ts';
import { badRequest, notFound, refusal, Refused, type Answer } from '../answers.ts';
import type { Gate } from '../gate.ts';
import { answerWatch, type Watch } from '../watch.ts';
import { projectOf, readableBy } from './admission.ts';
import { negotiated } from './negotiate.ts';
import {
  checked,
  formats,
  project as projectParameter,
  readQuery,
  type Format,
} from './parameters.ts';
import { proofRoutes } from './proof.ts';
import { recordRoutes } from './records.ts';
import { headers, sendReply, type Sending } from './reply.ts';
import type { Asking, Route } from './route.ts';
import { unlistedRoutes } from './unlisted.ts';

export const base = '/archive/v1';

export const routes: readonly Route[] = [...recordRoutes, ...unlistedRoutes, ...proofRoutes];

export const watchQuery = z.strictObject({ project: projectParameter.optional() });

const noStreams: Sending = { streams: new Set(), stalledAfterMs: 0 };

/** What these routes need of the server. */
export type Serving = {
  archive: Archive;
  gate: Gate;
  classesOf: (project: ProjectId) => ProjectId;
  now: () => Instant;
  answerOf: (error: unknown) => Answer;
  /** Absent: nothing is taken in over HTTP. */
  watch?: Watch | undefined;
  stalledAfterMs: number;
};

export function addArchive(app: FastifyInstance, serving: Serving): void {
  const sending: Sending = { streams: new Set(), stalledAfterMs: serving.stalledAfterMs };
  // A stopping server would wait for a reader of a long list for ever: its connection is cut, which it can tell from an end.
  app.addHook('preClose', (done) => {
    for (const stream of sending.streams) stream.destroy(new Error('the server stops'));
    done();
  });
  const guarded =
    (work: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      try {
        return await work(request, reply);
      } catch (error) {
        return refused(reply, serving.answerOf(named(error)));
      }
    };
  app.get(base, guarded(index(serving)));
  app.get(`${base}/`, guarded(index(serving)));
  for (const route of routes) {
    const url = base + route.path.replace('{id}', ':id');
    app.get(
      url,
      guarded((request, reply) => answer(route, serving, sending, request, reply)),
    );
  }
  const { watch } = serving;
  if (watch === undefined) return;
  app.post(
    `${base}/watch`,
    guarded(async (request, reply) => refused(reply, await entered(watch, serving, request))),
  );
}

/** Where everything is, for whoever may read at all. */
const index =
  ({ gate, now }: Serving) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const url = request.raw.url ?? '/';
    readableBy(gate, targetOf(url), request.headers, now());
    checked(z.strictObject({}), readQuery(url));
    const links = routes
      .filter(({ path }) => !path.includes('{'))
      .map(({ path, name, summary }) => ({ name, href: base + path, summary }));
    const json = JSON.stringify({ items: links, openapi: '/openapi.json', docs: '/docs' });
    return sendReply(request, reply, { kind: 'object', json }, 'json', 'index', noStreams);
  };

/** Operations to watch. A page of the web can post text to this machine, but no JSON without being allowed to. */
async function entered(watch: Watch, serving: Serving, request: FastifyRequest): Promise<Answer> {
  const url = request.raw.url ?? '/';
  const { gate, now } = serving;
  const projects = readableBy(gate, targetOf(url), request.headers, now());
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    return refusal(415, 'BAD_REQUEST', 'Content-Type must be application/json');
  }
  const { project } = checked(watchQuery, readQuery(url));
  return answerWatch(watch, projectOf(projects, project), request.body);
}

async function answer(
  route: Route,
  { archive, gate, classesOf, now }: Serving,
  sending: Sending,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const url = request.raw.url ?? '/';
  const projects = readableBy(gate, targetOf(url), request.headers, now());
  const query = readQuery(url);
  const asked = formats.find((one) => one === query.get('format'));
  const offer = asked ?? negotiated(request.headers.accept, offersOf(route));
  const asking: Asking = {
    archive,
    project: route.needs === 'one' ? projectOf(projects, query.get('project')) : '',
    projects,
    classesOf,
    format: offer === 'file' ? 'json' : offer,
  };
  const path = new Map(Object.entries(request.params as Record<string, string>));
  const found = await route.read(path, query, asking);
  if (found === null) throw new Refused(notFound('the archive holds no such thing'));
  return sendReply(request, reply, found, asking.format, route.path.slice(1), sending);
}

function offersOf(route: Route): [Format | 'file', ...Format[]] {
  if (route.answer === null) return ['file'];
  return 'format' in route.inQuery.shape ? [...formats] : ['json'];
}

/** What the library cannot take, in words of this interface. */
function named(error: unknown): unknown {
  const isTheirs =
    isOutlastError(error, 'cursor_invalid') || isOutlastError(error, 'argument_invalid');
  return isTheirs ? new Refused(badRequest(error.message)) : error;
}

/** A refusal, or what is new with every answer: kept by nobody. */
function refused(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  if (status === 401) void reply.header('www-authenticate', 'Bearer realm="outlast"');
  return reply
    .code(status)
    .headers({ ...headers, 'content-type': 'application/json; charset=utf-8' })
    .header('cache-control', 'no-store')
    .send(body);
}

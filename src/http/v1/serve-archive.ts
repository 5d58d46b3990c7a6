// `/archive/v1`: who asks is let in, the route reads through the library, the answer goes out in the form asked for.
// Every refusal has the server's one shape.
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { ProjectId } from '../../model.ts';
import { readingConnections } from '../../query/archive.ts';
import {
  badRequest,
  notFound,
  Refused,
  sendAnswer,
  sentenceOf,
  type Answer,
} from '../http-answers.ts';
import { askedBy, openedTo, openedUnlessSigned, projectToRead, type Opened } from '../access.ts';
import { settingsFor, type ServerContext } from '../server-context.ts';
import { createEvents, type EventTimes } from './events.ts';
import { headers, negotiated, ready, sendReply, type Ready, type Sending } from './reply.ts';
import { checked } from '../../query/check-arguments.ts';
import {
  acceptFormats,
  answerFormats,
  readQuery,
  type ArchiveRequest,
  type Form,
  type Route,
} from './route.ts';
import { createSemaphore } from '../../semaphore.ts';
import { base, routes } from './all-routes.ts';
import { enterWatched, projectToWatch, type EnterOperations } from './watch-route.ts';

export type ArchiveRoutesOptions = {
  /** Takes in operations to watch; absent: none are taken in over HTTP. */
  watch?: EnterOperations;
  /** A reader of a long list who takes nothing for so long is cut off, milliseconds; five minutes by default. */
  stalledAfterMs?: number;
  /** When `/archive/v1/events` looks and gives a sign of life; its own by default. */
  eventTimes?: EventTimes;
};

/**
 * As many as there are connections to read with. Each page that is read or written is held whole: begun all at once, 40
 * pages of 10,000 orders took 1.1 GB; four at a time, 0.45 GB and no more time.
 */
const answersAtOnce = readingConnections;

export function addArchive(
  app: FastifyInstance,
  serving: ServerContext,
  { watch, stalledAfterMs = 300_000, eventTimes }: ArchiveRoutesOptions,
): void {
  const { gate, sessions, now } = serving;
  const sending: Sending = {
    streams: new Set(),
    events: createEvents(serving.archiveOfV1, serving.answerOf, eventTimes),
    limited: createSemaphore(answersAtOnce),
    stopping: new AbortController(),
    stalledAfterMs,
  };
  // A stopping server would wait for a reader of a long list for ever: its connection is cut, which it can tell from an
  // end.
  app.addHook('preClose', (done) => {
    sending.stopping.abort();
    sending.events.close();
    for (const stream of sending.streams) stream.destroy(new Error('the server stops'));
    done();
  });
  /** Nobody comes in but through here. Signing in opens what reads, and nothing that writes. */
  const opened = (request: FastifyRequest): Opened =>
    sessions.openedBy(request.headers, now()) ?? openedTo(gate, askedBy(request, now()));
  const errorHandler = (error: unknown, _request: FastifyRequest, reply: FastifyReply) =>
    send(reply, serving.answerOf(named(error)));
  const index = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    opened(request);
    checked(z.strictObject({}), Object.fromEntries(readQuery(request.raw.url ?? '/')));
    return sendReply(request, reply, indexReply, { name: 'index', project: '' }, sending);
  };
  for (const path of [base, `${base}/`]) app.get(path, { errorHandler }, index);
  for (const route of routes) {
    const path = base + route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.get(path, { errorHandler }, async (request, reply) =>
      answer(route, serving, opened(request).projects, sending, request, reply),
    );
  }
  if (watch === undefined) return;
  // One at a time: they wait for each other in the database anyway, and there each would keep a connection that the
  // runs need.
  const oneByOne = createSemaphore(1);
  const inTurn: EnterOperations = (...given) => oneByOne(() => watch(...given));
  // Who may not write has no body read; a signed request tells only with its body who may.
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    const known = openedUnlessSigned(gate, askedBy(request, now()));
    if (known !== null) projectToWatch(known, request);
  };
  app.register(async (inner) => {
    // As it was sent, for that is what a signature covers. A page of the web can post text to this machine, but no JSON
    // without being allowed to.
    inner.removeAllContentTypeParsers();
    inner.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) =>
      done(null, body),
    );
    inner.post(`${base}/watch`, { onRequest, errorHandler }, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const asked = { ...askedBy(request, now()), bodySha256: hash('sha256', body, 'hex') };
      const to = openedTo(gate, asked);
      const project = projectToWatch(to, request);
      return send(reply, await enterWatched(inTurn, project, body, to.signature));
    });
  });
}

/** Where everything is. */
const indexReply: Ready = {
  kind: 'object',
  json: JSON.stringify({
    items: routes
      .filter(({ path }) => !path.includes('{'))
      .map(({ path, name, summary }) => ({ name, href: base + path, summary })),
    openapi: '/openapi.json',
    docs: '/docs',
  }),
};

async function answer(
  route: Route,
  serving: ServerContext,
  projects: readonly ProjectId[],
  sending: Sending,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { archiveOfV1: archive, classesOf } = serving;
  const query = readQuery(request.raw.url ?? '/');
  const asked = answerFormats.find((one) => one === query.get('format'));
  const offer = asked ?? negotiated(request.headers.accept, offersOf(route));
  const asking: ArchiveRequest = {
    archive,
    project: route.needs === 'one' ? projectToRead(projects, query.get('project')) : '',
    projects,
    classesOf,
    settings: settingsFor(serving, projects),
    format: offer === 'file' || offer === 'events' ? 'json' : offer,
    stopping: sending.stopping.signal,
  };
  const path = new Map(Object.entries(request.params as Record<string, string>));
  // `/orders/` names no order: nothing is there, as behind any other path that is none.
  if ([...path.values()].includes('')) throw new Refused(notFound('there is no such path'));
  await route.hold(path, query, asking);
  // Node would keep the connection open for a minute, and the server with it.
  if (sending.stopping.signal.aborted) void reply.header('connection', 'close');
  // A place is for reading and writing only: however slowly an answer is taken, it keeps nobody from theirs.
  const found = await sending.limited(async () => {
    const read = await route.read(path, query, asking);
    return read === null ? null : ready(read, asking.format);
  });
  if (found === null) throw new Refused(notFound('the archive holds no such thing'));
  return sendReply(
    request,
    reply,
    found,
    { name: route.path.slice(1), project: asking.project },
    sending,
  );
}

function offersOf(route: Route): [Form, ...Form[]] {
  if (route.isEvents) return ['events'];
  if (route.answer === null) return ['file'];
  return 'format' in route.inQuery.shape ? [...acceptFormats] : ['json'];
}

/** What cannot be taken, in words of this interface. */
function named(error: unknown): unknown {
  const sentence = sentenceOf(error);
  return sentence === null ? error : new Refused(badRequest(sentence));
}

/** A refusal, or what is new with every answer. */
const send = (reply: FastifyReply, answer: Answer): FastifyReply =>
  sendAnswer(reply.removeHeader('content-disposition').headers(headers), answer);

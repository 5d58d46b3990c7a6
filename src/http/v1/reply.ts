// How an answer of `/archive/v1` goes out: as JSON with an ETag, as a stream of lines or CSV in constant memory, or as
// a file; which of them, `format` says before Accept, and where Accept allows none of what there is, that is said (406).
// What is not the same for every reader must not be kept by a cache between us and them.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ProjectId } from '../../model.ts';
import { csvHead, csvLine, jsonText, pieces, sheetOf } from '../../query/record-text.ts';
import type { Semaphore } from '../../semaphore.ts';
import { refusal, Refused, unavailable } from '../http-answers.ts';
import type { Events } from './events.ts';
import type { AnswerFormat, Form, Reply, Rows } from './route.ts';

const mediaTypes: Record<Form | AnswerFormat, string> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  sheet: 'text/csv; charset=utf-8; header=present',
  file: 'application/octet-stream',
  events: 'text/event-stream; charset=utf-8',
};

/** No guessing of types, no other page's use of it, nothing run from it. */
export const headers = {
  'cache-control': 'private, no-cache',
  vary: 'Accept, Authorization, X-Api-Key',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

export type Sending = {
  /** Those that are being read, so that a server which stops can end them. */
  streams: Set<Readable>;
  events: Events;
  /** For reading and writing an answer. */
  limited: Semaphore;
  /** Aborted when the server stops: no further stream begins. */
  stopping: AbortController;
  /** Whoever takes nothing for so long has left without a word, milliseconds. */
  stalledAfterMs: number;
};

export type Ready =
  | Exclude<Reply, Rows>
  /** A page in JSON, written; `next` is the cursor of the page after it. */
  | { kind: 'page'; parts: readonly Buffer[]; next: unknown }
  /** Read while it is taken. */
  | { kind: 'stream'; format: Exclude<AnswerFormat, 'json'>; texts: AsyncGenerator<string> };

/** What an answer takes before its first byte can be sent. */
export async function ready(answer: Reply, format: AnswerFormat): Promise<Ready> {
  if (answer.kind !== 'rows') return answer;
  return format === 'json'
    ? { kind: 'page', parts: await wholeText(answer), next: answer.beside?.['next'] }
    : { kind: 'stream', format, texts: pieces(lines(answer, format)) };
}

export async function sendReply(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Ready,
  { name, project }: { name: string; project: ProjectId },
  sending: Sending,
): Promise<FastifyReply> {
  void reply.headers(headers);
  if (answer.kind === 'events') return sendEvents(request, reply, project, sending);
  if (answer.kind === 'file') {
    void reply.header('content-disposition', `attachment; filename="${plain(answer.name)}"`);
    return sendWhole(request, reply, [Buffer.from(answer.bytes)], mediaTypes.file);
  }
  if (answer.kind === 'object') {
    return sendWhole(request, reply, [Buffer.from(answer.json)], mediaTypes.json);
  }
  if (answer.kind === 'page') {
    const { parts, next } = answer;
    if (typeof next === 'string') void reply.header('link', nextLink(request, next));
    return sendWhole(request, reply, parts, mediaTypes.json);
  }
  const { format, texts } = answer;
  if (format !== 'ndjson') {
    void reply.header('content-disposition', `attachment; filename="${plain(name)}.csv"`);
  }
  void reply.header('content-type', mediaTypes[format]);
  return sendStream(request, reply, texts, sending);
}

/** `parts` are the body, in pieces. */
async function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: readonly Buffer[],
  type: string,
): Promise<FastifyReply> {
  const digest = createHash('sha256');
  for (const part of parts) {
    if (parts.length > 1) await othersTurn();
    digest.update(part);
  }
  const etag = `"${digest.digest('base64url').slice(0, 27)}"`;
  void reply.header('etag', etag);
  return isKnown(request.headers['if-none-match'], etag)
    ? reply.code(304).removeHeader('content-disposition').send()
    : reply.code(200).header('content-type', type).send(Buffer.concat(parts));
}

/** RFC 9110 §13.1.2: compared weakly; `*` matches whatever there is. */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return (
    header.trim() === '*' ||
    [...header.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, given]) => given === etag)
  );
}

/**
 * A page as text, in pieces. Between two of them others get their turn: whoever asks whether the service is well must
 * not wait for a page. Nobody waits longer than 50 ms for 10,000 records of 1 KB (in one go: 400 ms), nor than 150 ms
 * for as many of 10 KB (900 ms).
 */
async function wholeText(answer: Rows): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for await (const piece of pieces(pageText(answer))) {
    parts.push(Buffer.from(piece));
    await othersTurn();
  }
  return parts;
}

async function* pageText({ rows, beside = {}, ...of }: Rows): AsyncGenerator<string> {
  const fields = Object.keys(of.fields) as never[];
  let before = '{"items":[';
  for await (const row of rows) {
    yield before + jsonText(row, fields);
    before = ',';
  }
  const rest = JSON.stringify(beside).slice(1, -1);
  yield `${before === ',' ? '' : before}]${rest === '' ? '' : `,${rest}`}}`;
}

async function* lines(
  { rows, ...of }: Rows,
  format: Exclude<AnswerFormat, 'json'>,
): AsyncGenerator<string> {
  const fields = Object.keys(of.fields) as never[];
  const sheet = sheetOf(of.fields);
  if (format !== 'ndjson') yield format === 'csv' ? csvHead(fields) : sheet.head;
  for await (const row of rows) {
    if (format === 'ndjson') yield `${jsonText(row, fields)}\n`;
    else yield format === 'csv' ? csvLine(row, fields) : sheet.line(row);
  }
}

/**
 * The first piece is read before a status is sent, so that a query that fails at once is answered as such. One that
 * fails later breaks the connection: nobody takes half for whole (P12). A reader that leaves ends the read.
 */
async function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  texts: AsyncGenerator<string>,
  sending: Sending,
): Promise<FastifyReply> {
  const { streams, stalledAfterMs } = sending;
  if (request.method === 'HEAD') {
    await texts.return(undefined);
    return reply.send(Readable.from([]));
  }
  const first = await texts.next();
  if (sending.stopping.signal.aborted) {
    await texts.return(undefined);
    throw new Refused(unavailable('the server is stopping: try again later'));
  }
  const stream = Readable.from(resumed(first, texts), { objectMode: false });
  streams.add(stream);
  stream.once('error', () => breakOff(request, reply));
  stream.once('close', () => streams.delete(stream));
  // Node's own word for a connection on which nothing has moved.
  reply.raw.setTimeout(stalledAfterMs, () => breakOff(request, reply));
  return reply.send(stream);
}

/**
 * HTTP/1.0, which nginx speaks to what lies behind it unless told otherwise, has no end of an answer but the
 * connection's: closed in order, half of one is handed on as a whole. A reset is no end.
 */
function breakOff({ raw: { httpVersion, socket } }: FastifyRequest, reply: FastifyReply): void {
  if (httpVersion === '1.0') socket.resetAndDestroy();
  else reply.raw.destroy();
}

/** Nothing between us and them may keep what is told, nor wait for more of it. */
function sendEvents(
  { method }: FastifyRequest,
  reply: FastifyReply,
  project: ProjectId,
  { events, stalledAfterMs }: Sending,
): FastifyReply {
  const stream = method === 'HEAD' ? Readable.from([]) : events.listen(project);
  void reply
    .header('content-type', mediaTypes.events)
    .headers({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' })
    .header('connection', 'close');
  reply.raw.setTimeout(stalledAfterMs, () => reply.raw.destroy());
  return reply.send(stream);
}

async function* resumed(
  first: IteratorResult<string>,
  texts: AsyncGenerator<string>,
): AsyncGenerator<string> {
  try {
    if (first.done !== true) yield first.value;
    yield* texts;
  } finally {
    await texts.return(undefined);
  }
}

/** RFC 8288: the same query with the next cursor. Relative to what was asked, below whatever path of a proxy. */
function nextLink(request: FastifyRequest, next: string): string {
  const asked = new URLSearchParams((request.raw.url ?? '').split('?', 2)[1]);
  asked.set('cursor', next);
  return `<?${asked.toString()}>; rel="next"`;
}

/** A file name that needs no quoting anywhere. */
const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 100);

const nameOf = (form: Form): string => mediaTypes[form].split(';', 1)[0] ?? '';

/**
 * The best of what is offered, the first where several are as good. Throws `Refused`. Ours, for of what clients send the
 * usual package (negotiator 1.1) refuses `application/json; charset=utf-8`, and a header of 4,000 ranges holds it up for
 * 0.14 s.
 */
export function negotiated<Offer extends Form>(
  accept: string | undefined,
  offers: readonly [Offer, ...Offer[]],
): Offer {
  const ranges = (accept ?? '').split(',').flatMap(rangeOf);
  if (ranges.length === 0) return offers[0];
  const rated = offers
    .map((offer) => ({ offer, quality: qualityOf(nameOf(offer), ranges) }))
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  const [best] = rated;
  if (best !== undefined) return best.offer;
  throw new Refused(refusal(406, 'NOT_ACCEPTABLE', `there are: ${offers.map(nameOf).join(', ')}`));
}

type Range = { type: string; quality: number };

/** RFC 9110 §12.5.1; a range that cannot be read says nothing. */
function rangeOf(text: string): Range[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return [];
  const q = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1';
  const quality = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q) ? Number(q) : 1;
  return [{ type, quality }];
}

/** That of the narrowest range that fits. */
function qualityOf(name: string, ranges: readonly Range[]): number {
  const [family] = name.split('/');
  for (const type of [name, `${family}/*`, '*/*']) {
    const found = ranges.filter((range) => range.type === type);
    if (found.length > 0) return Math.max(...found.map(({ quality }) => quality));
  }
  return 0;
}

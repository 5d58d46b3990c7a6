// The simulator's own door, for whoever runs it as a child process: switches, faults, clock and records over
// HTTP. Open on loopback only; no platform has it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isOutlastError, settingsError } from '../errors.ts';
import type { ListedResource } from '../model.ts';
import { httpDate } from './delivery.ts';
import { readDialect } from './dialect.ts';
import { readFaults } from './fault-text.ts';
import type { Simulator } from './options.ts';
import { instantIn } from './times.ts';

const maxBodyBytes = 16_000_000;

/** `path` is what follows `/_simulator`. Mistakes are answered 400 with a sentence; nothing is changed by them. */
export async function answerControl(
  simulator: Simulator,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: ReadonlyMap<string, string>,
): Promise<void> {
  response.sendDate = false;
  response.setHeader('date', httpDate(simulator.clock.now()));
  response.setHeader('content-type', 'application/json');
  try {
    if (path === '' && request.method === 'POST') {
      apply(simulator, await bodyOf(request));
      response.end(JSON.stringify(stateOf(simulator)));
    } else if (request.method !== 'GET') {
      response.writeHead(405).end('{"error":"GET or POST /_simulator"}');
    } else if (path === '') {
      response.end(JSON.stringify(stateOf(simulator)));
    } else if (path === '/requests') {
      const { total, byStatus, byPath } = simulator.requests;
      const recent = simulator.requests.recent();
      response.end(JSON.stringify({ total, byStatus, byPath, recent }));
    } else if (path === '/records') {
      await writeRecords(simulator, response, query);
    } else {
      response
        .writeHead(404)
        .end('{"error":"there are /_simulator, /_simulator/records and /_simulator/requests"}');
    }
  } catch (error) {
    const sentence = isOutlastError(error) ? error.message : 'the simulator could not do that';
    if (!response.headersSent) response.writeHead(isOutlastError(error) ? 400 : 500);
    if (!response.writableEnded) response.end(JSON.stringify({ error: sentence }));
  }
}

const stateOf = (simulator: Simulator): object => ({
  now: new Date(simulator.clock.now()).toISOString(),
  dialect: simulator.dialect(),
  projects: simulator.projects.map(({ name }) => name),
});

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBodyBytes) throw bad('the body is longer than 16 MB');
    parts.push(part);
  }
  try {
    return objectOf('the body', JSON.parse(Buffer.concat(parts).toString('utf8')));
  } catch (error) {
    if (isOutlastError(error)) throw error;
    throw bad('the body must be JSON');
  }
}

const bad = (sentence: string): Error => settingsError('bad_control', sentence);

function objectOf(what: string, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad(`${what} must be a JSON object`);
  }
  return value as Record<string, unknown>;
}

function numberOf(what: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw bad(`${what} must be a number`);
  return value;
}

/** Reads everything first, then changes: a mistake in one part leaves all as it was. */
function apply(simulator: Simulator, body: Record<string, unknown>): void {
  const changes: (() => void)[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (name === 'dialect') {
      const dialect = readDialect(objectOf(name, value));
      changes.push(() => simulator.setDialect(dialect));
    } else if (name === 'faults') {
      const faults = readFaults(objectOf(name, value));
      changes.push(() => simulator.setFaults(faults));
    } else if (name === 'now') {
      const at = typeof value === 'number' ? value : instantIn(value);
      if (at === null) throw bad('now must be milliseconds or an RFC 3339 time');
      changes.push(() => simulator.setNow(at));
    } else if (name === 'advanceMs') {
      const byMs = numberOf(name, value);
      changes.push(() => simulator.advance(byMs));
    } else if (name === 'speed') {
      const speed = numberOf(name, value);
      changes.push(() => simulator.clock.setSpeed(speed));
    } else if (name === 'hide' || name === 'insert') {
      changes.push(recordChange(simulator, name, objectOf(name, value)));
    } else {
      throw bad(
        `there is no "${name}"; there are dialect, faults, now, advanceMs, speed, hide and insert`,
      );
    }
  }
  for (const change of changes) change();
}

function recordChange(
  simulator: Simulator,
  what: 'hide' | 'insert',
  given: Record<string, unknown>,
): () => void {
  const resource = resourceOf(given['resource']);
  const project = projectOf(simulator, given['project']);
  if (what === 'hide') {
    const { id } = given;
    if (typeof id !== 'string') throw bad('hide needs the id of a record');
    return () => void simulator.hide(resource, id, project);
  }
  const { text } = given;
  if (typeof text !== 'string') throw bad('insert needs the text of a record');
  const at = given['at'] === undefined ? {} : { at: numberOf('at', given['at']) };
  return () => simulator.insert(resource, { text, ...at }, project);
}

function resourceOf(value: unknown): ListedResource {
  if (value !== 'orders' && value !== 'nft_classes') {
    throw bad('resource must be orders or nft_classes');
  }
  return value;
}

function projectOf({ projects }: Simulator, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const found = projects.find(({ name }) => name === value);
  if (found === undefined)
    throw bad(`project must be one of ${projects.map(({ name }) => name).join(', ')}`);
  return found.name;
}

/** One record a line, as shown now. A record whose text holds line breaks of its own spreads over several. */
async function writeRecords(
  simulator: Simulator,
  response: ServerResponse,
  query: ReadonlyMap<string, string>,
): Promise<void> {
  const resource = resourceOf(query.get('resource'));
  const project = projectOf(simulator, query.get('project'));
  response.setHeader('content-type', 'application/x-ndjson');
  await pipeline(Readable.from(linesOf(simulator, resource, project)), response);
}

function* linesOf(
  simulator: Simulator,
  resource: ListedResource,
  project: string | undefined,
): Generator<string> {
  for (const { text } of simulator.oracle.shown(resource, project)) yield `${text}\n`;
}

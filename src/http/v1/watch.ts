// `POST /archive/v1/watch`: who may watch a project may name the operations of it to ask for. Reading alone gives no right to.
import { createHash, type Hash } from 'node:crypto';
import type { preParsingHookHandler, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { ProjectId } from '../../model.ts';
import { Refused, refusal, type Answer } from '../answers.ts';
import type { Opened } from '../gate.ts';
import { answerWatch, type Watch } from '../watch.ts';
import { projectOf } from './admission.ts';
import { checked } from '../../query/check.ts';
import { readQuery } from './parameters.ts';
import { project } from './route.ts';

export const watchQuery = z.strictObject({ project: project.optional() });

/** The project that operations come in for; tells nothing of the body. Throws `Refused`: 403 where the right to watch is missing. */
export function projectToWatch(
  { projects, mayWatch }: Opened,
  { raw: { url = '/' } }: FastifyRequest,
): ProjectId {
  const { project: named } = checked(watchQuery, Object.fromEntries(readQuery(url)));
  if (!mayWatch) {
    throw new Refused(
      refusal(
        403,
        'FORBIDDEN',
        'this key may read and not watch: its entry in the readers file needs "watch": true',
      ),
    );
  }
  return projectOf(projects, named);
}

/** A page of the web can post text to this machine, but no JSON without being allowed to. */
export async function entered(
  watch: Watch,
  to: ProjectId,
  { headers, body }: FastifyRequest,
  signature: string | undefined,
): Promise<Answer> {
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
    return refusal(415, 'BAD_REQUEST', 'Content-Type must be application/json');
  }
  return answerWatch(watch, to, body, signature);
}

/** Digests bodies as they come in: their bytes as sent, which is what a signature covers. */
export function createBodyDigests(): {
  begin: preParsingHookHandler;
  /** Lower-case hex SHA-256, once the body has come. */
  of(request: FastifyRequest): string;
} {
  const hashes = new WeakMap<FastifyRequest, Hash>();
  return {
    begin: (request, _reply, payload, done) => {
      const digest = createHash('sha256');
      hashes.set(request, digest);
      // Beside the server's own reader, which is added before the next piece can come.
      payload.on('data', (piece: Buffer | string) => digest.update(piece));
      done(null, payload);
    },
    of: (request) => (hashes.get(request) ?? createHash('sha256')).copy().digest('hex'),
  };
}

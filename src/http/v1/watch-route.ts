// `POST /archive/v1/watch`: operations to watch come in over HTTP. Who may watch a project may name the operations of
// it to ask for; reading alone gives no right to. It writes through a function it is given, and nothing else.
import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { isOutlastError } from '../../errors.ts';
import { apiVersions, type NewOperation, type ProjectId, type Watched } from '../../model.ts';
import { day, oneOf } from '../../query/arguments.ts';
import { checked } from '../../query/check-arguments.ts';
import { badRequest, Refused, refusal, refuse, type Answer } from '../http-answers.ts';
import { projectToRead, type Opened } from '../access.ts';
import { withoutUndefined, project, readQuery } from './route.ts';

/**
 * Enters operations, once for each `signature` of a signed request (hex), over all replicas. Throws settings
 * `operations_invalid`, `operations_too_many`, `unknown_project` or `request_taken` with what is wrong.
 */
export type EnterOperations = (
  project: ProjectId,
  operations: NewOperation[],
  signature?: string,
) => Promise<Watched>;

const most = 1000;
/**
 * Open at once, per project: each is asked for again and again under the one rate limit, so that this door must not
 * fill it alone.
 */
export const mostOpen = 100_000;

export const watchBody = z.strictObject({
  operation_ids: z
    .array(z.string('must hold texts'), `must be a list of 1 to ${most} ids`)
    .min(1, `must be a list of 1 to ${most} ids`)
    .max(most, `must be a list of 1 to ${most} ids`),
  created_on: day.optional(),
  api_version: oneOf(apiVersions).optional(),
});

/** Enters what came in, and answers; `signature` is that of a signed request. */
export async function enterWatched(
  watch: EnterOperations,
  project: ProjectId,
  body: Buffer,
  signature: string | undefined,
): Promise<Answer> {
  const parsed = watchBody.safeParse(jsonIn(body));
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map(({ path, message }) =>
      [path[0], message].filter((part) => part !== undefined).join(' '),
    );
    return badRequest([...new Set(mistakes)].slice(0, 3).join('; '));
  }
  const { operation_ids: ids, created_on: createdOn, api_version: apiVersion } = parsed.data;
  const about = withoutUndefined({ createdOn, apiVersion });
  const operations = ids.map((operationId) => ({ operationId, ...about }));
  try {
    return {
      status: 200,
      body: JSON.stringify({ data: await watch(project, operations, signature) }),
    };
  } catch (error) {
    // P12: one sentence, and nothing was entered.
    if (isOutlastError(error, 'operations_invalid')) return badRequest(error.message);
    if (isOutlastError(error, 'operations_too_many')) {
      return refusal(429, 'TOO_MANY_REQUESTS', error.message);
    }
    if (isOutlastError(error, 'request_taken')) return refusal(409, 'CONFLICT', error.message);
    // The error names the projects there are, which this reader may not read (P10).
    if (isOutlastError(error, 'unknown_project')) {
      return badRequest('nothing is archived of this project yet: it has to be synced first');
    }
    throw error;
  }
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return refuse('the request cannot be read');
  }
}

export const watchQuery = z.strictObject({ project: project.optional() });

/**
 * The project that operations come in for; tells nothing of the body. Throws `Refused`: 403 where the right to watch is
 * missing.
 */
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
  return projectToRead(projects, named);
}

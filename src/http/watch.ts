// `POST /archive/v1/watch`: operations to watch come in over HTTP. It writes through a function it is given, and nothing else.
import * as z from 'zod';
import { isOutlastError } from '../errors.ts';
import type { ApiVersion, Day, ProjectId } from '../model.ts';
import { day } from '../query/days.ts';
import { badRequest, refusal, type Answer } from './answers.ts';

export type NewOperation = { operationId: string; apiVersion?: ApiVersion; createdOn?: Day };

/**
 * Enters operations, once for each `signature` of a signed request (hex), over all replicas. Throws settings `operations_invalid`,
 * `operations_too_many`, `unknown_project` or `request_taken` with what is wrong.
 */
export type Watch = (
  project: ProjectId,
  operations: NewOperation[],
  signature?: string,
) => Promise<{ given: number; added: number }>;

const most = 1000;
/** Open at once, per project: each is asked for again and again under the one rate limit, so that this door must not fill it alone. */
export const mostOpen = 100_000;

export const watchBody = z.strictObject({
  operation_ids: z
    .array(z.string('must hold texts'), `must be a list of 1 to ${most} ids`)
    .min(1, `must be a list of 1 to ${most} ids`)
    .max(most, `must be a list of 1 to ${most} ids`),
  created_on: day.optional(),
  api_version: z.enum(['v1beta1', 'v3'], 'must be v1beta1 or v3').optional(),
});

/** `given` is the parsed JSON body, `signature` that of a signed request. */
export async function answerWatch(
  watch: Watch,
  project: string,
  given: unknown,
  signature?: string,
): Promise<Answer> {
  const parsed = watchBody.safeParse(given);
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map(({ path, message }) =>
      [path[0], message].filter((part) => part !== undefined).join(' '),
    );
    return badRequest([...new Set(mistakes)].slice(0, 3).join('; '));
  }
  const { operation_ids: ids, created_on: createdOn, api_version: apiVersion } = parsed.data;
  const operations = ids.map((operationId) => ({
    operationId,
    ...(createdOn === undefined ? {} : { createdOn }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
  }));
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

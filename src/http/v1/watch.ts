// `POST /archive/v1/watch`: who may read a project may also name the operations of it to ask for.
import * as z from 'zod';
import type { FastifyRequest } from 'fastify';
import type { ProjectId } from '../../model.ts';
import { refusal, type Answer } from '../answers.ts';
import { answerWatch, type Watch } from '../watch.ts';
import { projectOf } from './admission.ts';
import { project } from './parameters.ts';
import { checked, readQuery } from './query-text.ts';

export const watchQuery = z.strictObject({ project: project.optional() });

/** A page of the web can post text to this machine, but no JSON without being allowed to. */
export async function entered(
  watch: Watch,
  projects: readonly ProjectId[],
  request: FastifyRequest,
): Promise<Answer> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    return refusal(415, 'BAD_REQUEST', 'Content-Type must be application/json');
  }
  const { project: named } = checked(watchQuery, readQuery(request.raw.url ?? '/'));
  return answerWatch(watch, projectOf(projects, named), request.body);
}

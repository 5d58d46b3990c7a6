// What a route is whose path, parameters and answers are not ours to shape, the platform's own or a node's: data, from
// which the server answers and /openapi.json tells. What describes a parameter is what checks it.
import * as z from 'zod';
import type { ProjectId } from '../../model.ts';
import type { QueryParameters } from '../../platform/target.ts';
import {
  asText,
  checked,
  optional,
  type CheckedArguments,
  type Shape,
} from '../../query/check-arguments.ts';
import type { Answer } from '../http-answers.ts';
import type { Serving } from '../serving.ts';

type PlatformRequest = Pick<Serving, 'archive' | 'isAlive' | 'classesOf'> & {
  project: ProjectId;
};

type Told = {
  /** Parameters in braces. */
  path: string;
  /** Its name for programs: `platformOrders`. */
  name: string;
  group: string;
  summary: string;
  about: string;
  /** What stands in a 200. */
  answer: z.ZodType;
  /** The statuses of refusals, and whether they have a node's shape instead of the platform's. */
  refusals: readonly number[];
  isNodes?: true;
  /** Signed like the platform's; a key alone; nothing. */
  needs: 'signature' | 'key' | 'nothing';
};

export type PlatformRoute = Told & {
  inPath: z.ZodObject;
  inQuery: z.ZodObject;
  read(
    path: Record<string, string>,
    query: QueryParameters,
    asking: PlatformRequest,
  ): Promise<Answer>;
};

type Definition<Path extends Shape, Parameters extends Shape> = Told & {
  inPath: Path;
  inQuery: Parameters;
  read: (
    given: CheckedArguments<Path> & Partial<CheckedArguments<Parameters>>,
    asking: PlatformRequest,
  ) => Promise<Answer>;
};

/** What nobody knows here asks for nothing. `read` throws settings `argument_invalid` for what makes no sense (P12). */
export function platformRoute<Path extends Shape, Parameters extends Shape>(
  definition: Definition<Path, Parameters>,
): PlatformRoute {
  const inPath = z.object(asText(definition.inPath));
  const inQuery = z.object(optional(asText(definition.inQuery)));
  return {
    ...definition,
    inPath,
    inQuery,
    read: async (path, query, asking) =>
      definition.read(
        { ...checked(inPath, path), ...checked(inQuery, Object.fromEntries(query)) } as never,
        asking,
      ),
  };
}

/** A record in an answer. */
export const record = z.record(z.string(), z.unknown()).describe('As the platform gave it');

export const ofPlatform = {
  group: 'The platform’s own interface',
  about: '',
  refusals: [400, 403],
  needs: 'signature',
  inPath: {},
} as const;

// What a route of `/archive/v1` is: data, from which the server answers, /openapi.json and /docs tell, and the tests ask.
import * as z from 'zod';
import type { ProjectId } from '../../model.ts';
import type { Archive } from '../../query/types.ts';
import * as parameter from './parameters.ts';
import type { Format } from './parameters.ts';
import { checked } from './query-text.ts';

/** Who asks, for what, in which form. */
export type Asking = {
  archive: Archive;
  /** The project that was named, or the only one there is; '' on routes that need none. */
  project: ProjectId;
  /** Every project this reader may read. */
  projects: readonly ProjectId[];
  /** The project whose classes stand for the platform's list, which depends on no key. */
  classesOf: (project: ProjectId) => ProjectId;
  format: Format;
};

/** Rows of one kind, in the library's names, with what goes beside them in JSON. */
export type Rows = {
  kind: 'rows';
  rows: Iterable<object> | AsyncIterable<object>;
  fields: readonly string[];
  /** JSON only: further members of the answer, as values. */
  beside?: Record<string, unknown>;
};

export type Reply =
  | Rows
  /** One object, as JSON text. */
  | { kind: 'object'; json: string }
  | { kind: 'file'; bytes: Uint8Array; name: string };

export type Route = {
  /** Below `/archive/v1`, parameters in braces. */
  path: string;
  /** Its name for programs: `listOrders`. */
  name: string;
  summary: string;
  about: string;
  /** `one`: of a project; `none`: of all that the reader may read. */
  needs: 'one' | 'none';
  inPath: z.ZodObject;
  /** `project` and `format` included where they are taken. */
  inQuery: z.ZodObject;
  /** The JSON of 200; null for a file. */
  answer: z.ZodType | null;
  /** Whether 404 is among the answers. */
  mayBeAbsent: boolean;
  /** Null: there is no such thing. */
  read(
    path: Map<string, string>,
    query: Map<string, string>,
    asking: Asking,
  ): Promise<Reply | null>;
};

type Definition<Path extends z.ZodRawShape, Query extends z.ZodRawShape> = {
  path: string;
  name: string;
  summary: string;
  about?: string;
  needs?: 'one' | 'none';
  /** A list, which comes in every format. */
  isList?: boolean;
  inPath?: Path;
  inQuery?: Query;
  answer: z.ZodType | null;
  mayBeAbsent?: boolean;
  read: (given: z.output<z.ZodObject<Path & Query>>, asking: Asking) => Promise<Reply | null>;
};

/** No parameters of its own. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- it is meant
type Nothing = Pick<z.ZodRawShape, never>;

export function route<Path extends z.ZodRawShape = Nothing, Query extends z.ZodRawShape = Nothing>(
  definition: Definition<Path, Query>,
): Route {
  const { needs = 'one', isList = false, read, ...rest } = definition;
  const inPath = z.strictObject(definition.inPath ?? {});
  const inQuery = z.strictObject({
    ...(needs === 'one' ? { project: parameter.project.optional() } : {}),
    ...definition.inQuery,
    ...(isList ? { format: parameter.format } : {}),
  });
  return {
    about: '',
    mayBeAbsent: false,
    ...rest,
    needs,
    inPath,
    inQuery,
    read: async (path, query, asking) => {
      const {
        project: _,
        format: __,
        ...given
      } = {
        ...checked(inPath, path),
        ...checked(inQuery, query),
      } as Record<string, unknown>;
      return read(given as z.output<z.ZodObject<Path & Query>>, asking);
    },
  };
}

/** The given ones alone: the library tells an absent argument from an undefined one. */
export function present<T extends object>(
  given: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as never;
}

// What a route of `/archive/v1` is: data, from which the server answers, /openapi.json and /docs tell, and the tests
// ask. And how what stands in a URL is read, by the pages too: the arguments are the library's (query/arguments.ts),
// but for `format` and `count`; whatever is wrong is answered 400 with what is allowed (P12).
import * as z from 'zod';
import type { ProjectId, Resource, SettingInForce } from '../../model.ts';
import type { Archive } from '../../query/types.ts';
import { oneOf, project as projectName } from '../../query/arguments.ts';
import {
  asText,
  checked,
  optional,
  type CheckedArguments,
  type Shape,
} from '../../query/check-arguments.ts';
import { snake, type Fields } from '../../resources.ts';
import { refuse } from '../http-answers.ts';

/** A sheet is text/csv as well: `Accept` does not ask for it. */
export const acceptFormats = ['json', 'ndjson', 'csv'] as const;
export const answerFormats = [...acceptFormats, 'sheet'] as const;
export type AnswerFormat = (typeof answerFormats)[number];
/** And those in which a route answers that has no other. */
export type Form = (typeof acceptFormats)[number] | 'file' | 'events';
const format = oneOf(answerFormats).describe(
  'json by default; ndjson and csv give the whole list as a stream; sheet does as CSV for a spreadsheet. Goes before Accept',
);
export const count = z
  .boolean('must be true or false')
  .describe('true: how many match, counted exactly, stands beside the items');

/** Who asks, for what, in which form. */
export type ArchiveRequest = {
  archive: Archive;
  /** The project that was named, or the only one there is; '' on routes that need none. */
  project: ProjectId;
  /** Every project this reader may read. */
  projects: readonly ProjectId[];
  /** The project whose classes stand for the platform's list, which depends on no key. */
  classesOf: (project: ProjectId) => ProjectId;
  /** The settings of this process; null: not for this reader. */
  settings: readonly SettingInForce[] | null;
  format: AnswerFormat;
  /** Aborted when the server stops: whoever waits for something goes on without it. */
  stopping: AbortSignal;
};

/** Rows of one kind, in the library's names, with what goes beside them in JSON. */
export type Rows = {
  kind: 'rows';
  rows: Iterable<object> | AsyncIterable<object>;
  fields: Fields;
  /** JSON only: further members of the answer, as values. */
  beside?: Record<string, unknown>;
};

export type Reply =
  | Rows
  /** One object, as JSON text. */
  | { kind: 'object'; json: string }
  | { kind: 'file'; bytes: Uint8Array; name: string }
  /** What goes on in the project, as it comes. */
  | { kind: 'events' };

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
  /** The JSON of 200; null for a file, and for events. */
  answer: z.ZodType | null;
  /** Whether it goes on and on: Server-Sent Events. */
  isEvents: boolean;
  /** Whether 404 is among the answers. */
  mayBeAbsent: boolean;
  /** What an answer waits for before it is read: it takes no place among those that are being read. */
  hold(path: InUrl, query: InUrl, asking: ArchiveRequest): Promise<void>;
  /** Null: there is no such thing. */
  read(path: InUrl, query: InUrl, asking: ArchiveRequest): Promise<Reply | null>;
};
/** Names and what was given for them. */
type InUrl = ReadonlyMap<string, string>;

/** Parameters have the library's names here; in the URL they have the tables'. None in the query must be given. */
export type Definition<Path extends Shape, Query extends Shape> = Pick<
  Route,
  'path' | 'name' | 'summary' | 'answer'
> &
  Partial<Pick<Route, 'about' | 'needs' | 'isEvents' | 'mayBeAbsent'>> & {
    /** A list, which comes in every format. */
    isList?: boolean;
    inPath?: Path;
    inQuery?: Query;
    hold?: (given: GivenTo<Path, Query>, asking: ArchiveRequest) => Promise<void>;
    read: (given: GivenTo<Path, Query>, asking: ArchiveRequest) => Promise<Reply | null>;
  };
type GivenTo<Path extends Shape, Query extends Shape> = CheckedArguments<Path> &
  Partial<CheckedArguments<Query>>;

/** No parameters of its own. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- a route without parameters has exactly none
export type Nothing = Pick<Shape, never>;

export const project = projectName.describe('The project; needed only where you may read several');

export function route<Path extends Shape = Nothing, Query extends Shape = Nothing>(
  definition: Definition<Path, Query>,
): Route {
  const { needs = 'one', isList = false, read, hold, ...rest } = definition;
  const inPath = z.strictObject(inUrl(definition.inPath ?? {}));
  const inQuery = z.strictObject(
    optional(
      inUrl({
        ...(needs === 'one' ? { project } : {}),
        ...definition.inQuery,
        ...(isList ? { format } : {}),
      }),
    ),
  );
  const names = Object.keys({ ...definition.inPath, ...definition.inQuery });
  const parsed = (path: InUrl, query: InUrl): never => {
    if (query.has('as_of') && !('as_of' in inQuery.shape)) {
      refuse(
        'as_of is not taken here: this is as it stands now. What was certain at an earlier moment stands in the certificates',
      );
    }
    const given: Record<string, unknown> = {
      ...checked(inPath, Object.fromEntries(path)),
      ...checked(inQuery, Object.fromEntries(query)),
    };
    const named = names.map((name) => [name, given[snake(name)]]);
    return withoutUndefined(Object.fromEntries(named)) as never;
  };
  return {
    about: '',
    mayBeAbsent: false,
    isEvents: false,
    ...rest,
    needs,
    inPath,
    inQuery,
    hold: async (path, query, asking) => hold?.(parsed(path, query), asking),
    read: async (path, query, asking) => read(parsed(path, query), asking),
  };
}

/** Classes are another project's where that one archives them for both. */
export const projectFor = (
  { project, classesOf }: Pick<ArchiveRequest, 'project' | 'classesOf'>,
  resource: Resource | undefined,
): ProjectId => (resource === 'nft_classes' ? classesOf(project) : project);

/** The given ones alone: the library tells an absent argument from an undefined one. */
export function withoutUndefined<T extends object>(
  given: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as never;
}

/** Arguments of the library as they stand in a URL: under the tables' names, as text. */
const inUrl = (shape: Shape): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(asText(shape)).map(([name, kind]) => [snake(name), kind]));

/** The parameters as they stand in a URL, each once, decoded strictly. Throws `Refused`. */
export function readQuery(url: string): Map<string, string> {
  const mark = url.indexOf('?');
  const given = new Map<string, string>();
  if (mark < 0) return given;
  for (const piece of url.slice(mark + 1).split('&')) {
    if (piece === '') continue;
    const at = piece.indexOf('=');
    const name = decoded(at < 0 ? piece : piece.slice(0, at));
    const value = at < 0 ? '' : decoded(piece.slice(at + 1));
    if (given.has(name)) refuse(`${shown(name)} is given twice: give it once`);
    if (value === '') refuse(`${shown(name)} is empty: give it a value, or leave it out`);
    given.set(name, name === 'as_of' ? withPlus(value) : value);
  }
  return given;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return refuse('the query cannot be read: percent-signs must stand for UTF-8');
  }
}

/** A `+` that nobody percent-encoded arrives as a space, which no instant has. */
const withPlus = (instant: string): string => instant.replace(/ (?=\d\d:\d\d$)/, '+');

const shown = (name: string): string => JSON.stringify(name.slice(0, 80));

/**
 * The same of a page's address: as they were written, several statuses with commas between them. Fields of a form that
 * were left empty are left out, and `project` is not among them.
 */
export function givenIn(query: URLSearchParams): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name).filter((value) => value !== '');
    const text = values.join(',');
    const value = name === 'as_of' ? withPlus(text.trim()) : text;
    if (value !== '' && name !== 'project') given[name] = value;
  }
  return given;
}

/** In the library's names. Throws settings `argument_invalid`. */
export function askedOf(shape: Shape, given: Record<string, string>): Record<string, unknown> {
  const asked: Record<string, unknown> = checked(z.strictObject(optional(inUrl(shape))), given);
  return withoutUndefined(
    Object.fromEntries(Object.keys(shape).map((name) => [name, asked[snake(name)]])),
  );
}

// The projects file: several projects in one JSON file that holds no secret itself, only the place of each.
// Mistakes name where they stand (`projects[2].baseUrl`) and go to the same list as all others.
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import type { ProjectId } from '../model.ts';
import * as kind from './value-parsers.ts';
import type { ValueParser } from './value-parsers.ts';
import { whyUnread, type EnvironmentReader } from './environment.ts';

export type ProjectSettings = {
  id: ProjectId;
  /** Without a slash at its end. */
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  /** Whether this project's orders are archived. */
  orders: 'all' | 'none';
  /** Which part of the platform-wide class list this project archives; a list names owners. */
  classes: 'all' | 'none' | string[];
  /** The node interface for tokens; null: the base URL. */
  tokensUrl: string | null;
  /** Requests per second at most, over all slices and replicas (P11). */
  maxRps: number;
};

const variableName = z
  .string('must be the name of a variable')
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable, not the secret itself');
const path = z.string('must be the path of a file').min(1, 'must be the path of a file');

const classesAdvice = 'must be "all", "none" or a list of owners';

const schema = z.strictObject(
  {
    name: ofKind(kind.projectName),
    baseUrl: ofKind(kind.httpUrl),
    apiKey: ofKind(kind.apiKey).optional(),
    apiKeyEnv: variableName.optional(),
    apiKeyFile: path.optional(),
    apiSecretEnv: variableName.optional(),
    apiSecretFile: path.optional(),
    orders: z.enum(['all', 'none'], 'must be "all" or "none"').optional(),
    classes: z
      .union(
        [z.literal('all'), z.literal('none'), z.array(z.string().min(1)).min(1, classesAdvice)],
        classesAdvice,
      )
      .optional(),
    tokensUrl: ofKind(kind.httpUrl).optional(),
    maxRps: z
      .number('must be a number from 0.01 to 100000')
      .min(0.01, 'must be at least 0.01')
      .max(100_000, 'must be at most 100000')
      .optional(),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? unknownFields(issue.keys) : 'must be an object',
  },
);

type Entry = z.infer<typeof schema>;

/** Text of one of our own kinds, with its own sentences. */
function ofKind(read: ValueParser<string>): z.ZodType<string, string> {
  return z.string('must be given as text').transform((text, context) => {
    const checked = read(text);
    if ('value' in checked) return checked.value;
    context.addIssue(checked.mistake.replace(/\.$/, ''));
    return z.NEVER;
  });
}

function unknownFields(keys: readonly string[]): string {
  if (keys.includes('apiSecret')) {
    return 'holds "apiSecret": a secret must not stand in this file; name the variable (apiSecretEnv) or the file (apiSecretFile) that has it';
  }
  return `holds ${keys.map((key) => kind.quoted(key)).join(', ')}, which it cannot; it can hold ${Object.keys(schema.shape).join(', ')}`;
}

/**
 * Reads `[{…}]` or `{"projects": [{…}]}`. Files named inside are found from the folder of the projects file.
 * `variables` are the names that stand in apiKeyEnv and apiSecretEnv; null where the file could not be read.
 */
export function readProjectsFile(
  file: string,
  maxRps: number,
  reader: EnvironmentReader,
): { projects: ProjectSettings[]; variables: string[] | null } {
  const list = readList(file, reader);
  if (list === null) return { projects: [], variables: null };
  const found = list.map((item, i) => {
    const at = `OUTLAST_PROJECTS_FILE: projects[${i}]`;
    const parsed = schema.safeParse(item);
    if (parsed.success) return { at, entry: parsed.data };
    for (const { path: inside, message } of parsed.error.issues) {
      reader.report(`${[at, ...inside.map(String)].join('.')} ${message}.`);
    }
    return { at, entry: null };
  });
  const entries = found.flatMap(({ at, entry }) => (entry === null ? [] : [{ at, entry }]));
  const classes = shareClasses(entries.map(({ entry }) => entry));
  const projects = entries.map(({ at, entry }, i) => ({
    id: entry.name,
    baseUrl: entry.baseUrl,
    apiKey: readSecret(entry, 'apiKey', at, file, reader),
    apiSecret: readSecret(entry, 'apiSecret', at, file, reader),
    orders: entry.orders ?? 'all',
    classes: classes[i] ?? 'none',
    tokensUrl: entry.tokensUrl ?? null,
    maxRps: entry.maxRps ?? maxRps,
  }));
  reportTwins(projects, reader);
  const variables = entries.flatMap(({ entry: { apiKeyEnv, apiSecretEnv } }) =>
    [apiKeyEnv, apiSecretEnv].filter((name) => name !== undefined),
  );
  return { projects, variables: entries.length === found.length ? variables : null };
}

function readList(file: string, reader: EnvironmentReader): unknown[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(reader.readFile(file));
  } catch (error) {
    reader.report(
      error instanceof SyntaxError
        ? 'OUTLAST_PROJECTS_FILE is not valid JSON: correct the file.'
        : `OUTLAST_PROJECTS_FILE ${whyUnread(error)}.`,
    );
    return null;
  }
  const list: unknown =
    typeof parsed === 'object' && parsed !== null && 'projects' in parsed
      ? parsed.projects
      : parsed;
  if (Array.isArray(list) && list.length > 0) return list;
  reader.report(
    'OUTLAST_PROJECTS_FILE has no projects: give a JSON list of them, or an object with that list as "projects".',
  );
  return null;
}

/**
 * The class list is the platform's, not the key's: per address one project carries it, the first unless one was told.
 */
function shareClasses(entries: Entry[]): ProjectSettings['classes'][] {
  const told = entries.filter(({ classes }) => classes !== undefined && classes !== 'none');
  const carriers = new Set(told.map(({ baseUrl }) => baseUrl));
  return entries.map(({ baseUrl, classes }) => {
    if (classes !== undefined) return typeof classes === 'string' ? classes : [...new Set(classes)];
    if (carriers.has(baseUrl)) return 'none';
    carriers.add(baseUrl);
    return 'all';
  });
}

function readSecret(
  entry: Entry,
  field: 'apiKey' | 'apiSecret',
  at: string,
  file: string,
  reader: EnvironmentReader,
): string {
  const inline = field === 'apiKey' ? entry.apiKey : undefined;
  const variable = entry[`${field}Env`];
  const secretPath = entry[`${field}File`];
  if ([inline, variable, secretPath].filter((place) => place !== undefined).length !== 1) {
    const ways = `${field === 'apiKey' ? 'apiKey, ' : ''}${field}Env (a variable) or ${field}File (a file)`;
    reader.report(`${at} must have exactly one of ${ways}.`);
    return '';
  }
  if (inline !== undefined) return inline;
  const subject = `${at}.${field}${variable === undefined ? 'File' : 'Env'}`;
  const text =
    variable === undefined
      ? reader.secretFile(resolve(dirname(file), secretPath ?? ''), subject)
      : reader.variable(variable);
  if (text === null) {
    // The name is not repeated: people put the secret itself there (P10).
    if (variable !== undefined) reader.report(`${subject} names a variable that is not set.`);
    return '';
  }
  const checked = kind.unquoted(field === 'apiKey' ? kind.apiKey : kind.apiSecret)(text);
  if ('value' in checked) return checked.value;
  reader.report(`${subject} names a value that ${checked.mistake}`);
  return '';
}

/** One name is one project, and so is one key at one address; one address has one full class list. */
function reportTwins(projects: ProjectSettings[], reader: EnvironmentReader): void {
  projects.forEach((project, i) => {
    for (const other of projects.slice(0, i)) {
      const both = `OUTLAST_PROJECTS_FILE: projects "${other.id}" and "${project.id}"`;
      if (other.id === project.id) {
        reader.report(
          `OUTLAST_PROJECTS_FILE: two projects are called "${project.id}": give each its own name.`,
        );
      } else if (other.baseUrl === project.baseUrl) {
        if (other.apiKey === project.apiKey && project.apiKey !== '') {
          reader.report(
            `${both} have the same address and key, so they are one project: keep one.`,
          );
        }
        if (other.classes === 'all' && project.classes === 'all') {
          reader.report(
            `${both} would both archive every NFT class of the same platform: give one of them "classes": "none".`,
          );
        }
      }
    }
  });
}

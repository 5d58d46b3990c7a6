// The projects file: several projects in one JSON file that holds no secret itself, only where each one is.
import {
  projectName,
  urlMistake,
  type ProjectSettings,
  type ReadFile,
  type Reader,
} from './settings-checks.ts';

type Context = { reader: Reader; maxRps: number; readFile: ReadFile; mistakes: string[] };

const fields = new Set([
  'name',
  'baseUrl',
  'apiKeyEnv',
  'apiKeyFile',
  'apiSecretEnv',
  'apiSecretFile',
  'classes',
  'tokensUrl',
  'maxRps',
]);

/**
 * Reads `[{…}]` or `{"projects": [{…}]}`. Each mistake names the project it stands in. The class list does not depend on
 * the key: per address one project carries it, the first unless one says so.
 */
export function readProjectsFile(path: string, context: Context): ProjectSettings[] {
  const { mistakes } = context;
  let parsed: unknown;
  try {
    parsed = JSON.parse(context.readFile(path));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is no JSON' : 'cannot be read';
    mistakes.push(`OUTLAST_PROJECTS_FILE ${why}: give a JSON file with a list of projects.`);
    return [];
  }
  const list: unknown = isObject(parsed) ? parsed['projects'] : parsed;
  if (!Array.isArray(list) || list.length === 0) {
    mistakes.push(
      'OUTLAST_PROJECTS_FILE has no list of projects: give [{"name": …}] or {"projects": [{"name": …}]}.',
    );
    return [];
  }
  const projects: ProjectSettings[] = [];
  const carriers = new Set<string>();
  const explicit = list
    .filter(isObject)
    .filter((item) => item['classes'] !== undefined && item['classes'] !== 'none');
  for (const item of explicit) carriers.add(String(item['baseUrl']));
  list.forEach((item: unknown, i) => {
    const where = `OUTLAST_PROJECTS_FILE, project ${i + 1}`;
    if (!isObject(item)) {
      mistakes.push(`${where} is no object.`);
      return;
    }
    const project = readProject(item, where, context, carriers);
    if (projects.some((one) => one.id === project.id)) {
      mistakes.push(`${where}: the name "${project.id}" is taken; give each project its own.`);
    }
    projects.push(project);
  });
  return projects;
}

function readProject(
  item: Record<string, unknown>,
  where: string,
  context: Context,
  carriers: Set<string>,
): ProjectSettings {
  const { mistakes } = context;
  for (const field of Object.keys(item)) {
    if (field === 'apiKey' || field === 'apiSecret') {
      mistakes.push(
        `${where}: ${field} must not stand in the file; name its place with ${field}Env or ${field}File.`,
      );
    } else if (!fields.has(field)) {
      mistakes.push(`${where}: "${field}" is unknown; there are ${[...fields].join(', ')}.`);
    }
  }
  const name = textOf(item, 'name');
  if (name === null || !projectName.test(name)) {
    mistakes.push(`${where}: name must be a-z, 0-9, _ and -, 40 characters at most.`);
  }
  const baseUrl = textOf(item, 'baseUrl')?.replace(/\/+$/, '') ?? '';
  const problem = baseUrl === '' ? 'is missing' : urlMistake(baseUrl);
  if (problem !== null) mistakes.push(`${where}: baseUrl ${problem}.`);
  const tokensUrl = textOf(item, 'tokensUrl');
  const tokensProblem = tokensUrl === null ? null : urlMistake(tokensUrl);
  if (tokensProblem !== null) mistakes.push(`${where}: tokensUrl ${tokensProblem}.`);
  const rps = item['maxRps'];
  if (rps !== undefined && !(typeof rps === 'number' && rps > 0 && rps <= 100_000)) {
    mistakes.push(`${where}: maxRps must be a number above 0.`);
  }
  return {
    id: name ?? '',
    baseUrl,
    apiKey: readSecret(item, 'apiKey', where, context),
    apiSecret: readSecret(item, 'apiSecret', where, context),
    classes: readClasses(item['classes'], baseUrl, where, mistakes, carriers),
    tokensUrl,
    maxRps: typeof rps === 'number' ? rps : context.maxRps,
  };
}

/** The first project of an address carries the class list, unless another one asked for it. */
function readClasses(
  value: unknown,
  baseUrl: string,
  where: string,
  mistakes: string[],
  carriers: Set<string>,
): ProjectSettings['classes'] {
  if (value === undefined) {
    if (carriers.has(baseUrl)) return 'none';
    carriers.add(baseUrl);
    return 'all';
  }
  if (value === 'all' || value === 'none') return value;
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((owner) => typeof owner === 'string' && owner !== '')
  ) {
    return [...new Set(value as string[])];
  }
  mistakes.push(`${where}: classes must be "all", "none" or a list of owners.`);
  return 'none';
}

function readSecret(
  item: Record<string, unknown>,
  field: 'apiKey' | 'apiSecret',
  where: string,
  context: Context,
): string {
  const { mistakes, readFile } = context;
  const fromEnv = textOf(item, `${field}Env`);
  const fromFile = textOf(item, `${field}File`);
  if ((fromEnv === null) === (fromFile === null)) {
    mistakes.push(
      `${where}: give ${field}Env (a variable's name) or ${field}File (a path), one of them.`,
    );
    return '';
  }
  if (fromEnv !== null) {
    const value = context.reader.variable(fromEnv);
    if (value === null)
      mistakes.push(`${where}: the variable ${fromEnv} that ${field}Env names is not set.`);
    return value ?? '';
  }
  try {
    const value = readFile(fromFile ?? '').replace(/\r?\n$/, '');
    if (value === '') mistakes.push(`${where}: the file that ${field}File names is empty.`);
    return value;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    mistakes.push(`${where}: the file that ${field}File names cannot be read (${code}).`);
    return '';
  }
}

function textOf(item: Record<string, unknown>, field: string): string | null {
  const value = item[field];
  return typeof value === 'string' && value !== '' ? value : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Settings: the only place that knows the environment's names. A setting is a type, a default and a sentence;
// every mistake is reported at once, with what to do. Secrets are never repeated in a message (P10).
import { readFileSync } from 'node:fs';
import { validate as isCron } from 'node-cron';
import { settingsError } from './errors.ts';
import { logLevels, type LogLevel } from './log.ts';
import {
  projectName,
  urlMistake,
  type ProjectSettings,
  type Reader,
  type ReadFile,
} from './settings-checks.ts';
export type { ProjectSettings } from './settings-checks.ts';
import { readProjectsFile } from './settings-projects.ts';

export type DatabaseSettings = { kind: 'url'; url: string } | { kind: 'embedded'; dataDir: string };

export type Settings = {
  /** Empty where the command needs no platform and none is configured. */
  projects: ProjectSettings[];
  database: DatabaseSettings;
  host: string;
  port: number;
  concurrency: number;
  timeoutMs: number;
  deadlineMarginMs: number;
  leaseMs: number;
  refreshMs: number;
  schedule: string;
  logLevel: LogLevel;
};

export type Environment = Readonly<Record<string, string | undefined>>;

type Definition = {
  name: string;
  /** What is taken when it is unset, as text; null: there is none. */
  default: string | null;
  /** Whether NAME_FILE may name a file that holds the value. */
  secret?: true;
  sentence: string;
};

/** Every setting, in the order help and .env.example show them. */
export const definitions: readonly Definition[] = [
  {
    name: 'OUTLAST_BASE_URL',
    default: null,
    sentence: "the platform's address, for example https://platform.example",
  },
  { name: 'OUTLAST_API_KEY', default: null, secret: true, sentence: "the project's API key" },
  { name: 'OUTLAST_API_SECRET', default: null, secret: true, sentence: "the project's API secret" },
  {
    name: 'OUTLAST_PROJECT',
    default: 'default',
    sentence: 'what the project is called here: a-z, 0-9, _ and -, 40 characters at most',
  },
  {
    name: 'OUTLAST_PROJECTS_FILE',
    default: null,
    sentence: 'several projects: a JSON file, see docs/settings.md; instead of the four above',
  },
  {
    name: 'OUTLAST_TOKENS_URL',
    default: null,
    sentence: 'the node interface for tokens, if it is not the base URL',
  },
  {
    name: 'OUTLAST_CLASS_OWNERS',
    default: null,
    sentence: "only these owners' NFT classes, separated by commas; all when unset",
  },
  {
    name: 'DATABASE_URL',
    default: null,
    secret: true,
    sentence: 'PostgreSQL 15 or newer; unset: an embedded one under OUTLAST_DATA_DIR',
  },
  {
    name: 'OUTLAST_DATA_DIR',
    default: './.outlast',
    sentence: 'where the embedded PostgreSQL keeps its data',
  },
  { name: 'OUTLAST_HOST', default: '127.0.0.1', sentence: 'the address to serve on' },
  { name: 'OUTLAST_PORT', default: '8080', sentence: 'the port to serve on' },
  {
    name: 'OUTLAST_MAX_RPS',
    default: '5',
    sentence: 'requests a second to the platform at most, per project',
  },
  {
    name: 'OUTLAST_CONCURRENCY',
    default: '4',
    sentence: 'slices worked on at a time, per project',
  },
  {
    name: 'OUTLAST_TIMEOUT_MS',
    default: '10000',
    sentence: 'how long one request may take, in milliseconds',
  },
  {
    name: 'OUTLAST_SCHEDULE',
    default: '* * * * *',
    sentence: 'when `outlast start` looks for work: a cron expression',
  },
  {
    name: 'OUTLAST_REFRESH_HOURS',
    default: '6',
    sentence: 'how often NFT classes of the window are read again',
  },
  {
    name: 'OUTLAST_DEADLINE_MARGIN_HOURS',
    default: '24',
    sentence: 'how long before a month vanishes its work should be done',
  },
  {
    name: 'OUTLAST_LEASE_SECONDS',
    default: '120',
    sentence: 'how long a silent worker keeps its slice',
  },
  {
    name: 'OUTLAST_LOG_LEVEL',
    default: 'info',
    sentence: `what is logged: ${logLevels.join(', ')}`,
  },
];

export type Needs = 'platform' | 'database';

/**
 * Reads the settings. Pure but for the files that the environment names. A command that only reads the archive needs
 * the database alone; then a platform may be missing, but not half configured.
 * Throws settings `settings_invalid` with every mistake on a line of its own.
 */
export function readSettings(
  options: { needs: Needs; readFile?: ReadFile },
  env: Environment = process.env,
): Settings {
  const mistakes: string[] = [];
  const readFile = options.readFile ?? ((path) => readFileSync(path, 'utf8'));
  const reader = createReader(env, readFile, mistakes);
  if (reader.text('OUTLAST_PROJECTS_FILE') === null) reportUnknown(env, mistakes);

  const maxRps = reader.number('OUTLAST_MAX_RPS', 0.01, 100_000);
  const settings: Settings = {
    projects: readProjects(reader, maxRps, options.needs, readFile, mistakes),
    database: readDatabase(reader, mistakes),
    host: reader.text('OUTLAST_HOST') ?? '',
    port: reader.whole('OUTLAST_PORT', 0, 65_535),
    concurrency: reader.whole('OUTLAST_CONCURRENCY', 1, 64),
    timeoutMs: reader.whole('OUTLAST_TIMEOUT_MS', 100, 600_000),
    deadlineMarginMs: reader.number('OUTLAST_DEADLINE_MARGIN_HOURS', 0, 24 * 20) * 3_600_000,
    leaseMs: reader.number('OUTLAST_LEASE_SECONDS', 1, 86_400) * 1000,
    refreshMs: reader.number('OUTLAST_REFRESH_HOURS', 0.01, 24 * 28) * 3_600_000,
    schedule: readSchedule(reader, mistakes),
    logLevel: readLogLevel(reader, mistakes),
  };
  if (mistakes.length > 0) {
    const [one] = mistakes;
    throw settingsError(
      'settings_invalid',
      mistakes.length === 1 && one !== undefined
        ? one
        : `${mistakes.length} settings need attention:\n${mistakes.map((line) => `  - ${line}`).join('\n')}`,
    );
  }
  return settings;
}

function createReader(env: Environment, readFile: ReadFile, mistakes: string[]): Reader {
  const given = (name: string): string | null => {
    const value = env[name];
    return value === undefined || value === '' ? null : value;
  };
  const fromFile = (name: string, path: string): string | null => {
    try {
      const value = readFile(path).replace(/\r?\n$/, '');
      if (value !== '') return value;
      mistakes.push(`${name}_FILE names an empty file: put the value into it.`);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
      mistakes.push(
        `${name}_FILE names a file that cannot be read (${code}): check the path and its rights.`,
      );
    }
    return null;
  };
  const text = (name: string): string | null => {
    const definition = definitions.find((one) => one.name === name);
    const value = given(name);
    const path = definition?.secret === true ? given(`${name}_FILE`) : null;
    if (value !== null && path !== null) {
      mistakes.push(`${name} and ${name}_FILE are both set: keep one of them.`);
    }
    return value ?? (path === null ? null : fromFile(name, path)) ?? definition?.default ?? null;
  };
  const number = (name: string, least: number, most: number): number => {
    const value = text(name) ?? '';
    const parsed = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
    if (parsed >= least && parsed <= most) return parsed;
    mistakes.push(`${name} is "${value}": give a number from ${least} to ${most}.`);
    return least;
  };
  const whole = (name: string, least: number, most: number): number => {
    const value = text(name) ?? '';
    if (/^\d+$/.test(value) && Number(value) >= least && Number(value) <= most)
      return Number(value);
    mistakes.push(`${name} is "${value}": give a whole number from ${least} to ${most}.`);
    return least;
  };
  return { text, number, whole, variable: given };
}

function reportUnknown(env: Environment, mistakes: string[]): void {
  const known = new Set(
    definitions.flatMap(({ name, secret }) => (secret === true ? [name, `${name}_FILE`] : [name])),
  );
  for (const name of Object.keys(env)) {
    if (!name.startsWith('OUTLAST_') || known.has(name)) continue;
    const close = [...known].find((one) => distance(one, name) <= 3);
    mistakes.push(
      `${name} is no setting of Outlast${close === undefined ? ': remove it' : `: did you mean ${close}`}.`,
    );
  }
}

/** Edit distance, for "did you mean": both texts are short names. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function readProjects(
  reader: Reader,
  maxRps: number,
  needs: Needs,
  readFile: ReadFile,
  mistakes: string[],
): ProjectSettings[] {
  const path = reader.text('OUTLAST_PROJECTS_FILE');
  const baseUrl = reader.text('OUTLAST_BASE_URL');
  const apiKey = reader.text('OUTLAST_API_KEY');
  const apiSecret = reader.text('OUTLAST_API_SECRET');
  const single = {
    OUTLAST_BASE_URL: baseUrl,
    OUTLAST_API_KEY: apiKey,
    OUTLAST_API_SECRET: apiSecret,
  };
  const missing = Object.entries(single).flatMap(([name, value]) => (value === null ? [name] : []));
  if (path !== null) {
    if (missing.length < 3) {
      mistakes.push(
        'OUTLAST_PROJECTS_FILE and OUTLAST_BASE_URL, _API_KEY or _API_SECRET are both set: keep the file or the others.',
      );
    }
    return readProjectsFile(path, { reader, maxRps, readFile, mistakes });
  }
  if (missing.length === 3 && needs === 'database') return [];
  for (const name of missing) {
    const isSecret = name !== 'OUTLAST_BASE_URL';
    mistakes.push(
      `${name}${isSecret ? ` (or ${name}_FILE)` : ''} is missing: set it to ${definitions.find((one) => one.name === name)?.sentence}.`,
    );
  }
  const id = reader.text('OUTLAST_PROJECT') ?? '';
  if (!projectName.test(id)) {
    mistakes.push(`OUTLAST_PROJECT is "${id}": use a-z, 0-9, _ and -, 40 characters at most.`);
  }
  const urlProblem = baseUrl === null ? null : urlMistake(baseUrl);
  if (urlProblem !== null) mistakes.push(`OUTLAST_BASE_URL ${urlProblem}.`);
  const tokensUrl = reader.text('OUTLAST_TOKENS_URL');
  const tokensProblem = tokensUrl === null ? null : urlMistake(tokensUrl);
  if (tokensProblem !== null) mistakes.push(`OUTLAST_TOKENS_URL ${tokensProblem}.`);
  if (missing.length > 0) return [];
  const owners = reader.text('OUTLAST_CLASS_OWNERS');
  return [
    {
      id,
      baseUrl: (baseUrl ?? '').replace(/\/+$/, ''),
      apiKey: apiKey ?? '',
      apiSecret: apiSecret ?? '',
      classes: owners === null ? 'all' : listOf(owners),
      tokensUrl,
      maxRps,
    },
  ];
}

const listOf = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
];

function readDatabase(reader: Reader, mistakes: string[]): DatabaseSettings {
  const url = reader.text('DATABASE_URL');
  if (url === null) {
    return { kind: 'embedded', dataDir: reader.text('OUTLAST_DATA_DIR') ?? './.outlast' };
  }
  if (!URL.canParse(url) || !/^postgres(ql)?:$/.test(new URL(url).protocol)) {
    mistakes.push(
      'DATABASE_URL is no PostgreSQL address: it has the form postgres://user:password@host:5432/database.',
    );
  }
  return { kind: 'url', url };
}

function readSchedule(reader: Reader, mistakes: string[]): string {
  const schedule = reader.text('OUTLAST_SCHEDULE') ?? '';
  if (!isCron(schedule)) {
    mistakes.push(`OUTLAST_SCHEDULE is "${schedule}": give a cron expression such as "* * * * *".`);
  }
  return schedule;
}

function readLogLevel(reader: Reader, mistakes: string[]): LogLevel {
  const value = reader.text('OUTLAST_LOG_LEVEL');
  const level = logLevels.find((one) => one === value);
  if (level !== undefined) return level;
  mistakes.push(`OUTLAST_LOG_LEVEL is "${value}": give one of ${logLevels.join(', ')}.`);
  return 'info';
}

/** Whether an unexpected error is shown with its stack. */
export function wantsTraces(env: Environment = process.env): boolean {
  return env['OUTLAST_LOG_LEVEL'] === 'debug' || env['OUTLAST_LOG_LEVEL'] === 'trace';
}

// The settings of a process, read from the environment: the only place that does. It puts the single settings of
// table.ts together and reports every mistake at once, with what to do (P12), and without secrets (P10).
import { statSync } from 'node:fs';
import { urlOf, withPgVariables, type DatabaseAddress } from '../database-address.ts';
import { settingsError } from '../errors.ts';
import {
  createReader,
  environmentWithFile,
  ofOneProject,
  readSmallFile,
  reportUnknown,
  type Environment,
  type ReadFile,
  type EnvironmentReader,
} from './environment.ts';
import { readProjectsFile, type ProjectSettings } from './projects-file.ts';
import { mistakesInProxies, proxiesIn, proxiesShown } from './proxies.ts';

export type { ProjectSettings } from './projects-file.ts';

export type DatabaseSettings =
  { kind: 'url'; url: DatabaseAddress; isReplica?: true } | { kind: 'embedded'; dataDir: string };

/** As they are read below; what each means, table.ts says. Null: it is unset, and there is no default. */
export type Settings = ReturnType<typeof readSettings>;
export type AlertSettings = Settings['alerts'];
export type ExportSettings = Settings['exports'];

/** `database`: the platform's settings are not looked at and may be missing. */
export type Needs = 'platform' | 'database';

/**
 * Reads the settings. Pure but for the files that the environment names, and for the process's proxies.
 * Throws settings `settings_invalid` with every mistake on a line of its own.
 */
export function readSettings(options: { needs: Needs; readFile?: ReadFile }, given?: Environment) {
  const mistakes: string[] = [];
  const report = (mistake: string): void => void mistakes.push(mistake);
  const readFile = options.readFile ?? readSmallFile;
  const env = given ?? environmentWithFile(process.env, readFile, report);
  const reader = createReader(env, readFile, report);

  // Variables that a projects file names are known; without reading that file nobody can tell.
  const { projects, variables } =
    options.needs === 'database'
      ? { projects: [], variables: null }
      : readProjects(reader, reader.read('OUTLAST_MAX_RPS'));
  if (variables !== null || !reader.isGiven('OUTLAST_PROJECTS_FILE')) {
    reportUnknown(env, new Set(variables ?? []), report);
  }
  // Not of what is given: the HTTP client looks into the process, and so does `init`, which gives what it will write.
  const proxies = proxiesIn(process.env);
  if (options.needs === 'platform') mistakesInProxies(proxies).forEach(report);
  const hourMs = 3_600_000;
  // A pipe gives what it holds once.
  const readLasting: ReadFile = (path) => {
    if (statSync(path, { throwIfNoEntry: false })?.isFIFO() !== true) return readFile(path);
    throw new Error('It was read');
  };
  const anew = (): EnvironmentReader =>
    createReader(env, readLasting, (mistake) => {
      throw settingsError('settings_invalid', mistake);
    });
  const own = given ?? process.env;
  const ofDatabase = (from: EnvironmentReader): string | null => readAddress(from, own);
  const url = current(ofDatabase, reader, anew, ['DATABASE_URL_FILE', 'DATABASE_PASSWORD_FILE']);
  const dataDir = reader.read('OUTLAST_DATA_DIR');
  const database: DatabaseSettings =
    url === null ? { kind: 'embedded', dataDir } : { kind: 'url', url };
  const replica = current(readReplica, reader, anew, ['OUTLAST_READ_DATABASE_URL_FILE']);
  const readDatabase: DatabaseSettings =
    replica === null ? database : { kind: 'url', url: replica, isReplica: true };
  const settings = {
    /** At least one; none where the command needs the database alone. */
    projects,
    database,
    /** Where reading is done: a replica, or the database itself. */
    readDatabase,
    certificatesDir: reader.read('OUTLAST_CERTIFICATES_DIR'),
    headsDir: reader.read('OUTLAST_HEADS_DIR'),
    host: reader.read('OUTLAST_HOST'),
    port: reader.read('OUTLAST_PORT'),
    readersFile: reader.read('OUTLAST_READERS_FILE'),
    concurrency: reader.read('OUTLAST_CONCURRENCY'),
    timeoutMs: reader.read('OUTLAST_TIMEOUT_MS'),
    deadlineMarginMs: reader.read('OUTLAST_DEADLINE_MARGIN_HOURS') * hourMs,
    leaseMs: reader.read('OUTLAST_LEASE_SECONDS') * 1000,
    refreshMs: reader.read('OUTLAST_REFRESH_HOURS') * hourMs,
    tokensEveryMs: reader.read('OUTLAST_TOKENS_HOURS') * hourMs || null,
    keepCertificates: reader.read('OUTLAST_KEEP_CERTIFICATES'),
    schedule: reader.read('OUTLAST_SCHEDULE'),
    logLevel: reader.read('OUTLAST_LOG_LEVEL'),
    alerts: {
      webhookUrl: reader.read('OUTLAST_ALERT_WEBHOOK'),
      format: reader.read('OUTLAST_ALERT_FORMAT'),
      secret: reader.read('OUTLAST_ALERT_SECRET'),
      reminderMs: reader.read('OUTLAST_ALERT_REMINDER_HOURS') * hourMs,
      heartbeatUrl: reader.read('OUTLAST_HEARTBEAT_URL'),
    },
    exports: {
      to: reader.read('OUTLAST_EXPORT_TO'),
      schedule: reader.read('OUTLAST_EXPORT_SCHEDULE'),
      format: reader.read('OUTLAST_EXPORT_FORMAT'),
      addressing: reader.read('OUTLAST_BUCKET_ADDRESSING'),
    },
    /** The proxies that HTTP goes through, as a person is told of them; null: there are none. */
    proxies: proxiesShown(proxies),
  };
  const { format, secret } = settings.alerts;
  if (secret !== null && format !== 'dingtalk' && format !== 'feishu') {
    report(
      `OUTLAST_ALERT_SECRET is set and OUTLAST_ALERT_FORMAT is ${format}: only dingtalk and feishu are signed.`,
    );
  }
  if (mistakes.length > 0) throw settingsError('settings_invalid', sentenceOf(mistakes));
  return settings;
}

/** The process's variables, without those of a file. */
export const ownEnvironment = (): Environment => process.env;

/**
 * Puts what OpenTelemetry's library, undici and Node itself look for into the process: variables of its own, proxies and
 * the time zone. Gives all that is there now.
 */
export function handOnForLibraries(): Environment {
  const own = { ...process.env };
  const env = handOn(/^(?:OTEL_.*|TZ|https?_proxy|no_proxy)$/i);
  const proxies = proxiesIn(env, own);
  const { no_proxy } = proxies;
  // What is no proxy stays as it is, for whoever reads the settings to tell.
  const isWrong = mistakesInProxies(proxies).length > 0;
  return Object.assign(env, isWrong && no_proxy !== undefined ? { no_proxy } : proxies);
}

/** For who asks over HTTP without the platform. Throws settings `settings_invalid` for a proxy that is none. */
export function checkProxies(): void {
  const mistakes = mistakesInProxies(proxiesIn(process.env));
  if (mistakes.length > 0) throw settingsError('settings_invalid', sentenceOf(mistakes));
}

/** For who asks nobody but this machine: a proxy that is none is then no mistake. */
export function forgetProxies(): void {
  for (const name of Object.keys(process.env)) {
    if (/^https?_proxy$/i.test(name)) delete process.env[name];
  }
}

/** Puts AWS' variables where its library looks for them, which would take an empty one at its word. */
export function handOnAws(): void {
  const env = handOn(/^AWS_/);
  for (const name of Object.keys(env)) {
    if (name.startsWith('AWS_') && env[name] === '') delete env[name];
  }
  // Which Node a later release of the library will want is for us to know.
  env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
}

/**
 * Libraries look for their variables in the process and nowhere else: those of the file are put there. Never throws: a
 * file that cannot be read is for the command to tell.
 */
function handOn(names: RegExp): NodeJS.ProcessEnv {
  try {
    for (const [name, value] of Object.entries(environmentWithFile(process.env))) {
      if (names.test(name) && value !== undefined) process.env[name] = value;
    }
  } catch {
    // As it is.
  }
  return process.env;
}

/** Whether an unexpected error is shown with its stack. Never throws: it serves the report of an error. */
export function wantsTraces(env: Environment = process.env): boolean {
  return env['OUTLAST_LOG_LEVEL'] === 'debug' || env['OUTLAST_LOG_LEVEL'] === 'trace';
}

function sentenceOf(mistakes: string[]): string {
  if (mistakes.length === 1) return mistakes.join('');
  return [`${mistakes.length} settings are wrong.`, ...mistakes].join('\n  ');
}

type Projects = {
  projects: ProjectSettings[];
  /** Variables whose names stand in a projects file; null: that could not be learned. */
  variables: string[] | null;
};

function readProjects(reader: EnvironmentReader, maxRps: number): Projects {
  const path = reader.read('OUTLAST_PROJECTS_FILE');
  if (path === null) return { projects: readOneProject(reader, maxRps), variables: [] };
  const file = readProjectsFile(path, maxRps, reader);
  for (const name of ofOneProject) {
    if (reader.isGiven(name)) {
      reader.report(
        `${name} and OUTLAST_PROJECTS_FILE are both set: say it in the file, or do without the file.`,
      );
    }
  }
  return file;
}

function readOneProject(reader: EnvironmentReader, maxRps: number): ProjectSettings[] {
  const id = reader.read('OUTLAST_PROJECT');
  const baseUrl = reader.read('OUTLAST_BASE_URL');
  const apiKey = reader.read('OUTLAST_API_KEY');
  const apiSecret = reader.read('OUTLAST_API_SECRET');
  const owners = reader.read('OUTLAST_CLASS_OWNERS');
  const tokensUrl = reader.read('OUTLAST_TOKENS_URL');
  for (const name of ['OUTLAST_BASE_URL', 'OUTLAST_API_KEY', 'OUTLAST_API_SECRET'] as const) {
    if (reader.isGiven(name)) continue;
    reader.report(
      name === 'OUTLAST_BASE_URL'
        ? `${name} is not set: give the platform's address, such as https://platform.example (to try Outlast without a platform: outlast demo).`
        : `${name} is not set: give it, or the file that holds it as ${name}_FILE.`,
    );
  }
  if (baseUrl === null || apiKey === null || apiSecret === null) return [];
  return [
    { id, baseUrl, apiKey, apiSecret, orders: 'all', classes: owners ?? 'all', tokensUrl, maxRps },
  ];
}

/** Where a file holds it or its password, what reads that again: the password may have been rotated since. */
function current(
  read: (reader: EnvironmentReader) => string | null,
  reader: EnvironmentReader,
  anew: () => EnvironmentReader,
  files: string[],
): DatabaseAddress | null {
  const address = read(reader);
  if (address === null || !files.some((name) => reader.variable(name) !== null)) return address;
  return () => read(anew()) ?? address;
}

function readReplica(reader: EnvironmentReader): string | null {
  const url = reader.read('OUTLAST_READ_DATABASE_URL');
  return url === null ? null : completed(url, reader);
}

/** `own`: the variables that come before those of the file. Null: the database is the embedded one. */
function readAddress(reader: EnvironmentReader, own: Environment): string | null {
  const url = reader.read('DATABASE_URL');
  const password = reader.read('DATABASE_PASSWORD');
  if (url === null) {
    if (password !== null && !reader.isGiven('DATABASE_URL')) {
      reader.report(
        'DATABASE_PASSWORD is set and DATABASE_URL is not: give the address, such as postgres://user@host:5432/database.',
      );
    }
    return null;
  }
  const address = password === null ? null : urlOf(url);
  if (password === null || address === null) return completed(url, reader);
  const isOwn = (name: string): boolean => Boolean(own[name] || own[`${name}_FILE`]);
  if (address.password !== '') {
    // The environment's address is whole without the file's password.
    if (isOwn('DATABASE_URL') && !isOwn('DATABASE_PASSWORD')) {
      return completed(url, reader);
    }
    reader.report('DATABASE_PASSWORD is set and DATABASE_URL holds a password: keep one of them.');
  } else if (address.hostname === '' || address.username === '') {
    reader.report(
      'DATABASE_PASSWORD needs a user and a host in DATABASE_URL, such as postgres://user@host:5432/database.',
    );
  }
  return completed(url, reader, password);
}

/** With the password, and with what stands in PGHOST, PGSSLMODE and their like. */
const completed = (
  url: string,
  reader: EnvironmentReader,
  password: string | null = null,
): string => withPgVariables(url, (name) => reader.variable(name), password);

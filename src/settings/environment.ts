// Reads single settings out of an environment, and the small files that they name, and notes what is wrong with them.
// The caller collects the mistakes of all settings and reports them together (P12).
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { codeOf, settingsError } from '../errors.ts';
import { settings, table, type Setting, type SettingName, type SettingValue } from './table.ts';
import { unquoted } from './value-parsers.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
/** The text of a file; throws as `readFileSync` does. */
export type ReadFile = (path: string) => string;

export type EnvironmentReader = ReturnType<typeof createReader>;

/** `report`: a mistake in a sentence that names the setting and says what to do, without secrets (P10). */
export function createReader(
  env: Environment,
  readText: ReadFile,
  report: (mistake: string) => void,
) {
  const readFile: ReadFile = (path) => withoutMark(readText(path));

  /**
   * A variable by a name that a projects file gives; null where it is unset. An empty one counts as unset: compose files
   * and shells cannot unset one.
   */
  const variable = (name: string): string | null => {
    const value = env[name];
    return value === undefined || value === '' ? null : value;
  };

  /** The text of a file that holds one secret, or a mistake that begins with `subject`. */
  const secretFile = (path: string, subject: string): string | null => {
    try {
      // Editors and `echo` end a file with a line break that is not part of the secret.
      const value = readFile(path).replace(/[\r\n]+$/, '');
      if (value !== '') return value;
      report(`${subject} names an empty file: put the value into it.`);
    } catch (error) {
      report(`${subject} names a file that ${whyUnread(error)}.`);
    }
    return null;
  };

  const given = (name: SettingName): string | null => {
    const about: Setting<unknown, string | null> = table[name];
    const value = variable(name);
    const path = about.secret === true ? variable(`${name}_FILE`) : null;
    if (value !== null && path !== null) {
      report(`${name} and ${name}_FILE are both set: keep one of them.`);
    }
    return value ?? (path === null ? null : secretFile(path, `${name}_FILE`));
  };

  /** The setting's value; its default where it is unset or wrong. */
  const read = <Name extends SettingName>(name: Name): SettingValue<Name> => {
    const about: Setting<unknown, string | null> = table[name];
    const text = given(name);
    if (text !== null) {
      // The image of Postgres takes the quotes of a password for a part of it, too, from the same file.
      const kind = name === 'DATABASE_PASSWORD' ? about.kind : unquoted(about.kind);
      const checked = kind(text);
      if ('value' in checked) return checked.value as SettingValue<Name>;
      report(`${name} ${checked.mistake}`);
    }
    const fallback = about.default === null ? null : about.kind(about.default);
    // A default always suits its own kind (a test reads them all).
    return (fallback !== null && 'value' in fallback ? fallback.value : null) as SettingValue<Name>;
  };

  return {
    read,
    /** Whether it is given, right or wrong, by value or by file. */
    isGiven: (name: SettingName): boolean =>
      variable(name) !== null || variable(`${name}_FILE`) !== null,
    variable,
    secretFile,
    readFile,
    report,
  };
}

/**
 * The process's variables and, below them, those of the file that OUTLAST_ENV_FILE names: `.env` by default. What is
 * wrong in that file is reported by its line, without what stands there (P10). Throws settings `settings_invalid` for a
 * file that is there, or is named, and cannot be read.
 */
export function environmentWithFile(
  env: Environment,
  readText: ReadFile = readSmallFile,
  report: (mistake: string) => void = () => undefined,
): Environment {
  const path = envFileOf(env);
  let text: string;
  try {
    text = withoutBlanks(withoutMark(readText(path)));
  } catch (error) {
    const code = codeOf(error);
    const isNamed = (env['OUTLAST_ENV_FILE'] ?? '') !== '';
    // A folder of that name is no mistake: Python keeps its packages in one.
    if (!isNamed && (code === 'ENOENT' || code === 'EISDIR')) return env;
    throw settingsError(
      'settings_invalid',
      `${isNamed ? 'OUTLAST_ENV_FILE names a file that' : path} ${whyUnread(error)}.`,
      error,
    );
  }
  for (const line of strangeLines(text)) {
    report(
      `Line ${line} of ${path} is no setting: write it as NAME=value, or with a # in front as a comment.`,
    );
  }
  const given = (name: string): boolean => (env[name] ?? '') !== '';
  // A secret that the process has by value hides the file's by file, and the other way round.
  const hidden = (name: string): boolean => {
    const plain = name in overriddenBy ? name : name.replace(/_FILE$/, '');
    const names = [name, plain, ...(overriddenBy[plain] ?? [])];
    return names.some((one) => given(one) || given(`${one}_FILE`));
  };
  const inFile = Object.entries(parseEnv(text));
  const all = { ...env, ...Object.fromEntries(inFile.filter(([name]) => !hidden(name))) };
  for (const [name, value = ''] of inFile) {
    if (value === '') continue;
    if (name === 'OUTLAST_ENV_FILE' && value !== path) {
      report(`${name} has no effect in ${path}, which was found without it: set it outside.`);
    }
    if (readByNode.test(name) && !given(name)) {
      report(`${name} has no effect in ${path}: Node reads it as it starts. Set it outside.`);
    }
    const meant = lostAddress(name, value, all);
    if (meant !== null) report(`${name} in ${path} is no setting: did you mean ${meant}?`);
  }
  return all;
}

/** What a projects file says. Not the key and the secret: it may name these variables. */
export const ofOneProject = [
  'OUTLAST_BASE_URL',
  'OUTLAST_PROJECT',
  'OUTLAST_CLASS_OWNERS',
  'OUTLAST_TOKENS_URL',
] as const;
/** By a setting of the file, what says the same thing in another way: in the environment it comes first as well. */
const overriddenBy: Readonly<Record<string, string[]>> = {
  DATABASE_URL: ['OUTLAST_DATA_DIR'],
  DATABASE_PASSWORD: ['OUTLAST_DATA_DIR'],
  // A replica is one of the database that stands beside it.
  OUTLAST_READ_DATABASE_URL: ['OUTLAST_DATA_DIR', 'DATABASE_URL'],
  OUTLAST_PROJECTS_FILE: ['OUTLAST_BASE_URL'],
  ...Object.fromEntries(ofOneProject.map((name) => [name, ['OUTLAST_PROJECTS_FILE']])),
};

/** What Node itself reads, before it has read a line of ours; where it trusts whom above all. */
const readByNode = /^NODE_(?:EXTRA_CA_CERTS|OPTIONS|USE_SYSTEM_CA)$/;

/** The file of settings below the environment's. */
export const envFileOf = (env: Environment): string => env['OUTLAST_ENV_FILE'] || '.env';

/** Windows' editors put a byte order mark in front, which is no part of a name, of a secret nor of JSON. */
const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');

/**
 * Without what cannot be seen at the ends of lines: `parseEnv` of Node 20 loses the setting below a line of blanks
 * (nodejs/node#56686), that of 22 to 26 takes the line below `NAME= ` for its value.
 */
const withoutBlanks = (text: string): string => text.replace(/[ \t]+$/gm, '');

/**
 * The numbers of the lines that `parseEnv` passes over or cuts short: neither empty, nor a comment, nor NAME=value.
 * What stands in quotes may have several lines.
 */
function strangeLines(text: string): number[] {
  const found: number[] = [];
  const lines = text.split(/\r\n|\n/);
  for (let i = 0; i < lines.length; i++) {
    const line = (lines[i] ?? '').trim();
    if (line === '' || line.startsWith('#')) continue;
    const value = /^(?:export\s+)?[\w.-]+\s*=\s*(.*)$/.exec(line)?.[1];
    const quote = /^["'`]/.exec(value ?? '')?.[0];
    if (value === undefined) found.push(i + 1);
    if (value === undefined || quote === undefined) continue;
    const begun = i;
    let rest = value.slice(1);
    while (!rest.includes(quote) && i + 1 < lines.length) rest = lines[++i] ?? '';
    // Without its end a quote is a character like others.
    if (!rest.includes(quote)) i = begun;
    else if (!/^\s*(#.*)?$/.test(rest.slice(rest.indexOf(quote) + 1))) found.push(begun + 1);
  }
  return found;
}

/**
 * Which name was meant by a misspelt DATABASE_URL or DATABASE_URL_FILE; null if none. Without it an archive would begin
 * in the embedded Postgres, unnoticed. The file may hold other programs' variables: only what would do counts.
 */
function lostAddress(name: string, value: string, env: Environment): string | null {
  const meant = ['DATABASE_URL', 'DATABASE_URL_FILE'];
  if (meant.some((one) => (env[one] ?? '') !== '')) return null;
  const found = meant.find((one) => distance(one, name.toUpperCase()) <= 2) ?? null;
  return found === 'DATABASE_URL' && !/^postgres(ql)?:/.test(value) ? null : found;
}

/** Notes every OUTLAST_ variable that is no setting: a misspelt one would otherwise be silently without effect. */
export function reportUnknown(
  env: Environment,
  alsoKnown: ReadonlySet<string>,
  report: (mistake: string) => void,
): void {
  const known = settings.flatMap(({ name, about }) =>
    about.secret === true ? [name, `${name}_FILE`] : [name],
  );
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('OUTLAST_') || value === undefined || value === '') continue;
    if (known.includes(name) || alsoKnown.has(name) || isFromKubernetes(name)) continue;
    const [closest] = known
      .map((one) => ({ one, far: distance(one, name) }))
      .filter(({ far }) => far <= 3)
      .toSorted((a, b) => a.far - b.far);
    const advice =
      closest === undefined ? 'remove it, or see outlast --help.' : `did you mean ${closest.one}?`;
    report(`${name} is no setting: ${advice}`);
  }
}

/** Kubernetes describes a Service called `outlast…` to every pod beside it in variables of these forms. */
const isFromKubernetes = (name: string): boolean =>
  /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name);

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
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

const utf16 = 'it is in UTF-16, as Windows PowerShell writes with > and Out-File: save it as UTF-8';

const unwritten = 'it is a pipe that nobody writes to: name a file, or start what writes';

/** The end of a sentence about a file that `readSmallFile` did not read. */
export const whyUnread = (error: unknown): string =>
  error instanceof Error && [utf16, unwritten].includes(error.message)
    ? error.message.replace('it ', '')
    : `cannot be read (${codeOf(error) ?? 'unreadable'}): check its path and rights`;

/** A device or a wrong path must not be read for ever. */
const mostBytes = 4 * 1024 * 1024;

/**
 * The text of a file of at most 4 MiB, a pipe or a device included. Throws as `openSync` does, EFBIG for a longer one, and
 * a sentence for one in UTF-16 and for a pipe that nobody writes to.
 */
export function readSmallFile(path: string): string {
  // To open a named pipe would else wait, for ever, for somebody who writes.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const bytes = Buffer.alloc(mostBytes + 1);
    let length = 0;
    const isPipe = fstatSync(file).isFIFO();
    let looks = isPipe ? 200 : 0;
    // Ends: with the file, or one byte after the limit. Who has opened a pipe to write is waited for, who has not is
    // for two seconds.
    for (;;) {
      const got = readNow(file, bytes, length);
      if (got === null || (got === 0 && length === 0 && looks-- > 0)) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
        continue;
      }
      if (isPipe && got + length === 0) throw new Error(unwritten);
      length += got;
      if (length > mostBytes) {
        throw Object.assign(new Error('The file is longer than 4 MiB'), { code: 'EFBIG' });
      }
      if (got > 0) continue;
      const isWide = ['\xff\xfe', '\xfe\xff'].includes(bytes.toString('latin1', 0, 2));
      // With or without its mark: no setting, secret or JSON holds U+0000.
      if (isWide || bytes.subarray(0, length).includes(0)) throw new Error(utf16);
      return bytes.toString('utf8', 0, length);
    }
  } finally {
    closeSync(file);
  }
}

/** Bytes read, 0 at the end; null where somebody writes and has written nothing yet. */
function readNow(file: number, bytes: Buffer, at: number): number | null {
  try {
    return readSync(file, bytes, at, bytes.length - at, null);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return null;
    throw error;
  }
}

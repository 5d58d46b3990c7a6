// `outlast init`: asks for what a first sync needs, tries each answer as it comes, and writes all of it into .env for
// all commands. What is tried in the end is what is written, read back: with it all that the environment sets. What was
// typed is kept beside it until then, for whoever has to look something up first.
import { access, constants, lstat, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { parseEnv } from 'node:util';
import { Option, type Command } from 'commander';
import { codeOf, exitCode, fatal, isOutlastError, settingsError } from '../errors.ts';
import { exists, ifThere, textOfFile } from '../files.ts';
import { envFileOf } from '../settings/environment.ts';
import { ownEnvironment } from '../settings/settings.ts';
import { settings, table, type SettingName } from '../settings/table.ts';
import { examine, failuresOf, printFinding } from './doctor-command.ts';
import { print } from './print.ts';

type Flags = { baseUrl?: string; project?: string; databaseUrl?: string; force?: true };

type Wanted = {
  name: SettingName;
  question: string;
  /** What an empty answer means; null: it has to be given. */
  otherwise: string | null;
};

const must = (name: SettingName, question: string): Wanted => ({ name, question, otherwise: null });
const may = (name: SettingName, question: string): Wanted => ({ name, question, otherwise: '' });

/** What is asked for together, and then tried as that part. */
const steps: { part: Parameters<typeof failuresOf>[0] | null; wanted: Wanted[] }[] = [
  { part: 'address', wanted: [must('OUTLAST_BASE_URL', 'Address of the platform (https://…)')] },
  {
    part: 'key',
    wanted: [
      must('OUTLAST_API_KEY', 'API key of the project'),
      must('OUTLAST_API_SECRET', 'API secret of the project'),
    ],
  },
  {
    part: null,
    wanted: [may('OUTLAST_PROJECT', 'Name of the project in the archive (empty: default)')],
  },
  {
    part: 'database',
    wanted: [
      may(
        'DATABASE_URL',
        'PostgreSQL, as postgres://user:password@host/database (empty: the embedded one)',
      ),
    ],
  },
];

export const initCommand = (command: Command): Command =>
  command
    .option('--base-url <url>', 'address of the platform')
    .option('--project <name>', 'name of the project in the archive')
    .option('--database-url <url>', 'a PostgreSQL of your own; the embedded one unless given')
    .addOption(
      new Option('--force', 'write .env although one is there, or although something fails'),
    )
    .addHelpText(
      'after',
      '\nWhat is neither an option nor in the environment is asked for on the terminal, and tried as it comes. Give secrets in the environment, as OUTLAST_API_KEY and OUTLAST_API_SECRET: other users can see options. Whatever else the environment sets is written as well. OUTLAST_ENV_FILE names another file than .env.',
    )
    .action(async (flags: Flags) => {
      process.exitCode = await init(flags);
    });

async function init(flags: Flags): Promise<number> {
  const path = envFileOf(ownEnvironment());
  const isForced = flags.force === true;
  await refusePlace(path, isForced);
  const keptAt = `${path}.unfinished`;
  const text = envText(await answersTo(flags, keptAt));
  const written = parseEnv(text);
  process.stdout.write('\n');
  const findings = await examine(printFinding, written);
  const isWell = findings.every(({ state }) => state !== 'fail');
  if (!isWell && !isForced) {
    const kept = (await exists(keptAt))
      ? ' What was typed is kept for the next `outlast init`.'
      : '';
    print(`\nNothing was written. Put it right, or write it all the same with --force.${kept}`);
    const isMistyped = findings.some((one) => one.about === 'settings' && one.state === 'fail');
    return isMistyped ? exitCode.usage : exitCode.failed;
  }
  await writePrivate(path, text, isForced);
  await rm(keptAt, { force: true });
  print(
    `\nWritten to ${path}. Next: \`outlast sync\` once, or \`outlast start\` to keep at it.\nIt holds ${Object.keys(written).join(', ')}.`,
  );
  return exitCode.done;
}

/** Before anybody is asked anything. Throws settings `env_file_exists` and `env_file_unwritable`. */
async function refusePlace(path: string, isForced: boolean): Promise<void> {
  try {
    // A link counts, wherever it leads.
    const there = await ifThere(lstat(path));
    if (there !== null && !isForced) {
      throw settingsError(
        'env_file_exists',
        `There is a ${path}${path === '.env' ? ' in this folder' : ''} already. Change it by hand, or write a new one with --force.`,
      );
    }
    if (there?.isDirectory() === true) throw Object.assign(new Error(), { code: 'EISDIR' });
    await access(dirname(path), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw isOutlastError(error) ? error : unwritable(path, error);
  }
}

/** The secrets are this user's alone. */
async function writePrivate(path: string, text: string, isForced: boolean): Promise<void> {
  try {
    if (isForced) await rm(path, { force: true });
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw unwritable(path, error);
  }
}

const unwritable = (path: string, error: unknown): Error =>
  settingsError(
    'env_file_unwritable',
    `${path} cannot be written (${codeOf(error) ?? 'unknown'}): go to a folder where this user may write, or name another file with OUTLAST_ENV_FILE.`,
    error,
  );

/**
 * What the environment sets, and every setting wanted; none is empty. Throws settings `setting_missing` where nobody
 * can be asked, and fatal `aborted`.
 */
async function answersTo(flags: Flags, keptAt: string): Promise<Record<string, string>> {
  const answers = given(flags);
  const isWanted = ({ name }: Wanted): boolean => !(name in answers || `${name}_FILE` in answers);
  if (!process.stdin.isTTY) {
    const missing = steps
      .flatMap(({ wanted }) => wanted)
      .find((one) => isWanted(one) && one.otherwise === null);
    if (missing === undefined) return answers;
    throw settingsError(
      'setting_missing',
      `${missing.name} is needed: give it in the environment, or run this on a terminal, where it is asked for.`,
    );
  }
  const typed: Record<string, string> = parseEnv((await textOfFile(keptAt)) ?? '') as typeof typed;
  if (Object.keys(typed).length > 0) {
    print('Going on with what was typed the last time. Enter takes an answer as it was.');
  }
  const asker = createAsker(process.stdin, process.stdout);
  try {
    for (const { part, wanted } of steps) {
      const asked = wanted.filter(isWanted);
      // Ends: what fails is asked for again until it works, or nothing else is answered, or the terminal ends.
      for (let isFirst = true; asked.length > 0; isFirst = false) {
        let isOther = isFirst;
        for (const one of asked) {
          const answer = await answerTo(asker, one, typed[one.name]);
          if (answer === typed[one.name]) continue;
          isOther = true;
          typed[one.name] = answer;
          await writePrivate(keptAt, envText(typed), true);
        }
        if (!isOther || part === null) break;
        const failures = await failuresOf(part, withoutEmpty({ ...answers, ...typed }));
        if (failures.length === 0) break;
        print(
          `${failures.join('\n')}\nType it again. Enter alone keeps what you typed, and goes on.`,
        );
      }
    }
  } catch (error) {
    if (!isOutlastError(error, 'aborted') || Object.keys(typed).length === 0) throw error;
    throw fatal(
      'aborted',
      `What was typed is kept in ${keptAt}: \`outlast init\` goes on from there.`,
    );
  } finally {
    asker.close();
  }
  return withoutEmpty({ ...answers, ...typed });
}

const withoutEmpty = (answers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(answers).filter(([, value]) => value !== ''));

/** An empty answer is the one before, or what it means otherwise; what has to be given is asked for again. */
async function answerTo(
  asker: Asker,
  { name, question, otherwise }: Wanted,
  before: string | undefined,
): Promise<string> {
  const about = table[name];
  const shown = 'secret' in about ? 'as it was' : before;
  const none = otherwise === '' ? '; - for none' : '';
  const known = before === undefined || before === '' ? '' : ` [${shown}${none}]`;
  for (;;) {
    const answer = await asker.ask(question + known, about);
    const meant = answer === '' ? (before ?? otherwise) : answer === '-' ? otherwise : answer;
    if (meant !== null) return meant;
  }
}

/** The environment's settings, by value or by file, below the options. */
function given({ baseUrl, project, databaseUrl }: Flags): Record<string, string> {
  const options: Partial<Record<SettingName, string | undefined>> = {
    OUTLAST_BASE_URL: baseUrl,
    OUTLAST_PROJECT: project,
    DATABASE_URL: databaseUrl,
  };
  const env = ownEnvironment();
  const found = settings
    // The file cannot name itself.
    .filter(({ name }) => name !== 'OUTLAST_ENV_FILE')
    .flatMap(({ name, about }) => {
      const option = options[name];
      if (option !== undefined) return [[name, option]];
      const names = about.secret === true ? [name, `${name}_FILE`] : [name];
      return names.map((one) => [one, env[one] ?? '']);
    });
  return Object.fromEntries(found.filter(([, value]) => value !== '')) as Record<string, string>;
}

type Asker = ReturnType<typeof createAsker>;

/**
 * One for all questions: lines that were pasted at once answer one question each. They are not shown, for one of them
 * may be a secret.
 */
export function createAsker(input: NodeJS.ReadableStream, output: NodeJS.WritableStream) {
  let isHidden = true;
  let ahead = 0;
  const shown = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      if (!isHidden) output.write(piece);
      done();
    },
  });
  const terminal = createInterface({ input, output: shown, terminal: true });
  terminal.on('line', () => {
    // At once, before the next character: until the next question nothing is shown.
    isHidden = true;
    ahead += 1;
  });
  const lines = terminal[Symbol.asyncIterator]();
  return {
    /** A secret is not shown as it is typed. Throws fatal `aborted` where the terminal ends (Ctrl-C, Ctrl-D). */
    ask: async (question: string, { secret }: { secret?: true }): Promise<string> => {
      isHidden = secret === true || ahead > 0 || terminal.line !== '';
      const isShown = !isHidden;
      // What is shown is drawn again at each correction, its question with it.
      terminal.setPrompt(isShown ? `${question}: ` : '');
      if (isShown) terminal.prompt();
      else output.write(`${question}: `);
      const { value, done } = await lines.next();
      ahead -= 1;
      if (!isShown) output.write('\n');
      if (done === true) throw fatal('aborted', 'Nothing was written.');
      return value.trim();
    },
    close: () => terminal.close(),
  };
}

/**
 * The settings as a file that reads back as what they are, by node and by what expands `$` or ends a value at a `#`.
 * Throws settings `env_file_unsayable`.
 */
export function envText(answers: Record<string, string>): string {
  const lines = Object.entries(answers).map(([name, value]) => {
    const isPlain = /^[\w.:/@%+,?&=*-]+$/.test(value);
    const line = (isPlain ? ['', ...quotes] : [...quotes, ''])
      .map((quote) => `${name}=${quote}${value}${quote}`)
      // A line behind it would be swallowed by a quote that was left open.
      .find((form) => {
        const read = parseEnv(`${form}\nEND="'\`'"\n`);
        return read[name] === value && read['END'] !== undefined;
      });
    if (line !== undefined) return line;
    throw settingsError(
      'env_file_unsayable',
      `${name} holds quotes of every kind, which a .env cannot say. Put it into a file and name that as ${name}_FILE.`,
    );
  });
  return `# Settings of Outlast; \`outlast help settings\` names all there are.\n${lines.join('\n')}\n`;
}

const quotes = ["'", '"', '`'];

// `outlast init`: asks for what a first sync needs, tries it, and writes it into .env for all commands.
import { rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { parseEnv } from 'node:util';
import { Option, type Command } from 'commander';
import { exitCode, fatal, settingsError } from '../errors.ts';
import { exists } from '../files.ts';
import { ownEnvironment } from '../settings/settings.ts';
import { table, type SettingName } from '../settings/table.ts';
import { examine, printFinding } from './doctor.ts';

type Flags = { baseUrl?: string; project?: string; databaseUrl?: string; force?: true };

type Wanted = {
  name: SettingName;
  question: string;
  /** What an empty answer means; null: it has to be given. */
  otherwise: string | null;
};

const wanted: Wanted[] = [
  {
    name: 'OUTLAST_BASE_URL',
    question: 'Address of the platform (https://…)',
    otherwise: null,
  },
  { name: 'OUTLAST_API_KEY', question: 'API key of the project', otherwise: null },
  { name: 'OUTLAST_API_SECRET', question: 'API secret of the project', otherwise: null },
  {
    name: 'OUTLAST_PROJECT',
    question: 'Name of the project in the archive (empty: default)',
    otherwise: '',
  },
  {
    name: 'DATABASE_URL',
    question:
      'PostgreSQL, as postgres://user:password@host:5432/database (empty: the embedded one)',
    otherwise: '',
  },
];

const path = '.env';

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
      '\nWhat is neither an option nor in the environment is asked for on the terminal. Give secrets in the\nenvironment, as OUTLAST_API_KEY and OUTLAST_API_SECRET: other users can see options.',
    )
    .action(async (flags: Flags) => {
      process.exitCode = await init(flags);
    });

async function init(flags: Flags): Promise<number> {
  if (flags.force !== true && (await exists(path))) {
    throw settingsError(
      'env_file_exists',
      'There is a .env in this folder already. Change it by hand, or write a new one with --force.',
    );
  }
  const given: Partial<Record<SettingName, string | undefined>> = {
    OUTLAST_BASE_URL: flags.baseUrl,
    OUTLAST_PROJECT: flags.project,
    DATABASE_URL: flags.databaseUrl,
  };
  const answers = await answersTo(given);
  process.stdout.write('\n');
  const findings = await examine(printFinding, { ...ownEnvironment(), ...answers });
  const isWell = findings.every(({ state }) => state !== 'fail');
  if (!isWell && flags.force !== true) {
    process.stdout.write(
      '\nNothing was written. Put it right, or write it all the same with --force.\n',
    );
    return exitCode.failed;
  }
  // The secrets are this user's alone.
  if (flags.force === true) await rm(path, { force: true });
  await writeFile(path, envText(answers), { mode: 0o600, flag: 'wx' });
  process.stdout.write(
    '\nWritten to .env. Next: `outlast sync` once, or `outlast start` to keep at it.\n',
  );
  return exitCode.done;
}

/** Every setting wanted that is not empty. Throws settings `setting_missing` where nobody can be asked. */
async function answersTo(
  given: Partial<Record<SettingName, string | undefined>>,
): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  const { stdin } = process;
  for (const { name, question, otherwise } of wanted) {
    let answer: string | null | undefined = given[name] ?? ownEnvironment()[name];
    if (answer === undefined && stdin.isTTY) answer = await ask(question, table[name]);
    answer = answer === undefined || answer === '' ? otherwise : answer;
    if (answer === null) {
      throw settingsError(
        'setting_missing',
        `${name} is needed: give it in the environment, or run this on a terminal, where it is asked for.`,
      );
    }
    if (answer !== '') answers[name] = answer;
  }
  return answers;
}

/** A secret is not shown as it is typed. Throws fatal `aborted` where the terminal ends (Ctrl-C, Ctrl-D). */
async function ask(question: string, { secret }: { secret?: true }): Promise<string> {
  let isHidden = false;
  const output = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      if (!isHidden) process.stdout.write(piece);
      done();
    },
  });
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  const left = new AbortController();
  terminal.once('close', () => left.abort());
  try {
    const answering = terminal.question(`${question}: `, { signal: left.signal });
    isHidden = secret === true;
    return (await answering).trim();
  } catch {
    throw fatal('aborted', 'Nothing was written.');
  } finally {
    if (isHidden) process.stdout.write('\n');
    terminal.close();
  }
}

/** The settings as a file that reads back as what they are. Throws settings `env_file_unwritable`. */
export function envText(answers: Record<string, string>): string {
  const lines = Object.entries(answers).map(([name, value]) => {
    const forms = [value, `'${value}'`, `"${value}"`, `\`${value}\``].map(
      (form) => `${name}=${form}`,
    );
    const line = forms.find((form) => parseEnv(form)[name] === value);
    if (line !== undefined) return line;
    throw settingsError(
      'env_file_unwritable',
      `${name} holds quotes of every kind, which a .env cannot say. Put it into a file and name that as ${name}_FILE.`,
    );
  });
  return `# Settings of Outlast; .env.example names all there are.\n${lines.join('\n')}\n`;
}

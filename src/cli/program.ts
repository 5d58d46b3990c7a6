// The command line as a whole: which commands there are, and the help that ties them together. A command's code is
// loaded only when it is the one asked for: help and mistakes must answer at once.
import { Command } from 'commander';
import { version } from '../version.ts';
import { printError, screenWidth, typeable, wrapped } from './print.ts';

type Entry = {
  name: string;
  group: string;
  /** The line of `outlast --help`, and the first of the command's own help. */
  summary: string;
  /** What gives a command its options and its action. */
  load: () => Promise<(command: Command) => Command>;
};

/** One line a command: its name and what it is for. Its options and what it does stand in a file of its own. */
// prettier-ignore
const entries: Entry[] = [
  { name: 'demo', group: 'Try it:', summary: 'see it work; nothing to install', load: async () => (await import('./demo-command.ts')).demoCommand },
  { name: 'simulate', group: 'Try it:', summary: 'serve a simulated platform to practise on, with its faults', load: async () => (await import('./simulate-command.ts')).simulateCommand },
  { name: 'init', group: 'Set up:', summary: 'ask for what is needed, try it, and write it into .env', load: async () => (await import('./init-command.ts')).initCommand },
  { name: 'doctor', group: 'Set up:', summary: 'check all that it needs, and say what to do', load: async () => (await import('./doctor-command.ts')).doctorCommand },
  { name: 'migrate', group: 'Set up:', summary: "bring the database to this release's schema", load: async () => (await import('./migrate-command.ts')).migrateCommand },
  { name: 'sync', group: 'Archive:', summary: 'do everything that is due now, then exit', load: async () => (await import('./sync-command.ts')).syncCommand },
  { name: 'start', group: 'Archive:', summary: 'sync on schedule and serve the archive, until stopped', load: async () => (await import('./start-command.ts')).startCommand },
  { name: 'watch', group: 'Archive:', summary: 'ask for the results of these operations until they are final', load: async () => (await import('./watch-command.ts')).watchCommand },
  { name: 'status', group: 'Read:', summary: 'show what is held, what is open, and until when', load: async () => (await import('./status-command.ts')).statusCommand },
  { name: 'query', group: 'Read:', summary: 'list records, days, runs … as a table, JSON, NDJSON or CSV', load: async () => (await import('./query-command.ts')).queryCommand },
  { name: 'follow', group: 'Read:', summary: 'print every change once, as it comes', load: async () => (await import('./follow-command.ts')).followCommand },
  { name: 'verify', group: 'Keep:', summary: 'recompute that nothing held was altered or lost', load: async () => (await import('./verify-command.ts')).verifyCommand },
  { name: 'export', group: 'Keep:', summary: 'write everything held to files', load: async () => (await import('./export-command.ts')).exportCommand },
  { name: 'import', group: 'Keep:', summary: 'load an export into an empty database', load: async () => (await import('./import-command.ts')).importCommand },
  { name: 'rebuild', group: 'Keep:', summary: 'derive every typed column again from the records held', load: async () => (await import('./rebuild-command.ts')).rebuildCommand },
];

/** Commands of earlier versions, and how the same is asked for now. */
const renamed = new Map(
  Object.entries({
    alert: 'query alerts, or with --test: status --test-alert',
    plan: 'status --plan',
    probe: 'status --probe',
    dictionary: 'query dictionary',
    facts: 'query facts',
  }),
);

/**
 * Does what these arguments (without node and script) ask for. `onLoaded` is called when the command's code is there
 * and its work begins. Mistakes in the arguments are thrown as CommanderError, after their sentence was printed on
 * stderr.
 */
export async function runProgram(
  given: readonly string[],
  onLoaded: () => void = () => undefined,
): Promise<void> {
  const args = helpLast(given);
  if (given[0] === 'help' && args[0] === 'settings') {
    process.stdout.write(await settingsHelp());
    return;
  }
  const program = (await createProgram(commandIn(args))).hook('preAction', onLoaded);
  const [first = ''] = args;
  const now = renamed.get(first);
  if (now !== undefined) program.error(`error: '${first}' is now: outlast ${now}`);
  if (given[0] === 'help') refuseUnknown(args, program);
  const stopTracing = commandIn(args) === undefined ? null : await traced();
  try {
    await program.parseAsync([...args], { from: 'user' });
  } finally {
    await stopTracing?.();
  }
}

/** Begins to send spans where OpenTelemetry's variables ask for them; gives what ends it. */
async function traced(): Promise<(() => Promise<void>) | null> {
  const { handOnForLibraries } = await import('../settings/settings.ts');
  const { startTracing, wantsSpans } = await import('../tracing.ts');
  const env = handOnForLibraries();
  const wanted = wantsSpans(env);
  if (wanted === false) return null;
  const { logLevels } = await import('../log.ts');
  const { openLog } = await import('./log-lines.ts');
  const level = logLevels.find((one) => one === env['OUTLAST_LOG_LEVEL']);
  const log = openLog(level ?? 'info');
  if (wanted === true) return startTracing(env, version(), log);
  log.warn(`No traces are sent: ${wanted}`);
  return null;
}

/** `help query orders` as `query orders --help`: commander's own help ends at the first word, whatever follows. */
function helpLast(args: readonly string[]): readonly string[] {
  if (args[0] !== 'help') return args;
  // Whatever else stands there, help does nothing but help: `help -- sync` must not sync.
  const wanted = args.slice(1).filter((arg) => !arg.startsWith('-'));
  return [...(wanted[0] === 'help' ? [] : wanted), '--help'];
}

/** What is no command is told so, and not answered with the help of what stands before it. Throws CommanderError. */
function refuseUnknown(words: readonly string[], program: Command): void {
  let within: Command | undefined = program;
  for (const word of words.slice(0, -1)) {
    within = within.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (within === undefined) program.error(`error: unknown command '${word}'`);
  }
}

async function createProgram(wanted: string | undefined): Promise<Command> {
  const program = new Command('outlast')
    .usage('<command> [options]')
    .description(
      "Archives a platform's orders and NFT classes in Postgres before its two-month window closes, and proves that nothing is missing.",
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help; after a command: its help')
    // helpLast has made an option of it.
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .exitOverride()
    .configureOutput({
      outputError: (text) => printError(oneSentence(text, program)),
      writeOut: (text) => process.stdout.write(wrappedHelp(typeable(text))),
      writeErr: (text) => process.stderr.write(wrappedHelp(typeable(text))),
      getOutHelpWidth: () => screenWidth(),
      getErrHelpWidth: () => screenWidth(),
    });

  for (const { name, group, summary, load } of entries) {
    const command = new Command(name).description(summary).helpGroup(group);
    if (name === wanted) (await load())(command);
    program.addCommand(inheriting(command, program));
  }
  return program.addHelpText('after', ({ command }) => (command === program ? after : ''));
}

/** What commands add to their help fits as well: a meaning goes on below itself. */
const wrappedHelp = (text: string): string =>
  text
    .split('\n')
    .map((line) => {
      const [term = ''] = /^ +\S+ {2,}/.exec(line) ?? [];
      const below = term.trimStart().length;
      return wrapped(line, screenWidth(), below === 0 ? undefined : ' '.repeat(below));
    })
    .join('\n');

/** The first word that is no option: `sync` in `outlast sync --json`. */
const commandIn = (args: readonly string[]): string | undefined =>
  args.find((arg) => !arg.startsWith('-'));

/** addCommand, unlike command(), hands nothing down; subcommands of subcommands need it too. */
function inheriting(command: Command, parent: Command): Command {
  command
    .copyInheritedSettings(parent)
    .configureOutput({ outputError: (text) => printError(oneSentence(text, command)) });
  for (const child of command.commands) inheriting(child, command);
  return command.helpCommand(false).allowExcessArguments(false);
}

/** commander's own message as one sentence: `outlast: unknown option '--form' (Did you mean --from?)`. */
function oneSentence(text: string, command: Command): string {
  const [sentence = '', ...rest] = text.trim().split('\n');
  const advice = rest.length > 0 ? rest.join(' ') : `(see ${pathOf(command)} --help)`;
  return `outlast: ${sentence.replace(/^error: /, '')} ${advice}`;
}

/** `outlast query orders`. */
const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

const after = `
Exit codes: 0 everything due was done, 1 failed, 2 wrong arguments or settings,
75 something due was not done: try again later.

Settings: outlast help settings
Start with: outlast demo`;

async function settingsHelp(): Promise<string> {
  const { settingGroups, settings } = await import('../settings/table.ts');
  const termWidth = Math.max(...settings.map(({ name }) => name.length));
  const groups = settingGroups.flatMap((group) => [
    '',
    `${group.title}:`,
    ...group.settings.map(({ name, about }) => {
      const term = (about.secret === true ? `${name} *` : name).padEnd(termWidth);
      const said = about.default === null ? about.sentence : `${about.sentence} (${about.default})`;
      // A command's beginning is as long as it is typed: lines are broken after that.
      return wrapped(`  ${term}  ${typeable(said)}`, screenWidth(), ' '.repeat(termWidth + 2));
    }),
  ]);
  return [
    'Settings are environment variables, with their defaults in brackets.',
    '* can also come from a file: give its path in NAME_FILE.',
    ...groups,
    '',
  ].join('\n');
}

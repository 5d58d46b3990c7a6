// The command line as a whole: which commands there are, and the help that ties them together. A command's code is
// loaded only when it is the one asked for: help and mistakes must answer at once.
import { Command } from 'commander';
import { version } from '../version.ts';
import { printError, screenWidth, wrapped } from './print.ts';

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
  { name: 'demo', group: 'Try it:', summary: 'see it work: a simulated platform, an embedded Postgres, nothing to install', load: async () => (await import('./demo.ts')).demoCommand },
  { name: 'simulate', group: 'Try it:', summary: 'serve a simulated platform to practise on, with faults on demand', load: async () => (await import('./simulate.ts')).simulateCommand },
  { name: 'init', group: 'Set up:', summary: 'ask for what is needed, try it, and write it into .env', load: async () => (await import('./init.ts')).initCommand },
  { name: 'doctor', group: 'Set up:', summary: 'check settings, database, platform, clock, disk, port and export, and say what to do', load: async () => (await import('./doctor.ts')).doctorCommand },
  { name: 'sync', group: 'Archive:', summary: 'do everything that is due now, then exit', load: async () => (await import('./sync.ts')).syncCommand },
  { name: 'start', group: 'Archive:', summary: 'keep syncing on schedule and serve the archive, until stopped', load: async () => (await import('./start.ts')).startCommand },
  { name: 'watch', group: 'Archive:', summary: 'ask for the results of these operations until they are final', load: async () => (await import('./watch.ts')).watchCommand },
  { name: 'status', group: 'Inspect and read:', summary: 'show what is held, what is open, and until when', load: async () => (await import('./status.ts')).statusCommand },
  { name: 'plan', group: 'Inspect and read:', summary: 'show what will be asked, and whether it fits before the deadlines', load: async () => (await import('./plan.ts')).planCommand },
  { name: 'probe', group: 'Inspect and read:', summary: 'learn now what limits and totals the platform gives', load: async () => (await import('./probe.ts')).probeCommand },
  { name: 'verify', group: 'Inspect and read:', summary: 'recompute that nothing held was altered or lost', load: async () => (await import('./verify.ts')).verifyCommand },
  { name: 'query', group: 'Inspect and read:', summary: 'list records (also as of a moment), days, runs … as a table, JSON, NDJSON or CSV', load: async () => (await import('./query.ts')).queryCommand },
  { name: 'follow', group: 'Inspect and read:', summary: 'print every new, changed and missing record once, as it comes', load: async () => (await import('./follow.ts')).followCommand },
  { name: 'dictionary', group: 'Inspect and read:', summary: 'print what can be read in SQL and what each column means', load: async () => (await import('./dictionary.ts')).dictionaryCommand },
  { name: 'alert', group: 'Inspect and read:', summary: 'show what is wrong and whether somebody was told', load: async () => (await import('./alert.ts')).alertCommand },
  { name: 'rebuild', group: 'Maintain:', summary: 'derive every typed column again from the records held', load: async () => (await import('./rebuild.ts')).rebuildCommand },
  { name: 'export', group: 'Export and import:', summary: 'write everything held to files, which `outlast import` can load', load: async () => (await import('./export.ts')).exportCommand },
  { name: 'import', group: 'Export and import:', summary: 'load an export into an empty database, all of it or nothing', load: async () => (await import('./import.ts')).importCommand },
  { name: 'migrate', group: 'Maintain:', summary: "bring the database to this release's schema", load: async () => (await import('./migrate.ts')).migrateCommand },
];

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
  const program = (await createProgram(args)).hook('preAction', onLoaded);
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

async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('outlast')
    .usage('<command> [options]')
    .description(
      "Archives a platform's orders and NFT classes in Postgres before its two-month window closes, and proves that nothing is missing.",
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help; after a command: its help')
    .helpCommand('help [command]', 'print the help of a command')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      outputError: (text) => printError(oneSentence(text)),
      writeOut: (text) => process.stdout.write(wrappedHelp(text)),
      getOutHelpWidth: () => screenWidth(),
    });

  const wanted = commandIn(args);
  for (const { name, group, summary, load } of entries) {
    const command = new Command(name).description(summary).helpGroup(group);
    if (name === wanted) (await load())(command);
    program.addCommand(inheriting(command, program));
  }
  // Only what can come to it loads the settings: --version must answer at once. Before a command, --help is the root's.
  const isCommand = entries.some(({ name }) => name === args[0]);
  if (!isCommand && args[0] !== '--version' && args[0] !== '-V') {
    const after = await helpAfter(program);
    program.addHelpText('after', ({ command }) => (command === program ? after : ''));
  }
  return program;
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

const hint = 'see outlast --help';

/** The first word that is no option: `sync` in `outlast sync --json`. */
const commandIn = (args: readonly string[]): string | undefined =>
  args.find((arg) => !arg.startsWith('-'));

/** addCommand, unlike command(), hands nothing down; subcommands of subcommands need it too. */
function inheriting(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inheriting(child, command);
  return command.allowExcessArguments(false);
}

/** commander's own message as one sentence: `outlast: unknown option '--form' (Did you mean --from?)`. */
function oneSentence(text: string): string {
  const [sentence = '', ...rest] = text.trim().split('\n');
  const advice = rest.length > 0 ? ` ${rest.join(' ')}` : ` (${hint})`;
  return `outlast: ${sentence.replace(/^error: /, '')}${sentence.includes(hint) ? '' : advice}`;
}

const exitCodes = [
  ['0', 'everything due was done'],
  ['1', 'failed, and trying again will not help'],
  ['2', 'wrong arguments or settings'],
  ['75', 'something due was not done: try again later'],
] as const;

/** What stands below the commands: exit codes, and the settings as their table says them. */
async function helpAfter(program: Command): Promise<string> {
  const { settingGroups, settings } = await import('../settings/table.ts');
  const help = program.createHelp();
  help.prepareContext({ helpWidth: screenWidth() });
  const termWidth = Math.max(...settings.map(({ name }) => name.length));
  const item = (term: string, sentence: string): string =>
    help.formatItem(term, termWidth, sentence, help);

  const environment = Object.entries(settingGroups).flatMap(([group, title]) => [
    `${title}:`,
    ...settings
      .filter(({ about }) => about.group === group)
      .map(({ name, about }) =>
        item(
          about.secret === true ? `${name} *` : name,
          about.default === null ? about.sentence : `${about.sentence} (${about.default})`,
        ),
      ),
    '',
  ]);
  return [
    '',
    'Settings are environment variables, with their defaults in brackets.',
    '* can also come from a file: give its path in NAME_FILE.',
    '',
    ...environment,
    'Exit codes:',
    ...exitCodes.map(([code, meaning]) => item(code, meaning)),
    '',
    'Start with: outlast demo',
  ].join('\n');
}

// The command line as a whole: which commands there are, and the help that ties them together.
import { createRequire } from 'node:module';
import { Command } from 'commander';
import { definitions } from '../settings.ts';
import { demoCommand } from './demo.ts';
import { migrateCommand } from './migrate.ts';
import { simulateCommand } from './simulate.ts';
import { startCommand } from './start.ts';
import { statusCommand } from './status.ts';
import { syncCommand } from './sync.ts';

const exitCodes = `Exit codes:
  0   all that was due is done
  1   failed, and trying again will not help
  2   bad arguments or settings
  75  something due was not done: try again later`;

export function createProgram(): Command {
  const program = new Command('outlast')
    .description(
      "Archives a platform's orders and NFT classes in Postgres before its two-month window closes.",
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .configureHelp({ showGlobalOptions: false })
    .addHelpText('after', `\n${exitCodes}\n\nSettings (environment):\n${settingsHelp()}`);
  for (const command of [
    demoCommand(),
    syncCommand(),
    startCommand(),
    statusCommand(),
    migrateCommand(),
    simulateCommand(),
  ]) {
    program.addCommand(command);
  }
  for (const command of [program, ...program.commands]) {
    command.exitOverride().showHelpAfterError('(--help lists what there is)');
    if (command !== program) command.allowExcessArguments(false);
  }
  return program.allowExcessArguments(false).action(() => program.help({ error: true }));
}

function settingsHelp(): string {
  const longest = Math.max(...definitions.map(({ name }) => name.length));
  return definitions
    .map(({ name, secret, sentence, default: value }) => {
      const notes = [
        ...(value === null ? [] : [`default ${value}`]),
        ...(secret === true ? [`or ${name}_FILE`] : []),
      ];
      return `  ${name.padEnd(longest)}  ${sentence}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`;
    })
    .join('\n');
}

function version(): string {
  const require = createRequire(import.meta.url);
  // From the sources and from dist/src alike the package lies a few folders up.
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      return (require(path) as { version: string }).version;
    } catch {
      // The other one is it.
    }
  }
  return 'unknown';
}

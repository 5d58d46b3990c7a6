// What stands below the commands in `outlast --help`: exit codes, and the settings as their table says them.
import type { Command } from 'commander';
import { groups, settings } from '../settings/table.ts';

const exitCodes = [
  ['0', 'all that was due is done'],
  ['1', 'failed, and trying again will not help'],
  ['2', 'wrong arguments or settings'],
  ['75', 'something due was not done: try again later'],
] as const;

export function helpAfter(program: Command): string {
  const help = program.createHelp();
  help.prepareContext({ helpWidth: process.stdout.columns ?? 100 });
  const termWidth = Math.max(...settings.map(({ name }) => name.length));
  const item = (term: string, sentence: string): string =>
    help.formatItem(term, termWidth, sentence, help);

  const environment = Object.entries(groups).flatMap(([group, title]) => [
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
    '* or NAME_FILE: the path of a file that holds it, as Docker and Kubernetes mount secrets.',
    '',
    ...environment,
    'Exit codes:',
    ...exitCodes.map(([code, meaning]) => item(code, meaning)),
    '',
    'Start with: outlast demo',
  ].join('\n');
}

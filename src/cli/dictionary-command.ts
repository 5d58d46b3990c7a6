// `outlast query dictionary`: what can be read in SQL and what each column means, from the comments in the database itself;
// as a page, docs/dictionary.md: the same schema gives the same text, and a test tells when the page is stale.
import type { Command } from 'commander';
import { settingsError } from '../errors.ts';
import { readDictionary, type Described, type DictionaryEntry } from '../query/dictionary.ts';
import { openReader } from '../query/reader.ts';
import { readSettings } from '../settings/settings.ts';
import { withReader } from './open-store.ts';
import { print as printText, printJson, printTable, wrapped } from './print.ts';

const statementTimeoutMs = 30_000;

export const dictionaryCommand = (command: Command): Command =>
  command
    .argument('[name]', 'only this view, function or table, column by column')
    .option('--markdown', 'print everything as a page: docs/dictionary.md')
    .option('--json', 'print it as JSON')
    .action(async (name: string | undefined, flags: { markdown?: true; json?: true }) => {
      const settings = readSettings({ needs: 'database' });
      await withReader(
        settings,
        (options) => openReader({ ...options, statementTimeoutMs }),
        async (reader) => {
          const entries = named(await readDictionary(reader), name);
          if (flags.json === true) printJson({ dictionary: entries });
          else if (flags.markdown === true) process.stdout.write(dictionaryPage(entries));
          else print(entries, name !== undefined);
        },
      );
    });

/** All of them, or those of this name, with or without its schema. Throws settings `unknown_name`. */
function named(entries: DictionaryEntry[], name: string | undefined): DictionaryEntry[] {
  if (name === undefined) return entries;
  const found = entries.filter((entry) => {
    const [whole = ''] = entry.name.split('(');
    return whole === name || whole.split('.')[1] === name;
  });
  if (found.length > 0) return found;
  throw settingsError(
    'unknown_name',
    `There is no "${name}" to read here. \`outlast query dictionary\` lists what there is.`,
  );
}

function print(entries: DictionaryEntry[], isDetailed: boolean): void {
  if (!isDetailed) {
    const rows = entries.map(({ name, meaning }) => [name, meaning]);
    printTable(['name', { header: 'meaning', wrapsTo: 40 }], rows);
    return;
  }
  for (const { name, meaning, columns } of entries) {
    printText(`${name}: ${meaning}\n`);
    const rows = columns.map((column) => [column.name, column.type, column.meaning]);
    if (rows.length > 0) printTable(['column', 'type', { header: 'meaning', wrapsTo: 24 }], rows);
    process.stdout.write('\n');
  }
}

const pageHead = `<!-- Generated: outlast query dictionary --markdown > docs/dictionary.md -->

# Data dictionary

What the role \`outlast_reader\` may read. Times are points in time on the platform's clock, days and months are those of
UTC. Money in \`…_fen\` is in fen, 1/100 of the currency unit; in \`…_units\` in whole currency units, exactly.
[The cookbook](cookbook.md) shows what to ask.
`;

/** In columns, as of every page of docs/. */
const pageWidth = 120;

const titles = { view: 'Views', function: 'Functions', table: 'Tables' } as const;

export function dictionaryPage(entries: DictionaryEntry[]): string {
  const parts = (['view', 'function', 'table'] as const).map((kind) => {
    const ofKind = entries.filter((entry) => entry.kind === kind);
    return ofKind.length === 0 ? '' : `\n## ${titles[kind]}\n${ofKind.map(section).join('')}`;
  });
  return pageHead + parts.join('');
}

const section = ({ name, meaning, columns }: DictionaryEntry): string =>
  `\n### \`${name}\`\n\n${wrapped(`${meaning}.`, pageWidth, '')}\n${columns.length > 0 ? `\n${columnsTable(columns)}\n` : ''}`;

function columnsTable(columns: Described[]): string {
  const hasMeaning = columns.some(({ meaning }) => meaning !== '');
  const row = (cells: string[]): string =>
    `| ${(hasMeaning ? cells : cells.slice(0, 2)).map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    row(['column', 'type', 'meaning']),
    row(['---', '---', '---']),
    ...columns.map(({ name, type, meaning }) => row([`\`${name}\``, type, meaning])),
  ].join('\n');
}

// `outlast dictionary`: what can be read in SQL and what each column means, from the comments in the database itself.
import { Command } from 'commander';
import { settingsError } from '../errors.ts';
import { createLog } from '../log.ts';
import { readDictionary, type DictionaryEntry } from '../query/dictionary.ts';
import { openReader } from '../query/reader.ts';
import { readSettings } from '../settings/settings.ts';
import { openStore } from './app.ts';
import { dictionaryPage } from './dictionary-page.ts';
import { printJson, printTable } from './print.ts';

const statementTimeoutMs = 30_000;

export function dictionaryCommand(): Command {
  return new Command('dictionary')
    .description('show what can be read in SQL and what it means')
    .argument('[name]', 'only this view, function or table, column by column')
    .option('--markdown', 'print everything as a page: docs/dictionary.md')
    .option('--json', 'print it as JSON')
    .action(async (name: string | undefined, flags: { markdown?: true; json?: true }) => {
      const settings = readSettings({ needs: 'database' });
      const log = createLog(settings.logLevel);
      const store = await openStore(settings.database, log);
      try {
        const { connectionString } = store;
        const reader = await openReader({ connectionString, max: 1, statementTimeoutMs, log });
        try {
          const entries = named(await readDictionary(reader), name);
          if (flags.json === true) printJson({ dictionary: entries });
          else if (flags.markdown === true) process.stdout.write(dictionaryPage(entries));
          else print(entries, name !== undefined);
        } finally {
          await reader.close();
        }
      } finally {
        await store.close();
      }
    });
}

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
    `There is no "${name}" to read here. \`outlast dictionary\` lists what there is.`,
  );
}

function print(entries: DictionaryEntry[], isDetailed: boolean): void {
  if (!isDetailed) {
    const rows = entries.map(({ name, meaning }) => [name, meaning]);
    printTable(['name', 'meaning'], rows);
    return;
  }
  for (const { name, meaning, columns } of entries) {
    process.stdout.write(`${name}: ${meaning}\n\n`);
    const rows = columns.map((column) => [column.name, column.type, column.meaning]);
    if (rows.length > 0) printTable(['column', 'type', 'meaning'], rows);
    process.stdout.write('\n');
  }
}

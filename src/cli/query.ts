// `outlast query`: the records of one list, as a table for a person, or streamed as data for a program. Only reads: a
// database user who is in outlast_reader is enough.
import { Command, Option } from 'commander';
import { settingsError } from '../errors.ts';
import { createLog } from '../log.ts';
import { openArchive } from '../query/archive.ts';
import type { Resource } from '../model.ts';
import type { Archive } from '../query/types.ts';
import { readSettings, type Settings } from '../settings.ts';
import { openStore } from './app.ts';
import { readFilters, type Filters, type QueryFlags } from './query-filters.ts';
import { formatOf, limitOf, readBounds, readMoment, tableRows } from './query-flags.ts';
import { formats, printRecords } from './query-output.ts';
import {
  readNftClasses,
  readOrders,
  readTokens,
  readTransactions,
  type Reads,
} from './query-reading.ts';
import { flat, historyShown } from './query-shown.ts';

export function queryCommand(): Command {
  return new Command('query')
    .description('list records from the archive')
    .addCommand(
      withDays(listing('orders', 'list purchase orders'))
        .option(
          '--status <words>',
          'pending, succeeded or failed (or 1, 2, 3); several with commas',
        )
        .option('--account <account>', 'only what this account bought')
        .action((flags: QueryFlags) => query(flags, readFilters('orders', flags), readOrders)),
    )
    .addCommand(
      withDays(listing('nft_classes', 'list NFT classes'))
        .alias('nft-classes')
        .option('--owner <account>', 'only what this account owns')
        .option('--name <part>', 'only where this is part of the name, whatever its case')
        .option('--tx-hash <hash>', 'only what this transaction issued')
        .action((flags: QueryFlags) =>
          query(flags, readFilters('nft_classes', flags), readNftClasses),
        ),
    )
    .addCommand(
      listing('transactions', 'list results of operations')
        .option(
          '--status <words>',
          'processing, succeeded, failed or unprocessed (or 0, 1, 2, 3); several with commas',
        )
        .option('--module <module>', 'only what went to this module, as the lookup names it')
        .action((flags: QueryFlags) =>
          query(flags, readFilters('transactions', flags), readTransactions),
        ),
    )
    .addCommand(
      listing('tokens', 'list tokens and their fees')
        .option('--owner <account>', 'only what this account owns')
        .action((flags: QueryFlags) => query(flags, readFilters('tokens', flags), readTokens)),
    );
}

const listing = (resource: Resource, description: string): Command =>
  new Command(resource)
    .description(description)
    .option('--project <name>', 'of this project; needed where there are several')
    .option(
      '--id <id>',
      `only the ${resource === 'tokens' ? 'token with this symbol' : 'record with this id'}`,
    )
    .option('--as-of <instant>', 'as it was known then, e.g. 2026-03-31T23:59:59+08:00')
    .option('--history', 'with --id: everything it was ever seen to say, oldest first')
    .option('--limit <number>', `at most so many; a table shows ${tableRows} unless told`)
    .option('--count', 'print only how many there are')
    .addOption(
      new Option(
        '--format <format>',
        'table on a terminal, else ndjson (one record a line), unless told',
      ).choices(formats),
    )
    .option('--json', 'the same as --format json: one list');

const withDays = (command: Command): Command =>
  command
    .option('--from <day>', 'first day, yyyy-MM-dd (UTC)')
    .option('--to <day>', 'last day, included')
    .option('--newest-first', 'the newest first instead of the oldest');

async function query<Item extends object, Given>(
  flags: QueryFlags,
  filters: Filters<Given>,
  reads: Reads<Item, Given>,
): Promise<void> {
  const format = formatOf(flags, process.stdout.isTTY);
  const limit = limitOf(flags, format);
  const order = flags.newestFirst === true ? { order: 'desc' as const } : {};
  const scope = { ...readBounds(flags), ...readMoment(flags), ...order };
  const settings = readSettings({ needs: 'database' });
  await withArchive(settings, async (archive) => {
    const project = await projectOf(archive, flags.project);
    const { shown, count, items, history } = reads(archive, { ...scope, project }, filters);
    if (flags.history === true && filters.id !== null) {
      const versions = await history(filters.id);
      if (flags.count === true) process.stdout.write(`${versions.length}\n`);
      else await printRecords(versions.map(flat), { format, limit, shown: historyShown(shown) });
    } else if (flags.count === true) process.stdout.write(`${await count()}\n`);
    else await printRecords(await items(), { format, limit, shown });
  });
}

async function withArchive(
  settings: Settings,
  work: (archive: Archive) => Promise<void>,
): Promise<void> {
  const log = createLog(settings.logLevel);
  const store = await openStore(settings.database, log);
  try {
    const archive = await openArchive({ connectionString: store.connectionString, max: 1, log });
    try {
      await work(archive);
    } finally {
      await archive.close();
    }
  } finally {
    await store.close();
  }
}

/** Throws settings `unknown_project`, or `which_project` where it has to be said. */
async function projectOf(archive: Archive, wanted: string | undefined): Promise<string> {
  const known = await archive.projects();
  if (wanted !== undefined) {
    if (known.includes(wanted)) return wanted;
    const sentence = `Nothing is archived for a project "${wanted}" here`;
    throw settingsError(
      'unknown_project',
      `${sentence}${known.length > 0 ? `; there is: ${known.join(', ')}` : ''}.`,
    );
  }
  const [only, ...others] = known;
  if (only === undefined) {
    throw settingsError(
      'unknown_project',
      'Nothing is archived yet. `outlast sync` makes a start.',
    );
  }
  if (others.length === 0) return only;
  throw settingsError(
    'which_project',
    `Say which project with --project; there is: ${known.join(', ')}.`,
  );
}

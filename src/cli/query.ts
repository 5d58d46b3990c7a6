// `outlast query`: the records of one list, as a table for a person, or streamed as data for a program. Only reads: a
// database user who is in outlast_reader is enough.
import { Command, Option } from 'commander';
import { settingsError } from '../errors.ts';
import { createLog } from '../log.ts';
import { openArchive } from '../query/archive.ts';
import type { Archive, ListScope, Records } from '../query/types.ts';
import { readSettings, type Settings } from '../settings.ts';
import { openStore } from './app.ts';
import { readFilters, type Filters, type QueryFlags } from './query-filters.ts';
import { formatOf, limitOf, readBounds, tableRows } from './query-flags.ts';
import { formats, printRecords, type Format, type Shown } from './query-output.ts';
import { nftClassesShown, ordersShown } from './query-table.ts';

export function queryCommand(): Command {
  return new Command('query')
    .description('list records from the archive')
    .addCommand(
      listing('orders', 'list purchase orders')
        .option(
          '--status <words>',
          'pending, succeeded or failed (or 1, 2, 3); several with commas',
        )
        .option('--account <account>', 'only what this account bought')
        .action((flags: QueryFlags) => query('orders', flags)),
    )
    .addCommand(
      listing('nft_classes', 'list NFT classes')
        .alias('nft-classes')
        .option('--owner <account>', 'only what this account owns')
        .option('--name <part>', 'only where this is part of the name, whatever its case')
        .option('--tx-hash <hash>', 'only what this transaction issued')
        .action((flags: QueryFlags) => query('nft_classes', flags)),
    );
}

const listing = (resource: string, description: string): Command =>
  new Command(resource)
    .description(description)
    .option('--project <name>', 'of this project; needed where there are several')
    .option('--id <id>', 'only the record with this id')
    .option('--from <day>', 'first day, yyyy-MM-dd (UTC)')
    .option('--to <day>', 'last day, included')
    .option('--newest-first', 'the newest first instead of the oldest')
    .option('--limit <number>', `at most so many; a table shows ${tableRows} unless told`)
    .option('--count', 'print only how many there are')
    .addOption(
      new Option(
        '--format <format>',
        'table on a terminal, else ndjson (one record a line), unless told',
      ).choices(formats),
    )
    .option('--json', 'the same as --format json: one list');

async function query(resource: 'orders' | 'nft_classes', flags: QueryFlags): Promise<void> {
  const format = formatOf(flags, process.stdout.isTTY);
  const limit = limitOf(flags, format);
  const filters = readFilters(flags);
  const days = readBounds(flags);
  const settings = readSettings({ needs: 'database' });
  await withArchive(settings, async (archive) => {
    const project = await projectOf(archive, flags.project);
    const order = flags.newestFirst === true ? ('desc' as const) : ('asc' as const);
    const scope = { project, ...days, order };
    if (resource === 'orders') {
      await show(archive.orders, ordersShown, scope, filters.orders, flags, format, limit);
    } else {
      await show(
        archive.nftClasses,
        nftClassesShown,
        scope,
        filters.nftClasses,
        flags,
        format,
        limit,
      );
    }
  });
}

async function show<Item extends object, One>(
  records: Records<Item, One>,
  shown: Shown<Item>,
  scope: ListScope,
  { id, rest }: Filters<One>,
  flags: QueryFlags,
  format: Format,
  limit: number,
): Promise<void> {
  const found = { ...scope, ...rest };
  if (flags.count === true) {
    const count = id === null ? await records.count(found) : (await one(records, scope, id)).length;
    process.stdout.write(`${count}\n`);
    return;
  }
  const items = id === null ? records.stream(found) : await one(records, scope, id);
  await printRecords(items, { format, limit, shown });
}

const one = async <Item>(
  records: Pick<Records<Item, never>, 'get'>,
  { project }: ListScope,
  id: string,
): Promise<Item[]> => {
  const item = await records.get(project, id);
  return item === null ? [] : [item];
};

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

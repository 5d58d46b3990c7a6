// `outlast query`: one list of the archive, as a table for a person, or streamed as data for a program. Only reads: a
// database user who is in outlast_reader is enough.
import { Command, Option } from 'commander';
import { dayOf } from '../day.ts';
import { settingsError } from '../errors.ts';
import { openArchive } from '../query/archive.ts';
import { listedResources, type Day, type Resource } from '../model.ts';
import { asOf, days, id, whole } from '../query/arguments.ts';
import { isForGood, rangeCoverage } from '../query/day-marks.ts';
import { lists, recordsOf, type Row } from '../query/lists.ts';
import type { Archive, ListScope, Version } from '../query/types.ts';
import { readSettings } from '../settings/settings.ts';
import { oneProject, withReader } from './open-store.ts';
import { dictionaryCommand } from './dictionary-command.ts';
import { inDays, optionOf, readOptions } from './command-options.ts';
import {
  flat,
  historyShown,
  outputFormats,
  printRecords,
  queryList,
  withProject,
  type OutputFormat,
  type QueryList,
} from './query-print.ts';
import { printError } from './print.ts';

/** Rows of a table by default: a person's screen or two. */
const tableRows = 100;
/** Rows of a table at most: it is held whole to find its widths. */
const tableRowsAtMost = 10_000;

export type QueryFlags = {
  project?: string;
  id?: string;
  from?: string;
  to?: string;
  newestFirst?: true;
  limit?: string;
  count?: true;
  format?: OutputFormat;
  json?: true;
  asOf?: string;
  history?: true;
  /** And the filters of the list. */
  [filter: string]: string | true | undefined;
};

type Days = Pick<ListScope, 'from' | 'to'>;

export const queryCommand = (command: Command): Command => {
  for (const list of lists) command.addCommand(listing(queryList(list)));
  const dictionary = new Command('dictionary').description(
    'what can be read in SQL, and what each column means',
  );
  return command.addCommand(dictionaryCommand(dictionary));
};

/** As help begins its lines; `NFT` stays as it is. */
const beginningSmall = (sentence: string): string =>
  sentence.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());

/** A list that is given whole is that of every project, unless one is named. */
const isOfAll = ({ resource, isPaged }: QueryList): boolean => resource === null && !isPaged;

function listing(list: QueryList): Command {
  const { name, summary, filters, hasDays, statusWords, resource } = list;
  const command = new Command(name)
    .description(beginningSmall(summary))
    .option(
      '--project <name>',
      isOfAll(list) ? 'only of this project' : 'of this project; needed where there are several',
    )
    .option('--limit <number>', `at most so many; a table shows ${tableRows} by default`)
    .option('--count', 'print only how many there are')
    .addOption(
      new Option(
        '--format <format>',
        'table on a terminal, else ndjson (one record a line), by default; sheet: CSV for a spreadsheet',
      ).choices(outputFormats),
    )
    .option('--json', 'the same as --format json: one list');
  if (name.includes('_')) command.alias(name.replaceAll('_', '-'));
  if (resource !== null) {
    command
      .option(
        '--id <id>',
        `only the ${name === 'tokens' ? 'token with this symbol' : 'record with this id'}`,
      )
      .option(
        '--as-of <instant>',
        'as it was known then: 2026-03-31T23:59:59+08:00, or at the end of a day (UTC), also yesterday',
      )
      .option('--history', 'with --id: everything it was ever seen to say, oldest first');
    if (hasDays) command.option('--newest-first', 'the newest first instead of the oldest');
  }
  if (hasDays) {
    command
      .option('--from <day>', 'first day, yyyy-MM-dd (UTC), or yesterday or today')
      .option('--to <day>', 'last day, included');
  }
  for (const [filter, { description = '' }] of Object.entries(filters)) {
    const words = Object.values(filter === 'status' ? statusWords : {});
    command.option(
      `${optionOf(filter)} <${filter === 'status' ? 'statuses' : 'text'}>`,
      beginningSmall(description) + (words.length === 0 ? '' : `; or ${words.join(', ')}`),
    );
  }
  return command.action((flags: QueryFlags) => query(list, flags));
}

/**
 * What is asked for, in the library's terms. Throws settings `argument_invalid`, `bad_format`, `bad_limit` or
 * `bad_filter`.
 */
export function readAsked(list: QueryList, flags: QueryFlags, isTerminal: boolean) {
  const { filters, statusWords, hasDays } = list;
  const format = formatOf(flags, isTerminal);
  const shape = {
    ...filters,
    ...(hasDays ? days : {}),
    id,
    asOf,
    limit: whole(1, 999_999_999_999_999),
  };
  const given = readOptions(shape, inNumbers(flags, statusWords));
  const { id: one, limit, ...narrowed } = given as typeof given & Days;
  const mistake = mistakeIn(flags, [...Object.keys(filters), 'from', 'to']);
  if (mistake !== null) throw settingsError('bad_filter', mistake);
  const order = flags.newestFirst === true ? { order: 'desc' as const } : {};
  return {
    format,
    limit: rowsOf(limit, format),
    id: one,
    query: { ...narrowed, ...order },
  };
}

/** `id` finds what it names by its key: other filters have nothing to narrow. */
function mistakeIn(flags: QueryFlags, filters: string[]): string | null {
  if (flags.id !== undefined && filters.some((name) => flags[name] !== undefined)) {
    return '--id names one record: leave the other filters out.';
  }
  if (flags.history !== true) return null;
  if (flags.id === undefined) return '--history is that of one record: name it with --id.';
  return flags.asOf === undefined ? null : '--history shows every time: leave --as-of out.';
}

function formatOf({ format, json }: QueryFlags, isTerminal: boolean): OutputFormat {
  if (json === true && format !== undefined && format !== 'json') {
    throw settingsError('bad_format', '--json and --format are two ways to say it: give one.');
  }
  return json === true ? 'json' : (format ?? (isTerminal ? 'table' : 'ndjson'));
}

function rowsOf(limit: number | undefined, format: OutputFormat): number {
  if (format === 'table' && limit !== undefined && limit > tableRowsAtMost) {
    const most = `A table shows ${tableRowsAtMost} records at most`;
    throw settingsError('bad_limit', `${most}: give --format csv, ndjson or json for more.`);
  }
  return limit ?? (format === 'table' ? tableRows : Infinity);
}

/**
 * A status in words becomes the platform's number, a hash is put in upper case, as the platform always gives it, and a
 * day becomes its last instant.
 */
function inNumbers(
  { status, txHash, ...flags }: QueryFlags,
  words: Readonly<Record<number, string>>,
): QueryFlags {
  const numberOf = (word: string): string =>
    Object.entries(words).find(([, one]) => one === word.toLowerCase())?.[0] ?? word;
  const asked: QueryFlags = { ...flags };
  if (typeof txHash === 'string') asked['txHash'] = txHash.toUpperCase();
  if (typeof status === 'string') {
    const numbers = status.split(',').map((word) => numberOf(word.trim()));
    asked['status'] = numbers.join(',');
  }
  return asked;
}

async function query(list: QueryList, flags: QueryFlags): Promise<void> {
  const {
    format,
    limit,
    id: one,
    query: asked,
  } = readAsked(list, inDays(flags), process.stdout.isTTY);
  const settings = readSettings({ needs: 'database' });
  await withReader(settings, openArchive, async (archive) => {
    const { shown, resource } = list;
    const reads = list.of(archive);
    const known = await archive.projects();
    if (isOfAll(list) && flags.project === undefined && known.length > 1) {
      const found = await Promise.all(known.map((project) => reads.list({ ...asked, project })));
      const rows = found.flatMap(({ items }) => items);
      if (flags.count === true) process.stdout.write(`${rows.length}\n`);
      else await printRecords(rows, { format, limit, shown: withProject(shown) });
      return;
    }
    const given = { ...asked, project: oneProject(known, flags.project) };
    if (one === undefined || resource === null) {
      if (flags.count === true) process.stdout.write(`${await reads.count(given)}\n`);
      else await printRecords(reads.stream(given), { format, limit, shown });
      const gap = resource === null ? null : await gapIn(archive, resource, given);
      if (gap !== null) printError(gap);
      return;
    }
    const records = recordsOf(archive, resource);
    const { project, ...at } = given;
    if (flags.history === true) {
      const versions = (await records.history(project, one)) as Version<never>[];
      if (flags.count === true) process.stdout.write(`${versions.length}\n`);
      else await printRecords(versions.map(flat), { format, limit, shown: historyShown(shown) });
      return;
    }
    const found = await records.get(project, one, at);
    if (flags.count === true) process.stdout.write(`${found.length}\n`);
    else await printRecords<Row>(found, { format, limit, shown, isOne: true });
  });
}

/** What keeps "none" from meaning that there were none; null where nothing does, and where no days were asked for. */
async function gapIn(
  archive: Archive,
  resource: Resource,
  { project, ...asked }: { project: string; asOf?: string } & Days,
): Promise<string | null> {
  const list = listedResources.find((name) => name === resource);
  const { from = '', to = '9999-12-31' } = asked;
  if (list === undefined || (asked.from ?? asked.to ?? asked.asOf) === undefined) return null;
  const coverage = await archive.coverage({ project, resource: list });
  if ((asked.from ?? asked.to) === undefined) {
    const until = Date.parse(asked.asOf ?? '');
    const isAny = coverage.some(({ provedAt }) => Date.parse(provedAt ?? '') <= until);
    return isAny ? null : 'No day was proved by then: `outlast query coverage` has every day.';
  }
  const [first, last] = [coverage[0]?.day ?? '', coverage.at(-1)?.day ?? ''];
  const now = Date.now();
  const { days: known, holes } = rangeCoverage(coverage, asked, now);
  if (known === 0) {
    return from > dayOf(now)
      ? 'None of these days has begun yet.'
      : 'None of these days was ever archived.';
  }
  const parts = from !== '' && from < first ? [`No day before ${first} was ever archived.`] : [];
  if (last < dayOf(now) && last < to) parts.push(`No day after ${last} is archived yet.`);
  const lost = holes.filter(({ mark }) => mark === 'lost');
  const never = holes.filter(({ mark }) => mark === 'doubtful');
  const others = holes.filter(({ mark }) => !isForGood(mark));
  const all = '`outlast query coverage` has every day.';
  if (lost.length > 0) {
    parts.push(`${which(lost, 'was', 'were')} lost before being read whole: ${all}`);
  }
  if (never.length > 0) parts.push(`${which(never, 'was', 'were')} never proved whole: ${all}`);
  if (others.length > 0) {
    const then = asked.asOf === undefined ? '' : ', or not proved by then';
    parts.push(`${which(others, 'is', 'are')} not all held${then}: ${all}`);
  }
  return parts.length === 0 ? null : parts.join('\n');
}

const which = (days: readonly { day: Day }[], one: string, several: string): string =>
  days.length === 1 ? `${days[0]?.day} ${one}` : `${days.length} of these days ${several}`;

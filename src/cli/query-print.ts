// What a person is shown of each list of `outlast query`, and records on stdout in the form that was asked for: a table
// cut to the width of the terminal, or a stream, which takes constant memory however many there are. Field names are
// the tables' own, exact numbers stay text, and `raw` is the record as the platform gave it.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../errors.ts';
import {
  csvHead,
  csvLine,
  firstOf,
  hundredths,
  jsonText,
  pieces,
  sheetOf,
  unitOf,
} from '../query/record-text.ts';
import { snake, type Fields } from '../resources.ts';
import type { ArchiveProblem } from '../catalogue.ts';
import { problemRowText } from '../problems.ts';
import type { List, Row } from '../query/lists.ts';
import { columnOf } from '../query/selected-columns.ts';
import { inForce } from '../query/reports.ts';
import type { Flat, Version } from '../query/types.ts';
import { unprinted } from './exit.ts';
import {
  asRecords,
  fittedTable,
  formatCount,
  typeable,
  widthOf,
  wrapped,
  type TableColumn as Columns,
} from './print.ts';

type RecordColumn<Item> = Columns & { text: (item: Item) => string };

type RecordTable<Item> = {
  /** What the records are called in a sentence. */
  name: string;
  /** In the order of the output. */
  fields: Fields;
  columns: readonly RecordColumn<Item>[];
};

export const outputFormats = ['table', 'json', 'ndjson', 'csv', 'sheet'] as const;
export type OutputFormat = (typeof outputFormats)[number];

type Printing<Item> = {
  format: OutputFormat;
  limit: number;
  shown: RecordTable<Item>;
  /** A single record is wanted: where a table would cut it, all of it is shown, a line for each value. */
  isOne?: boolean;
};

export async function printRecords<Item extends object>(
  items: AsyncIterable<Item> | Item[],
  printing: Printing<Item>,
): Promise<void> {
  let said = null as Error | null;
  const note = (error: Error): void => void (said = error);
  process.stdout.once('error', note);
  try {
    await pipeline(Readable.from(pieces(textOf(items, printing))), process.stdout, { end: false });
  } catch (error) {
    if (said === null) throw error;
    // A reader that left (`| head`) has what it wanted; of the database's connection the same code is a failure.
    if (codeOf(said) !== 'EPIPE') throw unprinted(said);
  } finally {
    process.stdout.off('error', note);
  }
}

async function* textOf<Item extends object>(
  items: AsyncIterable<Item> | Item[],
  { format, limit, shown, isOne = false }: Printing<Item>,
): AsyncGenerator<string> {
  if (format === 'table') {
    const found: Item[] = [];
    // One more than shown tells whether there are more.
    for await (const item of firstOf(items, limit + 1)) found.push(item);
    const width = process.stdout.columns || Infinity;
    const whole = isOne && found.length === 1 ? tableText(found, false, shown) : '';
    if (whole.split('\n').some((line) => widthOf(line) > width)) {
      const cells = found.map((item) => shown.columns.map(({ text }) => text(item)));
      yield `${asRecords([...shown.columns], cells, width)}\n`;
    } else yield tableText(found.slice(0, limit), found.length > limit, shown, width);
    return;
  }
  const fields = Object.keys(shown.fields) as never[];
  const sheet = sheetOf(shown.fields);
  if (format === 'csv') yield csvHead(fields);
  if (format === 'sheet') yield sheet.head;
  if (format === 'json') yield '[';
  let isFirst = true;
  for await (const item of firstOf(items, limit)) {
    if (format === 'csv') yield csvLine(item, fields);
    else if (format === 'sheet') yield sheet.line(item);
    else if (format === 'ndjson') yield `${jsonText(item, fields)}\n`;
    else yield `${isFirst ? '\n' : ',\n'}${jsonText(item, fields)}`;
    isFirst = false;
  }
  if (format === 'json') yield isFirst ? ']\n' : '\n]\n';
}

/** `width`: how wide the terminal is; undefined cuts nothing. */
export function tableText<Item>(
  items: Item[],
  hasMore: boolean,
  { name, columns }: RecordTable<Item>,
  width = Infinity,
): string {
  if (items.length === 0) return `No ${name} match.\n`;
  const cells = items.map((item) => columns.map((column) => column.text(item)));
  const rare = columns.map((column) => ({ ...column, isRare: true as const }));
  const { text, left } = fittedTable(rare, cells, width);
  const these = items.length === 1 ? 'of the' : formatCount(items.length);
  const notes = [
    ...(left.length > 0
      ? [`Too narrow for ${left.join(', ')}: --format json shows everything.`]
      : []),
    ...(hasMore ? [`The first ${these} ${name}: --limit shows more, --format csv all.`] : []),
  ];
  const note = notes.length === 0 ? '' : `\n${wrapped(notes.join('\n'), width)}\n`;
  return `${text}\n${note}`;
}

export type QueryList = Omit<List, 'shown'> & {
  /** Statuses may be typed as these words, too. */
  statusWords: Readonly<Record<number, string>>;
  shown: RecordTable<Row>;
};

/** What the rows of a list are called, where its name does not say it. */
const rowsAre: Readonly<Record<string, string>> = {
  nft_classes: 'NFT classes',
  transactions: 'results',
  coverage: 'days',
};

export function queryList(list: List): QueryList {
  const { name, fields, shown, key, resource } = list;
  // A record is found by its id, whatever that is called; days have options of their own.
  const { from: _, to: __, ...filters } = list.filters;
  const options = Object.entries(filters).filter(
    ([filter]) => resource === null || !key.includes(filter),
  );
  return {
    ...list,
    filters: Object.fromEntries(options),
    statusWords: columnOf(fields, 'status')?.words ?? {},
    shown: {
      name: rowsAre[name] ?? name.replaceAll('_', ' '),
      fields,
      columns: [
        ...shown.map((field, i) => ({
          ...tableColumn(fields, field),
          // Where there is no room, the last ones go first.
          ...(i > 2 ? { spare: shown.length - i } : {}),
        })),
        ...(resource === null ? [] : [{ header: '', text: missingText }]),
      ],
    },
  };
}

/** The same where rows of several projects stand below each other. */
export const withProject = ({ columns, ...of }: RecordTable<Row>): RecordTable<Row> => ({
  ...of,
  columns: [tableColumn(of.fields, 'projectId'), ...columns],
});

/** What a person calls otherwise than the catalogue. */
const heads: Readonly<Record<string, string>> = {
  projectId: 'project',
  slicesDone: 'days read',
  unresolved: 'pending',
};

function tableColumn(fields: Fields, name: string): RecordColumn<Row> {
  const column = columnOf(fields, name);
  if (name === 'numbersJson') {
    return {
      header: 'what is wrong',
      text: (row) => typeable(problemRowText(row as ArchiveProblem)),
      wrapsTo: 24,
    };
  }
  const { type = 'text', words, values, part, unit } = column ?? {};
  const isTime = type === 'timestamptz';
  const isNumber = ['integer', 'bigint', 'numeric'].includes(type) && words === undefined;
  const isLong = (type === 'text' || type === 'sha256') && values === undefined && column !== null;
  return {
    header:
      (heads[name] ?? snake(name.replace(isTime ? /At$/ : /Fen$/, '')).replaceAll('_', ' ')) +
      (isTime ? ' (UTC)' : unit === 'fen' ? ' (units)' : ''),
    text: (row) => {
      const value = row[name];
      if (isTime) return time(value as string | null);
      const said = words?.[Number(value ?? undefined)] ?? wordOf(value);
      const of = said === '' || column === null ? null : unitOf(name, column, row);
      // As the pages have it: what is paid in fen is read in units.
      if (of === 'fen') return hundredths(said) + (unit === 'fen' ? '' : ' units');
      if (of === 'ugas') return `${said} ugas`;
      return column?.isSentence === true ? typeable(said) : said;
    },
    ...(isNumber ? { isNumber } : {}),
    ...(column?.isSentence === true
      ? { wrapsTo: 24 }
      : isLong
        ? { least: part === 'key' ? 12 : 8 }
        : {}),
  };
}

function wordOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  // A list of words; or a fee, with its denomination.
  return Object.values(value).map(wordOf).join(' ').trim();
}

/** To the minute; of contents, which may follow each other fast, to the second. */
const time = (text: string | null, length = 16): string =>
  (text ?? '').slice(0, length).replace('T', ' ');

export const flat = <Item>({ item, ...when }: Version<Item>): Flat<Item> => ({ ...item, ...when });

/** The same for all contents of one record. */
export const historyShown = ({ fields, columns }: RecordTable<Row>): RecordTable<Flat<Row>> => ({
  name: 'contents',
  fields: { ...inForce, ...fields },
  columns: [
    { header: 'in force from (UTC)', text: (one) => time(one.inForceFrom, 19) || 'never' },
    { header: 'until', text: (one) => (one.isCurrent ? 'now' : time(one.inForceUntil, 19)) },
    ...columns,
  ],
});

const missingText = ({ missingSince }: Row): string =>
  typeof missingSince === 'string' ? `missing since ${missingSince.slice(0, 10)}` : '';

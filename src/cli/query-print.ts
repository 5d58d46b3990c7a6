// Records on stdout in the form that was asked for: a table cut to the width of the terminal, or a stream, which takes
// constant memory however many there are. Field names are the tables' own, exact numbers stay text, and `raw` is the
// record as the platform gave it.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../errors.ts';
import { csvHead, csvLine, firstOf, jsonText, pieces, sheetOf } from '../query/record-text.ts';
import type { Fields } from '../resources.ts';
import {
  asRecords,
  fittedTable,
  formatCount,
  widthOf,
  wrapped,
  type TableColumn as Columns,
} from './print.ts';

export type RecordColumn<Item> = Columns & { text: (item: Item) => string };

export type RecordTable<Item> = {
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
  let hasReaderLeft = false;
  const note = (error: unknown): void => void (hasReaderLeft = codeOf(error) === 'EPIPE');
  process.stdout.once('error', note);
  try {
    await pipeline(Readable.from(pieces(textOf(items, printing))), process.stdout, { end: false });
  } catch (error) {
    // A reader that left (`| head`) has what it wanted; of the database's connection the same code is a failure.
    if (!hasReaderLeft) throw error;
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
    if (whole.split('\n').some((line) => widthOf(line) > width))
      yield recordText(found, shown, width);
    else yield tableText(found.slice(0, limit), found.length > limit, shown, width);
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

const recordText = <Item>(items: Item[], { columns }: RecordTable<Item>, width: number): string =>
  `${asRecords(
    [...columns],
    items.map((item) => columns.map(({ text }) => text(item))),
    width,
  )}\n`;

/** `width`: how wide the terminal is; undefined cuts nothing. */
export function tableText<Item>(
  items: Item[],
  hasMore: boolean,
  { name, columns }: RecordTable<Item>,
  width = Infinity,
): string {
  if (items.length === 0) return `No ${name} match.\n`;
  const cells = items.map((item) => columns.map((column) => column.text(item)));
  // What nobody has is only an empty column.
  const shown = columns.map((_, i) => i).filter((i) => cells.some((row) => row[i] !== ''));
  const { text, left } = fittedTable(
    shown.flatMap((i) => columns[i] ?? []),
    cells.map((row) => shown.map((i) => row[i] ?? '')),
    width,
  );
  const these = items.length === 1 ? 'of the' : formatCount(items.length);
  const notes = [
    ...(left.length > 0
      ? [`Too narrow for ${left.join(', ')}: --id and --format json show everything.`]
      : []),
    ...(hasMore ? [`The first ${these} ${name}: --limit shows more, --format csv all.`] : []),
  ];
  const note = notes.length === 0 ? '' : `\n${wrapped(notes.join('\n'), width)}\n`;
  return `${text}\n${note}`;
}

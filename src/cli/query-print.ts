// Records on stdout in the form that was asked for: a table cut to the width of the terminal, or a stream, which takes
// constant memory however many there are. Field names are the tables' own, exact numbers stay text, and `raw` is the
// record as the platform gave it.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { csvHead, csvLine, firstOf, jsonText, pieces } from '../query/record-text.ts';
import { fitting, formatCount, printable, table, widthOf } from './print.ts';

export type Column<Item> = {
  header: string;
  text: (item: Item) => string;
  /** Numbers stand to the right. */
  isNumber?: true;
  /** May be cut down to so many characters where the terminal is narrow. */
  least?: number;
};

export type Shown<Item> = {
  /** What the records are called in a sentence. */
  name: string;
  /** The library's field names in the order of the output. */
  fields: readonly (keyof Item & string)[];
  columns: readonly Column<Item>[];
};

export const formats = ['table', 'json', 'ndjson', 'csv'] as const;
export type Format = (typeof formats)[number];

export type Printing<Item> = { format: Format; limit: number; shown: Shown<Item> };

export async function printRecords<Item extends object>(
  items: AsyncIterable<Item> | Item[],
  printing: Printing<Item>,
): Promise<void> {
  try {
    await pipeline(Readable.from(pieces(textOf(items, printing))), process.stdout, { end: false });
  } catch (error) {
    // A reader that left (`| head`) has what it wanted.
    if (!process.stdout.destroyed) throw error;
  }
}

async function* textOf<Item extends object>(
  items: AsyncIterable<Item> | Item[],
  { format, limit, shown }: Printing<Item>,
): AsyncGenerator<string> {
  if (format === 'table') {
    const found: Item[] = [];
    // One more than shown tells whether there are more.
    for await (const item of firstOf(items, limit + 1)) found.push(item);
    yield tableText(found.slice(0, limit), found.length > limit, shown, process.stdout.columns);
    return;
  }
  if (format === 'csv') yield csvHead(shown.fields);
  if (format === 'json') yield '[';
  let isFirst = true;
  for await (const item of firstOf(items, limit)) {
    if (format === 'csv') yield csvLine(item, shown.fields);
    else if (format === 'ndjson') yield `${jsonText(item, shown.fields)}\n`;
    else yield `${isFirst ? '\n' : ',\n'}${jsonText(item, shown.fields)}`;
    isFirst = false;
  }
  if (format === 'json') yield isFirst ? ']\n' : '\n]\n';
}

/** `columns`: how wide the terminal is; undefined cuts nothing. */
export function tableText<Item>(
  items: Item[],
  hasMore: boolean,
  { name, columns: all }: Shown<Item>,
  columns: number | undefined,
): string {
  if (items.length === 0) return `No ${name} match.\n`;
  const cells = items.map((item) => all.map((column) => printable(column.text(item))));
  const widest = all.map((column, i) =>
    Math.max(widthOf(column.header), ...cells.map((row) => widthOf(row[i] ?? ''))),
  );
  const isEmpty = all.map((_, i) => cells.every((row) => row[i] === ''));
  const shown = all.map((_, i) => i).filter((i) => isEmpty[i] !== true);
  const widths = narrowed(all, widest, shown, columns);
  const text = table(
    shown.map((i) => headerOf(all[i], widths[i] ?? 0)),
    cells.map((row) => shown.map((i) => cellOf(row[i] ?? '', widths[i] ?? 0, all[i]?.isNumber))),
  );
  const these = items.length === 1 ? 'of the' : formatCount(items.length);
  const more = `The first ${these} ${name}: --limit shows more, --format csv all.`;
  return hasMore ? `${text}\n\n${more}\n` : `${text}\n`;
}

/** Takes from the widest column that may be cut, until the table fits or none can give more. */
function narrowed<Item>(
  all: readonly Column<Item>[],
  widest: number[],
  shown: number[],
  columns: number | undefined,
): number[] {
  const widths = [...widest];
  const gaps = 2 * (shown.length - 1);
  let over = shown.reduce((sum, i) => sum + (widths[i] ?? 0), gaps) - (columns ?? Infinity);
  // Ends: each step takes one from `over`.
  for (; over > 0; over--) {
    const givers = shown.filter((i) => (widths[i] ?? 0) > (all[i]?.least ?? Infinity));
    const [first, ...others] = givers;
    if (first === undefined) break;
    const giver = others.reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a), first);
    widths[giver] = (widths[giver] ?? 0) - 1;
  }
  return widths;
}

const headerOf = <Item>(column: Column<Item> | undefined, width: number): string =>
  column?.isNumber === true ? column.header.padStart(width) : (column?.header ?? '');

function cellOf(text: string, width: number, isNumber: true | undefined): string {
  if (isNumber === true) return text.padStart(width);
  return widthOf(text) <= width ? text : `${fitting(text, width - 1)}…`;
}

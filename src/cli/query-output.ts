// Records on stdout in the form that was asked for. All but a table are streamed: memory stays constant however many
// there are. Field names are the tables' own, exact numbers stay text, and `raw` is the record as the platform gave it.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tableText, type Column } from './query-table.ts';

export const formats = ['table', 'json', 'ndjson', 'csv'] as const;
export type Format = (typeof formats)[number];

export type Shown<Item> = {
  /** What the records are called in a sentence. */
  name: string;
  /** The library's field names in the order of the output. */
  fields: readonly (keyof Item & string)[];
  columns: readonly Column<Item>[];
};

export type Printing<Item> = { format: Format; limit: number; shown: Shown<Item> };

/** Characters handed to stdout at once. */
const pieceLength = 64 * 1024;

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

async function* pieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield piece;
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
  if (format === 'csv') yield `${shown.fields.map(snake).join(',')}\r\n`;
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

async function* firstOf<Item>(
  items: AsyncIterable<Item> | Item[],
  limit: number,
): AsyncGenerator<Item> {
  let left = limit;
  for await (const item of items) {
    yield item;
    left -= 1;
    if (left <= 0) return;
  }
}

/** `rawJson` is the column `raw`: the other names differ in their spelling only. */
const snake = (field: string): string =>
  field === 'rawJson' ? 'raw' : field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `raw` goes in as the text it is: parsed and written again its numbers would be rounded. */
function jsonText<Item extends object>(
  item: Item,
  fields: readonly (keyof Item & string)[],
): string {
  const parts = fields.map((field) => {
    const value: unknown = item[field];
    const text = field === 'rawJson' ? String(value) : JSON.stringify(plain(value));
    return `"${snake(field)}":${text}`;
  });
  return `{${parts.join(',')}}`;
}

/** RFC 4180: nothing for null, `""` for empty text. */
function csvLine<Item extends object>(
  item: Item,
  fields: readonly (keyof Item & string)[],
): string {
  const cells = fields.map((field) => {
    const value = plain(item[field]);
    if (value === null || value === undefined) return '';
    const text = typeof value === 'string' ? value : textIn(value);
    return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\r\n`;
}

/** Lists, of names that hold no space, and numbers. */
const textIn = (value: unknown): string =>
  Array.isArray(value) ? value.join(' ') : JSON.stringify(value);

/** Bytes as lower-case hex; everything else as it is. */
const plain = (value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;

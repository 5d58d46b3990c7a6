// Records on stdout in the form that was asked for. All but a table are streamed: memory stays constant however many
// there are. Field names are the tables' own, exact numbers stay text, and `raw` is the record as the platform gave it.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { csvHead, csvLine, firstOf, jsonText, pieces } from '../query/record-text.ts';
import { tableText, type Shown } from './query-table.ts';

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

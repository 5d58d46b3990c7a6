// A page of a list that is read forwards by its key: one row more than asked for tells whether there is another page.
import { cursorText, fingerprintOf, readCursorText } from './cursor-text.ts';
import type { Page } from './types.ts';

/** The parts of a key, in the order that the list has. */
export type Key = readonly string[];

export async function keyedPage<Item>(
  name: string,
  { limit, cursor, ...query }: { limit: number; cursor?: string | undefined },
  list: {
    rows: (after: Key | null, atMost: number) => Promise<Item[]>;
    keyOf: (item: Item) => Key;
    /** Checks each part of a key that a cursor names. */
    parts: readonly ((part: string) => boolean)[];
  },
): Promise<Page<Item>> {
  const fingerprint = fingerprintOf(name, query);
  const after =
    cursor === undefined
      ? null
      : readCursorText(cursor, fingerprint, (parts) => checked(parts, list.parts)).key;
  const rows = await list.rows(after, limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const isLast = rows.length <= limit || last === undefined;
  return { items, next: isLast ? null : cursorText(fingerprint, 'after', list.keyOf(last)) };
}

function checked(given: unknown[], parts: readonly ((part: string) => boolean)[]): Key | null {
  const isKey = (texts: unknown[]): texts is string[] =>
    texts.length === parts.length &&
    texts.every((text, i) => typeof text === 'string' && parts[i]?.(text) === true);
  return isKey(given) ? given : null;
}

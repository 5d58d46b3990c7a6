// Cursors: the key after, or before, which a page lies, bound to the query that gave it. Opaque to callers. The
// checksum tells damage, not malice: whatever a cursor says is checked again before SQL sees it, and it opens nothing
// that its bearer could not ask for anyway.
import { hash } from 'node:crypto';
import { settingsError } from '../errors.ts';
import type { Page } from '../catalogue.ts';

/** The side of the key that a page lies on, in the list's own order. */
export type Side = 'after' | 'before';

/** Grows when the meaning of a cursor changes: those of another release are refused, never misread. */
const version = 2;
/** More than any key needs: an id of 512 bytes, each escaped. */
const maxLength = 8192;

const digestOf = (json: string): string => hash('sha256', json, 'base64url').slice(0, 16);

/** What a cursor is bound to: all of a query but its limit and its cursor. */
export function fingerprintOf(list: string, query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return digestOf(JSON.stringify([list, given.toSorted(([a], [b]) => (a < b ? -1 : 1))]));
}

export function cursorText(
  fingerprint: string,
  side: Side,
  key: readonly (string | null)[],
): string {
  const content = JSON.stringify([version, fingerprint, side, ...key]);
  return Buffer.from(`${content.slice(0, -1)},"${digestOf(content)}"]`).toString('base64url');
}

/**
 * What `cursorText` wrote. `readKey` checks the parts of the key and gives it, or null where they are none of its list.
 * Throws settings `cursor_invalid` for anything but a cursor of this very query.
 */
export function readCursorText<Key>(
  cursor: string,
  fingerprint: string,
  readKey: (parts: unknown[]) => Key | null,
): { side: Side; key: Key } {
  const parts = decode(cursor);
  const content = parts.slice(0, -1);
  const [given, query, side, ...keyParts] = content;
  const isOurs =
    given === version &&
    query === fingerprint &&
    parts.at(-1) === digestOf(JSON.stringify(content));
  const key = isOurs ? readKey(keyParts) : null;
  if (key === null || !(side === 'after' || side === 'before')) throw cursorInvalid();
  return { side, key };
}

const cursorInvalid = () =>
  settingsError(
    'cursor_invalid',
    'The cursor was not given by this query: it is damaged, or comes from other filters or another release. Ask again without a cursor.',
  );

function decode(cursor: string): unknown[] {
  if (cursor.length > maxLength || !/^[A-Za-z0-9_-]+$/.test(cursor)) throw cursorInvalid();
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (!Array.isArray(parts)) throw cursorInvalid();
    return parts as unknown[];
  } catch {
    throw cursorInvalid();
  }
}

/** The parts of a key, in the order that the list has. */
export type Key = readonly string[];

/**
 * A page of a list that is read forwards by its key: one row more than asked for tells whether there is another page.
 */
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

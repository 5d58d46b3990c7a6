// Cursors: the key after, or before, which a page lies, bound to the query that gave it. Opaque to callers. The
// checksum tells damage, not malice: whatever a cursor says is checked again before SQL sees it, and it opens nothing
// that its bearer could not ask for anyway.
import { hash } from 'node:crypto';
import { settingsError } from '../errors.ts';
import type { Column } from '../resources.ts';
import { isArchiveDay, isStorable, isTime } from './arguments.ts';

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

/** The parts of a key, in the order that the list has; null: a time that could not be read. */
export type Key = readonly (string | null)[];

export function cursorText(fingerprint: string, side: Side, key: Key): string {
  const content = JSON.stringify([version, fingerprint, side, ...key]);
  return Buffer.from(`${content.slice(0, -1)},"${digestOf(content)}"]`).toString('base64url');
}

/**
 * What `cursorText` wrote of a key in these columns; where `hasEdge`, of the list's edge as well, whose key has no part.
 * Throws settings `cursor_invalid` for anything but a cursor of this very query.
 */
export function readCursorText(
  cursor: string,
  fingerprint: string,
  columns: readonly Column[],
  hasEdge = false,
): { side: Side; key: Key } {
  const parts = decode(cursor);
  const content = parts.slice(0, -1);
  const [given, query, side, ...key] = content;
  const isOurs =
    given === version &&
    query === fingerprint &&
    parts.at(-1) === digestOf(JSON.stringify(content)) &&
    (side === 'after' || side === 'before') &&
    ((hasEdge && key.length === 0) || isKeyOf(columns, key));
  if (!isOurs) throw cursorInvalid();
  return { side, key: key as (string | null)[] };
}

/** Where a day may be null, it stands before all others. */
export const unbounded = '-infinity';

const isKeyOf = (columns: readonly Column[], parts: unknown[]): boolean =>
  parts.length === columns.length && columns.every((column, i) => isPartOf(column, parts[i]));

/** Whether Postgres can take it for a value of the column. */
function isPartOf({ type, values, isSet }: Column, part: unknown): boolean {
  if (part === null) return type === 'timestamptz' && isSet !== true;
  if (typeof part !== 'string') return false;
  if (values !== undefined) return values.includes(part);
  if (type === 'timestamptz') return isTime(part);
  if (type === 'date') return isArchiveDay(part) || (isSet !== true && part === unbounded);
  return type === 'bigint' ? /^\d{1,18}$/.test(part) : isStorable(part);
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

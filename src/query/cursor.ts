// The cursor of a list: where its next page begins, bound to the query that gave it. Opaque to callers. The checksum
// tells damage, not malice: whatever a cursor says is checked again before SQL sees it, and it opens nothing
// that its bearer could not ask for anyway.
import { createHash } from 'node:crypto';
import { startOf } from '../day.ts';
import { settingsError } from '../errors.ts';
import type { Day } from '../model.ts';
import { isArchiveDay, isId, type Scope } from './arguments.ts';

/** Where a record stands in its list: the list goes on after it. A null time stands last in its day. */
export type Position = { day: Day; createdAt: string | null; id: string };

/** The side of the position that a page lies on, in the list's own order. */
export type Side = 'after' | 'before';

/** Grows when the meaning of a cursor changes: those of another release are refused, never misread. */
const version = 2;
/** More than any position needs: an id of 512 bytes, each escaped. */
const maxLength = 8192;

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);

/** What a cursor is bound to: all of a query but its limit and its cursor. */
export function fingerprintOf(resource: string, query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return digestOf([resource, given.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

export function writeCursor(
  fingerprint: string,
  side: Side,
  { day, createdAt, id }: Position,
): string {
  const content = [version, fingerprint, side, day, createdAt, id];
  return Buffer.from(JSON.stringify([...content, digestOf(content)])).toString('base64url');
}

/** Where a page lies. Throws settings `cursor_invalid` for anything but a cursor of this very query. */
export function readCursor(
  cursor: string,
  fingerprint: string,
  scope: Scope,
): { side: Side; position: Position } {
  const [content, checksum] = decode(cursor);
  const [given, query, side, day, createdAt, id] = content;
  if (
    given !== version ||
    query !== fingerprint ||
    checksum !== digestOf(content) ||
    !(side === 'after' || side === 'before') ||
    typeof day !== 'string' ||
    !isArchiveDay(day) ||
    (scope.from !== undefined && day < scope.from) ||
    (scope.to !== undefined && (scope.toInstant === true ? day > scope.to : day >= scope.to)) ||
    !(createdAt === null || (typeof createdAt === 'string' && isTime(createdAt))) ||
    typeof id !== 'string' ||
    !isId(id)
  ) {
    throw cursorInvalid();
  }
  return { side, position: { day, createdAt, id } };
}

const cursorInvalid = () =>
  settingsError(
    'cursor_invalid',
    'The cursor was not given by this query: it is damaged, or comes from other filters or another release. Ask again without a cursor.',
  );

/** What was written and its checksum, of whatever types. */
function decode(cursor: string): [content: unknown[], checksum: unknown] {
  if (cursor.length > maxLength || !/^[A-Za-z0-9_-]+$/.test(cursor)) throw cursorInvalid();
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (!Array.isArray(parts) || parts.length !== 7) throw cursorInvalid();
    return [parts.slice(0, 6), parts[6]];
  } catch {
    throw cursorInvalid();
  }
}

/** A real time between the years 1 and 9999 as this module writes it. */
function isTime(text: string): boolean {
  const match = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?Z$/.exec(text);
  return match?.[1] !== undefined && isArchiveDay(match[1]) && !Number.isNaN(startOf(match[1]));
}

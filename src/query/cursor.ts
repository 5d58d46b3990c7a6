// The cursor of a list of days: the position its next page begins after. What a cursor is made of is cursor-text.ts.
import type { Day } from '../model.ts';
import { isId, type Scope } from './arguments.ts';
import { cursorText, readCursorText, type Side } from './cursor-text.ts';
import { isArchiveDay } from './days.ts';
import { readInstant } from './instant.ts';

/** Where a record stands in its list: the list goes on after it. A null time stands last in its day. */
export type Position = { day: Day; createdAt: string | null; id: string };

/** The edge of the whole list: after it is the first page, before it the last one. */
export type Edge = 'edge';

export const writeCursor = (fingerprint: string, side: Side, at: Position | Edge): string =>
  cursorText(fingerprint, side, at === 'edge' ? [] : [at.day, at.createdAt, at.id]);

/**
 * Where a page lies; a null position is the edge. Throws settings `cursor_invalid` for anything but a cursor of this very
 * query.
 */
export function readCursor(
  cursor: string,
  fingerprint: string,
  scope: Scope,
): { side: Side; position: Position | null } {
  const { side, key } = readCursorText(cursor, fingerprint, (parts) =>
    parts.length === 0 ? 'edge' : positionOf(parts, scope),
  );
  return { side, position: key === 'edge' ? null : key };
}

function positionOf(parts: unknown[], scope: Scope): Position | null {
  const [day, createdAt, id, ...others] = parts;
  if (
    others.length > 0 ||
    typeof day !== 'string' ||
    !isArchiveDay(day) ||
    (scope.from !== undefined && day < scope.from) ||
    (scope.to !== undefined && (scope.toInstant === true ? day > scope.to : day >= scope.to)) ||
    !(createdAt === null || (typeof createdAt === 'string' && isTime(createdAt))) ||
    typeof id !== 'string' ||
    !isId(id)
  ) {
    return null;
  }
  return { day, createdAt, id };
}

/** A real time between the years 1 and 9999 as this module writes it. */
export const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT[\d:]{8}(\.\d{1,6})?Z$/.test(text) && readInstant(text) !== null;

// The order of every list of days, (slice_day, created_at, id), unreadable times last in their day, as the indexes
// `orders_listed` and `nft_classes_listed` have it; and how a page goes on after a position, as SQL and as a cursor.
// Builds SQL, runs none.
import type { SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Day } from '../model.ts';
import { and, eq, gte, lt, lte, sql } from '../store/orm.ts';
import { isArchiveDay, isId, isTime, type CheckedScope } from './arguments.ts';
import { cursorText, readCursorText, type Side } from './cursor.ts';

/** Where a record stands in its list: the list goes on after it. A null time stands last in its day. */
export type RecordPosition = { day: Day; createdAt: string | null; id: string };

/** The edge of the whole list: after it is the first page, before it the last one. */
export type Edge = 'edge';

export const writeCursor = (fingerprint: string, side: Side, at: RecordPosition | Edge): string =>
  cursorText(fingerprint, side, at === 'edge' ? [] : [at.day, at.createdAt, at.id]);

/**
 * Where a page lies; a null position is the edge. Throws settings `cursor_invalid` for anything but a cursor of this
 * very query.
 */
export function readCursor(
  cursor: string,
  fingerprint: string,
  scope: CheckedScope,
): { side: Side; position: RecordPosition | null } {
  const { side, key } = readCursorText(cursor, fingerprint, (parts) =>
    parts.length === 0 ? 'edge' : positionOf(parts, scope),
  );
  return { side, position: key === 'edge' ? null : key };
}

function positionOf(parts: unknown[], scope: CheckedScope): RecordPosition | null {
  const [day, createdAt, id, ...others] = parts;
  if (
    others.length > 0 ||
    typeof day !== 'string' ||
    !isArchiveDay(day) ||
    (scope.from !== undefined && day < scope.from) ||
    (scope.to !== undefined && day >= scope.to) ||
    !(createdAt === null || (typeof createdAt === 'string' && isTime(createdAt))) ||
    typeof id !== 'string' ||
    !isId(id)
  ) {
    return null;
  }
  return { day, createdAt, id };
}

export type ListedTable = {
  project: PgColumn;
  sliceDay: PgColumn;
  createdAt: PgColumn;
  firstSeenAt: PgColumn;
};

/** The index's own expression: any other spelling would sort the whole list. */
export const listedAt = (table: ListedTable): SQL =>
  sql`coalesce(${table.createdAt}, 'infinity'::timestamptz)`;

export function listOrder(table: ListedTable, id: PgColumn, order: CheckedScope['order']): SQL[] {
  const direction = order === 'asc' ? sql`asc` : sql`desc`;
  return [sql`${table.sliceDay}`, listedAt(table), sql`${id}`].map(
    (term) => sql`${term} ${direction}`,
  );
}

/**
 * The records of a scope after a position. The position takes the place of the day bound on its own side: with
 * both, the index scan may start at the bound and read its way to the position, page by page more
 * (90,000 rows deep, descending, on Postgres 18: 939 blocks instead of 12).
 */
export function listedAfter(
  table: ListedTable,
  id: PgColumn,
  scope: CheckedScope,
  after: RecordPosition | null,
): SQL | undefined {
  const isAscending = scope.order === 'asc';
  return and(
    eq(table.project, scope.project),
    after !== null && isAscending ? undefined : bound(gte, table.sliceDay, scope.from),
    after !== null && !isAscending ? undefined : bound(lt, table.sliceDay, scope.to),
    after === null
      ? undefined
      : sql`(${table.sliceDay}, ${listedAt(table)}, ${id}) ${isAscending ? sql`>` : sql`<`} (${after.day}::date, ${after.createdAt ?? 'infinity'}::timestamptz, ${after.id}::text)`,
  );
}

/** Leaves out what was first seen after a moment. */
export const seenBy = (table: ListedTable, horizon: string): SQL => lte(table.firstSeenAt, horizon);

function bound(
  compare: (column: PgColumn, day: string) => SQL,
  column: PgColumn,
  day: string | undefined,
): SQL | undefined {
  return day === undefined ? undefined : compare(column, day);
}

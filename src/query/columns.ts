// The bookkeeping every listed record carries, from its columns to the item's fields: the one place that
// knows how they are spelt on both sides.
import { sql } from 'drizzle-orm';
import type { nftClasses, orders } from '../store/schema.ts';
import { timeText } from '../store/db.ts';
import type { Bookkeeping } from './types.ts';

export function bookkeepingColumns(table: typeof orders | typeof nftClasses) {
  return {
    project: table.projectId,
    sliceDay: table.sliceDay,
    // As text: read as jsonb it would be parsed, and its numbers rounded.
    rawJson: sql<string>`${table.raw}::text`,
    rawBytes: table.rawBytes,
    rawSha256: sql<string>`encode(${table.rawSha256}, 'hex')`,
    unread: table.unread,
    observedAt: table.observedAt,
    firstSeenAt: table.firstSeenAt,
    changedAt: table.changedAt,
    missingSince: table.missingSince,
  };
}

export const timeOrNull = (text: string | null): string | null =>
  text === null ? null : timeText(text);

/** The same with times as RFC 3339. */
export function bookkeepingOf(row: Bookkeeping): Bookkeeping {
  return {
    project: row.project,
    sliceDay: row.sliceDay,
    rawJson: row.rawJson,
    rawBytes: row.rawBytes,
    rawSha256: row.rawSha256,
    unread: row.unread,
    observedAt: timeText(row.observedAt),
    firstSeenAt: timeText(row.firstSeenAt),
    changedAt: timeText(row.changedAt),
    missingSince: timeOrNull(row.missingSince),
  };
}

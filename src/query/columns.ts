// The bookkeeping every listed record carries, from its columns to the item's fields.
import { sql } from 'drizzle-orm';

/** `raw` as text: read as jsonb it would be parsed, and its numbers rounded. */
export const bookkeepingColumns = sql.raw(`project_id as "project", slice_day as "sliceDay",
  raw::text as "rawJson", raw_bytes as "rawBytes", encode(raw_sha256, 'hex') as "rawSha256", unread,
  observed_at as "observedAt", first_seen_at as "firstSeenAt", changed_at as "changedAt",
  missing_since as "missingSince"`);

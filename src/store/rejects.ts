// sync.rejects: records without a usable id, or too long, kept as bytes with the reason. Written by a page's commit
// (commit.ts); read here once more when the reader of records has learned something.
import type { Day } from '../model.ts';
import type { Queryable, Tx } from './db.ts';
import type { Archived } from './tables.ts';

export type HeldReject = {
  sha256: string;
  bytes: Buffer;
  owner: string;
  /** The slice's day it was seen on, and when, RFC 3339. */
  day: Day;
  seenAt: string;
};

/**
 * What the journal tells of a reject: its digest, when it was seen, RFC 3339, and why; and where only its beginning is
 * kept the digest of that. As an expression on its row.
 */
export type EnteredReject = [sha256: string, seenAt: string, reason: string, kept: string | null];
export const enteredReject = `json_build_array(encode(sha256, 'hex'), sync.utc(seen_at), reason,
  case when whole_length is not null then encode(sha256(bytes), 'hex') end)`;

/** Rejects of a list by their digests, from the one behind `after` on (from the first: ''). */
export async function rejectsAfter(
  db: Queryable,
  { projectId, resource }: Archived,
  after: string,
  limit: number,
): Promise<HeldReject[]> {
  const { rows } = await db.query<Omit<HeldReject, 'seenAt'> & { seen_at: string }>(
    `select encode(sha256, 'hex') as sha256, bytes, owner, day, seen_at
       from sync.rejects
      where project_id = $1 and resource = $2 and sha256 > decode($3, 'hex')
        -- Of what was too long there is only the beginning: no record.
        and whole_length is null
      order by sync.rejects.sha256 limit $4`,
    [projectId, resource, after, limit],
  );
  return rows.map(({ seen_at: seenAt, ...reject }) => ({ ...reject, seenAt }));
}

/** Drops a reject that has become a record, in the transaction that writes the record. */
export async function dropReject(
  tx: Tx,
  { projectId, resource }: Archived,
  sha256: string,
): Promise<void> {
  await tx.query(
    `delete from sync.rejects
      where project_id = $1 and resource = $2 and sha256 = decode($3, 'hex')`,
    [projectId, resource, sha256],
  );
}

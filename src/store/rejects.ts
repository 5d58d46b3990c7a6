// sync.rejects: records without a usable id, or too long, kept as bytes with the reason; read once more when the reader
// of records has learned something.
import type { Day, Instant, RejectedRecord } from '../model.ts';
import type { Queryable, Tx } from './db.ts';
import type { Place } from './journal/journal.ts';
import { iso } from './ledger.ts';
import type { Archived } from './record-tables.ts';

type HeldReject = {
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
type EnteredReject = [sha256: string, seenAt: string, reason: string, kept: string | null];
const enteredReject = `json_build_array(encode(sha256, 'hex'), sync.utc(seen_at), reason,
  case when whole_length is not null then encode(sha256(bytes), 'hex') end)`;

/** Keeps rejects once each, with when they were seen first. Returns those that were new. */
export async function keepRejects(
  tx: Tx,
  place: Place,
  rejects: (RejectedRecord & { seenAt: Instant })[],
): Promise<EnteredReject[]> {
  if (rejects.length === 0) return [];
  const { rows } = await tx.query<{ entered: EnteredReject }>(
    `insert into sync.rejects (project_id, resource, owner, day, sha256, bytes, reason, seen_at, whole_length)
     select distinct on (sha256) $1, $2, $3, $4::date, sha256, bytes, reason, seen_at, whole_length
       from unnest($5::bytea[], $6::bytea[], $7::text[], $8::timestamptz[], $9::bigint[])
            as r(sha256, bytes, reason, seen_at, whole_length)
      order by sha256, seen_at
         on conflict do nothing
     returning ${enteredReject} as entered`,
    [
      place.projectId,
      place.resource,
      place.owner,
      place.day,
      rejects.map((reject) => Buffer.from(reject.sha256, 'hex')),
      rejects.map((reject) => reject.bytes),
      rejects.map((reject) => reject.reason),
      rejects.map((reject) => iso(reject.seenAt)),
      rejects.map((reject) => reject.wholeLength),
    ],
  );
  return rows.map(({ entered }) => entered);
}

/** Rejects of a list by their digests, from the one behind `after` on (from the first: ''). */
export async function rejectsAfter(
  db: Queryable,
  { projectId, resource }: Archived,
  after: string,
  limit: number,
): Promise<HeldReject[]> {
  const { rows } = await db.query<HeldReject>(
    `select encode(sha256, 'hex') as sha256, bytes, owner, day, seen_at as "seenAt"
       from sync.rejects
      where project_id = $1 and resource = $2 and sha256 > decode($3, 'hex')
        -- Of what was too long there is only the beginning: no record.
        and whole_length is null
      order by sync.rejects.sha256 limit $4`,
    [projectId, resource, after, limit],
  );
  return rows;
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

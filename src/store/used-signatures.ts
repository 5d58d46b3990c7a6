// Signed requests that write: each is taken once, in the transaction that does what it asks for. All replicas share the
// memory.
import { settingsError } from '../errors.ts';
import type { Tx } from './db.ts';

/**
 * How long a request is remembered, on the database's clock. A signature opens something for half an hour at most (15
 * minutes either way, http/gate.ts); the rest is for replicas whose clocks differ.
 */
const remembered = '1 hour';

/** Throws settings `request_taken` for one that was taken before. `signature` is hex. */
export async function takeRequest(tx: Tx, signature: string): Promise<void> {
  // Bounded: what is too old goes with the next one that comes. Where another is just forgetting it, nobody waits.
  await tx.query(
    `delete from sync.taken_requests
      where signature in (select signature from sync.taken_requests
                           where taken_at < now() - $1::interval
                             for update skip locked)`,
    [remembered],
  );
  // One that is being taken at this moment is waited for.
  const { rows } = await tx.query(
    `insert into sync.taken_requests (signature) values (decode($1, 'hex'))
     on conflict do nothing returning true`,
    [signature],
  );
  if (rows.length > 0) return;
  throw settingsError(
    'request_taken',
    'This signed request was taken before: sign it anew, with another X-Timestamp. Nothing was entered.',
  );
}

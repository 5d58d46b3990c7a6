// Records that had no usable id, tried again: the reader of records may have learned to find it. What still has none
// stays a reject.
import type { Listed } from '../store/contents.ts';
import { withTx, type Db } from '../store/db.ts';
import { momentOfChange } from '../store/derived.ts';
import { writeRecords } from '../store/records.ts';
import { dropReject, rejectsAfter } from '../store/rejects.ts';
import { readAgain } from '../verify/content.ts';

const rejectsAtATime = 1_000;

/**
 * Rejects that have a usable id by now become records of the moment they were seen. Returns how many. Killed in between, it
 * goes on with those that are left (P3).
 */
export async function retryRejects(db: Db, listed: Listed): Promise<number> {
  let returned = 0;
  let after = '';
  // Ends: every page begins behind the last one's digest.
  for (;;) {
    const rejects = await rejectsAfter(db, listed, after, rejectsAtATime);
    if (rejects.length === 0) return returned;
    for (const { sha256, bytes, day, seenAt } of rejects) {
      after = sha256;
      const held = { id: '', raw: '', raw_bytes: bytes, sha256 };
      const record = readAgain(listed.resource, held, day);
      if (record === null) continue;
      const writtenAt = Date.parse(await momentOfChange(db, listed.projectId));
      // One transaction, or a kill in between would leave it both or neither.
      await withTx(db, async (tx) => {
        const observed = [{ record, observedAt: Date.parse(seenAt) }];
        await writeRecords(tx, { ...listed, expectsNew: null }, observed, writtenAt);
        await dropReject(tx, listed, sha256);
      });
      returned += 1;
    }
  }
}

// Records that had no usable id, tried again: the reader of records may have learned to find it. What still has none
// stays a reject.
import { withTx, type Db } from '../store/db.ts';
import { momentOfChange } from '../store/derived.ts';
import { writeInto } from '../store/records.ts';
import { dropReject, rejectsAfter } from '../store/rejects.ts';
import { shapeOf, type Archived } from '../store/tables.ts';
import { readRejectAgain } from '../verify/content.ts';

const rejectsAtATime = 1_000;

/**
 * Rejects that have a usable id by now become records of the moment they were seen. Returns how many. Killed in between, it
 * goes on with those that are left (P3).
 */
export async function retryRejects(db: Db, of: Archived): Promise<number> {
  // What a lookup answers belongs to the id that was asked for: nothing of it is ever set aside.
  if (of.resource === 'transactions') return 0;
  let returned = 0;
  let after = '';
  // Ends: every page begins behind the last one's digest.
  for (;;) {
    const rejects = await rejectsAfter(db, of, after, rejectsAtATime);
    if (rejects.length === 0) return returned;
    for (const { sha256, bytes, owner, day, seenAt } of rejects) {
      after = sha256;
      const record = readRejectAgain(of.resource, bytes, day);
      if (record === null) continue;
      const writtenAt = Date.parse(await momentOfChange(db, of.projectId));
      // One transaction, or a kill in between would leave it both or neither.
      await withTx(db, async (tx) => {
        const observed = [{ record, observedAt: Date.parse(seenAt) }];
        await dropReject(tx, of, sha256);
        const chain = { projectId: of.projectId, resource: of.resource, owner, day };
        const told = { kind: 'returned' as const, says: { reject: sha256 } };
        const to = { projectId: of.projectId, expectsNew: null, entry: { chain, told } };
        await writeInto(tx, shapeOf(of), to, observed, writtenAt);
      });
      returned += 1;
    }
  }
}

// Rebuild: derives every typed column of a resource, versions included, afresh from what its records say, after the
// reader of records has changed; and tries records that had no usable id again: what still has none stays a reject. It
// asks the platform nothing, and what it does not change it does not touch.
import { transient } from '../errors.ts';
import { versionsOf, type HeldRow } from '../store/read-held.ts';
import { withTx, type Db, type Tx } from '../store/db.ts';
import { countEntered } from '../store/journal/journal.ts';
import {
  applyDerived,
  beginRebuild,
  endRebuild,
  lockDiffering,
  momentOfChange,
  moveRebuild,
  rowsAfter,
  unfinishedRebuild,
  type Applied,
  type Rebuild,
} from '../store/rebuild-columns.ts';
import { againIfHeld, writeInto } from '../store/records.ts';
import { dropReject, rejectsAfter } from '../store/rejects.ts';
import { archivedName, type Archived } from '../store/record-tables.ts';
import { derivedFrom, readRejectAgain } from '../verify/read-again.ts';

type RebuildOptions = {
  signal: AbortSignal;
  /** Begins at the first record, also where another rebuild was cut off. */
  afresh: boolean;
  onProgress: (sofar: Rebuilt) => void;
};

export type Rebuilt = Omit<Rebuild, 'doneUpTo'> & {
  /** It went on where an earlier process was cut off; rows, columns and changes count both. */
  resumed: boolean;
  /**
   * Ids whose record does not match its digest or its id: left as they are. At most a hundred of them, and how many.
   */
  altered: string[];
  alteredCount: number;
  /** Rejects that became records. */
  returned: number;
  /** False when it was told to stop. */
  done: boolean;
};

const rowsAtATime = 1_000;
const alteredShown = 100;

/**
 * Throws transient `rebuild_overtaken` when another process rebuilds the same, and what the database throws. Killed at
 * any moment it goes on from the last page committed (P3).
 */
export async function rebuild(
  db: Db,
  of: Archived,
  { signal, afresh, onProgress }: RebuildOptions,
): Promise<Rebuilt> {
  const cutOff = afresh ? null : await unfinishedRebuild(db, of);
  let at = cutOff ?? (await beginRebuild(db, of));
  const altered: string[] = [];
  let alteredCount = 0;
  const sofar = (returned: number, done: boolean): Rebuilt => {
    const { doneUpTo: _, ...figures } = at;
    return { ...figures, resumed: cutOff !== null, altered, alteredCount, returned, done };
  };
  // Ends: every page begins behind the last one's key.
  while (!signal.aborted) {
    const rows = await rowsAfter(db, of, at.doneUpTo ?? '', rowsAtATime);
    if (rows.length === 0) {
      const returned = await retryRejects(db, of);
      await withTx(db, (tx) => countEntered(tx, of.projectId));
      await endRebuild(db, of, at);
      return sofar(returned, true);
    }
    const page = await rebuildPage(db, of, at, rows);
    ({ at } = page);
    alteredCount += page.altered.length;
    altered.push(...page.altered.slice(0, alteredShown - altered.length));
    onProgress(sofar(0, false));
  }
  return sofar(0, false);
}

async function rebuildPage(
  db: Db,
  of: Archived,
  before: Rebuild,
  rows: HeldRow[],
): Promise<{ at: Rebuild; altered: string[] }> {
  const first = derivedFrom(of, rows);
  const changedAt = await momentOfChange(db, of.projectId);
  return withTx(db, async (tx) => {
    // Few, as a rule: these are locked and derived once more, for a sync may have written them since.
    const again = derivedFrom(of, await lockDiffering(tx, of, first.derived));
    const applied = [await applyDerived(tx, of, again.derived, changedAt)];
    const altered = [...first.altered, ...again.altered];
    // After the rows: what a sync has moved from a row to its versions meanwhile is among them by now.
    const ids = rows.map(({ id }) => id);
    const versions = derivedFrom(of, await versionsOf(tx, of, ids, null));
    applied.push(await applyDerived(tx, of, versions.derived, null));
    altered.push(...versions.altered);
    const after: Rebuild = {
      startedAt: before.startedAt,
      doneUpTo: rows.at(-1)?.id ?? before.doneUpTo,
      rowsRead: before.rowsRead + rows.length,
      rowsChanged: before.rowsChanged + applied.reduce((sum, one) => sum + one.rows, 0),
      changes: summed([before.changes, ...applied.map((one) => one.changes)]),
    };
    if (!(await moveRebuild(tx, of, before, after))) {
      throw transient(
        'rebuild_overtaken',
        `Another process rebuilds ${archivedName(of)} of ${of.projectId}: let it finish`,
      );
    }
    return { at: after, altered: [...new Set(altered)] };
  });
}

function summed(all: Applied['changes'][]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const one of all) {
    for (const [name, count] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}

const rejectsAtATime = 1_000;

/**
 * Rejects that have a usable id by now become records of the moment they were seen. Returns how many. Killed in
 * between, it goes on with those that are left (P3).
 */
async function retryRejects(db: Db, of: Archived): Promise<number> {
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
      const takeBack = async (tx: Tx): Promise<void> => {
        const observed = [{ record, observedAt: Date.parse(seenAt) }];
        await dropReject(tx, of, sha256);
        const place = { projectId: of.projectId, resource: of.resource, owner, day };
        const told = { kind: 'returned' as const, says: { reject: sha256 } };
        await writeInto(tx, of, observed, writtenAt, { place, told });
      };
      await againIfHeld(() => withTx(db, takeBack));
      returned += 1;
    }
  }
}

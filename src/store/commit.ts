// The commit of pages: rows, versions, rejects, the pages' entries and the checkpoint move in one transaction (P1).
// Several pages at hand are committed together; a commit's sync to disk is what costs.
import { codeOf, transient } from '../errors.ts';
import type { Instant } from '../model.ts';
import { sentTogether, withTx, type Db, type Tx } from './db.ts';
import { moveCheckpoint, type Slice } from './ledger.ts';
import type { Checkpoint } from './checkpoint.ts';
import { dropOtherPages, writePages, type WalkedPage } from './pages.ts';
import { enteredReject, type EnteredReject } from './rejects.ts';
import { storeRecords, type RecordEffects } from './records.ts';
import { enterStored } from './journal/journal.ts';
import { tableShapes } from './tables.ts';

export type PagesCommit = {
  slice: Slice;
  walk: number;
  /** In the order they were read; at least one. */
  pages: WalkedPage[];
  /** Where the walk goes on after them; null for a re-read outside a walk. */
  checkpoint: Checkpoint | null;
  /** Platform's clock at the commit. */
  writtenAt: Instant;
};

/** `isNews`: the slice showed a record for the first time. */
export type CommitEffects = RecordEffects & { rejected: number; isNews: boolean };

/**
 * Commits pages of one slice, and what `besides` writes. Throws transient `older_pages` when the slice holds newer ones: nothing was written, and
 * the day is read again (P2).
 */
export async function commitPages(
  db: Db,
  commit: PagesCommit,
  besides?: (tx: Tx, effects: CommitEffects) => Promise<void>,
): Promise<CommitEffects> {
  const inOne = (expectsNew: boolean): Promise<CommitEffects> =>
    withTx(db, async (tx) => {
      const effects = await commitPagesIn(tx, commit, expectsNew);
      await besides?.(tx, effects);
      return effects;
    });
  const isFirstWalk = commit.slice.wholeWalk === 0 && commit.walk === 1;
  try {
    return await inOne(isFirstWalk);
  } catch (error) {
    // Some of it is held, from another slice or from a rival: nothing was written, and the careful way takes it.
    if (isFirstWalk && mayBeHeld.has(codeOf(error) ?? '')) return inOne(false);
    throw error;
  }
}

// A unique violation; copied to another machine, it comes back as XX000.
const mayBeHeld = new Set(['23505', 'XX000']);

/** `expectsNew`: it is a first walk, whose records are copied; throws 23505 where one is held. */
export async function commitPagesIn(
  tx: Tx,
  commit: PagesCommit,
  expectsNew: boolean,
): Promise<CommitEffects> {
  const { slice, walk, pages } = commit;
  const observed = pages.map((one) => one.observedAt);
  const to = {
    projectId: slice.projectId,
    // A page of classes begins with the row that the page before it ended with.
    expectsNew: expectsNew
      ? { overlap: slice.resource === 'nft_classes' ? (pages[0]?.page.first ?? null) : null }
      : null,
  };
  const records = pages.flatMap((one) =>
    one.page.records.map((record) => ({ record, observedAt: one.observedAt })),
  );
  const [isNewer, digests, rejects, { effects, stored }] = await sentTogether([
    moveCheckpoint(tx, slice, {
      walk,
      checkpoint: commit.checkpoint,
      oldestAskedAt: Math.min(...observed),
      newestAskedAt: Math.max(...observed),
    }),
    writePages(tx, slice, walk, pages),
    writeRejects(tx, slice, pages),
    storeRecords(tx, tableShapes[slice.resource], to, slice.day, records, commit.writtenAt),
    // The first walk has no others.
    pages[0]?.number === 0 && walk > 1
      ? dropOtherPages(tx, slice, [slice.wholeWalk, walk])
      : Promise.resolve(),
  ]);
  if (!isNewer) throw transient('older_pages', 'Newer pages are held: the day is read again');
  const says = {
    walk,
    pages: digests,
    ...(rejects.length > 0 ? { rejects } : {}),
  };
  await enterStored(tx, slice, { kind: 'pages', says }, stored);
  const isNews = stored.first.length + stored.moved.length > 0;
  return { ...effects, rejected: rejects.length, isNews };
}

/** Keeps what has no usable id: bytes and reason, once each. Returns those that were new. */
async function writeRejects(tx: Tx, slice: Slice, pages: WalkedPage[]): Promise<EnteredReject[]> {
  const rejects = pages.flatMap((one) =>
    one.page.rejects.map((reject) => ({
      ...reject,
      seenAt: new Date(one.observedAt).toISOString(),
    })),
  );
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
      slice.projectId,
      slice.resource,
      slice.owner,
      slice.day,
      rejects.map((reject) => Buffer.from(reject.sha256, 'hex')),
      rejects.map((reject) => reject.bytes),
      rejects.map((reject) => reject.reason),
      rejects.map((reject) => reject.seenAt),
      rejects.map((reject) => reject.wholeLength),
    ],
  );
  return rows.map(({ entered }) => entered);
}

// The commit of pages: rows, versions, rejects, the pages' entries and the checkpoint move in one transaction (P1).
// Several pages at hand are committed together; a commit's sync to disk is what costs.
import { addDays } from '../day.ts';
import { transient } from '../errors.ts';
import type { Instant } from '../model.ts';
import { sentTogether, withMixedTx, withTx, type Db, type Tx } from './db.ts';
import { moveCheckpoint, type Slice } from './ledger.ts';
import type { Checkpoint } from './checkpoint.ts';
import { dropOtherPages, writePages, type WalkedPage } from './walked-pages.ts';
import { keepRejects } from './rejects.ts';
import { againIfHeld, storeRecords, type RecordEffects } from './records.ts';
import { enterStored } from './journal/journal.ts';
import { tableShapes } from './record-tables.ts';

type PagesCommit = {
  slice: Slice;
  walk: number;
  /** In the order they were read; at least one. */
  pages: WalkedPage[];
  /** Where the walk goes on after them; null for a re-read outside a walk. */
  checkpoint: Checkpoint | null;
  /** Platform's clock at the commit. */
  writtenAt: Instant;
};

/** `isNews`: the slice showed a record or reject for the first time. */
export type CommitEffects = RecordEffects & { rejected: number; isNews: boolean };

/**
 * Commits pages of one slice, and what `besides` writes. Throws transient `older_pages` when the slice holds newer ones:
 * nothing was written, and the day is read again (P2).
 */
export async function commitPages(
  db: Db,
  commit: PagesCommit,
  besides?: (tx: Tx, effects: CommitEffects) => Promise<void>,
): Promise<CommitEffects> {
  const inOne = (expectsNew: boolean): Promise<CommitEffects> =>
    // What is copied nobody holds, so that no other looks at it. What two show at a time neither can copy (23505).
    (expectsNew ? withMixedTx : withTx)(db, async (tx) => {
      const effects = await commitPagesIn(tx, commit, expectsNew);
      await besides?.(tx, effects);
      return effects;
    });
  // After the list each status shows again what the commits before this one hold.
  const isShownAgain = (commit.checkpoint?.reading.view ?? 0) > 0 && commit.pages[0]?.number !== 0;
  const isNew = commit.slice.wholeWalk === 0 && commit.walk === 1 && !isShownAgain;
  return againIfHeld((isAgain) => inOne(isNew && !isAgain));
}

/** `expectsNew`: it is a first walk, of which no record is held; throws 23505 where one is. */
async function commitPagesIn(
  tx: Tx,
  commit: PagesCommit,
  expectsNew: boolean,
): Promise<CommitEffects> {
  const { slice, walk, pages } = commit;
  const observed = pages.map((one) => one.observedAt);
  const records = pages.flatMap((one) =>
    one.page.records.map((record) => ({ record, observedAt: one.observedAt })),
  );
  // A page of classes begins with the row that the page before it ended with.
  const overlap = slice.resource === 'nft_classes' ? pages[0]?.page.first : null;
  const ids = records.map(({ record }) => record.id);
  const to = {
    projectId: slice.projectId,
    mayBeHeld: expectsNew ? ids.filter((id) => id === overlap) : ids,
    besides: commit.checkpoint?.reading.daysAsked === 2 ? addDays(slice.day, 1) : null,
  };
  const rejected = pages.flatMap((one) =>
    one.page.rejects.map((reject) => ({ ...reject, seenAt: one.observedAt })),
  );
  const [isNewer, digests, rejects, { effects, stored }] = await sentTogether([
    moveCheckpoint(tx, slice, {
      walk,
      checkpoint: commit.checkpoint,
      oldestAskedAt: Math.min(...observed),
      newestAskedAt: Math.max(...observed),
    }),
    writePages(tx, slice, walk, pages),
    keepRejects(tx, slice, rejected),
    storeRecords(tx, tableShapes[slice.resource], to, slice.day, records, commit.writtenAt),
    pages[0]?.number === 0 ? dropOtherPages(tx, slice, walk, [slice.wholeWalk]) : Promise.resolve(),
  ]);
  if (!isNewer) throw transient('older_pages', 'Newer pages are held: the day is read again');
  const says = { walk, pages: digests, rejects: rejects.length > 0 ? rejects : undefined };
  await enterStored(tx, slice, { kind: 'pages', says }, stored);
  const isNews = stored.first.length + stored.moved.length + rejects.length > 0;
  return { ...effects, rejected: rejects.length, isNews };
}

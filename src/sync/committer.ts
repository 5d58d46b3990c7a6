// Commits pages while the next ones are being read. Pages that have come in meanwhile are committed together;
// what is held in memory is bounded, and the first failure stops the reading.
import type { Checkpoint } from '../store/ledger.ts';
import type { WalkedPage } from '../store/pages.ts';

export type Committer = {
  /** Hands over a page and where the walk goes on after it; waits while too much is waiting. */
  add(page: WalkedPage, checkpoint: Checkpoint | null): Promise<void>;
  /** Resolves when everything handed over is committed. */
  drain(): Promise<void>;
};

/** Enough to fill a statement, little enough to stay far under the memory a process may take. */
const mostRows = 1_000;
const mostBytes = 8 * 1024 * 1024;

export function createCommitter(
  commit: (pages: WalkedPage[], checkpoint: Checkpoint | null) => Promise<void>,
): Committer {
  let waiting: WalkedPage[] = [];
  let checkpoint: Checkpoint | null = null;
  let working: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;

  const isFull = (): boolean =>
    waiting.reduce((rows, one) => rows + one.page.shown, 0) >= mostRows ||
    waiting.reduce((bytes, one) => bytes + one.page.bytes, 0) >= mostBytes;

  const work = async (): Promise<void> => {
    // Ends: each turn takes all that is waiting, and nothing is added once the reading has stopped.
    while (waiting.length > 0 && failure === null) {
      const pages = waiting;
      waiting = [];
      try {
        await commit(pages, checkpoint);
      } catch (error) {
        failure = { error };
      }
    }
    working = null;
  };

  const rethrow = (): void => {
    if (failure !== null) throw failure.error;
  };

  return {
    async add(page, next) {
      rethrow();
      waiting.push(page);
      checkpoint = next;
      working ??= work();
      if (isFull()) await working;
      rethrow();
    },
    async drain() {
      if (working !== null) await working;
      rethrow();
    },
  };
}

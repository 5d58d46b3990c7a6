// Commits pages while the next ones are being read. Pages that have come in meanwhile are committed together;
// what is held in memory is bounded, and the first failure stops the reading.
import type { Checkpoint } from '../../store/checkpoint.ts';
import type { WalkedPage } from '../../store/walked-pages.ts';

export type Committer = {
  /** Hands over a page and where the walk goes on after it; waits while too much is waiting. */
  add: (page: WalkedPage, checkpoint: Checkpoint | null) => Promise<void>;
  /** Resolves when everything handed over is committed. */
  drain(): Promise<void>;
};

/** A commit costs about as much as writing 60 rows: a fast platform's pages are let gather to so many rows … */
const enoughRows = 1_000;
/** … but no page waits longer than this for the next ones. */
const longestWaitMs = 250;
/** Enough to fill two statements, little enough to stay far under the memory a process may take. */
const mostRows = 2_000;
const mostBytes = 8 * 1024 * 1024;

export function createCommitter(
  commit: (pages: WalkedPage[], checkpoint: Checkpoint | null) => Promise<void>,
): Committer {
  let waiting: WalkedPage[] = [];
  let waitingRows = 0;
  let waitingBytes = 0;
  let oldest: NodeJS.Timeout | null = null;
  let checkpoint: Checkpoint | null = null;
  let working: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;

  const isFull = (): boolean => waitingRows >= mostRows || waitingBytes >= mostBytes;

  const takeWaiting = (): WalkedPage[] => {
    const pages = waiting;
    waiting = [];
    waitingRows = 0;
    waitingBytes = 0;
    if (oldest !== null) clearTimeout(oldest);
    oldest = null;
    return pages;
  };

  const work = async (): Promise<void> => {
    // Ends: each turn takes all that is waiting, and stops when too little came in meanwhile.
    for (;;) {
      const last = checkpoint;
      try {
        await commit(takeWaiting(), last);
      } catch (error) {
        failure = { error };
      }
      if (waitingRows < enoughRows || failure !== null) break;
    }
    working = null;
    if (waiting.length > 0 && failure === null) wake();
  };

  const start = (): Promise<void> => (working ??= work());

  const wake = (): void => {
    oldest ??= setTimeout(() => {
      oldest = null;
      if (waiting.length > 0 && failure === null) void start();
    }, longestWaitMs);
  };

  const rethrow = (): void => {
    if (failure !== null) throw failure.error;
  };

  return {
    async add(page, next) {
      rethrow();
      waiting.push(page);
      waitingRows += page.page.shown;
      waitingBytes += page.page.bytes;
      checkpoint = next;
      if (waitingRows >= enoughRows || waitingBytes >= mostBytes) void start();
      else if (working === null) wake();
      if (isFull()) await working;
      rethrow();
    },
    async drain() {
      if (working !== null) await working;
      rethrow();
      if (waiting.length > 0) await start();
      rethrow();
    },
  };
}

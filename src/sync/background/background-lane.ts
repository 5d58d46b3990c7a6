// What a run does beside its slices: watched operations and tokens, in a lane of their own, so that a first sync of
// hours keeps no operation waiting whose certificate link lives for minutes.
import { releaseOperationsHeldBy } from '../../store/operations/watched.ts';
import type { RunCounts } from '../../store/runs.ts';
import { createLanes } from '../lanes.ts';
import { concernsAll, unforeseenText } from '../unforeseen-errors.ts';
import type { OperationCounts, Worker } from '../worker.ts';
import { askTokens } from './token-snapshots.ts';
import { askOperations } from './watched-operations.ts';

/** How often the lane looks for what has fallen due while slices are worked on, in milliseconds. */
const lookAgainMs = 10_000;

/** What is left of it: how much that was due is not done, and the newest problem in words. */
export type Left = { notDone: number; problem: string | null };

export type BackgroundLane = {
  /** Ends it after the look in progress, one at least; throws what it met. */
  close(): Promise<Left>;
  /** Ends it at once, whatever it met. */
  abandon(): Promise<void>;
};

/** Begins at once. Adds to `counts` as it goes. */
export function startBackgroundLane(
  worker: Worker,
  counts: RunCounts & OperationCounts,
  signal: AbortSignal,
): BackgroundLane {
  const lanes = createLanes(signal);
  const stop = new AbortController();
  const either = AbortSignal.any([lanes.signal, stop.signal]);
  const closing = new AbortController();
  let left: Left = { notDone: 0, problem: null };

  const look = async (): Promise<void> => {
    const operations = await askOperations(worker, counts, either).catch((error: unknown) => {
      // What nobody foresaw stops neither the tokens nor the slices.
      if (either.aborted || concernsAll(error)) throw error;
      return { notDone: 1, problem: `the watched operations: ${unforeseenText(error, worker)}` };
    });
    const tokens = await askTokens(worker, counts, either);
    left = {
      notDone: operations.notDone + (tokens === null ? 0 : 1),
      problem: operations.problem ?? tokens,
    };
  };
  const lane = async (): Promise<void> => {
    await releaseOperationsHeldBy(worker.db, worker.projectId, worker.holder);
    await look();
    // Ends: `close` is called when the slices are done (P9).
    while (!closing.signal.aborted && !either.aborted) {
      await lanes.idle(lookAgainMs);
      if (!closing.signal.aborted) await look();
    }
  };
  const working = lanes.run(lane);
  // Whoever closes it is told; until then nobody is.
  working.catch(() => undefined);

  return {
    close: async () => {
      closing.abort();
      lanes.wake();
      await working;
      return left;
    },
    abandon: async () => {
      closing.abort();
      stop.abort();
      lanes.wake();
      await working.catch(() => undefined);
    },
  };
}

/** Nothing beside: a person asked for certain slices only. */
export const noBackgroundLane: BackgroundLane = {
  close: () => Promise.resolve({ notDone: 0, problem: null }),
  abandon: () => Promise.resolve(),
};

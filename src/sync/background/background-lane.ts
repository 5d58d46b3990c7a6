// What a run does beside its slices: watched operations, tokens and lists that do not answer, each in a lane of its own,
// so that a first sync of hours keeps no operation waiting whose certificate link lives for minutes, and no platform's
// silence about one keeps another waiting.
import { setTimeout as sleep } from 'node:timers/promises';
import { concernsAll, unforeseenText } from '../unforeseen-errors.ts';
import type { Worker } from '../worker.ts';

/** What is left of it: how much that was due is not done, and the newest problem in words. */
export type Left = { notDone: number; problem: string | null };

export const nothingLeft: Left = { notDone: 0, problem: null };

export type BackgroundLane = {
  /** Ends it after the look in progress, one at least; throws what it met. */
  close(): Promise<Left>;
  /** Ends it at once, whatever it met. */
  abandon(): Promise<void>;
};

export type BackgroundWork = {
  /** How its problem is called. */
  name: string;
  /** How often it looks for what has fallen due while slices are worked on, in milliseconds. */
  everyMs: number;
  look: (signal: AbortSignal) => Promise<Left>;
};

/** Begins at once. */
export function startBackgroundLane(
  { name, everyMs, look }: BackgroundWork,
  worker: Pick<Worker, 'source'>,
  outside: AbortSignal,
): BackgroundLane {
  const stop = new AbortController();
  const signal = AbortSignal.any([outside, stop.signal]);
  const closing = new AbortController();
  const isOver = AbortSignal.any([signal, closing.signal]);

  const lane = async (): Promise<Left> => {
    // Ends: `close` is called when the slices are done (P9).
    for (;;) {
      const left = await look(signal).catch((error: unknown) => {
        // What nobody foresaw stops neither the others nor the slices.
        if (signal.aborted || concernsAll(error)) throw error;
        return { notDone: 1, problem: `${name}: ${unforeseenText(error, worker)}` };
      });
      if (!isOver.aborted)
        await sleep(everyMs, undefined, { signal: isOver }).catch(() => undefined);
      if (isOver.aborted) return left;
    }
  };
  const working = lane();
  // Whoever closes it is told; until then nobody is.
  working.catch(() => undefined);

  return {
    close: () => {
      closing.abort();
      return working;
    },
    abandon: async () => {
      stop.abort();
      await working.catch(() => undefined);
    },
  };
}

// Runs that another process asks for of a project that this one holds (beside.ts).
import { causeChain, OutlastError, settingsError } from '../errors.ts';
import { endAsk, noteProgress, type Ask } from '../store/asks.ts';
import { databaseError } from '../store/db-errors.ts';
import { withTx } from '../store/db.ts';
import type { RunCounts } from '../store/runs.ts';
import type { Asked, Ending, Progress } from './beside.ts';
import type { Hold } from './holder.ts';
import { runHeld } from './run.ts';
import type { Worker } from './worker.ts';

const toldEveryMs = 1000;

/**
 * Does what another process asks for, and notes for it what came of that, a failure included. A run that was told to stop
 * is left to whoever asked.
 */
export async function answerAsk(hold: Hold<Worker>, ask: Ask, signal: AbortSignal): Promise<void> {
  const { db } = hold.worker;
  let toldAt = -Infinity;
  const onProgress = (counts: RunCounts, slicesDue: number): void => {
    if (performance.now() - toldAt < toldEveryMs) return;
    toldAt = performance.now();
    const progress: Progress = { counts, slicesDue };
    // Who asked can do without.
    withTx(db, (tx) => noteProgress(tx, ask, progress)).catch(() => undefined);
  };
  let ending: Ending;
  try {
    const { baseUrl, ...asked } = ask.options as Asked;
    if (baseUrl !== hold.worker.source.baseUrl) {
      throw settingsError(
        'other_address',
        'The process that holds the project asks another address. Give both the same, or stop that one first.',
      );
    }
    const report = await runHeld(hold, { ...asked, signal, onProgress });
    if (report.outcome === 'stopped') return;
    ending = { report };
  } catch (error) {
    const known = error instanceof OutlastError ? error : databaseError(error);
    const { kind, code } = known ?? { kind: 'fatal', code: 'unexpected' };
    const message = kind === 'settings' ? (known?.message ?? '') : causeChain(known ?? error);
    ending = { failed: { kind, code, message } };
  }
  await withTx(db, (tx) => endAsk(tx, ask, ending));
}

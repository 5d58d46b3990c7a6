// Asking the process that holds a project for a run of it (sync.asks): it does it, and says how far it is and what came
// of it. Should it be gone, or hold the project for one run of its own, the project is taken as soon as it is free.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { causeChain, OutlastError, settingsError } from '../errors.ts';
import { addAsk, dropAsk, endAsk, noteProgress, readAsk, type Ask } from '../store/holders.ts';
import { databaseError } from '../store/db-errors.ts';
import { withTx } from '../store/db.ts';
import type { RunCounts } from '../store/runs.ts';
import type { List } from './ask-list.ts';
import { listsOf } from './enter-days.ts';
import type { Hold } from './holder.ts';
import type { RunOptions, RunReport, Worker } from './worker.ts';

/** What the run in the other process is given; `baseUrl`: which platform is meant; `lists`: which it is to read. */
type Asked = Pick<RunOptions, 'only' | 'acceptNewSource' | 'evenIfParked'> & {
  baseUrl: string;
  lists?: List[];
};
/** How far it is, and what came of it. */
type Progress = { counts: RunCounts; slicesDue: number };
type Ending = { report: RunReport } | { failed: Pick<OutlastError, 'kind' | 'code' | 'message'> };

const lookEveryMs = 500;

/**
 * Takes the project or, where another process holds it, asks that one; returns the hold, the report of the other's run,
 * or null when it was told to stop. Throws what the run there threw.
 */
export async function takeOrAsk(
  worker: Worker,
  { signal, onProgress, only, acceptNewSource, evenIfParked }: RunOptions,
): Promise<Hold<Worker> | RunReport | null> {
  const { db, projectId } = worker;
  const askId = randomUUID();
  let isAsked = false;
  try {
    // Ends: with the run there or, where nobody is there any more, with the lease (P9).
    while (!signal.aborted) {
      const taken = await worker.holder.take(worker);
      if ('worker' in taken) return taken;
      if (!isAsked) {
        const { holder, heldSince: since } = taken;
        worker.log.info(
          { projectId, holder, since },
          'Another process holds the project: it is asked',
        );
        const asked: Asked = {
          baseUrl: worker.source.baseUrl,
          lists: listsOf(worker.scope).filter(
            ({ resource }) => (only?.resource ?? resource) === resource,
          ),
          ...(only === undefined ? {} : { only }),
          ...(acceptNewSource === undefined ? {} : { acceptNewSource }),
          ...(evenIfParked === undefined ? {} : { evenIfParked }),
        };
        await addAsk(db, projectId, askId, asked);
        isAsked = true;
      }
      const said = await readAsk(db, projectId, askId);
      const ending = (said?.ending ?? null) as Ending | null;
      const progress = (said?.progress ?? null) as Progress | null;
      if (ending !== null) return reportOf(ending);
      if (progress !== null) onProgress?.(progress.counts, progress.slicesDue);
      await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
    }
    return null;
  } finally {
    if (isAsked) await dropAsk(db, projectId, askId).catch(() => undefined);
  }
}

function reportOf(ending: Ending): RunReport {
  if ('report' in ending) return ending.report;
  const { kind, code, message } = ending.failed;
  throw new OutlastError(kind, code, message);
}

const toldEveryMs = 1000;

/**
 * In the process that holds the project: does what another one asks for, by `run`, and notes for it what came of that, a
 * failure included. A run that was told to stop is left to whoever asked.
 */
export async function answerAsk(
  { worker: { db, source, scope } }: Hold<Worker>,
  ask: Ask,
  run: (options: Omit<RunOptions, 'signal'>) => Promise<RunReport>,
): Promise<void> {
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
    const { baseUrl, lists = [], ...asked } = ask.options as Asked;
    if (baseUrl !== source.baseUrl) {
      throw settingsError(
        'other_address',
        'The process that holds the project asks another address. Give both the same, or stop that one first.',
      );
    }
    const mine = listsOf(scope);
    const isRead = ({ resource, owner }: List): boolean =>
      mine.some((one) => one.resource === resource && ['', owner].includes(one.owner));
    if (!lists.every(isRead)) {
      throw settingsError(
        'other_lists',
        'The process that holds the project archives other lists. Give both the same, or stop that one first.',
      );
    }
    const report = await run({ ...asked, onProgress });
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

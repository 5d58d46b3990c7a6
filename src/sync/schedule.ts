// The scheduler: a tick of node-cron runs every project once; a tick that comes while one is running is left out.
import { schedule as cron } from 'node-cron';
import { causeChain } from '../errors.ts';
import type { Log } from '../log.ts';
import { run } from './run.ts';
import type { RunReport, Worker } from './worker.ts';

export type Schedule = {
  /** Ends the ticks and waits for the run in progress, which the signal has told to stop. */
  close(): Promise<void>;
};

/**
 * Runs at once and then at every tick of `expression`. A failure of one project is logged and leaves the others and the
 * next tick alone: the next tick is the retry.
 */
export function startSchedule(
  workers: Worker[],
  expression: string,
  signal: AbortSignal,
  log: Log,
  onRun: (report: RunReport) => void = () => undefined,
): Schedule {
  let running: Promise<void> | null = null;

  const runAll = async (): Promise<void> => {
    await Promise.all(
      workers.map(async (worker) => {
        try {
          const report = await run(worker, { signal });
          onRun(report);
          logReport(report, log);
        } catch (error) {
          log.error({ projectId: worker.projectId, error: causeChain(error) }, 'A run failed');
        }
      }),
    );
  };

  const tick = (): void => {
    if (running !== null || signal.aborted) return;
    running = runAll().finally(() => {
      running = null;
    });
  };

  const task = cron(expression, tick, { noOverlap: true });
  tick();
  return {
    async close() {
      await task.destroy();
      await running;
    },
  };
}

function logReport(report: RunReport, log: Log): void {
  const { projectId, outcome, requests, slicesDone, recordsNew, recordsChanged, problem } = report;
  const fields = { projectId, outcome, requests, slicesDone, recordsNew, recordsChanged };
  if (outcome === 'left') log.warn({ ...fields, problem }, 'A run left something due');
  else if (recordsNew + recordsChanged > 0) log.info(fields, 'A run brought records');
  else log.debug(fields, 'A run found nothing new');
}

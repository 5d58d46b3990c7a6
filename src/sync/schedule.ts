// The scheduler: a tick of node-cron runs every project once; one that comes while the project is being
// worked on is left out for it.
import { schedule as cron, type Logger, type ScheduledTask } from 'node-cron';
import { causeChain } from '../errors.ts';
import { createSeldom, type Log } from '../log.ts';
import type { ProjectId } from '../model.ts';
import { databaseError } from '../store/db-errors.ts';
import { run } from './run.ts';
import type { RunReport, TickResult, Worker } from './worker.ts';

/** A refused key is asked again hourly. */
const refusedRestMs = 3_600_000;

export type Schedule = {
  /** Ends the ticks and waits for the run in progress, which the signal has told to stop. */
  close(): Promise<void>;
};

/**
 * Runs at once and then at every tick of `expression`. A failure of one project is logged and leaves the others and the
 * next tick alone: the next tick is the retry. `onTurn` hears how each run ended, and at each tick of
 * those that go on (`running`) or whose project rests (`parked`); it must not throw.
 */
export function startSchedule(
  workers: Worker[],
  expression: string,
  signal: AbortSignal,
  log: Log,
  onRun: (report: RunReport) => void = () => undefined,
  onTurn: (turn: TickResult) => void = () => undefined,
): Schedule {
  const running = new Map<Worker, Promise<void>>();
  /** Until when a refused key is let rest, also a changed one that the database does not know yet (P11). */
  const restsUntil = new Map<Worker, number>();

  const told = createRunLog(log);

  const runOne = async (worker: Worker): Promise<void> => {
    try {
      const report = await run(worker, { signal });
      const wasRefused = report.outcome === 'parked' && report.requests > 0;
      if (wasRefused) restsUntil.set(worker, performance.now() + refusedRestMs);
      onRun(report);
      told.ended(report);
      onTurn(report);
    } catch (error) {
      const problem = causeChain(databaseError(error) ?? error);
      told.failed(worker.projectId, problem);
      onTurn(without(worker, 'failed'));
    }
  };

  // Each project for itself: one that has much to do, or a slow platform, keeps no other waiting.
  const tick = (): void => {
    if (signal.aborted) return;
    const now = performance.now();
    for (const worker of workers) {
      if (running.has(worker)) onTurn(without(worker, 'running'));
      else if (now < (restsUntil.get(worker) ?? 0)) onTurn(without(worker, 'parked'));
      else {
        running.set(
          worker,
          runOne(worker).finally(() => running.delete(worker)),
        );
      }
    }
  };

  const task = startTicks(expression, tick, log);
  tick();
  return {
    async close() {
      await task.destroy();
      await Promise.all(running.values());
    },
  };
}

/** Calls `tick` as the expression says, and leaves out what comes while the one before is under way. */
export const startTicks = (
  expression: string,
  tick: () => void | Promise<void>,
  log: Log,
): ScheduledTask => cron(expression, tick, { noOverlap: true, logger: asOurs(log) });

/** A turn in which nothing was done. */
const without = ({ projectId }: Worker, outcome: TickResult['outcome']): TickResult => ({
  projectId,
  outcome,
});

/** node-cron writes lines of its own on stdout unless it is given somewhere else to. */
function asOurs(log: Log): Logger {
  const told = (message: string | Error): object => ({
    said: typeof message === 'string' ? message : causeChain(message),
  });
  return {
    info: (message) => log.debug(told(message), 'The scheduler says something'),
    warn: (message) => log.warn(told(message), 'The scheduler warns'),
    error: (message) => log.error(told(message), 'The scheduler failed'),
    debug: (message) => log.debug(told(message), 'The scheduler says something'),
  };
}

type RunLog = { ended(report: RunReport): void; failed(projectId: ProjectId, error: string): void };

/** Tells how runs end: what goes wrong when it begins, every five minutes and when it is over. */
export function createRunLog(log: Log, now: () => number = () => performance.now()): RunLog {
  type Trouble = { since: number; warn: () => boolean; error: () => boolean };
  const troubles = new Map<ProjectId, Trouble>();
  const level = (projectId: ProjectId, loud: 'warn' | 'error'): 'warn' | 'error' | 'debug' => {
    const trouble = troubles.get(projectId) ?? {
      since: now(),
      warn: createSeldom(now),
      error: createSeldom(now),
    };
    troubles.set(projectId, trouble);
    return trouble[loud]() ? loud : 'debug';
  };
  return {
    failed: (projectId, error) =>
      log[level(projectId, 'error')]({ projectId, error }, 'A run failed'),
    ended: (report) => {
      const { projectId, outcome, requests, slicesDone, recordsNew, recordsChanged } = report;
      const fields = { projectId, outcome, requests, slicesDone, recordsNew, recordsChanged };
      if (outcome === 'left') {
        const { problem } = report;
        log[level(projectId, 'warn')]({ ...fields, problem }, 'A run left something due');
        return;
      }
      if (outcome === 'parked') {
        log[level(projectId, 'warn')](
          { ...fields, problem: report.problem },
          'The project is parked: the platform refused its key. It is asked again hourly, at once under another key or address, or by `outlast sync`',
        );
        return;
      }
      const trouble = troubles.get(projectId);
      if (outcome === 'done' && trouble !== undefined) {
        troubles.delete(projectId);
        const minutes = Math.round((now() - trouble.since) / 60_000);
        log.info({ ...fields, minutes }, 'What was due is done again');
      } else if (recordsNew + recordsChanged > 0) log.info(fields, 'A run brought records');
      else log.debug(fields, 'A run found nothing new');
    },
  };
}

// A run: one pass of the worker over what is due in one project. Contact, plan, then several slices at a time,
// nearest deadline first, until nothing due is left.
import { causeChain, isOutlastError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Day, DayRange, ListedResource, ProjectId } from '../model.ts';
import type { Platform } from '../platform/platform.ts';
import type { Db } from '../store/db.ts';
import { countDue } from '../store/ledger.ts';
import { parkProject, type Source } from '../store/projects.ts';
import { closeRun, openRun, type RunCounts } from '../store/runs.ts';
import { makeContact } from './contact.ts';
import { checkDays, enterDays, enterSlices, listsOf, type Scope } from './plan.ts';
import type { PolicySettings } from './policy.ts';
import { workThrough } from './work.ts';

/** A project with all that is needed to work on it. */
export type Worker = {
  projectId: ProjectId;
  scope: Scope;
  source: Source;
  platform: Platform;
  db: Db;
  /** Names this process in leases. */
  holder: string;
  leaseMs: number;
  /** Slices worked on at a time. */
  concurrency: number;
  settings: PolicySettings;
  log: Log;
};

export type RunOptions = {
  signal: AbortSignal;
  /** Only these slices, due or not: whole UTC days, half-open; one resource. Absent: everything due. */
  only?: { days?: DayRange; resource?: ListedResource };
  acceptNewSource?: boolean;
  evenIfParked?: boolean;
  onProgress?: (progress: Progress) => void;
};

export type Progress = RunCounts & { slicesLeft: number; day: Day | null };

export type RunReport = RunCounts & {
  projectId: ProjectId;
  /** `done`: all that was due; `left`: something due was not done; `parked`; `stopped` by the signal; `failed` is thrown. */
  outcome: 'done' | 'left' | 'parked' | 'stopped' | 'failed';
  /** Slices that were due and are not done. */
  slicesLeft: number;
  /** The newest problem, in words. */
  problem: string | null;
};

const hourMs = 3_600_000;

/** Throws settings `source_changed`, fatal `date_filter_ignored`, and what the store throws. */
export async function run(worker: Worker, options: RunOptions): Promise<RunReport> {
  const { db, platform, projectId, log } = worker;
  const counts: RunCounts = {
    requests: 0,
    slicesDone: 0,
    recordsShown: 0,
    recordsNew: 0,
    recordsChanged: 0,
    recordsRejected: 0,
  };
  const requestsBefore = platform.requests();
  let runId: string | null = null;
  const report = async (
    outcome: RunReport['outcome'],
    slicesLeft: number,
    problem: string | null,
  ): Promise<RunReport> => {
    counts.requests = platform.requests() - requestsBefore;
    const isQuiet =
      outcome === 'done' &&
      counts.recordsNew + counts.recordsChanged + counts.recordsRejected === 0;
    const recorded = isQuiet ? 'quiet' : outcome;
    if (runId !== null) {
      await closeRun(db, projectId, runId, platform.clock.now(), recorded, counts, problem);
    }
    return { ...counts, projectId, outcome, slicesLeft, problem };
  };

  try {
    const facts = await makeContact({
      ...worker,
      signal: options.signal,
      acceptNewSource: options.acceptNewSource ?? false,
      evenIfParked: options.evenIfParked ?? false,
    });
    if (facts === null) return await report('parked', 0, 'the platform refused the key earlier');
    const now = platform.clock.now();
    const lists = listsOf(worker.scope).map((list) => list.resource);
    if (options.only?.days !== undefined) {
      checkDays(
        options.only.days,
        options.only.resource === undefined ? lists : [options.only.resource],
        facts,
        now,
      );
    }
    await enterSlices(db, projectId, worker.scope, facts, now, worker.settings);
    if (options.only?.days !== undefined) {
      await enterDays(db, projectId, worker.scope, facts, options.only.days, worker.settings);
    }
    runId = await openRun(db, projectId, now);
    // The platform's Date has whole seconds: what falls due within this one is due.
    const dueBy = options.only === undefined ? now + 1000 : null;
    const work = await workThrough(worker, options, facts, counts, dueBy);
    const { due, held } = await countDue(db, projectId, dueBy, options.only, work.handled);
    const slicesLeft = due + work.notDone;
    if (options.signal.aborted) return await report('stopped', slicesLeft, work.problem);
    const others = held > 0 ? `${held} slices are held by another process` : null;
    return await report(slicesLeft > 0 ? 'left' : 'done', slicesLeft, work.problem ?? others);
  } catch (error) {
    if (isOutlastError(error, 'aborted') || options.signal.aborted) {
      return await report('stopped', 0, null);
    }
    if (isOutlastError(error, 'platform_forbidden')) {
      const at = platform.clock.now();
      await parkProject(db, projectId, causeChain(error), at, at + hourMs);
      log.error(
        { projectId, error: causeChain(error) },
        'The platform refused the key: the project is parked',
      );
      return await report('parked', 0, causeChain(error));
    }
    if (isOutlastError(error, 'platform_unavailable')) {
      return await report('left', 0, causeChain(error));
    }
    await report('failed', 0, causeChain(error)).catch(() => undefined);
    throw error;
  }
}

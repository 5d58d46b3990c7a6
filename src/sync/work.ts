// Works through what is due: several slices at a time under the one rate limit, each claimed with a lease, nearest
// deadline first. One failure that concerns every slice stops them all.
import { dayOf, windowAt } from '../day.ts';
import type { Instant } from '../model.ts';
import type { CommitEffects } from '../store/commit.ts';
import { recordFacts, type Facts } from '../store/facts.ts';
import { claimSlice, releaseSlice } from '../store/leases.ts';
import type { Slice } from '../store/ledger.ts';
import type { RunCounts } from '../store/runs.ts';
import { actOn } from './act.ts';
import { createPendingList } from './settle.ts';
import { createWindowQuestions } from './window.ts';
import type { Acted } from './conclude.ts';
import type { RunOptions, Worker } from './worker.ts';

/** So many slices in a row without an answer end the work: the platform is down, not busy. */
const failuresInARow = 3;

export type Work = {
  /** Slices claimed, and how many of them are not done. */
  handled: Slice[];
  notDone: number;
  /** The newest problem, in words. */
  problem: string | null;
};

/** Adds to `counts` as it goes. Throws what concerns more than one slice. */
export async function workThrough(
  worker: Worker,
  options: RunOptions,
  facts: Facts,
  counts: RunCounts,
  dueBy: Instant | null,
): Promise<Work> {
  const { db, platform, projectId, log } = worker;
  const work: Work = { handled: [], notDone: 0, problem: null };
  let failedInARow = 0;
  let fault: { error: unknown } | null = null;
  // One failure that concerns all slices stops all of them.
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const requestsBefore = platform.requests();

  const onCommit = (effects: CommitEffects & { shown: number }): void => {
    counts.recordsShown += effects.shown;
    counts.recordsNew += effects.inserted;
    counts.recordsChanged += effects.changed;
    counts.recordsRejected += effects.rejected;
    counts.requests = platform.requests() - requestsBefore;
    if (effects.reopened > 0) void noteReopened(worker, effects.reopened);
    options.onProgress?.(counts);
  };

  // Only the days still in question are asked for: the window's.
  const window = windowAt(platform.clock.now());
  const pending = createPendingList(platform, facts, window, window.from, signal);
  const questions = createWindowQuestions(platform, window.from, signal);

  const claim = async (): Promise<Slice | null> => {
    const slice = await claimSlice(db, {
      projectId,
      holder: worker.holder,
      leaseMs: worker.leaseMs,
      dueBy,
      today: dayOf(platform.clock.now()),
      only: options.only ?? {},
      except: work.handled,
    });
    if (slice !== null) work.handled.push(slice);
    return slice;
  };

  // One claim at a time: each must know of the slices claimed before it, or today's is claimed twice.
  let claiming: Promise<Slice | null> = Promise.resolve(null);
  const take = (): Promise<Slice | null> => (claiming = claiming.then(claim, claim));

  const lane = async (): Promise<void> => {
    // Ends: every slice is claimed at most once a run.
    while (!signal.aborted && failedInARow < failuresInARow) {
      const slice = await take();
      if (slice === null) return;
      let acted: Acted;
      try {
        acted = await actOn(
          {
            ...worker,
            facts,
            signal,
            onCommit,
            window: questions,
            isAskedFor: options.only !== undefined,
            log: log.child({ projectId }),
          },
          slice,
          pending,
        );
      } catch (error) {
        await releaseSlice(db, slice).catch(() => undefined);
        throw error;
      }
      if (acted.done) {
        counts.slicesDone += 1;
        failedInARow = 0;
        options.onProgress?.(counts);
      } else {
        failedInARow = acted.isUnanswered === true ? failedInARow + 1 : 0;
        work.notDone += 1;
        work.problem = acted.problem;
        log.warn(
          { projectId, resource: slice.resource, day: slice.day, problem: acted.problem },
          'A slice is not done',
        );
      }
    }
  };

  await Promise.all(
    Array.from({ length: worker.concurrency }, () =>
      lane().catch((error: unknown) => {
        // The first fault is the cause; the others are its echo.
        fault ??= { error };
        stop.abort();
      }),
    ),
  );
  if (fault !== null) throw (fault as { error: unknown }).error;
  return work;
}

async function noteReopened(worker: Worker, orders: number): Promise<void> {
  worker.log.warn(
    { projectId: worker.projectId, orders },
    'Orders that were settled are pending again under a later update time',
  );
  await recordFacts(
    worker.db,
    worker.projectId,
    { 'orders.reopen': 'yes' },
    worker.platform.clock.now(),
  ).catch(() => undefined);
}

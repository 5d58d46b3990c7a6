// The heartbeat: an address that is called only when all is well, so that whoever waits for it notices a service that
// is dead, cut off or stuck, and can no longer say so itself. When it is due is decided here; pure. alerts.ts (`beat`)
// calls it, by deliver.ts.
import type { ProjectId } from '../model.ts';
import type { TickResult } from '../sync/worker.ts';

/** A little less than a minute: ticks are a minute apart, and runs take now more, now less of it. */
const apartMs = 55_000;

export type Heartbeat = {
  note(turn: TickResult): void;
  /**
   * Whether every project that this process holds, one at least, has done all that was due since the last beat, and that
   * was about a minute ago.
   */
  isDue(monotonicMs: number): boolean;
  /** It was called. */
  beat(monotonicMs: number): void;
};

export function createHeartbeat(projectIds: readonly ProjectId[]): Heartbeat {
  const done = new Set<ProjectId>();
  const elsewhere = new Set<ProjectId>();
  let lastMs = -Infinity;
  return {
    note({ projectId, outcome }) {
      if (outcome === 'elsewhere') elsewhere.add(projectId);
      else elsewhere.delete(projectId);
      // A run that goes on, or found nothing to do, shows neither that all is well nor that it is not.
      if (outcome === 'running' || outcome === 'idle') return;
      if (outcome === 'done') done.add(projectId);
      else done.delete(projectId);
    },
    isDue: (nowMs) =>
      done.size > 0 &&
      projectIds.every((one) => done.has(one) || elsewhere.has(one)) &&
      nowMs - lastMs >= apartMs,
    beat(nowMs) {
      lastMs = nowMs;
      // Each has to do it again: one that hangs in a run is not well.
      done.clear();
    },
  };
}

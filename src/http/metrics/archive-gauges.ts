// How the archive stands, as gauges: read from the database when somebody asks, every few seconds at most, and left out
// while it cannot be read (docs/monitoring.md).
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { listedResources, sliceStates, type Instant, type ProjectId } from '../../model.ts';
import type { ProjectState } from '../../query/metrics-state.ts';

export type ArchiveMetrics = {
  projects: readonly ProjectId[];
  /** Of those that are in the archive. */
  read: () => Promise<ProjectState[]>;
  /** The platform's clock: deadlines are its own. */
  now: (project: ProjectId) => Instant;
  /** What was read is good for so long, milliseconds; 5 s by default. */
  freshMs?: number;
  /** A database that has not answered in so long counts as down, milliseconds; 4 s by default. */
  patienceMs?: number;
};

/** Adds the gauges. What it gives sets them, and never throws. */
export function addArchiveMetrics(
  registry: Registry,
  archive: ArchiveMetrics,
): () => Promise<void> {
  const { projects, now, freshMs = 5000, patienceMs = 4000 } = archive;
  const gauge = (name: string, help: string, labelNames: string[]): Gauge =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const up = gauge(
    'outlast_database_up',
    '1 where the archive could be read when it was last asked for these metrics, else 0.',
    [],
  );
  const slices = gauge('outlast_slices', 'Slices (days of a list) of the ledger, by state.', [
    'project',
    'resource',
    'state',
  ]);
  const success = gauge(
    'outlast_last_successful_run_age_seconds',
    'Seconds since a run did all that was due; before the first one, since the project was entered.',
    ['project'],
  );
  const problems = gauge('outlast_problems', 'What is wrong with the archive, by kind and level.', [
    'project',
    'kind',
    'level',
  ]);
  const ofArchive = [slices, success, problems];
  const begun = new Map(projects.map((project) => [project, now(project)]));

  const show = (project: ProjectId, state: ProjectState | undefined): void => {
    const since = state?.succeededAt ?? state?.addedAt ?? begun.get(project) ?? now(project);
    success.set({ project }, Math.max(0, now(project) - since) / 1000);
    for (const { kind, level, problems: count } of state?.problems ?? []) {
      problems.set({ project, kind, level }, count);
    }
    for (const resource of listedResources) {
      const held = state?.slices.filter((one) => one.resource === resource) ?? [];
      for (const name of sliceStates) {
        const count = held.find((of) => of.state === name)?.slices ?? 0;
        slices.set({ project, resource, state: name }, count);
      }
    }
  };

  /** Null: it could not be read. Asked for once by all who scrape within a while. */
  const read = kept(() => archive.read().catch(() => null), freshMs);
  return async () => {
    const giveUp = new AbortController();
    const late = sleep(patienceMs, null, { signal: giveUp.signal }).catch(() => null);
    const states = await Promise.race([read(), late]);
    giveUp.abort();
    for (const one of ofArchive) one.reset();
    up.set(states === null ? 0 : 1);
    if (states === null) return;
    const byName = new Map(states.map((state) => [state.project, state]));
    for (const project of projects) show(project, byName.get(project));
  };
}

/** What `make` gives, made anew when that is older than so many milliseconds. */
function kept<T>(make: () => Promise<T>, forMs: number): () => Promise<T> {
  let made: Promise<T> | null = null;
  let until = 0;
  return () => {
    if (made !== null && performance.now() < until) return made;
    // While it is being made, however long that takes, nobody begins another.
    until = Infinity;
    made = make().finally(() => {
      until = performance.now() + forMs;
    });
    return made;
  };
}

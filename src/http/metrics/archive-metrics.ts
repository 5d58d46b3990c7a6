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

/** Of the states that a proof may still come to, and the one in which none comes any more. */
const provable = ['open', 'walked', 'final'] as const;

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
  const unproved = gauge(
    'outlast_slices_unproved',
    'Slices (days of a list) that are over and without proof, by state.',
    ['project', 'resource', 'state'],
  );
  const deadline = gauge(
    'outlast_nearest_deadline_seconds',
    'Seconds until the nearest deadline of a day that is still without proof; negative once it has passed.',
    ['project', 'resource'],
  );
  const success = gauge(
    'outlast_last_successful_run_age_seconds',
    'Seconds since a run did all that was due; before the first one, since the project was entered.',
    ['project'],
  );
  const parked = gauge('outlast_project_parked', '1 while the platform refuses the key, else 0.', [
    'project',
  ]);
  const alerts = gauge('outlast_alerts_open', 'Open alerts, by kind.', ['project', 'kind']);
  const ofArchive = [slices, unproved, deadline, success, parked, alerts];
  const begun = new Map(projects.map((project) => [project, now(project)]));

  const show = (project: ProjectId, state: ProjectState | undefined): void => {
    const since = state?.succeededAt ?? state?.addedAt ?? begun.get(project) ?? now(project);
    success.set({ project }, Math.max(0, now(project) - since) / 1000);
    parked.set({ project }, state?.isParked === true ? 1 : 0);
    for (const { kind, open } of state?.alerts ?? []) alerts.set({ project, kind }, open);
    for (const resource of listedResources) {
      const held = state?.slices.filter((one) => one.resource === resource) ?? [];
      for (const name of sliceStates) {
        const one = held.find((of) => of.state === name);
        slices.set({ project, resource, state: name }, one?.slices ?? 0);
      }
      for (const name of provable) {
        const one = held.find((of) => of.state === name);
        unproved.set({ project, resource, state: name }, one?.unproved ?? 0);
      }
      const nearest = Math.min(...held.map(({ deadlineAt }) => deadlineAt ?? Infinity));
      if (nearest < Infinity) deadline.set({ project, resource }, (nearest - now(project)) / 1000);
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

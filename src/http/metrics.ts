// `/metrics`, as Prometheus asks for it (docs/monitoring.md): what happens in this process, counted where it happens
// through a meter, so that with several replicas each counts its own; and how the archive stands, as gauges. Who may
// read the archive over HTTP may read them, of the projects that the key opens; nobody else, for project names and
// counts tell what somebody does (docs/http.md, "Who may read").
import { setTimeout as sleep } from 'node:timers/promises';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FastifyInstance } from 'fastify';
import { requestOutcomes, runOutcomes, type Meter, type ProjectMeter } from '../meter.ts';
import { listedResources, resources, sliceStates, type Instant, type ProjectId } from '../model.ts';
import type { ProjectState } from '../query/metrics-state.ts';
import { askedBy, openedTo } from './access.ts';
import type { ServerContext } from './server-context.ts';

export type ProcessMetrics = { registry: Registry; meter: Meter };

const recordOutcomes = ['new', 'changed', 'unchanged', 'rejected'] as const;

/**
 * A registry of its own, with Node's metrics of the process. Every counter of the projects begins at 0, for from
 * nothing to 1 is no increase to Prometheus.
 */
export function createProcessMetrics(projects: readonly ProjectId[]): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Sums of gauges of the same names, called as only counters may be.
  for (const what of ['handles', 'requests', 'resources']) {
    registry.removeSingleMetric(`nodejs_active_${what}_total`);
  }
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]): Counter =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, label: string, buckets: number[]): Histogram =>
    new Histogram({ name, help, labelNames: [label], buckets, registers });
  const requests = counter(
    'outlast_platform_requests_total',
    'Requests to the platform, each retry counted, by what came of them.',
    'project',
    'outcome',
  );
  const latency = histogram(
    'outlast_platform_request_duration_seconds',
    'Seconds from sending a request to the platform to its answer read.',
    'project',
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  );
  const waited = counter(
    'outlast_rate_limit_wait_seconds_total',
    'Seconds that requests waited for the rate limit, added up over all that waited at once.',
    'project',
  );
  const records = counter(
    'outlast_records_total',
    'Records that committed pages and answers showed, by what they were to the archive.',
    'project',
    'resource',
    'outcome',
  );
  const leases = counter(
    'outlast_leases_lost_total',
    'Projects that another process took from this one.',
    'project',
  );
  const runs = counter('outlast_runs_total', 'Runs that ended, by how.', 'project', 'outcome');
  const transactions = histogram(
    'outlast_database_transaction_duration_seconds',
    'Seconds of a transaction of the sync, without the wait for a connection.',
    'outcome',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  );
  const exports = counter(
    'outlast_exports_total',
    'Exports on schedule that ended, by how.',
    'outcome',
  );
  const exportOutcome = (isDone: boolean): { outcome: string } => ({
    outcome: isDone ? 'done' : 'failed',
  });
  for (const isDone of [true, false]) exports.inc(exportOutcome(isDone), 0);

  for (const project of projects) {
    for (const outcome of requestOutcomes) requests.inc({ project, outcome }, 0);
    for (const outcome of runOutcomes) runs.inc({ project, outcome }, 0);
    for (const resource of resources) {
      for (const outcome of recordOutcomes) records.inc({ project, resource, outcome }, 0);
    }
    latency.zero({ project });
    waited.inc({ project }, 0);
    leases.inc({ project }, 0);
  }
  for (const outcome of ['committed', 'failed']) transactions.zero({ outcome });

  const of = (project: ProjectId): ProjectMeter => ({
    request: harmless((outcome, seconds) => {
      requests.inc({ project, outcome });
      latency.observe({ project }, seconds);
    }),
    waited: harmless((seconds) => add(waited, { project }, seconds)),
    records: harmless((resource, { shown, inserted, changed, rejected }) => {
      const unchanged = Math.max(0, shown - inserted - changed);
      const counts = { new: inserted, changed, unchanged, rejected };
      for (const outcome of recordOutcomes) {
        add(records, { project, resource, outcome }, counts[outcome]);
      }
    }),
    leaseLost: harmless(() => leases.inc({ project })),
    run: harmless((outcome) => runs.inc({ project, outcome })),
  });
  return {
    registry,
    meter: {
      of,
      transaction: harmless((isCommitted, seconds) =>
        transactions.observe({ outcome: isCommitted ? 'committed' : 'failed' }, seconds),
      ),
      exported: harmless((isDone) => exports.inc(exportOutcome(isDone))),
    },
  };
}

/** Of a number that is none nothing is added: a counter would be none from then on. */
function add(counter: Counter, labels: Record<string, string>, by: number): void {
  if (by > 0) counter.inc(labels, by);
}

/** What cannot be counted is left out: the work goes on. */
function harmless<Given extends unknown[]>(
  count: (...given: Given) => void,
): (...given: Given) => void {
  return (...given) => {
    try {
      count(...given);
    } catch {
      // A metric that is wrong is better than a sync that fails.
    }
  };
}

export type MetricsOptions = ProcessMetrics & Omit<ArchiveMetrics, 'projects'>;

export function addMetrics(
  app: FastifyInstance,
  metrics: MetricsOptions,
  { gate, now }: Pick<ServerContext, 'gate' | 'now'>,
): void {
  const { registry } = metrics;
  const refresh = addArchiveMetrics(registry, { ...metrics, projects: gate.projects });
  app.get('/metrics', async (request, reply) => {
    const { projects } = openedTo(gate, askedBy(request, now()));
    await refresh();
    const text = onlyOf(projects, await registry.metrics());
    const headers = { 'cache-control': 'no-store', 'content-type': registry.contentType };
    return reply.headers(headers).send(text);
  });
}

/** Without the lines of other projects. A project's name needs no escaping there. */
const onlyOf = (projects: readonly ProjectId[], text: string): string =>
  text
    .split('\n')
    .filter((line) => {
      const [, project] = /^\w+\{(?:.*,)?project="([^"]*)"/.exec(line) ?? [];
      return project === undefined || projects.includes(project);
    })
    .join('\n');

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

/**
 * Adds the gauges. What it gives sets them, from the database and every few seconds at most, or leaves them out while it
 * cannot be read; it never throws.
 */
export function addArchiveMetrics(
  registry: Registry,
  archive: ArchiveMetrics,
): () => Promise<void> {
  const { projects, now, freshMs = 5000, patienceMs = 4000 } = archive;
  const gauge = (name: string, help: string, ...labelNames: string[]): Gauge =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const up = gauge(
    'outlast_database_up',
    '1 where the archive could be read when it was last asked for these metrics, else 0.',
  );
  const slices = gauge(
    'outlast_slices',
    'Slices (days of a list) of the ledger, by state.',
    'project',
    'resource',
    'state',
  );
  const success = gauge(
    'outlast_last_successful_run_age_seconds',
    'Seconds since a run did all that was due; before the first one, since the project was entered.',
    'project',
  );
  const problems = gauge(
    'outlast_problems',
    'What is wrong with the archive, by kind and level.',
    'project',
    'kind',
    'level',
  );
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

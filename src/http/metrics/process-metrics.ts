// What happens in this process, counted where it happens through a meter: with several replicas each counts its own
// (docs/monitoring.md).
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import {
  requestOutcomes,
  runOutcomes,
  type Meter,
  type ProjectMeter,
  type RecordsCounted,
} from '../../meter.ts';
import { resources, type ProjectId, type Resource } from '../../model.ts';

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
  const requests = new Counter({
    name: 'outlast_platform_requests_total',
    help: 'Requests to the platform, each retry counted, by what came of them.',
    labelNames: ['project', 'outcome'],
    registers,
  });
  const latency = new Histogram({
    name: 'outlast_platform_request_duration_seconds',
    help: 'Seconds from sending a request to the platform to its answer read.',
    labelNames: ['project'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const waited = new Counter({
    name: 'outlast_rate_limit_wait_seconds_total',
    help: 'Seconds that requests waited for the rate limit, added up over all that waited at once.',
    labelNames: ['project'],
    registers,
  });
  const records = new Counter({
    name: 'outlast_records_total',
    help: 'Records that committed pages and answers showed, by what they were to the archive.',
    labelNames: ['project', 'resource', 'outcome'],
    registers,
  });
  const leases = new Counter({
    name: 'outlast_leases_lost_total',
    help: 'Projects that another process took from this one.',
    labelNames: ['project'],
    registers,
  });
  const runs = new Counter({
    name: 'outlast_runs_total',
    help: 'Runs that ended, by how.',
    labelNames: ['project', 'outcome'],
    registers,
  });
  const transactions = new Histogram({
    name: 'outlast_database_transaction_duration_seconds',
    help: 'Seconds of a transaction of the sync, without the wait for a connection.',
    labelNames: ['outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });

  const exports = new Counter({
    name: 'outlast_exports_total',
    help: 'Exports on schedule that ended, by how.',
    labelNames: ['outcome'],
    registers,
  });
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

  const countRecords = (
    project: ProjectId,
    resource: Resource,
    { shown, inserted, changed, rejected }: RecordsCounted,
  ): void => {
    const unchanged = Math.max(0, shown - inserted - changed);
    const counts = { new: inserted, changed, unchanged, rejected };
    for (const outcome of recordOutcomes) {
      add(records, { project, resource, outcome }, counts[outcome]);
    }
  };
  const of = (project: ProjectId): ProjectMeter => ({
    request: harmless((outcome, seconds) => {
      requests.inc({ project, outcome });
      latency.observe({ project }, seconds);
    }),
    waited: harmless((seconds) => add(waited, { project }, seconds)),
    records: harmless((resource, counted) => countRecords(project, resource, counted)),
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

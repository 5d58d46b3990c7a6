// `outlast start`: keeps syncing and serves what is held, until SIGTERM; then finishes what is in flight and leaves.
import type { Command } from 'commander';
import { createProcessMetrics } from '../http/metrics.ts';
import type { Served } from '../http/server.ts';
import { mostOpen } from '../http/v1/watch-route.ts';
import { settingsInForce } from '../settings/in-force.ts';
import { readSettings, type Settings } from '../settings/settings.ts';
import { enterUpTo } from '../store/operations/watch-operations.ts';
import { createHolder } from '../sync/holder.ts';
import { startSchedule, type Schedule } from '../sync/schedule.ts';
import { openMigrated } from './app.ts';
import { createWorker, openAlerts } from './create-workers.ts';
import { createScheduledExports } from './scheduled-exports.ts';
import { startServing } from './start-serving.ts';
import { startNeeds } from './start-needs.ts';
import { openLog } from './log-lines.ts';
import { stopOnSignals, stopped } from './signals.ts';

export const startCommand = (command: Command): Command =>
  command.action(async () => {
    await start(readSettings({ needs: 'platform' }));
  });

/** How long leaving waits for an alert that is just being told; it is told again by the next start otherwise. */
const alertsPatienceMs = 2_000;

async function start(settings: Settings): Promise<void> {
  for (const need of startNeeds) await need.check(settings);
  const log = openLog(settings.logLevel);
  const stop = stopOnSignals(() => log.info('Stopping: finishing the page in flight'));
  const metrics = createProcessMetrics(settings.projects.map(({ id }) => id));
  const archive = await openMigrated(settings, log, metrics.meter);
  // One for all: what is held is renewed together.
  const holder = createHolder(archive.db, settings.leaseMs);
  const workers = settings.projects.map((project) => ({
    ...createWorker(project, settings, archive.db, log, metrics.meter.of(project.id)),
    holder,
  }));
  const exports = createScheduledExports(settings.exports, archive.db, log, metrics.meter);
  const { lastExport } = exports;
  const alerts = openAlerts(settings, archive.db, workers, { mayBeat: true, lastExport }, log);
  let served: Served | null = null;
  let schedule: Schedule | null = null;
  try {
    served = await startServing(settings, archive.store.connectionString, log, {
      metrics,
      workers,
      isAlive: () => schedule?.isOverdue() !== true,
      inForce: settingsInForce(),
      watch: (project, operations, signature) =>
        enterUpTo(mostOpen, archive.db, project, operations, signature),
    });
    schedule = startSchedule(workers, settings.schedule, stop.signal, log, undefined, (turn) =>
      alerts.after(turn),
    );
    log.info(
      {
        projects: settings.projects.map((project) => project.id),
        schedule: settings.schedule,
        url: served.url,
      },
      'Outlast is running',
    );
    exports.start(stop.signal);
    await stopped(stop.signal);
    await schedule.close();
    await exports.close();
  } finally {
    await served?.close();
    await alerts.close(alertsPatienceMs);
    await Promise.all(workers.map((worker) => worker.close()));
    await archive.close();
    stop.close();
  }
  log.info('Outlast has stopped');
}

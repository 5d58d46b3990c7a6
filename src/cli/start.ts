// `outlast start`: keeps syncing until SIGTERM, then finishes what is in flight and leaves.
import { Command } from 'commander';
import { createLog } from '../log.ts';
import { readSettings, type Settings } from '../settings.ts';
import { startSchedule } from '../sync/schedule.ts';
import { createWorker, openAlerts, openMigrated } from './app.ts';
import { stopOnSignals, stopped } from './signals.ts';

export function startCommand(): Command {
  return new Command('start')
    .description('keep syncing on schedule until stopped')
    .action(async () => {
      await start(readSettings({ needs: 'platform' }));
    });
}

/** How long leaving waits for an alert that is just being told; it is told again by the next start otherwise. */
const alertsPatienceMs = 2_000;

async function start(settings: Settings): Promise<void> {
  const log = createLog(settings.logLevel);
  const stop = stopOnSignals(() => log.info('Stopping: finishing the page in flight'));
  const archive = await openMigrated(settings, log);
  const workers = settings.projects.map((project) =>
    createWorker(project, settings, archive.db, log),
  );
  const alerts = openAlerts(settings, archive.db, workers, { mayBeat: true }, log);
  try {
    const schedule = startSchedule(
      workers,
      settings.schedule,
      stop.signal,
      log,
      undefined,
      (turn) => alerts.after(turn),
    );
    log.info(
      { projects: settings.projects.map((project) => project.id), schedule: settings.schedule },
      'Outlast is running',
    );
    await stopped(stop.signal);
    await schedule.close();
  } finally {
    await alerts.close(alertsPatienceMs);
    await Promise.all(workers.map((worker) => worker.close()));
    await archive.close();
    stop.close();
  }
  log.info('Outlast has stopped');
}

// `outlast start`: keeps syncing and serves what is held, until SIGTERM; then finishes what is in flight and leaves.
import type { Command } from 'commander';
import type { ExportEnd } from '../alert/update-alerts.ts';
import { causeChain, codeOf } from '../errors.ts';
import { createProcessMetrics } from '../http/metrics.ts';
import { mostOpen } from '../http/v1/watch-route.ts';
import type { Log } from '../log.ts';
import type { Meter } from '../meter.ts';
import type { Instant } from '../model.ts';
import { settingsInForce } from '../settings/in-force.ts';
import { readSettings, type ExportSettings, type Settings } from '../settings/settings.ts';
import { databaseError } from '../store/db-errors.ts';
import type { Db } from '../store/db.ts';
import { enterUpTo } from '../store/operations/watch-operations.ts';
import { projectIds } from '../store/projects.ts';
import { createHolder } from '../sync/holder.ts';
import { lastDue, nextDue, startSchedule, startTicks, type Schedule } from '../sync/schedule.ts';
import { closing, openMigrated } from './open-store.ts';
import { createWorker, openAlerts } from './create-workers.ts';
import { exportTo } from './export-places.ts';
import { openLog } from './log-lines.ts';
import { stopOnSignals, stopped } from './signals.ts';
import { checkStartNeeds } from './start-needs.ts';
import { startServing } from './start-serving.ts';

export const startCommand = (command: Command): Command =>
  command.action(async () => {
    await start(readSettings({ needs: 'platform' }));
  });

/** How long leaving waits for an alert that is just being told; it is told again by the next start otherwise. */
const alertsPatienceMs = 2_000;

async function start(settings: Settings): Promise<void> {
  await checkStartNeeds(settings);
  const log = openLog(settings.logLevel);
  await closing(async (keep) => {
    const { signal } = keep(
      stopOnSignals(() => log.info('Stopping: finishing the page in flight')),
    );
    const metrics = createProcessMetrics(settings.projects.map(({ id }) => id));
    const { db, store } = await openMigrated(settings, log, keep, metrics.meter);
    // One for all: what is held is renewed together.
    const holder = createHolder(db, settings.leaseMs);
    const workers = settings.projects.map((project) => ({
      ...keep(createWorker(project, settings, db, log, metrics.meter.of(project.id))),
      holder,
    }));
    const exports = createScheduledExports(settings.exports, db, log, metrics.meter);
    const { lastExport } = exports;
    const alerts = openAlerts(settings, db, workers, { mayBeat: true, lastExport }, log);
    keep({ close: () => alerts.close(alertsPatienceMs) });
    let schedule: Schedule | null = null;
    const { url } = keep(
      await startServing(settings, store.connectionString, log, {
        metrics,
        workers,
        isAlive: () => schedule?.isOverdue() !== true,
        settings: settingsInForce(),
        watch: (project, operations, signature) =>
          enterUpTo(mostOpen, db, project, operations, signature),
      }),
    );
    schedule = startSchedule(workers, settings.schedule, signal, log, undefined, (turn) =>
      alerts.after(turn),
    );
    const projects = workers.map(({ projectId }) => projectId);
    log.info({ projects, schedule: settings.schedule, url }, 'Outlast is running');
    exports.start(signal);
    await stopped(signal);
    await schedule.close();
    await exports.close();
  });
  log.info('Outlast has stopped');
}

// Exports on a schedule, beside the sync: one that fails is logged, counted and told as an alert, and the next tick is
// the retry. One whose time passed while no service ran is made up at the start. It holds up nothing.

/** Replicas tick at the same time by clocks that differ a little. */
const sameTickMs = 60_000;

/** What is late by so much is told, though nothing failed: one may hang. */
const lateMs = 86_400_000;

const late: ExportEnd = { trouble: 'late' };

/** Another replica made it. */
const madeElsewhere = new Set(['export_made', 'export_overtaken']);

export function createScheduledExports(
  settings: ExportSettings,
  db: Db,
  log: Log,
  meter: Pick<Meter, 'exported'>,
) {
  const { to, format, schedule } = settings;
  // Where there are none, none fails.
  let last: ExportEnd | null = to === null ? { trouble: null } : null;
  let running: Promise<void> = Promise.resolve();
  let lateAt = Infinity;
  let stop = (): void => undefined;

  /** `missedAt`: when it was due, while nobody was there. */
  async function exportNow(
    place: string,
    signal: AbortSignal,
    missedAt: Instant | null = null,
  ): Promise<void> {
    const now = Date.now();
    try {
      const projects = await projectIds(db);
      // Nothing is archived yet: the next tick asks again.
      if (projects.length === 0) return;
      const { manifest, written, kept, previousAt } = await exportTo(
        {
          db,
          to: place,
          format,
          projects,
          now,
          unlessSince: missedAt ?? now - sameTickMs,
          signal,
          onProgress: () => undefined,
          onSend: () => undefined,
        },
        settings,
      );
      last = { trouble: null };
      // Where there was none, nobody had asked for one before.
      if (missedAt !== null && previousAt !== null) {
        last = { trouble: 'missed', dueAt: missedAt };
        const dueAt = new Date(missedAt).toISOString();
        log.warn({ dueAt, previousAt }, 'No export was made when it was due: it was made up');
      }
      meter.exported(true);
      const rows = manifest.files.reduce((sum, file) => sum + file.rows, 0);
      log.info({ rows, written, kept, ms: Date.now() - now }, 'The archive was exported');
    } catch (error) {
      if (signal.aborted) return;
      const code = codeOf(error) ?? '';
      if (code === 'export_running' || madeElsewhere.has(code)) {
        // How one that is running ends, whoever runs it knows.
        last = code === 'export_running' ? null : { trouble: null };
        log.debug({ reason: causeChain(error) }, 'Another replica exports');
        return;
      }
      last = { trouble: 'failed' };
      meter.exported(false);
      log.warn({ error: causeChain(databaseError(error) ?? error) }, 'The export failed');
    } finally {
      lateAt = nextDue(schedule) + lateMs;
    }
  }

  return {
    start(signal: AbortSignal): void {
      if (to === null) return;
      lateAt = nextDue(schedule) + lateMs;
      const missedAt = lastDue(schedule, Date.now());
      if (missedAt !== null) running = exportNow(to, signal, missedAt);
      const next = (): Promise<void> => (running = running.then(() => exportNow(to, signal)));
      const ticks = startTicks(schedule, next, log);
      stop = () => ticks.close();
    },
    /** How the last one ended; null: not known here. */
    lastExport: (): ExportEnd | null => (Date.now() > lateAt ? late : last),
    /** Ends the ticks and waits for the export in progress, which the signal has told to stop. */
    async close(): Promise<void> {
      stop();
      await running;
    },
  };
}

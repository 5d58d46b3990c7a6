// Exports on a schedule, beside the sync of `outlast start`: one that fails is logged, counted and told as an alert, and
// the next tick is the retry. It holds up nothing.
import { causeChain, codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Meter } from '../meter.ts';
import type { ExportSettings } from '../settings/settings.ts';
import { databaseError } from '../store/db-errors.ts';
import type { Db } from '../store/db.ts';
import { projectIds } from '../store/projects.ts';
import { startTicks } from '../sync/schedule.ts';
import { exportTo } from './export-places.ts';

export type ScheduledExports = {
  start(signal: AbortSignal): void;
  /** Whether the last one failed. */
  didFail: () => boolean;
  /** Ends the ticks and waits for the export in progress, which the signal has told to stop. */
  close(): Promise<void>;
};

/** Replicas tick at the same time by clocks that differ a little. */
const sameTickMs = 60_000;

/** Another replica is at it, or was. */
const doneElsewhere = new Set(['export_made', 'export_running', 'export_overtaken']);

export function createScheduledExports(
  settings: ExportSettings,
  db: Db,
  log: Log,
  meter: Pick<Meter, 'exported'>,
): ScheduledExports {
  const { to, format, schedule } = settings;
  let hasFailed = false;
  let running: Promise<void> = Promise.resolve();
  let stop = async (): Promise<void> => undefined;

  async function exportNow(place: string, signal: AbortSignal): Promise<void> {
    const now = Date.now();
    try {
      const projects = await projectIds(db);
      if (projects.length === 0) return;
      const { manifest, written, kept } = await exportTo(
        {
          db,
          to: place,
          format,
          projects,
          now,
          unlessSince: now - sameTickMs,
          signal,
          onProgress: () => undefined,
          onSend: () => undefined,
        },
        settings,
      );
      hasFailed = false;
      meter.exported(true);
      const rows = manifest.files.reduce((sum, file) => sum + file.rows, 0);
      log.info({ rows, written, kept, ms: Date.now() - now }, 'The archive was exported');
    } catch (error) {
      if (signal.aborted) return;
      if (doneElsewhere.has(codeOf(error) ?? '')) {
        hasFailed = false;
        log.debug({ reason: causeChain(error) }, 'Another replica exports');
        return;
      }
      hasFailed = true;
      meter.exported(false);
      log.warn({ error: causeChain(databaseError(error) ?? error) }, 'The export failed');
    }
  }

  return {
    start(signal) {
      if (to === null) return;
      const task = startTicks(schedule, () => (running = exportNow(to, signal)), log);
      stop = async () => task.destroy();
    },
    didFail: () => hasFailed,
    async close() {
      await stop();
      await running;
    },
  };
}

// A worker for each project, and what looks after their alerts, from the settings. Commands that ask no platform do
// not load it, for that takes a fifth of their start. The command that opens a worker closes it.
import { createAlerts, type Alerts, type AlertsOptions } from '../alert/alerts.ts';
import type { Log } from '../log.ts';
import type { ProjectMeter } from '../meter.ts';
import { createFileFetcher } from '../platform/certificate-file.ts';
import { createPlatform, type PlatformOptions } from '../platform/client.ts';
import { createLimiter } from '../platform/rate-limiter.ts';
import type { ProjectSettings, Settings } from '../settings/settings.ts';
import type { Db } from '../store/db.ts';
import { keptRate } from '../store/projects.ts';
import { createHolder } from '../sync/holder.ts';
import type { Worker } from '../sync/worker.ts';

export function createWorker(
  project: ProjectSettings,
  settings: Settings,
  db: Db,
  log: Log,
  meter?: ProjectMeter,
  /** This machine's clocks, where they are not the real ones. */
  clocks: Pick<PlatformOptions, 'wallNow' | 'monotonicNow'> = {},
): Worker & { close(): Promise<void> } {
  const platform = createPlatform({
    baseUrl: project.baseUrl,
    tokensUrl: project.tokensUrl,
    apiKey: project.apiKey,
    apiSecret: project.apiSecret,
    timeoutMs: settings.timeoutMs,
    limiter: createLimiter(keptRate(db, project.id), project.maxRps),
    log: log.child({ projectId: project.id }),
    meter,
    ...clocks,
  });
  const certificateFiles =
    settings.keepCertificates === null
      ? null
      : createFileFetcher({ hosts: settings.keepCertificates });
  return {
    projectId: project.id,
    scope: { orders: project.orders, classes: project.classes },
    source: { baseUrl: project.baseUrl, apiKey: project.apiKey },
    platform,
    db,
    holder: createHolder(db, settings.leaseMs),
    concurrency: settings.concurrency,
    settings: { deadlineMarginMs: settings.deadlineMarginMs, refreshMs: settings.refreshMs },
    certificatesDir: settings.certificatesDir,
    headsDir: settings.headsDir,
    certificateFiles,
    tokensEveryMs: settings.tokensEveryMs,
    meter,
    log,
    close: async () => {
      await platform.close();
      await certificateFiles?.close();
    },
  };
}

/** What looks after alerts while, or after, these workers work. */
export function openAlerts(
  settings: Settings,
  db: Db,
  workers: Worker[],
  how: Pick<AlertsOptions, 'mayBeat' | 'lastExport'>,
  log: Log,
): Alerts {
  return createAlerts({
    db,
    settings: settings.alerts,
    projects: workers.map(({ projectId, platform, settings: policy }) => ({
      projectId,
      settings: policy,
      now: () => platform.clock.now(),
      disagreement: () => platform.clock.disagreement(),
      knowsTime: () => platform.clock.lastDate() !== null,
    })),
    ...how,
    log,
  });
}

// What several commands need: the store opened from the settings, and a worker for each project. The command that
// opens it closes it.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { createAlerts, type Alerts } from '../alert/alerts.ts';
import { settingsError } from '../errors.ts';
import { createLog, type Log } from '../log.ts';
import type { ProjectId } from '../model.ts';
import { createFileFetcher } from '../platform/certificate-file.ts';
import { createPlatform } from '../platform/client.ts';
import type { DatabaseSettings, ProjectSettings, Settings } from '../settings/settings.ts';
import { openDb, type Db, type Queryable } from '../store/db.ts';
import { openEmbedded } from '../store/embedded/embedded.ts';
import { migrate } from '../store/migrate.ts';
import { projectIds } from '../store/projects.ts';
import { createLimiter } from '../sync/contact/rate-limiter.ts';
import type { Worker } from '../sync/worker.ts';

export type Store = {
  /** For psql and BI tools; holds the password (P10: print it only where a person asked for the place). */
  connectionString: string;
  isEmbedded: boolean;
  close(): Promise<void>;
};

/** The configured database, the embedded one started if that is it. Not migrated yet. */
export async function openStore(database: DatabaseSettings, log: Log): Promise<Store> {
  if (database.kind === 'url') {
    return { connectionString: database.url, isEmbedded: false, close: async () => undefined };
  }
  const embedded = await openEmbedded({ dataDir: database.dataDir, log });
  return {
    connectionString: embedded.connectionString,
    isEmbedded: true,
    close: async () => {
      await embedded.close();
    },
  };
}

export type MigratedStore = { store: Store; db: Db; close(): Promise<void> };

/** The store, brought to this release's schema, with a pool that runs as the writer (P4). */
export async function openMigrated(settings: Settings, log: Log): Promise<MigratedStore> {
  const store = await openStore(settings.database, log);
  try {
    const { notes } = await migrate(store.connectionString, log);
    for (const note of notes) log.warn(note);
    const db = await openDb({
      connectionString: store.connectionString,
      max: Math.min(40, 4 + settings.concurrency * Math.max(1, settings.projects.length)),
      log,
    });
    return {
      store,
      db,
      close: async () => {
        await db.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Does the work on the store, brought to this release's schema, and closes it whatever happens. */
export async function withStore<T>(
  settings: Settings,
  work: (store: MigratedStore) => Promise<T>,
): Promise<T> {
  const store = await openMigrated(settings, createLog(settings.logLevel));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/**
 * Which projects a command is about: all in the archive, or the one it was told. Throws settings `unknown_project` for
 * one that nothing is archived for.
 */
export async function wantedProjects(
  db: Queryable,
  project: ProjectId | undefined,
): Promise<ProjectId[]> {
  const known = await projectIds(db);
  if (project === undefined) return known;
  if (known.includes(project)) return [project];
  throw settingsError('unknown_project', `Nothing is archived for a project "${project}" here.`);
}

export function createWorker(
  project: ProjectSettings,
  settings: Settings,
  db: Db,
  log: Log,
): Worker & { close(): Promise<void> } {
  const platform = createPlatform({
    baseUrl: project.baseUrl,
    tokensUrl: project.tokensUrl,
    apiKey: project.apiKey,
    apiSecret: project.apiSecret,
    timeoutMs: settings.timeoutMs,
    limiter: createLimiter(db, project.id, project.maxRps),
    log: log.child({ projectId: project.id }),
  });
  const certificateFiles =
    settings.keepCertificates === null
      ? null
      : createFileFetcher({ hosts: settings.keepCertificates });
  return {
    projectId: project.id,
    scope: { classes: project.classes },
    source: { baseUrl: project.baseUrl, apiKey: project.apiKey },
    platform,
    db,
    holder: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    leaseMs: settings.leaseMs,
    concurrency: settings.concurrency,
    settings: { deadlineMarginMs: settings.deadlineMarginMs, refreshMs: settings.refreshMs },
    certificatesDir: settings.certificatesDir,
    headsDir: settings.headsDir,
    certificateFiles,
    tokensEveryMs: settings.tokensEveryMs,
    log,
    close: async () => {
      await platform.close();
      await certificateFiles?.close();
    },
  };
}

/** What looks after alerts while, or after, these workers work. `mayBeat`: all that was due was asked for. */
export function openAlerts(
  settings: Settings,
  db: Db,
  workers: Worker[],
  { mayBeat }: { mayBeat: boolean },
  log: Log,
): Alerts {
  return createAlerts({
    db,
    settings: settings.alerts,
    projects: workers.map(({ projectId, platform, settings: policy }) => ({
      projectId,
      settings: policy,
      now: () => platform.clock.now(),
      knowsTime: () => platform.clock.lastDate() !== null,
    })),
    mayBeat,
    log,
  });
}

// The HTTP server as `start` and `demo` run it: an archive opened for reading, and who may read it.
import type { DatabaseAddress } from '../database-address.ts';
import { causeChain } from '../errors.ts';
import type { Log } from '../log.ts';
import type { SettingInForce } from '../model.ts';
import type { ProcessMetrics } from '../http/metrics.ts';
import { serve, type Served } from '../http/server.ts';
import type { EnterOperations } from '../http/v1/watch-route.ts';
import { openArchive } from '../query/archive.ts';
import { readArchiveState } from '../query/metrics-state.ts';
import type { Archive } from '../query/types.ts';
import type { Settings } from '../settings/settings.ts';
import { openDb, type Db } from '../store/db.ts';
import type { Worker } from '../sync/worker.ts';
import { ofReplica } from './app.ts';
import { readReaders } from './reader-keys.ts';

export type Serving = {
  /** Absent: nothing is told to Prometheus. */
  metrics?: ProcessMetrics;
  /** By their clocks the deadlines are told. */
  workers?: readonly Pick<Worker, 'projectId' | 'platform'>[];
  isAlive?: () => boolean;
  watch?: EnterOperations;
  /** This machine's clock; the real one unless given. */
  now?: () => number;
  /** What is told of them over HTTP; none unless given. */
  inForce?: SettingInForce[];
};

/**
 * `primary`: where to read unless the settings name a replica. Throws settings `readers_invalid` or `serve_failed`, and
 * what opening an archive throws.
 */
export async function startServing(
  settings: Settings,
  primary: DatabaseAddress,
  log: Log,
  { metrics, workers = [], isAlive, watch, inForce = [], now = Date.now }: Serving = {},
): Promise<Served> {
  const keys = readReaders(settings);
  const opened: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    for (const one of opened.toReversed()) await one.close();
  };
  try {
    const { archive, connectionString } = await openToServe(settings, primary, log);
    opened.push(archive);
    const archiveOfV1 = await openArchive({ connectionString, log });
    opened.push(archiveOfV1);
    const db = metrics === undefined ? null : await openForMetrics(primary, log);
    if (db !== null) opened.push(db);
    const ids = settings.projects.map(({ id }) => id);
    const clocks = new Map(workers.map((one) => [one.projectId, one.platform.clock]));
    const timeOf = (project: string): number => clocks.get(project)?.now() ?? now();
    const served = await serve({
      archive,
      archiveOfV1,
      host: settings.host,
      port: settings.port,
      keys,
      projects: settings.projects.map((project) => ({
        id: project.id,
        classesOf: carrierOf(project, settings.projects),
      })),
      settings: inForce,
      isAlive,
      ...(watch === undefined ? {} : { watch }),
      ...(metrics === undefined || db === null
        ? {}
        : {
            metrics: {
              ...metrics,
              read: () => readArchiveState(db, ids),
              now: timeOf,
            },
          }),
      log,
      now,
      timeOf,
    });
    opened.push(served);
    return { url: served.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Where the sync writes, and not a replica: whether that database answers is one of the metrics. One connection of its
 * own, which the pool gives up while nobody asks, so that neither a busy sync nor a long list keeps them waiting.
 */
const openForMetrics = (connectionString: DatabaseAddress, log: Log): Promise<Db> =>
  openDb({
    connectionString,
    max: 1,
    applicationName: 'outlast metrics',
    isReadOnly: true,
    settings: { statement_timeout: '5000' },
    log,
  });

/** The archive and its address: the read replica's where there is one that answers, for nothing waits for it. */
async function openToServe(
  { readDatabase }: Settings,
  primary: DatabaseAddress,
  log: Log,
): Promise<{ archive: Archive; connectionString: DatabaseAddress }> {
  if (readDatabase.kind === 'url' && readDatabase.isReplica === true) {
    const { url: connectionString } = readDatabase;
    try {
      return { archive: await openArchive({ connectionString, log }), connectionString };
    } catch (error) {
      log.warn(
        { reason: causeChain(ofReplica(error)) },
        'The read replica cannot be read: HTTP answers from DATABASE_URL until the next start',
      );
    }
  }
  const archive = await openArchive({ connectionString: primary, log });
  return { archive, connectionString: primary };
}

/** The class list does not depend on the key: of the projects of one platform one carries it for all. */
function carrierOf(project: Settings['projects'][number], all: Settings['projects']): string {
  if (project.classes !== 'none') return project.id;
  const carrier = all.find(
    ({ baseUrl, classes }) => baseUrl === project.baseUrl && classes !== 'none',
  );
  return carrier?.id ?? project.id;
}

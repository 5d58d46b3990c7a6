// The HTTP server as `start` and `demo` run it: an archive opened for reading, and who may read it.
import { statSync } from 'node:fs';
import * as z from 'zod';
import type { DatabaseAddress } from '../database-address.ts';
import { causeChain, settingsError } from '../errors.ts';
import type { ReaderKey } from '../http/access.ts';
import type { ProcessMetrics } from '../http/metrics.ts';
import { serve, type Served, type ServerOptions } from '../http/server.ts';
import type { Log } from '../log.ts';
import { openArchive } from '../query/archive.ts';
import { readArchiveState } from '../query/metrics-state.ts';
import type { Archive } from '../query/types.ts';
import { readSmallFile } from '../settings/environment.ts';
import type { Settings } from '../settings/settings.ts';
import { openDb, type Db } from '../store/db.ts';
import type { Worker } from '../sync/worker.ts';
import { ofReplica } from './open-store.ts';

/** `settings`: what HTTP shows of them. */
type Serving = Partial<Pick<ServerOptions, 'isAlive' | 'watch' | 'now' | 'settings'>> & {
  metrics: ProcessMetrics;
  /** Deadlines are shown by their clocks. */
  workers: readonly Pick<Worker, 'projectId' | 'platform'>[];
};

/**
 * `primary`: where to read unless the settings name a replica. Throws settings `readers_invalid` or `serve_failed`, and
 * what opening an archive throws.
 */
export async function startServing(
  settings: Settings,
  primary: DatabaseAddress,
  log: Log,
  { metrics, workers, now = Date.now, ...how }: Serving,
): Promise<Served> {
  const keys = readReaders(settings);
  const opened: { close(): Promise<void> }[] = [];
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one);
    return one;
  };
  const close = async (): Promise<void> => {
    for (const one of opened.toReversed()) await one.close();
  };
  try {
    const { archive, connectionString } = await openToServe(settings, primary, log);
    keep(archive);
    const archiveOfV1 = keep(await openArchive({ connectionString, log }));
    const db = keep(await openForMetrics(primary, log));
    const ids = settings.projects.map(({ id }) => id);
    const clocks = new Map(workers.map((one) => [one.projectId, one.platform.clock]));
    const timeOf = (project: string): number => clocks.get(project)?.now() ?? now();
    const server = await serve({
      archive,
      archiveOfV1,
      host: settings.host,
      port: settings.port,
      keys,
      projects: settings.projects.map((project) => ({
        id: project.id,
        classesOf: carrierOf(project, settings.projects),
      })),
      ...how,
      metrics: { ...metrics, read: () => readArchiveState(db, ids), now: timeOf },
      log,
      now,
      timeOf,
    });
    keep(server);
    return { url: server.url, close };
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

// Readers are the projects' own key pairs, and those of the readers file. It holds secrets, so that nobody else may be
// able to read it, and none of them is repeated in a message (P10).

const text = (what: string) => z.string(`${what} must be text`).min(1, `${what} must not be empty`);

const schema = z.array(
  z
    .strictObject({
      id: text('id'),
      secret: text('secret').optional(),
      bearer_sha256: z
        .string('bearer_sha256 must be text')
        .regex(
          /^[0-9a-f]{64}$/,
          'bearer_sha256 must be 64 lower-case hex digits, as sha256sum prints',
        )
        .optional(),
      projects: z.array(text('a project')).min(1, 'projects must name at least one'),
      watch: z.boolean('watch must be true or false').default(false),
    })
    .refine(
      ({ secret, bearer_sha256: bearer }) => secret !== undefined || bearer !== undefined,
      'needs a secret, a bearer_sha256, or both',
    ),
  'must be a list of readers',
);

/** Throws settings `readers_invalid` with what is wrong. */
export function readReaders({ projects, readersFile }: Settings): ReaderKey[] {
  const own = projects.map(({ id, apiKey, apiSecret }) => ({
    key: apiKey,
    secret: apiSecret,
    projects: [id],
    mayWatch: true,
  }));
  if (readersFile === null) return own;
  const known = new Set(projects.map(({ id }) => id));
  const readers = parse(readersFile);
  for (const [i, reader] of readers.entries()) {
    for (const project of reader.projects) {
      if (!known.has(project)) {
        throw invalid(readersFile, `[${i}].projects names "${project}", which is not configured`);
      }
    }
  }
  const keys = [
    ...own,
    ...readers.map(({ id, secret, bearer_sha256: bearerSha256, projects: of, watch }) => ({
      key: id,
      secret,
      bearerSha256,
      projects: of,
      mayWatch: watch,
    })),
  ];
  if (new Set(keys.map(({ key }) => key)).size < keys.length) {
    throw invalid(
      readersFile,
      'two readers have the same id, or one has the id of a project’s own key',
    );
  }
  const bearers = readers.flatMap(({ bearer_sha256: bearer }) => bearer ?? []);
  if (new Set(bearers).size < bearers.length) {
    throw invalid(
      readersFile,
      'two readers have the same bearer_sha256: give each a key of its own',
    );
  }
  return keys;
}

function parse(path: string): z.infer<typeof schema> {
  let content: unknown;
  try {
    // Windows has no such bits; there the folder's rights decide.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      throw new Error('others may read it: chmod 600 it');
    }
    content = JSON.parse(readSmallFile(path));
  } catch (error) {
    // A JSON error's message quotes what it could not read.
    throw invalid(path, error instanceof SyntaxError ? 'it is no JSON' : causeChain(error));
  }
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.map(({ path: at, message }) =>
    [at.length > 0 ? `[${at.join('].')}]` : '', message].join(' ').trim(),
  );
  throw invalid(path, mistakes.join('; '));
}

const invalid = (path: string, why: string): Error =>
  settingsError('readers_invalid', `OUTLAST_READERS_FILE ${path}: ${why}.`);

// What several commands need: the store opened from the settings. What is opened is kept, and closed with the command.
import type { DatabaseAddress } from '../database-address.ts';
import { isOutlastError, OutlastError, settingsError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Meter } from '../meter.ts';
import type { ProjectId } from '../model.ts';
import { viewComments } from '../query/dictionary.ts';
import { checkSchema } from '../query/reader.ts';
import type { DatabaseSettings, ProjectSettings, Settings } from '../settings/settings.ts';
import { openDb, type Db, type Queryable } from '../store/db.ts';
import { openEmbedded } from '../store/embedded/embedded.ts';
import { holdsArchive } from '../store/embedded/home.ts';
import { migrate, type Migrated, type MigrateOptions } from '../store/migrate.ts';
import { projectIds } from '../store/projects.ts';
import { openLog } from './log-lines.ts';
import { nothingArchived } from './print.ts';

export type Store = {
  /** Read from the replica of the settings. */
  isReplica: boolean;
  /** For psql and BI tools; holds the password (P10: print it only where a person asked for the place). */
  connectionString: DatabaseAddress;
  isEmbedded: boolean;
  close(): Promise<void>;
};

/** The configured database, the embedded one made and started if that is it. Not migrated yet. */
export async function openStore(database: DatabaseSettings, log: Log): Promise<Store> {
  if (database.kind === 'url') {
    const { url: connectionString, isReplica = false } = database;
    return { connectionString, isReplica, isEmbedded: false, close: async () => undefined };
  }
  const embedded = await openEmbedded({ dataDir: database.dataDir, log });
  return {
    connectionString: embedded.connectionString,
    isReplica: false,
    isEmbedded: true,
    close: async () => void (await embedded.close()),
  };
}

/** Throws settings `nothing_archived` where there is no embedded archive yet, for commands that begin none. */
export async function refuseMissingArchive(
  database: DatabaseSettings,
  sentence: string,
): Promise<void> {
  if (database.kind === 'url' || (await holdsArchive(database.dataDir))) return;
  throw settingsError(
    'nothing_archived',
    `${sentence}: DATABASE_URL is not set, and ${database.dataDir} holds no embedded archive. Set DATABASE_URL or OUTLAST_DATA_DIR to where the archive is, or run \`outlast sync\` to begin one.`,
  );
}

/** The same for commands that make nothing. Throws what `refuseMissingArchive` throws. */
async function openStoreToRead({ readDatabase }: Settings, log: Log): Promise<Store> {
  await refuseMissingArchive(readDatabase, 'There is nothing to read');
  return openStore(readDatabase, log);
}

/** `db`: what reads or writes there. */
type Opened<Of> = { store: Store; db: Of; log: Log };
export type OpenedStore = Opened<Db>;
type Open<Of> = (settings: Settings, log: Log, keep: Keep) => Promise<Opened<Of>>;

export const bringUpToDate = (
  { connectionString }: Store,
  log: Log,
  options: MigrateOptions = {},
): Promise<Migrated> => migrate(connectionString, log, { comments: viewComments(), ...options });

/** The store, brought to this release's schema, with a pool that runs as the writer (P4). */
export async function openMigrated(
  settings: Settings,
  log: Log,
  keep: Keep,
  meter?: Meter,
): Promise<OpenedStore> {
  const store = keep(await openStore(settings.database, log));
  const { notes } = await bringUpToDate(store, log);
  for (const note of notes) log.warn(note);
  const db = await openDb({
    connectionString: store.connectionString,
    max: Math.min(40, 4 + settings.concurrency * Math.max(1, settings.projects.length)),
    waitsInLine: true,
    onTransaction: meter?.transaction,
    log,
  });
  return { store, db: keep(db), log };
}

/**
 * The store as it stands, for commands that only look: nothing is made or migrated, and every transaction only reads.
 * Throws settings `nothing_archived`, `schema_missing`, `schema_older`, `schema_newer` or
 * `database_…`, and fatal `schema_other`.
 */
export async function openToRead(settings: Settings, log: Log, keep: Keep): Promise<OpenedStore> {
  const store = keep(await openStoreToRead(settings, log));
  const { connectionString } = store;
  const db = keep(await ofStore(store, openDb({ connectionString, isReadOnly: true, log })));
  await ofStore(
    store,
    checkSchema(db).then(() => checkLedgerRights(db)),
  );
  return { store, db, log };
}

/**
 * Throws settings `ledger_forbidden`: what people and BI tools log in as reads the archive, and not what is said of it.
 */
async function checkLedgerRights(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ may: boolean }>(
    // On a cluster the reader may read whole rows of slices, too.
    `select has_table_privilege('sync.projects', 'select') as may`,
  );
  if (rows[0]?.may === true) return;
  throw settingsError(
    'ledger_forbidden',
    'This database user may not read the ledger of the archive. `outlast query` does without it; for this command use the login that the sync uses.',
  );
}

/** What is wrong with a replica is told of its own address. */
export const ofStore = <T>({ isReplica }: Store, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw isReplica ? ofReplica(error) : error;
  });

/** The same error, about the replica's address where it speaks of the primary's. */
export function ofReplica(error: unknown): unknown {
  if (!isOutlastError(error)) return error;
  const { kind, code, message } = error;
  const sentence = message.replaceAll(/\bDATABASE_URL/g, 'OUTLAST_READ_DATABASE_URL');
  return new OutlastError(kind, code, sentence, { cause: error.cause });
}

/** Does the work on the store that `open` gives, and closes it whatever happens. */
export const withStore = <T, Of>(
  open: Open<Of>,
  settings: Settings,
  work: (opened: Opened<Of>) => Promise<T>,
): Promise<T> =>
  closing(async (keep) => {
    const opened = await open(settings, openLog(settings.logLevel), keep);
    return ofStore(opened.store, work(opened));
  });

/** The same for whoever reads as outlast_reader, by what `open` opens on the store. */
export const withReader = <Of extends { close(): Promise<void> }>(
  settings: Settings,
  open: (options: { connectionString: DatabaseAddress; max: number; log: Log }) => Promise<Of>,
  work: (opened: Of) => Promise<void>,
): Promise<void> =>
  withStore(
    async (_, log, keep) => {
      const store = keep(await openStoreToRead(settings, log));
      const { connectionString } = store;
      const db = keep(await ofStore(store, open({ connectionString, max: 1, log })));
      return { store, db, log };
    },
    settings,
    ({ db }) => work(db),
  );

/**
 * Which projects a command is about: all in the archive, or the one it was told. Throws settings `unknown_project` for
 * one that nothing is archived for.
 */
export async function wantedProjects(
  db: Queryable,
  wanted: ProjectId | readonly ProjectId[] | undefined,
): Promise<ProjectId[]> {
  const known = await projectIds(db);
  if (wanted === undefined) return known;
  const projects = [...new Set([wanted].flat())];
  const other = projects.find((one) => !known.includes(one));
  if (other !== undefined) throw notArchived(other, known);
  return projects;
}

/** The one project of the archive, or which was told. Throws settings `unknown_project` or `which_project`. */
export function oneProject(known: readonly ProjectId[], wanted: ProjectId | undefined): ProjectId {
  const [only, ...others] = known;
  if (wanted !== undefined && known.includes(wanted)) return wanted;
  if (wanted !== undefined) throw notArchived(wanted, known);
  if (only === undefined) throw settingsError('unknown_project', nothingArchived);
  if (others.length === 0) return only;
  throw settingsError(
    'which_project',
    `Say which project with --project; there are: ${known.join(', ')}.`,
  );
}

/** What to say of a project for which nothing is archived, and what there is instead. */
const notArchived = (project: string, known: readonly string[]): Error =>
  settingsError(
    'unknown_project',
    `Nothing is archived for a project "${project}" here${known.length > 0 ? `, only for ${known.join(', ')}` : ''}.`,
  );

/** The projects of the settings, or the one it was told. Throws settings `unknown_project` for one they do not name. */
export function configuredProjects(
  { projects }: Settings,
  wanted: ProjectId | undefined,
): ProjectSettings[] {
  if (wanted === undefined) return projects;
  const one = projects.filter(({ id }) => id === wanted);
  if (one.length > 0) return one;
  throw settingsError(
    'unknown_project',
    `There is no project "${wanted}" in the settings, only ${projects.map(({ id }) => id).join(', ')}.`,
  );
}

type Closable = { close(): unknown };
export type Keep = <T extends Closable>(one: T) => T;

/** Does work, and closes all that it keeps, the newest first. */
export async function closing<T>(work: (keep: Keep) => Promise<T>): Promise<T> {
  const kept: Closable[] = [];
  try {
    return await work((one) => {
      kept.push(one);
      return one;
    });
  } finally {
    for (const one of kept.toReversed()) await one.close();
  }
}

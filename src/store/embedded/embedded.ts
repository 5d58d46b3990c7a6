// The door to the embedded Postgres: a real server, started by the first command that needs it, shared by
// all, stopped by the last one out. It handles no signals: who opened it closes it.
// Why it is safe: opening and closing happen under the home's lock (lock.ts), so nobody stops a server
// that another is just entering. A command's presence is a session in the maintenance database that holds a shared
// advisory lock, so it ends with the process; whoever gets that lock exclusively is alone.
import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { codeOf, fatal, isOutlastError, settingsError, transient } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { Client } from '../client.ts';
import { dropOldCopies, findPackage, prepareBinaries, type Binaries } from './binaries.ts';
import {
  addressOf,
  ensureCluster,
  passwordPath,
  restorePassword,
  user,
  workDatabase,
} from './cluster.ts';
import { noRoom, openHome, type Home } from './home.ts';
import { withHomeLock } from './lock.ts';
import { findRunning } from './postmaster.ts';
import { startServer, stopServer } from './server.ts';

export type EmbeddedOptions = {
  /** The folder asked for; made if it is not there. */
  dataDir: string;
  log: Log;
  /** Server settings that stand above ours, as in postgresql.conf. */
  settings?: Record<string, string>;
  /** Where root's data goes when the server's user cannot reach `dataDir`. */
  elsewhere?: string;
  /** The folder of the npm package with the programs, if not the one installed. */
  programs?: string;
};

export type Embedded = {
  /** Of the work database; the same for all commands. Carries the password: never log it (P10). */
  connectionString: string;
  /** Where the data really is. */
  dataDir: string;
  /**
   * Leaves, and stops the server if no other command uses it; open psql sessions do not count.
   * `stopped`: the server no longer runs. Close pools of your own first.
   */
  close(): Promise<{ stopped: boolean }>;
};

/** What its functions need, all under the home's lock. */
type Place = { home: Home; binaries: Binaries; settings: Record<string, string>; log: Log };

/**
 * Opens the embedded Postgres in `dataDir`, starting the server unless it runs.
 * Throws settings `embedded_data_dir_foreign`, `_forbidden`, `_version`, `_unreachable`,
 * `embedded_platform_unsupported`, `embedded_binaries_missing`, `embedded_no_account`, `embedded_path_unusable`,
 * `embedded_password_wrong`; fatal
 * `embedded_disk_full`, `embedded_start_failed`; transient `embedded_busy`, `embedded_start_slow`, `embedded_unstable`.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log, settings = {}, elsewhere = '/var/lib/outlast' } = options;
  const packaged = options.programs ?? (await findPackage());
  const home = await openHome(options.dataDir, elsewhere, log);
  const { place, first, connectionString } = await withHomeLock(home, log, async () => {
    const binaries = await prepareBinaries(home, packaged, log);
    await ensureCluster(home, binaries, log);
    const place: Place = { home, binaries, settings, log };
    const first = await enter(place);
    return { place, first, connectionString: await addressOf(home, first.port, workDatabase) };
  }).catch((error: unknown) => {
    throw isOutlastError(error) ? error : (noRoom(error, home.folder) ?? error);
  });
  const leave = stayPresent(place, first);
  let closed: Promise<{ stopped: boolean }> | undefined;
  return {
    connectionString,
    dataDir: home.folder,
    close: () => (closed ??= leave().then(() => withHomeLock(home, log, () => stopIfAlone(place)))),
  };
}

type Entered = { client: pg.Client; port: number };

const maxTries = 6;

/** Finds or starts the server, and takes the shared lock for as long as the session lasts. */
async function enter({ home, binaries, settings, log }: Place): Promise<Entered> {
  let isStarted = false;
  // Ends: maxTries.
  for (let attempt = 1; ; attempt++) {
    const running = await findRunning(home, log);
    if (running === null) {
      isStarted = true;
      await dropOldCopies(home, binaries);
      await restorePassword(home, binaries, log);
    }
    const { port } = running ?? (await startServer(home, binaries, settings, log));
    try {
      const client = await connectToMaintenance(home, port);
      await client.query('select pg_advisory_lock_shared($1)', [presenceLock]);
      const work = [workDatabase];
      const { rowCount } = await client.query('select from pg_database where datname = $1', work);
      if (rowCount === 0) await client.query(`create database ${workDatabase} owner ${user}`);
      return { client, port };
    } catch (error) {
      const isLast = attempt === maxTries || !isPassing(error);
      // Nobody else is in yet: under the home's lock none comes in but us.
      if (isStarted && isLast) await stopServer(home, binaries, log);
      if (!isPassing(error)) throw error;
      if (isLast) {
        throw transient(
          'embedded_unstable',
          `The embedded Postgres in ${home.folder} ended again and again. Look into its log folder.`,
          error,
        );
      }
      await sleep(50 * 2 ** attempt);
    }
  }
}

/** Stops the server unless another command is present. */
async function stopIfAlone({ home, binaries, log }: Place): Promise<{ stopped: boolean }> {
  // Ends: maxTries.
  for (let attempt = 1; ; attempt++) {
    const running = await findRunning(home, log);
    if (running === null) return { stopped: true };
    try {
      const client = await connectToMaintenance(home, running.port);
      const lock = 'select pg_try_advisory_lock($1) as alone';
      const { rows } = await client.query<{ alone: boolean }>(lock, [presenceLock]);
      await client.end().catch(() => undefined);
      const stopped = rows[0]?.alone === true && (await stopServer(home, binaries, log));
      if (stopped) log.debug({ dataDir: home.folder }, 'The embedded Postgres was stopped');
      return { stopped };
    } catch (error) {
      // It went down or crashed just now, by other means than ours.
      if (!isPassing(error) || attempt === maxTries) throw error;
    }
  }
}

/**
 * Watches the session that counts us. After a crash of the server, or after somebody ended the session, it enters again
 * until it succeeds. Nothing here throws or ends the process. What comes back ends the watch and the session.
 */
function stayPresent(place: Place, first: Entered): () => Promise<void> {
  const { home, log } = place;
  const ending = new AbortController();
  let current: pg.Client | null = null;
  let returning: Promise<void> = Promise.resolve();

  const watch = (client: pg.Client): void => {
    current = client;
    client.once('end', () => {
      current = null;
      if (!ending.signal.aborted) returning = comeBack();
    });
  };
  const comeBack = async (): Promise<void> => {
    log.warn({ dataDir: home.folder }, 'The embedded Postgres was interrupted');
    // Ends: when we are back, or when the command ends.
    for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, 30_000)) {
      await sleep(waitMs, undefined, { signal: ending.signal }).catch(() => undefined);
      if (ending.signal.aborted) return;
      try {
        const { client, port } = await withHomeLock(home, log, () => enter(place));
        watch(client);
        if (port !== first.port) {
          log.error(
            { was: first.port, port },
            'The embedded Postgres came back on another port: start this command again',
          );
        }
        return;
      } catch (error) {
        log.warn({ code: codeOf(error) }, 'The embedded Postgres is not back yet');
      }
    }
  };
  watch(first.client);
  return async () => {
    ending.abort();
    await returning;
    // Resolves when the server has ended the session, and so given up its lock.
    await current?.end().catch(() => undefined);
  };
}

// Not the work database: dropping that one must not depend on who is here.
const maintenanceDatabase = 'postgres';
const presenceLock = 7_317_902_432;

/** Connects to the server and checks that it is the home's; throws pg's errors as they are. */
async function connectToMaintenance(home: Home, port: number): Promise<pg.Client> {
  const client = new Client({
    connectionString: await addressOf(home, port, maintenanceDatabase),
    application_name: 'outlast presence',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // A broken connection is an event to watch for (see stayPresent), never the end of the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ folder: string }>(
      `select current_setting('data_directory') as folder`,
    );
    const served = await realpath(rows[0]?.folder ?? '').catch(() => '');
    if (served === home.pgdata) return client;
    throw fatal(
      'embedded_start_failed',
      `Another PostgreSQL than that of ${home.folder} answers on port ${port}. Stop it and try again.`,
    );
  } catch (error) {
    await client.end().catch(() => undefined);
    if (codeOf(error) !== '28P01') throw error;
    throw settingsError(
      'embedded_password_wrong',
      `The embedded Postgres refuses the password in ${passwordPath(home)}: the file was changed. Put it back, or remove it and stop the server (pg_ctl stop, or end its process): the next start makes a new one.`,
      error,
    );
  }
}

// Shutting down, crashed, starting up: somebody stopped the server by other means than ours.
const passingCodes = new Set(['57P01', '57P02', '57P03', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** Whether trying again may do, after looking again for the server. */
function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  // pg gives no code to a connection that was cut while it was being made.
  return !isOutlastError(error) && (code === undefined || passingCodes.has(code));
}

// The door to the embedded Postgres: a real server, started by the first command that needs it, shared by
// all, stopped by the last one out. It handles no signals: who opened it closes it.
// Why it is safe: opening and closing happen under the home's lock (lock.ts), so nobody stops a server
// that another is just entering; presence is a session's lock (presence.ts), so it ends with the process.
import { isOutlastError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { findPackage, prepareBinaries, type Binaries } from './binaries.ts';
import { ensureCluster } from './cluster.ts';
import { noRoom } from './failures.ts';
import { openHome, type Home } from './home.ts';
import { join } from './join.ts';
import { keepPresence, type Presence } from './keep-presence.ts';
import { withHomeLock } from './lock.ts';
import { addressOf, workDatabase } from './password.ts';
import { findRunning } from './postmaster.ts';
import { isPassing, nobodyIsPresent } from './presence.ts';
import { stopServer } from './server.ts';

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
  port: number;
  /** Where the data really is. */
  dataDir: string;
  /** True when the server ran already. */
  adopted: boolean;
  /** Where the programs were copied to, if they could not run where they are installed. */
  binariesCopiedTo?: string;
  /**
   * Leaves, and stops the server if no other command uses it; open psql sessions do not count.
   * `stopped`: the server no longer runs. Close pools of your own first.
   */
  close(): Promise<{ stopped: boolean }>;
};

const defaultElsewhere = '/var/lib/outlast';

/**
 * Opens the embedded Postgres in `dataDir`, starting the server unless it runs.
 * Throws settings `embedded_data_dir_foreign`, `_forbidden`, `_version`, `_unreachable`,
 * `embedded_platform_unsupported`, `embedded_binaries_missing`, `embedded_no_account`, `embedded_path_unusable`,
 * `embedded_password_wrong`; fatal
 * `embedded_disk_full`, `embedded_start_failed`; transient `embedded_busy`, `embedded_start_slow`, `embedded_unstable`.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log, settings = {} } = options;
  const packaged = options.programs ?? (await findPackage());
  const home = await openHome(options.dataDir, options.elsewhere ?? defaultElsewhere, log);
  const opened = await withHomeLock(home, log, async () => {
    const binaries = await prepareBinaries(home, packaged, log);
    await ensureCluster(home, binaries, log);
    const joined = await join(home, binaries, settings, log);
    return { binaries, joined, connectionString: await addressOf(home, joined.port, workDatabase) };
  }).catch((error: unknown) => {
    throw isOutlastError(error) ? error : (noRoom(error, home.folder) ?? error);
  });
  const { binaries, joined, connectionString } = opened;
  const { port, adopted } = joined;
  const presence = keepPresence(home, joined, log, () =>
    withHomeLock(home, log, () => join(home, binaries, settings, log)),
  );
  let closed: Promise<{ stopped: boolean }> | undefined;
  return {
    connectionString,
    port,
    dataDir: home.folder,
    adopted,
    ...(binaries.copiedTo === undefined ? {} : { binariesCopiedTo: binaries.copiedTo }),
    close: () => (closed ??= leave(home, binaries, presence, log)),
  };
}

async function leave(
  home: Home,
  binaries: Binaries,
  presence: Presence,
  log: Log,
): Promise<{ stopped: boolean }> {
  await presence.end();
  return withHomeLock(home, log, async () => {
    // Ends: maxLooks.
    for (let look = 1; ; look++) {
      const running = await findRunning(home, log);
      if (running === null) return { stopped: true };
      try {
        if (!(await nobodyIsPresent(home, running.port))) return { stopped: false };
      } catch (error) {
        // It went down or crashed just now, by other means than ours.
        if (!isPassing(error) || look === maxLooks) throw error;
        continue;
      }
      const stopped = await stopServer(home, binaries, log);
      if (stopped) log.debug({ dataDir: home.folder }, 'The embedded Postgres was stopped');
      return { stopped };
    }
  });
}

const maxLooks = 4;

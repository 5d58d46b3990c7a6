// The door to the embedded Postgres: a real server, started by the first command that needs it, shared by
// all, stopped by the last one out. It handles no signals: who opened it closes it.
// Why it is safe: opening and closing happen under the folder's lock (lock.ts), so nobody stops a server that another is
// just entering. Each command has a seat of its own as long as its process lives; whoever finds all of them free is alone.
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, fatal, isOutlastError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import {
  addressOf,
  ensureCluster,
  findRunning,
  isAlive,
  startServer,
  stopServer,
  type Running,
} from './embedded-server.ts';
import { noRoom, openHome } from './home.ts';
import { isAlone, takeSeat, withLock } from './lock.ts';
import { findPackage, preparePrograms, reasonOf } from './programs.ts';

type EmbeddedOptions = {
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

/**
 * Opens the embedded Postgres in `dataDir`, starting the server unless it runs.
 * Throws settings `embedded_data_dir_foreign`, `_forbidden`, `_version`, `_unreachable`,
 * `embedded_platform_unsupported`, `embedded_binaries_missing`, `embedded_no_account`, `embedded_password_missing`; fatal
 * `embedded_disk_full`, `embedded_start_failed`; transient `embedded_busy`, `embedded_start_slow`.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log, settings = {}, elsewhere = '/var/lib/outlast' } = options;
  const packaged = options.programs ?? (await findPackage());
  const home = await openHome(options.dataDir, elsewhere, log);
  const { folder } = home;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
    withLock(folder, log, work).catch((error: unknown) => {
      if (isOutlastError(error)) throw error;
      const told = `The embedded Postgres in ${folder} could not be made or started: ${reasonOf(error)}`;
      throw noRoom(error, folder) ?? fatal('embedded_start_failed', told);
    });
  const { programs, run, first, addressAt, leaveSeat } = await inTurn(async () => {
    const programs = await preparePrograms(home, packaged, log);
    await ensureCluster(home, programs, log);
    const addressAt = await addressOf(home);
    const run = async (): Promise<Running> =>
      (await findRunning(home, log)) ?? startServer(home, programs, settings, log);
    const first = await run();
    return { programs, run, first, addressAt, leaveSeat: await takeSeat(folder) };
  });
  const endWatch = keepRunning(first, () => inTurn(run), log);
  const close = async (): Promise<{ stopped: boolean }> => {
    await endWatch();
    await leaveSeat();
    return inTurn(async () => {
      if ((await findRunning(home, log)) === null) return { stopped: true };
      return { stopped: (await isAlone(folder)) && (await stopServer(home, programs, log)) };
    });
  };
  let closed: ReturnType<typeof close> | undefined;
  return {
    connectionString: addressAt(first.port),
    dataDir: folder,
    close: () => (closed ??= close()),
  };
}

/**
 * Starts the server again when it has crashed or was ended by others. Nothing here throws, or keeps the process alive.
 * What comes back ends it.
 */
function keepRunning(first: Running, run: () => Promise<Running>, log: Log): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const watch = async (): Promise<void> => {
    let { pid } = first;
    // Ends: with the command.
    for (let waitMs = 500; ;) {
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      if (isAlive(pid)) continue;
      log.warn('The embedded Postgres was interrupted');
      try {
        const again = await run();
        ({ pid } = again);
        waitMs = 500;
        if (again.port === first.port) continue;
        const told = 'The embedded Postgres came back on another port: start this command again';
        log.error({ was: first.port, port: again.port }, told);
      } catch (error) {
        waitMs = Math.min(2 * waitMs, 30_000);
        log.warn({ code: codeOf(error) }, 'The embedded Postgres is not back yet');
      }
    }
  };
  const watching = watch();
  return () => {
    ending.abort();
    return watching;
  };
}

// The door to the embedded Postgres: a real server, started by the first command that needs it, shared by
// all, stopped by the last one out. It handles no signals: who opened it closes it.
// Why it is safe: opening and closing happen under the folder's lock (lock.ts), so nobody stops a server that another is
// just entering. Each command has a seat of its own as long as its process lives; whoever finds all of them free is alone.
import { codeOf, fatal, isOutlastError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import {
  addressOf,
  findRunning,
  startServer,
  stopServer,
  type Running,
} from './embedded-server.ts';
import { noRoom, openHome } from './home.ts';
import { isAlone, takeSeat, withLock } from './lock.ts';
import { findPackage, reasonOf } from './programs.ts';

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
 * Opens the embedded Postgres in `dataDir`, starting the server unless it runs, and again whenever it has crashed.
 * Throws what `openHome` and `findPackage` throw; settings `embedded_data_dir_version`; fatal `embedded_disk_full`,
 * `embedded_start_failed`; transient `embedded_busy`.
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
  const run = async (): Promise<Running> =>
    (await findRunning(home, log)) ?? startServer(home, packaged, settings, log);
  const { port, connectionString, leaveSeat } = await inTurn(async () => {
    const { port } = await run();
    const connectionString = await addressOf(home, port);
    return { port, connectionString, leaveSeat: await takeSeat(folder, log) };
  });
  // What lasts, such as a full disk, is not said every three seconds.
  let restsUntil = 0;
  const rest = (): void => void (restsUntil = performance.now() + 30_000);
  const isBack = (running: Running): void => {
    if (running.port === port) return;
    const told = 'The embedded Postgres came back on another port: start this command again';
    log.error({ was: port, port: running.port }, told);
    rest();
  };
  const notBack = (error: unknown): void => {
    log.warn({ code: codeOf(error) }, 'The embedded Postgres is not back yet');
    rest();
  };
  let look: Promise<void> | undefined;
  const watch = setInterval(() => {
    if (performance.now() < restsUntil) return;
    look ??= inTurn(run)
      .then(isBack, notBack)
      .finally(() => (look = undefined));
  }, 3_000).unref();
  const close = async (): Promise<{ stopped: boolean }> => {
    clearInterval(watch);
    // Before the look ends, which may wait for the lock of one who waits for a seat.
    await leaveSeat();
    await look;
    return inTurn(async () => {
      const running = await findRunning(home, log);
      if (running === null) return { stopped: true };
      if (!(await isAlone(folder))) return { stopped: false };
      await stopServer(home, running, log);
      return { stopped: true };
    });
  };
  let closed: ReturnType<typeof close> | undefined;
  return { connectionString, dataDir: folder, close: () => (closed ??= close()) };
}

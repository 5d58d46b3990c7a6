// The door to the embedded Postgres: a real server, started by the first command that needs it, shared by
// all, stopped by the last one out. It handles no signals: who opened it closes it.
// Why it is safe: opening and closing happen under the folder's lock (lock.ts), so nobody stops a server that another is
// just entering. Each command has a seat of its own as long as its process lives; whoever finds all of them free is alone.
import { causeChain, fatal } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { addressOf, findRunning, startServer, stopServer } from './embedded-server.ts';
import { inWords, openHome } from './home.ts';
import { isAlone, takeSeat, withLock } from './lock.ts';
import { findPackage } from './programs.ts';

type EmbeddedOptions = {
  /** The folder asked for; made if it is not there. */
  dataDir: string;
  log: Log;
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
 * Throws what `openHome`, `findPackage` and `inWords` throw, and transient `embedded_busy`.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, log, elsewhere = '/var/lib/outlast' } = options;
  const packaged = options.programs ?? (await findPackage());
  const home = await openHome(dataDir, elsewhere, log);
  const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
    inWords(home.folder, () => withLock(home, work));
  const run = async (): Promise<number> => (await findRunning(home)) ?? startServer(home, packaged);
  const [port, connectionString, leaveSeat] = await inTurn(async () => {
    const port = await run();
    return [port, await addressOf(home, port), await takeSeat(home)] as const;
  });
  const comeBack = async (): Promise<void> => {
    if ((await run()) === port) return;
    throw fatal('embedded_moved', 'It came back on another port: start this command again');
  };
  let restsUntil = 0;
  let look: Promise<void> | undefined;
  const watch = setInterval(() => {
    if (performance.now() < restsUntil) return;
    look ??= inTurn(comeBack)
      .catch((error: unknown) => {
        log.error({ error: causeChain(error) }, 'This command is without its embedded Postgres');
        // What lasts, such as a full disk, is not said every three seconds.
        restsUntil = performance.now() + 30_000;
      })
      .finally(() => (look = undefined));
  }, 3_000).unref();
  return {
    connectionString,
    dataDir: home.folder,
    close: async () => {
      clearInterval(watch);
      // Before the look ends, which may wait for the lock of one who waits for a seat.
      await leaveSeat();
      await look;
      return inTurn(async () => {
        if (!(await isAlone(home))) return { stopped: (await findRunning(home)) === null };
        await stopServer(home);
        return { stopped: true };
      });
    },
  };
}

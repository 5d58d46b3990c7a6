// Getting in: finds the server or starts it, and enters. Under the home's lock only.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { transient } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { dropOldCopies, type Binaries } from './binaries.ts';
import type { Home } from './home.ts';
import { restorePassword } from './password.ts';
import { findRunning } from './postmaster.ts';
import { connectToMaintenance, enterPresence, isPassing } from './presence.ts';
import { startServer, stopServer } from './server.ts';

export type Joined = { client: pg.Client; port: number; adopted: boolean };

const maxJoins = 6;

/** Finds or starts the server and enters it. Under the home's lock. */
export async function join(
  home: Home,
  binaries: Binaries,
  settings: Record<string, string>,
  log: Log,
): Promise<Joined> {
  let isStarted = false;
  // Ends: maxJoins.
  for (let attempt = 1; ; attempt++) {
    const running = await findRunning(home, log);
    if (running === null) {
      await dropOldCopies(home, binaries);
      await restorePassword(home, binaries, log);
    }
    isStarted ||= running === null;
    const { port } = running ?? (await startServer(home, binaries, settings, log));
    try {
      const client = await connectToMaintenance(home, port);
      await enterPresence(client);
      log.debug(
        { port, dataDir: home.folder, adopted: running !== null },
        'The embedded Postgres is ready',
      );
      return { client, port, adopted: running !== null };
    } catch (error) {
      // Nobody else is in yet: under the home's lock none comes in but us.
      if (isStarted && (attempt === maxJoins || !isPassing(error))) {
        await stopServer(home, binaries, log);
      }
      if (!isPassing(error)) throw error;
      if (attempt === maxJoins) {
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

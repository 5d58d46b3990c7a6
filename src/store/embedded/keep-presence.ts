// Stays present: watches the session that counts us, and enters again when it breaks.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { codeOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Home } from './home.ts';
import type { Joined } from './join.ts';

export type Presence = {
  /** Ends the watch and the session. */
  end(): Promise<void>;
};

/**
 * `rejoin` is called after a crash of the server, or after somebody ended our session, until it succeeds
 * or `end` is called. Nothing here throws or ends the process.
 */
export function keepPresence(
  home: Home,
  first: Joined,
  log: Log,
  rejoin: () => Promise<Joined>,
): Presence {
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
        const { client, port } = await rejoin();
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
  return {
    end: async () => {
      ending.abort();
      await returning;
      // Resolves when the server has ended the session, and so given up its lock.
      await current?.end().catch(() => undefined);
    },
  };
}

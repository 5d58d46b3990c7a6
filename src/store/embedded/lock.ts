// Who uses a folder: the lock of whoever starts or stops its server, and a seat for each command. The kernel holds them,
// so that they end with their holder, SIGKILL included: there is no pid to be recycled and no stale file to judge. Linux:
// an abstract socket's name; Windows: a named pipe's; macOS: an exclusive open of a file.
import { once } from 'node:events';
import { constants, open, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, transient } from '../../errors.ts';
import type { Home } from './home.ts';

type Release = () => Promise<void>;

/** Runs `work` while no other process holds the home's lock. Throws as `waitFor`. */
export async function withLock<T>(home: Home, work: () => Promise<T>): Promise<T> {
  const release = await waitFor(home, () => tryAcquire(home, 'lock'));
  try {
    return await work();
  } finally {
    await release();
  }
}

/**
 * Looks until there is something, null included. Throws transient `embedded_busy` after 15 minutes: a server that recovers from a crash
 * replays at most a few GB of WAL, which takes minutes on a poor disk.
 */
export async function waitFor<T>(
  { folder, log }: Home,
  look: () => Promise<T | undefined>,
): Promise<T> {
  for (let waitedMs = 0; waitedMs < 15 * 60_000; waitedMs += 25) {
    const found = await look();
    if (found !== undefined) return found;
    if (waitedMs === 5_000) {
      log.info({ dataDir: folder }, 'Waiting for the embedded Postgres, which starts or stops');
    }
    await sleep(25);
  }
  throw transient(
    'embedded_busy',
    `The embedded Postgres in ${folder} has been starting, stopping or in use by ${seats.length} commands for 15 minutes. Look into its server.log, and try again.`,
  );
}

/** Commands at once at most. */
const seats = Array.from({ length: 64 }, (_, i) => `seat-${i}`);

/** Under the lock, as is `isAlone`, which tries every seat. Gives what frees it. Throws as `waitFor`. */
export function takeSeat(home: Home): Promise<Release> {
  return waitFor(home, async () => {
    let leave: Release | undefined;
    for (const seat of seats) leave ??= await tryAcquire(home, seat);
    return leave;
  });
}

/** Whether no command has a seat. */
export async function isAlone(home: Home): Promise<boolean> {
  const taken = await Promise.all(seats.map((seat) => tryAcquire(home, seat)));
  for (const leave of taken) await leave?.();
  return !taken.includes(undefined);
}

/** Undefined when someone else holds the lock of this name. */
async function tryAcquire({ folder }: Home, name: string): Promise<Release | undefined> {
  try {
    if (process.platform === 'darwin') {
      const { O_CREAT, O_RDWR, O_NONBLOCK } = constants;
      // From macOS' <sys/fcntl.h>: takes an exclusive lock in the same step as the open. Node passes it through.
      const openExclusively = 0x20;
      const flags = O_CREAT | O_RDWR | O_NONBLOCK | openExclusively;
      const file = await open(join(folder, name), flags, 0o600);
      return () => file.close();
    }
    // The same by whatever path it is reached.
    const { dev, ino } = await stat(folder, { bigint: true });
    const ours = `outlast-embedded-${dev}-${ino}-${name}`;
    const path = process.platform === 'win32' ? `\\\\.\\pipe\\${ours}` : `\0${ours}`;
    const holder = createServer((socket) => socket.destroy()).unref();
    // `exclusive`: a cluster worker must not share the name with its siblings.
    await once(holder.listen({ path, exclusive: true }), 'listening');
    return () => new Promise((done) => holder.close(() => done()));
  } catch (error) {
    if (['EADDRINUSE', 'EAGAIN', 'EWOULDBLOCK'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

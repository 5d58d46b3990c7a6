// The lock of one data home: whoever starts or stops its server, or makes its folder, holds it, so that
// commands begun and ended at once take turns. It knows nothing of Postgres.
//
// The kernel holds it, so that it ends with its holder, SIGKILL included: there is no pid to be recycled
// and no stale file to judge. Linux: an abstract socket's name; Windows: a named pipe's; macOS: an
// exclusive open of a file. Names come from the home's random id, which only its owner can read.
import { closeSync, constants, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, transient, type OutlastError } from '../../errors.ts';
import type { Log } from '../../log.ts';

type Release = () => Promise<void>;

// From macOS' <sys/fcntl.h>: take an exclusive lock in the same step as the open. Node passes it through.
const openExclusively = 0x20;

/** Runs `work` while no other process holds the home's lock. Throws transient `embedded_busy` after 15 minutes. */
export async function withHomeLock<T>(
  home: { id: string; folder: string },
  log: Log,
  work: () => Promise<T>,
): Promise<T> {
  const release = await waitFor(() => tryAcquire(home), log, {
    message: 'Waiting for another command that starts or stops the embedded Postgres',
    // Longer than the longest start, which may have to recover from a crash (see findRunning).
    minutes: 15,
    error: transient(
      'embedded_busy',
      `Another Outlast command has been starting or stopping the embedded Postgres in ${home.folder} for 15 minutes. End it and try again.`,
    ),
  });
  try {
    return await work();
  } finally {
    await release();
  }
}

/** Looks until there is something. After 5 s it logs `message`, after these minutes it throws `error`. */
export async function waitFor<T>(
  look: () => Promise<T | null>,
  log: Log,
  { message, minutes, error }: { message: string; minutes: number; error: OutlastError },
): Promise<T> {
  const began = performance.now();
  let isTold = false;
  // Ends: with what is found, or after these minutes.
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    const waitedMs = performance.now() - began;
    if (waitedMs > minutes * 60_000) throw error;
    if (waitedMs > 5_000 && !isTold) {
      isTold = true;
      log.info(message);
    }
    await sleep(30);
  }
}

/** Null when someone else holds it. */
export function tryAcquire(home: { id: string; folder: string }): Promise<Release | null> {
  if (process.platform === 'linux') return holdName(`\0outlast-embedded-${home.id}`);
  if (process.platform === 'win32') return holdName(`\\\\.\\pipe\\outlast-embedded-${home.id}`);
  return Promise.resolve(holdFile(join(home.folder, 'lock')));
}

function holdName(name: string): Promise<Release | null> {
  return new Promise((resolve, reject) => {
    const holder = createServer((socket) => socket.destroy());
    holder.once('error', (error) => {
      if (codeOf(error) === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    const release: Release = () => new Promise((done) => holder.close(() => done()));
    // `exclusive`: a cluster worker must not share the name with its siblings.
    holder.listen({ path: name, exclusive: true }, () => resolve(release));
  });
}

function holdFile(path: string): Release | null {
  const { O_CREAT, O_RDWR, O_NONBLOCK } = constants;
  try {
    const file = openSync(path, O_CREAT | O_RDWR | O_NONBLOCK | openExclusively, 0o600);
    return async () => closeSync(file);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EAGAIN' || code === 'EWOULDBLOCK') return null;
    throw error;
  }
}

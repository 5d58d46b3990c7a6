// The torture's own Postgres server: the embedded one, which comes back by itself, on a disk that can be filled up. It
// knows nothing of Outlast's tables.
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../src/errors.ts';
import { silentLog } from '../../src/log.ts';
import { queryAt } from '../support/client.ts';
import { openWithSettings, serverPid } from '../support/embedded.ts';

export type Cluster = Awaited<ReturnType<typeof createCluster>>;

const readyWithinMs = 60_000;

export async function createCluster() {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-torture-'));
  // As root the server runs as another user, who must be able to pass through.
  await chmod(folder, 0o755);
  const mounted = join(folder, 'disk');
  await mkdir(mounted);
  const disk = mountSmallDisk(mounted);
  const unmount = (): void => {
    if (typeof disk !== 'string') execFileSync('umount', ['-l', mounted], { stdio: 'ignore' });
  };
  const server = await openWithSettings(
    {
      dataDir: join(mounted, 'home'),
      elsewhere: join(folder, 'elsewhere'),
      log: silentLog(),
    },
    // The disk is small, and a recovery should take no longer than a moment.
    { max_wal_size: '64MB', min_wal_size: '32MB', checkpoint_timeout: '30s' },
  ).catch((error: unknown) => {
    unmount();
    throw error;
  });
  const signal = (name: NodeJS.Signals): void => {
    const pid = serverPid(server.dataDir);
    try {
      if (pid !== null && pid > 0) process.kill(pid, name);
    } catch (error) {
      // It was down already.
      if (codeOf(error) !== 'ESRCH') throw error;
    }
  };
  // Whatever ends the run, an uncaught error included.
  const endNow = (): void => {
    signal('SIGQUIT');
    unmount();
  };
  process.once('exit', endNow);
  /** Of a database, past the wires. It carries the password: never log it (P10). */
  const address = (database: string): string =>
    Object.assign(new URL(server.connectionString), { pathname: `/${database}` }).href;
  return {
    /** Everything it wrote, its logs included. */
    folder,
    address,
    /** To the server's first process: SIGINT stops it, SIGQUIT at once, SIGKILL kills it. */
    signal,
    isUp: () => takesConnections(address('postgres')),
    /** In words why there is none, where a disk of its own cannot be had. */
    disk,
    /** Removes everything, unless a finding is to be looked at. */
    close: async (keep: boolean): Promise<void> => {
      await server.close();
      process.off('exit', endNow);
      if (keep) return;
      unmount();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function takesConnections(connectionString: string): Promise<void> {
  const began = performance.now();
  // Ends: up, or after a time that no recovery of so little takes.
  for (;;) {
    try {
      await queryAt({ connectionString, connectionTimeoutMillis: 5_000 }, 'select');
      return;
    } catch (error) {
      if (performance.now() - began > readyWithinMs) throw error;
      await sleep(100);
    }
  }
}

/** Room for a new cluster, a copy of the programs, and some WAL. */
const sizeMb = 400;
const pieceBytes = 1024 * 1024;

/** Mounts a tmpfs on an existing folder; in words why there is none, where that cannot be done. */
function mountSmallDisk(folder: string) {
  if (process.platform !== 'linux') return 'only Linux has a tmpfs';
  if (process.getuid?.() !== 0) return 'only root may mount a tmpfs';
  const options = `size=${sizeMb}m,mode=755`;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    return `a tmpfs cannot be mounted here (${String(error).trim()})`;
  }
  const filler = join(folder, 'filler');
  return {
    /** Takes all room but so many bytes. Returns how many it took. */
    fill: (leaveBytes: number) => fillUp(folder, filler, leaveBytes),
    free: () => rm(filler, { force: true }),
  };
}

async function fillUp(folder: string, filler: string, leaveBytes: number): Promise<number> {
  const file = await open(filler, 'a');
  const zeros = Buffer.alloc(pieceBytes);
  let taken = 0;
  try {
    // Ends: every turn takes room, of which there is an end; and what the server frees meanwhile counts once.
    for (let i = 0; i < 2 * sizeMb; i++) {
      const { bavail, bsize } = await statfs(folder);
      const take = Math.min(pieceBytes, bavail * bsize - leaveBytes);
      if (take <= 0) break;
      taken += (await file.write(zeros, 0, take)).bytesWritten;
    }
  } catch (error) {
    // Full before its time: the server wrote as well.
    if (codeOf(error) !== 'ENOSPC') throw error;
  } finally {
    await file.close();
  }
  return taken;
}

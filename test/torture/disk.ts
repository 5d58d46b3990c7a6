// A small disk that can be filled up and freed: a tmpfs that root mounts for the server's data. Others have none, and
// the run says so. It knows nothing of Postgres.
import { execFile, execFileSync } from 'node:child_process';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../../src/errors.ts';

const exec = promisify(execFile);

export type SmallDisk = {
  /** Takes all room but so many bytes. Returns how many it took. */
  fill(leaveBytes: number): Promise<number>;
  free(): Promise<void>;
  unmount(): Promise<void>;
  /** It stays as it is when the run is over, for somebody to look at. */
  keep(): void;
};

/** Room for a new cluster, a copy of the programs, and some WAL. */
const sizeMb = 400;
const pieceBytes = 1024 * 1024;

/** Mounts it on an existing folder; in words why there is none, where that cannot be done. */
export async function mountSmallDisk(folder: string): Promise<SmallDisk | string> {
  if (process.platform !== 'linux') return 'only Linux has a tmpfs';
  if (process.getuid?.() !== 0) return 'only root may mount a tmpfs';
  try {
    await exec('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=755`, 'tmpfs', folder]);
  } catch (error) {
    return `a tmpfs cannot be mounted here (${String((error as { stderr?: string }).stderr).trim()})`;
  }
  const unmountNow = (): void => {
    execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
  };
  // Whatever ends the run, an uncaught error included.
  process.once('exit', unmountNow);
  const filler = join(folder, 'filler');
  return {
    fill: (leaveBytes) => fillUp(folder, filler, leaveBytes),
    free: () => rm(filler, { force: true }),
    keep: () => void process.off('exit', unmountNow),
    unmount: async () => {
      process.off('exit', unmountNow);
      await exec('umount', ['-l', folder]);
    },
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

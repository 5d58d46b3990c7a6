// Small acts on files that more than one part of the embedded Postgres needs.
import { chmod, mkdir, open, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../errors.ts';
import { giveTo, type Account } from './account.ts';

/** A file's text, or null where there is none. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The whole file or the old one, never half; only for its owner's eyes. */
export async function writeWhole(account: Account, path: string, text: string): Promise<void> {
  if ((await readIfThere(path)) === text) return;
  const draft = `${path}.draft`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await chmod(draft, 0o600);
  await giveTo(account, draft);
  await rename(draft, path);
}

/**
 * Makes a folder and those above it. Node's own way does not end where a folder is there and none can be made in it, as
 * below /proc (seen on Node 20 and 24).
 */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  const make = (): Promise<unknown> => mkdir(folder, mode === undefined ? {} : { mode });
  try {
    await make();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return;
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await make().catch((again: unknown) => {
      // A rival may have been faster.
      if (codeOf(again) !== 'EEXIST') throw again;
    });
  }
}

/** Makes a rename in a folder last through a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

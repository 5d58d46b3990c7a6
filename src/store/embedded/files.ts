// Small acts on files that more than one part of the embedded Postgres needs.
import { chmod, open, readFile, rename, stat, writeFile } from 'node:fs/promises';
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

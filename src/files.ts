// Files as more than one part of the house needs them: read where there are some, written whole or not at all, and on
// the disk when it is said that they are.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, fsync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { codeOf, settingsError } from './errors.ts';

/** What reading comes to; null where there is no such file or folder. Throws what else the disk says. */
export function ifThere<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
}

/** Throws where a pipe stands in the place of a file: opening it waits for somebody else, and its end may never come. */
export async function refusePipe(path: string): Promise<void> {
  if ((await stat(path)).isFIFO()) throw new Error('it is a pipe');
}

/** The text of a file; null where there is none. */
export const textOfFile = (path: string): Promise<string | null> =>
  ifThere(refusePipe(path).then(() => readFile(path, 'utf8')));

export const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** The path itself or, of those above it, the first that is there. */
export async function nearestFolder(path: string): Promise<string> {
  let there = resolve(path);
  // Ends: the root is there.
  while (!(await exists(there))) there = dirname(there);
  return there;
}

/** Length in bytes and SHA-256 in lower-case hex; null where there is none. Throws for a pipe, whose end may never come. */
export function digestOfFile(path: string): Promise<{ bytes: number; sha256: string } | null> {
  const read = async (): Promise<{ bytes: number; sha256: string }> => {
    if (!(await stat(path)).isFile()) throw new Error('it is no file');
    const hash = createHash('sha256');
    await pipeline(createReadStream(path), hash);
    return { bytes: (await stat(path)).size, sha256: hash.digest('hex') };
  };
  return ifThere(read());
}

/**
 * Makes a file under another name, syncs it to the disk and gives it its own: after a crash it is whole, or the old
 * one.
 * `fill` returns false to have it thrown away.
 */
export async function writeWhole(
  path: string,
  fill: (write: (text: string) => Promise<void>) => Promise<boolean>,
): Promise<boolean> {
  await makeFolder(dirname(path));
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(draft, 'w', 0o644);
    let isWanted: boolean;
    try {
      isWanted = await fill((text) => file.writeFile(text));
      if (isWanted) await syncHandle(file);
    } finally {
      await file.close();
    }
    if (!isWanted) return false;
    await rename(draft, path);
    await syncFolder(dirname(path));
    return true;
  } finally {
    await rm(draft, { force: true });
  }
}

/** What was written reaches the disk. The handle's own `sync` is not there under Yarn's Plug'n'Play. */
export const syncHandle = ({ fd }: FileHandle): Promise<void> => promisify(fsync)(fd);

/** As `syncHandle`, of a file by its name. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await syncHandle(handle);
  } finally {
    await handle.close();
  }
}

/** New names in a folder reach the disk; where folders cannot be opened (Windows) the system sees to it. */
export async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, 'r');
    await syncHandle(handle);
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'].includes(codeOf(error) ?? ''))
      throw error;
  } finally {
    await handle?.close();
  }
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

/** A new folder among the system's temporary files; whoever asks removes it. Throws settings `no_scratch`. */
export function makeScratch(name: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `outlast-${name}-`)).catch((error: unknown) => {
    throw settingsError(
      'no_scratch',
      `Nothing can be written to ${tmpdir()} (${codeOf(error)}), the folder for temporary files: make it writable, or name another in TMPDIR. A container whose own files are read-only needs a volume there.`,
      error,
    );
  });
}

/** Writes a file into a folder, made if need be, and removes all that it made. Throws what the disk says. */
export async function tryFolder(folder: string): Promise<void> {
  const made: string[] = [];
  const file = join(folder, `.${randomUUID()}.tmp`);
  try {
    // Ends: whoever tries it at the same time removes the folder that it made, once.
    for (let tries = 1; ; tries++) {
      // Ends: the root is there.
      for (let at = resolve(folder); !(await exists(at)); at = dirname(at)) made.push(at);
      try {
        await makeFolder(resolve(folder));
        await writeFile(file, 'Outlast tries whether it can write here.\n', { flush: true });
        break;
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || tries === 10) throw error;
      }
    }
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
    for (const one of made) await rmdir(one).catch(() => undefined);
  }
}

/** Lines without their line feeds; only a line feed ends one, whatever else an id may hold. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

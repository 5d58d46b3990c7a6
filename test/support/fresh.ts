// What tests open for themselves, gone when they are over, however they end.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

type Closable = { close(): Promise<unknown> } | { drop(): Promise<void> };

const closed = (opened: Closable): Promise<unknown> =>
  'drop' in opened ? opened.drop() : opened.close();

export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });

/** An empty folder; whoever made it removes it. */
export async function makeFolder(name = 'outlast-test-'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), name));
  // Of root's servers some run as another user, who must be able to pass through.
  await chmod(folder, 0o755);
  return folder;
}

/** An empty folder of one test. */
export async function freshFolder(name?: string): Promise<string> {
  const folder = await makeFolder(name);
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** What is being opened for one test, closed or dropped in the end. */
export async function fresh<T extends Closable>(opening: Promise<T>): Promise<T> {
  const opened = await opening;
  onTestFinished(async () => void (await closed(opened)));
  return opened;
}

/** Gives what is being opened, and closes it in the end: as it says, or by closing or dropping it. */
export type Keep = {
  <T extends Closable>(opening: Promise<T>): Promise<T>;
  <T>(opening: Promise<T>, close: (opened: T) => Promise<unknown>): Promise<T>;
};

/**
 * Opens what the tests of a file share, or those of a `describe`. After the last of them all that was kept is closed, the
 * newest first, also where something could not be opened.
 */
export function setUp(open: (keep: Keep) => Promise<void>): void {
  const closings: (() => Promise<unknown>)[] = [];
  const keep: Keep = async <T>(
    opening: Promise<T>,
    close = closed as unknown as (opened: T) => Promise<unknown>,
  ): Promise<T> => {
    const opened = await opening;
    closings.push(() => close(opened));
    return opened;
  };
  beforeAll(() => open(keep));
  afterAll(async () => {
    for (const close of closings.toReversed()) await close();
  });
}

// What one test opens for itself, gone when the test is over, however it ends.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder. */
export async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What is being opened, closed or dropped in the end. */
export async function fresh<T extends { close(): Promise<void> } | { drop(): Promise<void> }>(
  opening: Promise<T>,
): Promise<T> {
  const opened = await opening;
  onTestFinished(() => ('drop' in opened ? opened.drop() : opened.close()));
  return opened;
}

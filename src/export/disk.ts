// What a disk refuses, as a sentence that says what to do (P12).
import { codeOf, settingsError, transient } from '../errors.ts';

const refusals = new Set(
  'EACCES EPERM EROFS ENOENT ENOTDIR EISDIR EEXIST ELOOP ENAMETOOLONG'.split(' '),
);

/**
 * Runs what writes to a folder. Throws transient `disk_full`, settings `folder_refused`, and everything else as it is.
 */
export async function onDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw transient(
        'disk_full',
        `There is no room left for ${folder}: make some and run it again. What is finished is kept.`,
        error,
      );
    }
    if (!refusals.has(code)) throw error;
    throw settingsError(
      'folder_refused',
      `${folder} cannot be written (${code}): check its rights, or name another folder.`,
      error,
    );
  }
}

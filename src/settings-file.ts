// Reads the small files that settings name, and never more than small ones: a device or a wrong path must not be read for ever.
import { closeSync, openSync, readSync } from 'node:fs';

const mostBytes = 4 * 1024 * 1024;

/** The text of a file of at most 4 MiB, a pipe included. Throws as `openSync` does, and EFBIG for a longer one. */
export function readSmallFile(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(mostBytes + 1);
    let length = 0;
    // Ends: with the file, or one byte after the limit.
    for (;;) {
      const got = readSync(file, bytes, length, bytes.length - length, null);
      length += got;
      if (length > mostBytes) {
        throw Object.assign(new Error('The file is longer than 4 MiB'), { code: 'EFBIG' });
      }
      if (got === 0) return bytes.toString('utf8', 0, length);
    }
  } finally {
    closeSync(file);
  }
}

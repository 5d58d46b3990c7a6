// What went wrong when the embedded Postgres could not be made or started, in one sentence for people.
import { codeOf, fatal, type OutlastError } from '../../errors.ts';

// A full disk, a full quota, a limit on file sizes: to a person the same thing.
const noRoomCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const noRoomText = /No space left on device|Disk quota exceeded|File too large/i;

/** The error to throw if `error`, or what a program printed, says that there is no room; else null. */
export function noRoom(error: unknown, folder: string): OutlastError | null {
  const { message, stderr } = (typeof error === 'object' ? error : null) as {
    message?: unknown;
    stderr?: unknown;
  };
  const text = `${String(message)} ${String(stderr)}`;
  if (!noRoomCodes.has(codeOf(error) ?? '') && !noRoomText.test(text)) return null;
  return fatal(
    'embedded_disk_full',
    `There is no room for the embedded Postgres in ${folder}. Free some disk space (a new archive takes about 50 MB, an old one what it holds), or set OUTLAST_DATA_DIR to another disk.`,
    // What a program printed is pages long; an error of the system is a line.
    codeOf(error) === undefined || /\n/.test(text) ? undefined : error,
  );
}

/** The lines of a program's output that say why it failed: the last few, problems first. */
export function telling(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const problems = lines.filter((line) => /\b(FATAL|PANIC|error|could not)\b/i.test(line));
  return (problems.length > 0 ? problems : lines).slice(-4).join(' | ');
}

// Heads of the journal leave the database: at the end of a run that wrote anything the newest one is appended to a file
// in a folder one names. A disk that refuses is told of and never fails a run.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { causeChain } from '../errors.ts';
import { ifThere, makeFolder, refusePipe, syncHandle } from '../files.ts';
import { createLogThrottle } from '../log.ts';
import type { ProjectId } from '../model.ts';
import { isHeadHeld, newestHead, type Head } from '../store/journal/heads.ts';
import type { Certifying, FileTrouble } from './certificate-copies.ts';

/** `headsDir`: where the file goes; absent or null: nowhere. */
type Publishing = Pick<Certifying, 'projectId' | 'db' | 'log'> & { headsDir?: string | null };

/** By file: the head that it is known to end with; and a folder that refuses does so at every run. */
const known = new Map<string, { head: string | null; isToTell: () => boolean }>();

/** Returns what keeps heads from their file, if anything does. Throws what the store throws. */
export async function publishHeads(publishing: Publishing): Promise<FileTrouble | null> {
  const { db, projectId, headsDir: folder = null, log } = publishing;
  if (folder === null) return null;
  const path = join(folder, headsName(projectId));
  const newest = await newestHead(db, projectId);
  const file = known.get(path) ?? { head: null, isToTell: createLogThrottle() };
  known.set(path, file);
  if (newest === null || file.head === newest.head) return null;
  file.head = null;
  const unwritten = (error: unknown): FileTrouble => {
    const fields = { projectId, path, error: causeChain(error) };
    log[file.isToTell() ? 'warn' : 'debug'](fields, cannotWrite);
    return { kind: 'files_unwritten', text: cannotWrite };
  };
  let last: Last;
  try {
    await makeFolder(folder);
    last = await lastLine(path);
  } catch (error) {
    return unwritten(error);
  }
  if (last.kept !== null && !(await isHeadHeld(db, projectId, last.kept))) {
    const { head } = last.kept;
    log[file.isToTell() ? 'error' : 'debug']({ projectId, path, head }, otherJournal);
    return { kind: 'archive_altered', text: otherJournal };
  }
  try {
    if (last.kept === null || last.kept.no < newest.no) await append(path, newest, last.isCut);
  } catch (error) {
    return unwritten(error);
  }
  file.head = newest.head;
  return null;
}

const cannotWrite = 'The head of the journal cannot be written to its file';
const otherJournal =
  'The last head in the project’s file of OUTLAST_HEADS_DIR is none of this archive: its journal was made anew, or is an older one, such as a backup that was restored. Nothing is added to the file until it is moved away; `outlast verify --heads` tells more';

/** Names of projects are safe as names of files. */
export const headsName = (projectId: ProjectId): string => `${projectId}.heads`;

/** `isCut`: the file ends in the middle of a line. */
type Last = { kept: Pick<Head, 'no' | 'head'> | null; isCut: boolean };

/** The heads in the lines of a file, or of anything that names one in each: the first 64 hex digits of a line count. */
export function headsIn(text: string): string[] {
  return text.split('\n').flatMap((one) => /\b[0-9a-f]{64}\b/i.exec(one)?.[0]?.toLowerCase() ?? []);
}

async function append(path: string, { no, at, head }: Head, isCut: boolean): Promise<void> {
  const file = await open(path, 'a', 0o644);
  try {
    await file.write(`${isCut ? '\n' : ''}${no}\t${at}\t${head}\n`);
    await syncHandle(file);
  } finally {
    await file.close();
  }
}

const tailLength = 4096;

/** The last whole line; one that was cut off in its middle counts as none. */
async function lastLine(path: string): Promise<Last> {
  const file = await ifThere(refusePipe(path).then(() => open(path, 'r')));
  if (file === null) return { kept: null, isCut: false };
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - tailLength);
    const { buffer } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const text = buffer.toString('utf8');
    const found = /(?:^|\n)(\d{1,15})\t[^\t\n]*\t([0-9a-f]{64})\n[^\n]*$/.exec(text);
    const kept = found === null ? null : { no: Number(found[1]), head: found[2] ?? '' };
    return { kept, isCut: text !== '' && !text.endsWith('\n') };
  } finally {
    await file.close();
  }
}

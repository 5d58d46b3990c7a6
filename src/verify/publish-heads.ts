// Heads of the journal leave the database: at the end of a run that wrote anything a head is made, and every head that
// is not there yet is appended to a file in a folder one names. A disk that refuses is told of and never fails a run.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { causeChain, codeOf } from '../errors.ts';
import { makeFolder } from '../files.ts';
import { createSeldom, type Log } from '../log.ts';
import type { ProjectId } from '../model.ts';
import { withTx, type Db } from '../store/db.ts';
import { headsFrom, makeHead, type Head } from '../store/journal/heads.ts';
import type { FileTrouble } from './certificate-files.ts';

export type Publishing = {
  projectId: ProjectId;
  db: Db;
  /** Where the file goes; absent or null: nowhere. */
  headsDir?: string | null;
  /** By what it is known again from one run to the next; absent: by itself. */
  memory?: object | undefined;
  log: Log;
};

/** By memory: whether what earlier processes owed the file was looked after. */
const caughtUp = new WeakSet<object>();

/** By memory: a folder that refuses does so at every run. */
const seldom = new WeakMap<object, () => boolean>();

function isToTell(memory: object): boolean {
  const one = seldom.get(memory) ?? createSeldom();
  seldom.set(memory, one);
  return one();
}

/** Returns what keeps heads from their file, if anything does. Throws what the store throws. */
export async function publishHeads(publishing: Publishing): Promise<FileTrouble | null> {
  const { db, projectId, headsDir: folder = null, memory = publishing, log } = publishing;
  const isNew = await withTx(db, (tx) => makeHead(tx, projectId));
  if (folder === null || (!isNew && caughtUp.has(memory))) return null;
  const path = join(folder, headsName(projectId));
  const untold = (error: unknown): FileTrouble => {
    caughtUp.delete(memory);
    log[isToTell(memory) ? 'warn' : 'debug'](
      { projectId, path, error: causeChain(error) },
      cannotWrite,
    );
    return { kind: 'files_unwritten', text: cannotWrite };
  };
  let last: KeptHead | null;
  let isCut: boolean;
  try {
    await makeFolder(folder);
    ({ kept: last, isCut } = await lastLine(path));
  } catch (error) {
    return untold(error);
  }
  // Ends: a page that is not full is the last.
  for (;;) {
    const heads = await headsFrom(db, projectId, last?.n ?? 1);
    const known = heads[0];
    if (last !== null && (known?.n !== last.n || known.head !== last.head)) {
      caughtUp.delete(memory);
      log[isToTell(memory) ? 'error' : 'debug']({ projectId, path, head: last.head }, otherJournal);
      return { kind: 'archive_altered', text: otherJournal };
    }
    const owed = last === null ? heads : heads.slice(1);
    try {
      await append(path, owed, isCut);
    } catch (error) {
      return untold(error);
    }
    last = owed.at(-1) ?? last;
    isCut = false;
    if (owed.length === 0 || heads.length < 1000) break;
  }
  caughtUp.add(memory);
  return null;
}

const cannotWrite = 'A head of the journal is in the database, but cannot be written to its file';
const otherJournal =
  'The last head in the file is none of this archive: its journal was made anew, or is an older one. Nothing is added to the file; `outlast verify --heads` tells more';

/** Names of projects are safe as names of files. */
export const headsName = (projectId: ProjectId): string => `${projectId}.heads`;

export type KeptHead = { n: number; head: string };

/** `isCut`: the file ends in the middle of a line. */
type Last = { kept: KeptHead | null; isCut: boolean };

const line = ({ n, at, head }: Head): string => `${n}\t${at}\t${head}\n`;

/** The heads in the lines of a file, or of anything that names one in each: the first 64 hex digits of a line count. */
export function headsIn(text: string): string[] {
  return text.split('\n').flatMap((one) => /\b[0-9a-f]{64}\b/i.exec(one)?.[0]?.toLowerCase() ?? []);
}

async function append(path: string, owed: Head[], isCut: boolean): Promise<void> {
  if (owed.length === 0) return;
  const file = await open(path, 'a', 0o644);
  try {
    await file.write((isCut ? '\n' : '') + owed.map(line).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
}

const tailLength = 4096;

/** The last whole line; one that was cut off in its middle counts as none. */
async function lastLine(path: string): Promise<Last> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return { kept: null, isCut: false };
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - tailLength);
    const { buffer } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const text = buffer.toString('utf8');
    const found = /(?:^|\n)(\d+)\t[^\t\n]*\t([0-9a-f]{64})\n[^\n]*$/.exec(text);
    const kept = found === null ? null : { n: Number(found[1]), head: found[2] ?? '' };
    return { kept, isCut: text !== '' && !text.endsWith('\n') };
  } finally {
    await file.close();
  }
}

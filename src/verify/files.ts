// The files beside the archive: a certificate and its leaves, for those who keep a copy where the archive's own rights do
// not reach. A file is whole or not there, and one that is there is never written over.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../errors.ts';
import type { Day, ProjectId } from '../model.ts';
import type { Issued } from '../store/certificates.ts';

export type FileKind = 'certificate.json' | 'leaves.txt';

/**
 * `default/orders-2026-03.certificate.json`, and `orders-2026-03.2.certificate.json` for one that replaces it: names of projects
 * are safe as names of folders.
 */
export const fileName = ({ resource, month, issue }: Issued, kind: FileKind): string =>
  `${resource}-${month.slice(0, 7)}.${issue > 1 ? `${issue}.` : ''}${kind}`;

const fileForm = /^(orders|nft_classes)-(\d{4}-\d\d)\.(?:(\d+)\.)?(certificate\.json|leaves\.txt)$/;

export type FoundFile = Issued & { kind: FileKind; name: string };

/** The certificates' files of a project; none where the folder is missing. Throws what the disk says. */
export async function filesOf(folder: string, projectId: ProjectId): Promise<FoundFile[]> {
  const names = (await ifThere(readdir(join(folder, projectId)))) ?? [];
  return names.toSorted().flatMap((name) => {
    const parts = fileForm.exec(name);
    if (parts === null) return [];
    const [, resource, month, issue = '1', kind] = parts as unknown as [
      string,
      Issued['resource'],
      Day,
      string | undefined,
      FileKind,
    ];
    return [{ resource, month: `${month}-01`, issue: Number(issue), kind, name }];
  });
}

/** The text of a file; null where there is none. */
export const textOf = (path: string): Promise<string | null> => ifThere(readFile(path, 'utf8'));

/** SHA-256 of a file, lower-case hex; null where there is none. */
export function digestOfFile(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  return ifThere(pipeline(createReadStream(path), hash).then(() => hash.digest('hex')));
}

function ifThere<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
}

/**
 * Makes a file under another name, syncs it to the disk and gives it its own: after a crash it is whole or not there.
 * `fill` returns false to have it thrown away.
 */
export async function writeWhole(
  path: string,
  fill: (write: (text: string) => Promise<void>) => Promise<boolean>,
): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(draft, 'wx', 0o644);
    let isWanted: boolean;
    try {
      isWanted = await fill((text) => file.writeFile(text));
      if (isWanted) await file.sync();
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

/** The new name itself reaches the disk; where folders cannot be opened (Windows) the system sees to it. */
async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, 'r');
    await handle.sync();
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'].includes(codeOf(error) ?? ''))
      throw error;
  } finally {
    await handle?.close();
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

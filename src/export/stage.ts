// Where an export grows before it takes the place of the one before: a folder inside the export's own. Until the new
// manifest lies there nothing outside it is touched; once it does, putting it in place can be repeated from anywhere
// (P3).
import { appendFile, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, settingsError, transient } from '../errors.ts';
import { digestOfFile, ifThere, makeFolder, writeWhole } from '../files.ts';
import { checkBelow, placeIn, readFound } from './existing-export.ts';
import {
  exportedFile,
  manifestText,
  sha256Of,
  sumsName,
  sumsText,
  type ExportedFile,
  type Manifest,
} from './manifest.ts';

export const stageName = '.unfinished';
const stagedManifest = `${stageName}/manifest.json`;

export type Stage = {
  /** The export that is in place; null: none yet. */
  before: Manifest | null;
  /** What a file is called in the export. */
  nameOf(path: string, contentSha256: string): string;
  /** Where a file is written first; `scratch`: what is needed in between. */
  stagedPath(path: string): string;
  scratch: string;
  /** A file as it was finished before, staged or in place, if it is still there unaltered and of this content. */
  find(path: string, contentSha256: string): Promise<ExportedFile | null>;
  /** A file is finished. */
  note(file: ExportedFile): Promise<void>;
  commit(manifest: Manifest): Promise<void>;
};

/**
 * Throws settings `not_an_export` for a folder with other things in it, and what `readFound` throws of what was found
 * there.
 */
export async function openStage(folder: string): Promise<Stage> {
  const staging = join(folder, stageName);
  await checkFolder(folder);
  // A manifest of something else, or that leads elsewhere, is told of before anything is made here.
  await checkBelow(folder, stageName);
  await readFound(folder, 'manifest.json');
  await readFound(folder, stagedManifest);
  await makeFolder(staging);
  // An export that was cut off while it was put in place: it is whole, so it goes there first.
  if ((await readFound(folder, stagedManifest)) !== null) await putInPlace(folder);
  const before = (await readFound(folder, 'manifest.json'))?.manifest ?? null;
  const scratch = join(staging, 'scratch');
  await rm(scratch, { recursive: true, force: true });
  await makeFolder(scratch);
  const journal = join(staging, 'journal.jsonl');
  const known = [...(before?.files ?? []), ...(await readJournal(journal))];
  const stagedPath = (path: string): string => join(staging, 'files', path);
  return {
    before,
    nameOf: (path) => path,
    stagedPath,
    scratch,
    find: async (path, contentSha256) => {
      const inPlace = await placeIn(folder, path);
      for (const file of known.toReversed()) {
        if (file.path !== path || file.content_sha256 !== contentSha256) continue;
        for (const place of [stagedPath(path), inPlace]) {
          const found = await digestOfFile(place);
          if (found?.sha256 === file.sha256 && found.bytes === file.bytes) return file;
        }
      }
      return null;
    },
    note: async (file) => {
      known.push(file);
      await appendFile(journal, `${JSON.stringify(file)}\n`);
    },
    commit: async (manifest) => {
      await writeText(join(staging, 'manifest.json'), manifestText(manifest));
      await putInPlace(folder);
    },
  };
}

/** Every step may have been done already. The manifest comes last: it says that all the others are. */
async function putInPlace(folder: string): Promise<void> {
  const staging = join(folder, stageName);
  const next = await readFound(folder, stagedManifest);
  if (next === null) return;
  const before = await readFound(folder, 'manifest.json');
  await placeIn(folder, sumsName);
  for (const { path } of next.manifest.files) {
    await makeFolder(dirname(join(folder, path)));
    // Where nothing is staged, the file in place is the one.
    await ifThere(rename(join(staging, 'files', path), join(folder, path)));
  }
  await writeText(join(folder, sumsName), sumsText(next.manifest.files, sha256Of(next.text)));
  await rename(join(staging, 'manifest.json'), join(folder, 'manifest.json'));
  const kept = new Set(next.manifest.files.map(({ path }) => path));
  for (const { path } of before?.manifest.files ?? []) {
    if (!kept.has(path)) await rm(join(folder, path), { force: true });
  }
  await rm(staging, { recursive: true, force: true });
}

const writeText = (path: string, text: string): Promise<boolean> =>
  writeWhole(path, async (write) => {
    await write(text);
    return true;
  });

/** Throws settings `not_an_export`. */
export async function checkFolder(folder: string): Promise<void> {
  const names = await ifThere(readdir(folder)).catch((error: unknown) => {
    const code = codeOf(error);
    const why = code === 'ENOTDIR' ? 'is no folder' : `cannot be read (${code ?? 'unknown'})`;
    throw settingsError('not_an_export', `${folder} ${why}: name a folder to export to.`, error);
  });
  if (names === null || names.length === 0) return;
  if (names.includes('manifest.json') || names.includes(stageName)) return;
  throw settingsError(
    'not_an_export',
    `${folder} holds other things and no export: name a new folder, an empty one, or that of an earlier export.`,
  );
}

/** A line that was cut off in its middle is no line yet, nor is one of another form. */
async function readJournal(path: string): Promise<ExportedFile[]> {
  const text = (await ifThere(readFile(path, 'utf8'))) ?? '';
  return text.split('\n').flatMap((line) => {
    try {
      return [exportedFile.parse(JSON.parse(line))];
    } catch {
      return [];
    }
  });
}

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

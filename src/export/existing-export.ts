// The door to an export that was found in a folder. Whoever wrote its manifest may have been somebody else: no path in
// it leads out of the folder, and nothing in the folder is followed out of it (P12). Nor may another archive's export,
// or an emptier one, take its place: it may be the only copy left.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, settingsError } from '../errors.ts';
import { ifThere } from '../files.ts';
import type { FileFormat } from '../model.ts';
import type { Tx } from '../store/db.ts';
import { isHeadHeld } from '../store/journal/heads.ts';
import { readManifest, type ExportedFile, type Manifest } from './manifest.ts';
import { contentPath, exportedTables, pathOf, type ExportPart } from './exported-tables.ts';

/** A file with the part it holds. */
export type FoundPart = { file: ExportedFile; part: ExportPart };

type FoundManifest = { manifest: Manifest; text: string; parts: FoundPart[] };

/**
 * The manifest at `path` in the folder; null where there is none. Throws settings `manifest_invalid` for one that is no
 * manifest, or names what no export holds, and settings `export_unsafe` as `placeIn` does, of each of its files as
 * well.
 */
export async function readFound(folder: string, path: string): Promise<FoundManifest | null> {
  const place = await placeIn(folder, path);
  const read = await readManifest(place);
  if (read === null) return null;
  const parts = partsIn(read.manifest, place);
  for (const { file } of parts) await placeIn(folder, file.path);
  return { ...read, parts };
}

/** The files of the manifest at `place`, each with what it holds. Throws settings `manifest_invalid`. */
export function partsIn(manifest: Manifest, place: string): FoundPart[] {
  return manifest.files.map((file) => {
    const part = partOf(manifest, file);
    if (part !== null) return { file, part };
    throw settingsError(
      'manifest_invalid',
      `${place} names ${JSON.stringify(file.path.slice(0, 200))}, which is no file of an export: it was altered. Nothing was touched.`,
    );
  });
}

/** What a file claims to hold must follow from its path, and the path from what we name: no path leads elsewhere. */
function partOf(
  { file_format: format, projects, columns }: Manifest,
  file: ExportedFile,
): ExportPart | null {
  const of = exportedTables.find(({ table }) => table === file.table);
  if (of === undefined || columns[of.name] === undefined) return null;
  if ((of.day === null) !== (file.month === null)) return null;
  const part = { of, project: file.project, month: file.month };
  const isKnown = projects.some(({ project }) => project === file.project);
  const path = pathOf(part, format);
  const isNamed = [path, contentPath(path, file.content_sha256)].includes(file.path);
  return isKnown && isNamed ? part : null;
}

/**
 * Where a path of our own making lies in the folder. The folder itself may be a link; whatever is below it may not be
 * one, nor a pipe or a device, whose reading would not end. Throws settings `export_unsafe`. What is not there yet is
 * well.
 */
export async function placeIn(folder: string, path: string): Promise<string> {
  let place = folder;
  for (const name of path.split('/')) {
    place = join(place, name);
    if (!(await isPlain(place))) throw unsafe(place);
  }
  return place;
}

/** As `placeIn`, of everything below a folder of ours. */
export async function checkBelow(folder: string, path: string): Promise<void> {
  const place = await placeIn(folder, path);
  const entries = await ifThere(readdir(place, { recursive: true, withFileTypes: true }));
  const odd = entries?.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (odd !== undefined) throw unsafe(join(odd.parentPath, odd.name));
}

async function isPlain(place: string): Promise<boolean> {
  try {
    const found = await lstat(place);
    return found.isFile() || found.isDirectory();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return true;
    throw error;
  }
}

const unsafe = (place: string): Error =>
  settingsError(
    'export_unsafe',
    `${place} is a link, a pipe or a device: an export holds files and folders only. It was not followed; remove it, or name another folder.`,
  );

/** Throws settings `other_format` and `other_archive`. Before anything is read. */
export function checkSameArchive(
  place: string,
  before: Manifest | null,
  projects: Manifest['projects'],
  format: FileFormat,
): void {
  if (before === null) return;
  if (before.file_format !== format) {
    throw settingsError(
      'other_format',
      `${place} holds an export as ${before.file_format}: give --format ${before.file_format}, or another place.`,
    );
  }
  for (const { project, added_at: at } of before.projects) {
    const now = projects.find((one) => one.project === project);
    if (now === undefined) {
      throw otherArchive(place, `holds project "${project}", which is not exported now`);
    }
    if (now.added_at !== at) {
      throw otherArchive(
        place,
        `says of project "${project}" that it was first archived at ${at}, and this database says ${now.added_at}`,
      );
    }
  }
}

/**
 * P4: an older backup that was restored and went on lacks what was archived since, however much it holds by now; so does
 * a replica that lags. Throws settings `other_archive`.
 */
export async function checkSameJournal(
  tx: Tx,
  place: string,
  before: Manifest | null,
): Promise<void> {
  for (const { project, journal } of before?.projects ?? []) {
    if (journal === null || (await isHeadHeld(tx, project, journal))) continue;
    throw otherArchive(
      place,
      `ends with entry ${journal.no} of the journal of project "${project}", and this database does not have it: an older backup was restored, or it is a replica that lags and will have it later`,
    );
  }
}

/** P4: nothing archived is ever deleted, so an archive that has become smaller is another one, or a damaged one. */
export function checkNothingLost(place: string, before: Manifest | null, after: Manifest): void {
  for (const [key, rows] of recordsIn(before?.files ?? [])) {
    const now = recordsIn(after.files).get(key) ?? 0;
    if (now >= rows) continue;
    throw otherArchive(place, `has ${rows} rows of ${key}, and this database has ${now}`);
  }
}

function recordsIn(files: Manifest['files']): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { table, project, rows } of files) {
    if (!table.startsWith('archive.')) continue;
    const key = `${table} of project "${project}"`;
    sums.set(key, (sums.get(key) ?? 0) + rows);
  }
  return sums;
}

const otherArchive = (place: string, why: string): Error =>
  settingsError(
    'other_archive',
    `The export in ${place} ${why}. It was not touched: export to another place.`,
  );

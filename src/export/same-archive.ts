// Whether an export may take the place of the one before it. The older one may be the only copy left of an archive: a new and
// empty database must never overwrite it. Pure.
import { settingsError } from '../errors.ts';
import type { FileFormat, Manifest } from './manifest.ts';

/** Throws settings `other_format` and `other_archive`. Before anything is read. */
export function checkSameArchive(
  folder: string,
  before: Manifest | null,
  projects: Manifest['projects'],
  format: FileFormat,
): void {
  if (before === null) return;
  if (before.file_format !== format) {
    throw settingsError(
      'other_format',
      `${folder} holds an export as ${before.file_format}: give --format ${before.file_format}, or another folder.`,
    );
  }
  for (const held of before.projects) {
    const now = projects.find(({ project }) => project === held.project);
    if (now === undefined) {
      throw otherArchive(folder, `holds project "${held.project}", which is not exported now`);
    }
    if (now.added_at !== held.added_at) {
      throw otherArchive(
        folder,
        `says of project "${held.project}" that it was first archived at ${held.added_at}, and this database says ${now.added_at}`,
      );
    }
  }
}

/** P4: nothing archived is ever deleted, so an archive that has become smaller is another one, or a damaged one. */
export function checkNothingLost(folder: string, before: Manifest | null, after: Manifest): void {
  for (const [key, rows] of recordsIn(before?.files ?? [])) {
    const now = recordsIn(after.files).get(key) ?? 0;
    if (now >= rows) continue;
    throw otherArchive(folder, `has ${rows} rows of ${key}, and this database has ${now}`);
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

const otherArchive = (folder: string, why: string): Error =>
  settingsError(
    'other_archive',
    `The export in ${folder} ${why}. It was not touched: export to another folder.`,
  );

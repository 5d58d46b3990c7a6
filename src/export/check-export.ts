// An export as it is met: whole, unaltered, and of a form this release knows. Everything is checked before a database
// sees any of it, and each file that is not what the manifest says is named (P12).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, settingsError, transient } from '../errors.ts';
import { digestOfFile } from '../files.ts';
import { placeIn, readFound, type FoundPart } from './existing-export.ts';
import {
  manifestName,
  sha256Of,
  sumsName,
  sumsText,
  type ExportedFile,
  type Manifest,
} from './manifest.ts';
import { stageName } from './stage.ts';

export type FoundExport = { manifest: Manifest; parts: FoundPart[] };

/** An export as it lies somewhere, with a way to its files. */
export type OpenedExport = FoundExport & {
  /** Null: there is no such file. */
  digestOf: (path: string) => Promise<{ bytes: number; sha256: string } | null>;
};

/**
 * Throws settings `no_export`, `export_unfinished`, `export_altered`, `export_unsafe`, `manifest_invalid`, and
 * transient `aborted`.
 */
export async function checkExport(folder: string, signal: AbortSignal): Promise<FoundExport> {
  const found = await openFolder(folder);
  const altered = await alteredIn(found, signal);
  if (altered.length > 0) {
    const more = altered.length > 10 ? `; and ${altered.length - 10} more` : '';
    throw isAltered(`${altered.slice(0, 10).join('; ')}${more}`);
  }
  return found;
}

/** Throws as `checkExport` does, but for what the files hold: nobody has looked at them yet. */
export async function openFolder(folder: string): Promise<OpenedExport> {
  if ((await readFound(folder, `${stageName}/${manifestName}`)) !== null) {
    throw settingsError(
      'export_unfinished',
      `The export in ${folder} was cut off while it was put in place: run \`outlast export\` to it once more, which finishes it.`,
    );
  }
  const read = await readFound(folder, manifestName);
  if (read === null) throw noExport(folder);
  const { manifest, text, parts } = read;
  await checkSums(folder, manifest, sha256Of(text));
  return { manifest, parts, digestOf: (path) => digestOfFile(join(folder, path)) };
}

export const noExport = (place: string): Error =>
  settingsError(
    'no_export',
    `${place} holds no whole export: there is no manifest.json. Name what \`outlast export\` wrote.`,
  );

/** What is not as the manifest says, a clause for each file. Throws transient `aborted`. */
export async function alteredIn(
  { parts, digestOf }: OpenedExport,
  signal: AbortSignal,
  onFile: (file: ExportedFile) => void = () => undefined,
): Promise<string[]> {
  const altered: string[] = [];
  for (const { file } of parts) {
    if (signal.aborted) throw transient('aborted', 'Stopped before every file was looked at.');
    const found = await digestOf(file.path);
    if (found === null) altered.push(`${file.path} is missing`);
    else if (found.sha256 !== file.sha256) altered.push(`${file.path} was altered or cut off`);
    onFile(file);
  }
  return altered;
}

/** The manifest has its own digest beside it: the rest of the files have theirs in it. */
async function checkSums(folder: string, manifest: Manifest, sha256: string): Promise<void> {
  const sums = await readFile(await placeIn(folder, sumsName), 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (sums === null) throw isAltered(`${sumsName} is missing`);
  if (sums !== sumsText(manifest.files, sha256)) {
    throw isAltered(`manifest.json and ${sumsName} contradict each other`);
  }
}

const isAltered = (what: string): Error =>
  settingsError(
    'export_altered',
    `This export is not as it was written: ${what}. Nothing was imported. Take another copy of it.`,
  );

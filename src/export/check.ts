// An export as it is met: whole, unaltered, and of a form this release knows. Everything is checked before a database
// sees any of it, and each file that is not what the manifest says is named (P12).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, settingsError, transient } from '../errors.ts';
import { digestOfFile } from '../files.ts';
import { placeIn, readFound, type FoundPart } from './found.ts';
import { sha256Of, sumsName, sumsText, type Manifest } from './manifest.ts';
import { stageName } from './stage.ts';

export type FoundExport = { manifest: Manifest; parts: FoundPart[] };

/**
 * Throws settings `no_export`, `export_unfinished`, `export_altered`, `export_unsafe`, `manifest_invalid`, and
 * transient `aborted`.
 */
export async function checkExport(folder: string, signal: AbortSignal): Promise<FoundExport> {
  if ((await readFound(folder, `${stageName}/manifest.json`)) !== null) {
    throw settingsError(
      'export_unfinished',
      `The export in ${folder} was cut off while it was put in place: run \`outlast export\` to it once more, which finishes it.`,
    );
  }
  const read = await readFound(folder, 'manifest.json');
  if (read === null) {
    throw settingsError(
      'no_export',
      `${folder} holds no whole export: there is no manifest.json. Name the folder that \`outlast export\` wrote.`,
    );
  }
  const { manifest, text, parts } = read;
  await checkSums(folder, manifest, sha256Of(text));
  const altered: string[] = [];
  for (const { file } of parts) {
    if (signal.aborted) throw transient('aborted', 'Stopped. Nothing was imported.');
    const found = await digestOfFile(join(folder, file.path));
    if (found === null) altered.push(`${file.path} is missing`);
    else if (found.sha256 !== file.sha256) altered.push(`${file.path} was altered or cut off`);
  }
  if (altered.length > 0) {
    const more = altered.length > 10 ? `; and ${altered.length - 10} more` : '';
    throw isAltered(`${altered.slice(0, 10).join('; ')}${more}`);
  }
  return { manifest, parts };
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

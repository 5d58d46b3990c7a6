// manifest.json: what an export holds, and the digests by which an import, or a shell with sha256sum, knows it again.
// Parsed at the door: nothing in a manifest is believed that the files do not bear out (P12).
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { fileFormats } from '../model.ts';
import { codeOf, settingsError } from '../errors.ts';

export const manifestName = 'manifest.json';

/** The first version of the format; another one would say so here. */
export const exportFormat = 'outlast-export-1';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);
const month = z.string().regex(/^\d{4}-\d\d$/);
const project = z.string().regex(/^[a-z0-9_-]{1,40}$/);

export const exportedFile = z.object({
  path: z.string(),
  table: z.string(),
  project,
  month: month.nullable(),
  rows: count,
  bytes: count,
  /** Of the file. */
  sha256,
  /**
   * Of the rows as Postgres writes them: the same whatever the file's format, and in every database that holds them.
   */
  content_sha256: sha256,
  /** Of a month of a listed resource: its digests as docs/verify.md defines them, of the days that have records. */
  days: z.array(z.object({ day: z.string(), records: count, digest: sha256 })).optional(),
});
export type ExportedFile = z.infer<typeof exportedFile>;

const coverage = z.object({
  project,
  resource: z.string(),
  month,
  records: count,
  /** The month's digest, its days without a record included. */
  digest: sha256,
  /** Slices by state, those with a proof, and those with a reservation. */
  slices: count,
  open: count,
  walked: count,
  sealed: count,
  final: count,
  lost: count,
  held: count,
  settled: count,
});
export type ExportedMonth = z.infer<typeof coverage>;

const manifest = z.object({
  format: z.literal(exportFormat),
  file_format: z.enum(fileFormats),
  /** The schema's version: the moment of the newest migration. */
  schema: count,
  exported_at: z.string(),
  projects: z.array(
    z.object({
      project,
      added_at: z.string(),
      first_day: z.string(),
      /** The newest head of its journal, which an archive must have passed to take the place of this export. */
      journal: z.object({ no: count, head: sha256 }).nullable().default(null),
    }),
  ),
  months: z.array(coverage),
  columns: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  files: z.array(exportedFile),
});
export type Manifest = z.infer<typeof manifest>;

export const manifestText = (value: Manifest): string => `${JSON.stringify(value, null, 1)}\n`;

export const sumsName = 'SHA256SUMS';

/** What `sha256sum -c` reads: every file, and the manifest by its digest. */
export const sumsText = (files: ExportedFile[], manifestSha256: string): string =>
  [...files, { path: manifestName, sha256: manifestSha256 }]
    .map((one) => `${one.sha256}  ${one.path}\n`)
    .join('');

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Null where there is none. Throws settings `manifest_invalid` for a file that is no manifest of this release's. What
 * its files are called is not looked at here: `partsIn` (existing-export.ts) is the door.
 */
export async function readManifest(
  path: string,
): Promise<{ manifest: Manifest; text: string } | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw settingsError(
      'manifest_invalid',
      `${path} cannot be read (${codeOf(error) ?? 'unknown'}).`,
      error,
    );
  }
  return { manifest: parseManifest(text, path), text };
}

/** `path` is for the sentences. Throws settings `manifest_invalid`. */
export function parseManifest(text: string, path: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw settingsError(
      'manifest_invalid',
      `${path} is no JSON: it was altered or cut off.`,
      error,
    );
  }
  const read = manifest.safeParse(value);
  if (read.success) return read.data;
  const format = (value as { format?: unknown } | null)?.format;
  const reason =
    typeof format === 'string' && format !== exportFormat
      ? `is of the format ${JSON.stringify(format)}, which this release does not know: use the release that wrote it or a later one.`
      : 'is no manifest of an export: it was altered.';
  throw settingsError('manifest_invalid', `${path} ${reason}`);
}

// Where exports go and come from: a folder, or a bucket. The client of buckets is loaded only where one is named: it
// takes half a second.
import { resolve } from 'node:path';
import { settingsError } from '../errors.ts';
import { openBucket, parseBucketAddress, type Bucket } from '../export/s3.ts';
import { exportArchive, type Exported, type Exporting } from '../export/write-export.ts';
import { checkProxies, handOnAws, type ExportSettings } from '../settings/settings.ts';
import { place as parsePlace } from '../settings/value-parsers.ts';

const isBucket = (place: string): boolean => /^s3:/i.test(place);

/**
 * The place as it was given, where it can be one. Throws settings `bad_place` and `bad_bucket`, before anything is
 * begun.
 */
export function readPlace(text: string): string {
  const read = parsePlace(text);
  if ('mistake' in read) throw settingsError('bad_place', `The place ${read.mistake}`);
  if (isBucket(text)) parseBucketAddress(text);
  return text;
}

/** What is done to an export, in a folder and in a bucket. */
type AtPlace<T> = {
  inFolder: (folder: string) => Promise<T>;
  inBucket: (bucket: Bucket) => Promise<T>;
};

/** Throws what `openBucket` and `checkProxies` do. */
export async function atPlace<T>(
  place: string,
  { addressing }: Pick<ExportSettings, 'addressing'>,
  signal: AbortSignal,
  { inFolder, inBucket }: AtPlace<T>,
): Promise<T> {
  if (!isBucket(place)) return inFolder(resolve(place));
  handOnAws();
  checkProxies();
  const bucket = await openBucket(place, { addressing, signal });
  try {
    return await inBucket(bucket);
  } finally {
    bucket.close();
  }
}

type Sending = { file: string; done: number; all: number };

/** Exports to a folder or a bucket. Throws what `exportArchive` and `exportToBucket` do. */
export function exportTo(
  exporting: Exporting & { onSend: (sofar: Sending) => void },
  settings: ExportSettings,
): Promise<Exported> {
  return atPlace(exporting.to, settings, exporting.signal, {
    inFolder: (to) => exportArchive({ ...exporting, to }),
    inBucket: async (bucket) =>
      (await import('../export/bucket.ts')).exportToBucket({ ...exporting, bucket }),
  });
}

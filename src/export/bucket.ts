// An export in a bucket: a copy off the machine. Files are named by what they hold, so that none ever takes the place
// of another and a newer export only adds what changed. The manifest, put after them, is what makes an export of them:
// it is replaced, and every one there was is kept beside it. Nothing is deleted (P4).
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { settingsError, transient } from '../errors.ts';
import { makeFolder, makeScratch } from '../files.ts';
import { fileFormats } from '../model.ts';
import { noExport, type OpenedExport } from './read-export.ts';
import { onDisk, type Stage } from './stage.ts';
import { partsIn } from './existing-export.ts';
import {
  manifestName,
  manifestText,
  parseManifest,
  sha256Of,
  sumsName,
  sumsText,
  type ExportedFile,
  type Manifest,
} from './manifest.ts';
import type { Bucket } from './s3.ts';
import { contentPath } from './exported-tables.ts';
import { exportInto, type Exported, type Exporting } from './write-export.ts';

type BucketExporting = Omit<Exporting, 'to'> & {
  bucket: Bucket;
  /** Before each file is sent: how many of all were. */
  onSend: (sofar: { file: string; done: number; all: number }) => void;
};

/**
 * Files are made on this machine first, as of one instant, and only then sent: no transaction waits for the network.
 * Throws what `exportArchive` and `storeError` say, settings `not_an_export` and `object_in_the_way`, and transient
 * `export_overtaken` and `store_busy`. What was sent is not sent again.
 */
export async function exportToBucket(exporting: BucketExporting): Promise<Exported> {
  const { bucket } = exporting;
  const held = await bucket.list();
  const before = await readBucketManifest(bucket);
  checkOurs(bucket, held, before !== null);
  const folder = await makeScratch('export');
  try {
    const made: ExportedFile[] = [];
    const stage = await openBucketStage(folder, held, before?.manifest ?? null, made);
    const exported = await onDisk(folder, () =>
      exportInto({ ...exporting, to: bucket.address }, async () => stage),
    );
    const sent = await send(exporting, stage, held, made);
    await commit(bucket, exported.manifest, before?.etag ?? null);
    return { ...exported, written: sent, kept: exported.manifest.files.length - sent };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Throws what an export there would before it sends anything; `tryOut` says what it gives. */
export async function tryBucket(bucket: Bucket): Promise<boolean> {
  checkOurs(bucket, await bucket.list(), (await readBucketManifest(bucket)) !== null);
  return bucket.tryOut();
}

async function openBucketStage(
  folder: string,
  held: ReadonlyMap<string, number>,
  before: Manifest | null,
  made: ExportedFile[],
): Promise<Stage> {
  const scratch = join(folder, 'scratch');
  await mkdir(scratch);
  return {
    before,
    nameOf: contentPath,
    stagedPath: (path) => join(folder, 'files', path),
    scratch,
    find: async (path, contentSha256) =>
      before?.files.find(
        (file) =>
          file.path === path &&
          file.content_sha256 === contentSha256 &&
          held.get(path) === file.bytes,
      ) ?? null,
    note: async (file) => void made.push(file),
    // The manifest goes where the files go, and after them.
    commit: async () => undefined,
  };
}

/** How many were sent. What lies there already, sent by an export that was cut off, takes the place of what was made. */
async function send(
  { bucket, onSend, signal }: BucketExporting,
  stage: Stage,
  held: ReadonlyMap<string, number>,
  made: ExportedFile[],
): Promise<number> {
  let sent = 0;
  for (const [done, file] of made.entries()) {
    if (signal.aborted) {
      throw transient('aborted', 'Stopped. What was sent is kept: the next export goes on.');
    }
    onSend({ file: file.path, done, all: made.length });
    const local = stage.stagedPath(file.path);
    let found = held.has(file.path) ? await bucket.find(file.path) : null;
    if (found === null) {
      const notes = { sha256: file.sha256, 'content-sha256': file.content_sha256 };
      if (await bucket.putFile(file.path, local, notes)) sent += 1;
      found = await bucket.find(file.path);
    }
    if (found === null) {
      throw transient(
        'store_busy',
        `The store of ${bucket.address} does not take ${file.path} now: another request was in its way. Try again later.`,
      );
    }
    const sha256 = found.notes['sha256'] ?? '';
    if (
      found.notes['content-sha256'] !== file.content_sha256 ||
      // The same rows may be other bytes where another release wrote them.
      (sha256 === file.sha256 && found.bytes !== file.bytes) ||
      !/^[0-9a-f]{64}$/.test(sha256)
    ) {
      throw settingsError(
        'object_in_the_way',
        `${bucket.address}/${file.path} is not what an export puts there. It was not touched: move it away and export again, or export to another prefix.`,
      );
    }
    Object.assign(file, { bytes: found.bytes, sha256 });
    await rm(local);
  }
  return sent;
}

/**
 * The manifest makes an export of what was sent, in one step. A rival that was faster is noticed by the store; for one
 * that knows no conditions, and does not say so, by a look just before.
 */
async function commit(bucket: Bucket, manifest: Manifest, etag: string | null): Promise<void> {
  const overtaken = transient(
    'export_overtaken',
    `Another export to ${bucket.address} was finished meanwhile: run it again.`,
  );
  if (((await bucket.readText(manifestName))?.etag ?? null) !== etag) throw overtaken;
  const text = manifestText(manifest);
  const sha256 = sha256Of(text);
  const moment = manifest.exported_at.replaceAll(/:|\.\d+/g, '');
  await bucket.putText(`manifests/${moment}-${sha256.slice(0, 16)}.json`, text, 'none');
  if (!(await bucket.putText(manifestName, text, etag === null ? 'none' : { etag }))) {
    throw overtaken;
  }
  // For whoever downloads all of it. Nothing here reads it.
  await bucket.putText(sumsName, sumsText(manifest.files, sha256), null);
}

async function readBucketManifest(
  bucket: Bucket,
): Promise<{ manifest: Manifest; etag: string } | null> {
  const found = await bucket.readText(manifestName);
  if (found === null) return null;
  const place = `${bucket.address}/${manifestName}`;
  const manifest = parseManifest(found.text, place);
  partsIn(manifest, place);
  return { manifest, etag: found.etag };
}

/** What an export that was cut off may have left. */
const ours = new RegExp(
  String.raw`^(manifests/[^/]+\.json|[a-z0-9_-]{1,40}/[a-z_]+(/\d{4}-\d\d)?\.[0-9a-f]{16}\.(${fileFormats.join('|')}))$`,
);

function checkOurs(
  { address }: Bucket,
  held: ReadonlyMap<string, number>,
  hasManifest: boolean,
): void {
  if (hasManifest || [...held.keys()].every((name) => ours.test(name))) return;
  throw settingsError(
    'not_an_export',
    `${address} holds other things and no export: name a prefix of its own, or that of an earlier export.`,
  );
}

/** Throws settings `no_export` and `manifest_invalid`, and what `storeError` says. */
export async function openBucketExport(bucket: Bucket): Promise<OpenedExport> {
  const found = await readBucketManifest(bucket);
  if (found === null) throw noExport(bucket.address);
  return {
    manifest: found.manifest,
    parts: partsIn(found.manifest, bucket.address),
    digestOf: (path) =>
      bucket.read(path, async (body) => {
        const hash = createHash('sha256');
        await pipeline(body, hash);
        return { sha256: hash.digest('hex') };
      }),
  };
}

/**
 * Brings an export into a folder, where `checkExport` then looks at every byte of it. What is not in the bucket is not
 * in the folder.
 */
export async function downloadExport(
  bucket: Bucket,
  folder: string,
  signal: AbortSignal,
  onFile: (sofar: { file: string; done: number; all: number }) => void,
): Promise<void> {
  const { manifest, parts } = await openBucketExport(bucket);
  await onDisk(folder, async () => {
    for (const [done, { file }] of parts.entries()) {
      if (signal.aborted) throw transient('aborted', 'Stopped. Nothing was imported.');
      onFile({ file: file.path, done, all: parts.length });
      const path = join(folder, file.path);
      await makeFolder(dirname(path));
      await bucket.read(file.path, (body) => pipeline(body, createWriteStream(path)));
    }
    const text = manifestText(manifest);
    await writeFile(join(folder, manifestName), text);
    await writeFile(join(folder, sumsName), sumsText(manifest.files, sha256Of(text)));
  });
}

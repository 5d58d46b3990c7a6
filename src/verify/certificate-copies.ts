// The files beside the archive: a certificate and its leaves, for those who keep a copy where the archive's own rights
// do not reach. A file is whole or not there, and one that is there is never written over. Missing ones are made from
// the row and from what was in force; a disk that refuses is told of and tried again an hour later, and never fails a
// run.
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { causeChain } from '../errors.ts';
import { digestOfFile, ifThere, writeWhole } from '../files.ts';
import type { Log } from '../log.ts';
import type { Day, Instant, ProjectId } from '../model.ts';
import { canonicalFile } from '../platform/canonical.ts';
import {
  certificatesOf,
  certifiedMonths,
  type Gone,
  type HeldCertificate,
  type Issued,
} from '../store/certificates.ts';
import type { ProjectList } from '../store/read-held.ts';
import type { Db } from '../store/db.ts';
import { withSnapshot } from '../store/snapshot.ts';
import { leafLine } from './digest.ts';
import { leavesInForce } from './leaves.ts';

/**
 * What is wrong with the files of a project: they cannot be written, or the archive no longer holds what they, or their
 * rows, say. Without the path, for it is told beyond this machine (P10); the log has it.
 */
export type FileTrouble = { kind: 'files_unwritten' | 'archive_altered'; text: string };

export type FileKind = 'certificate.json' | 'leaves.txt';

/**
 * `default/orders-2026-03.certificate.json`, and `orders-2026-03.2.certificate.json` for one that replaces it: names of
 * projects are safe as names of folders.
 */
export const fileName = ({ resource, month, issue }: Issued, kind: FileKind): string =>
  `${resource}-${month.slice(0, 7)}.${issue > 1 ? `${issue}.` : ''}${kind}`;

const fileForm =
  /^(orders|nft_classes)-(\d{4}-\d\d)\.(?:(\d{1,6})\.)?(certificate\.json|leaves\.txt)$/;

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

/** The last certificate of a month that has a file; null: none has, or the folder cannot be read. */
export async function lastGivenOut(
  folder: string | null,
  { projectId, resource }: ProjectList,
  month: Day,
): Promise<Gone | null> {
  if (folder === null) return null;
  const [last] = (await filesOf(folder, projectId).catch(() => []))
    .filter((file) => file.resource === resource && file.month === month)
    .filter(({ kind }) => kind === 'certificate.json')
    .toSorted((a, b) => b.issue - a.issue);
  if (last === undefined) return null;
  const found = await digestOfFile(join(folder, projectId, last.name)).catch(() => null);
  return found && { issue: last.issue, sha256: found.sha256 };
}

/** What certifying works with. */
export type Certifying = {
  projectId: ProjectId;
  db: Db;
  platform: { clock: { now(): Instant; earliest(): Instant } };
  /** Where the files go; null: nowhere. */
  certificatesDir: string | null;
  log: Log;
};

const retryMs = 3_600_000;

/** Characters handed to the disk at once. */
const pieceLength = 64 * 1024;

/** By folder: a failure, and until when files are let rest. A month of leaves is not read every minute in vain. */
const resting = new Map<string, { until: Instant; trouble: FileTrouble }>();

/** Looks which files there are, and makes those that are missing. Returns what keeps it from that, if anything does. */
export async function writeOwedFiles(
  certifying: Certifying,
  now: Instant,
  signal: AbortSignal,
): Promise<FileTrouble | null> {
  const { db, projectId, certificatesDir: folder, log } = certifying;
  if (folder === null) return null;
  const ofProject = join(folder, projectId);
  const rest = resting.get(ofProject);
  if (rest !== undefined && now < rest.until) return rest.trouble;
  const certified = await certifiedMonths(db, projectId);
  if (certified.length === 0) return null;
  let trouble: FileTrouble | null = null;
  let path = ofProject;
  try {
    const present = new Set((await filesOf(folder, projectId)).map((file) => file.name));
    for (const month of certified) {
      // The certificate last: a copy that was cut short lacks it.
      for (const kind of ['leaves.txt', 'certificate.json'] as const) {
        const name = fileName(month, kind);
        if (present.has(name)) continue;
        if (signal.aborted) return trouble;
        path = join(ofProject, name);
        if (!(await writeOne(certifying, path, month, kind))) {
          log.error({ projectId, path }, notHeld);
          trouble = { kind: 'archive_altered', text: notHeld };
        }
      }
    }
  } catch (error) {
    log.warn({ projectId, path, error: causeChain(error) }, cannotWrite);
    trouble ??= { kind: 'files_unwritten', text: cannotWrite };
  }
  if (trouble === null) resting.delete(ofProject);
  else resting.set(ofProject, { until: now + retryMs, trouble });
  return trouble;
}

const cannotWrite = 'A certificate is in the database, but its file cannot be written';
const notHeld =
  'A file of leaves cannot be made again: the archive no longer holds what was certified; `outlast verify` tells more';

/** False where what is held does not give what the certificate says. */
async function writeOne(
  { db, projectId }: Certifying,
  path: string,
  { resource, month, issue }: Issued,
  kind: FileKind,
): Promise<boolean> {
  const of = { projectId, resource };
  const certificate = (await certificatesOf(db, of, month)).find((one) => one.issue === issue);
  if (certificate === undefined) return true;
  return writeWhole(path, async (write) => {
    if (kind === 'leaves.txt') return writeLeaves(db, of, certificate, write);
    await write(canonicalFile(certificate.text));
    return true;
  });
}

async function writeLeaves(
  db: Db,
  of: ProjectList,
  { month, certifiedAt, leavesSha256 }: HeldCertificate,
  write: (text: string) => Promise<void>,
): Promise<boolean> {
  const hash = createHash('sha256');
  let text = '';
  const flush = async (): Promise<void> => {
    hash.update(text);
    await write(text);
    text = '';
  };
  await withSnapshot(db, (tx) =>
    leavesInForce(tx, of, month, certifiedAt, async (leaf) => {
      text += leafLine(leaf);
      if (text.length >= pieceLength) await flush();
    }),
  );
  await flush();
  return hash.digest('hex') === leavesSha256;
}

// A certificate's files against its row. A file that says otherwise is told of, and which of the two what is held
// agrees with: one of them was altered.
import { join } from 'node:path';
import { causeChain } from '../errors.ts';
import { digestOfFile, textOfFile } from '../files.ts';
import type { HeldCertificate } from '../store/certificates.ts';
import type { Listed } from '../store/held-for-proof.ts';
import { bytesOf } from './certificate.ts';
import type { MonthDigest } from './digest.ts';
import { fileName, type FileKind } from './certificate-files.ts';
import type { Report } from './finding.ts';

export type FilesChecked = {
  missing: string[];
  /** Where the leaves are, if they are those that were certified. */
  leavesPath: string | null;
};

/** `now` is what is held, as digests. Missing files are no finding. */
export async function checkFiles(
  of: Listed,
  held: HeldCertificate,
  folder: string | null,
  now: MonthDigest,
  report: Report,
): Promise<FilesChecked> {
  const checked: FilesChecked = { missing: [], leavesPath: null };
  if (folder === null) return checked;
  const month = { resource: of.resource, month: held.month, issue: held.issue };
  const look = async (
    kind: FileKind,
    wrong: (path: string) => Promise<string | null>,
  ): Promise<void> => {
    const name = fileName(month, kind);
    const says = await wrong(join(folder, of.projectId, name)).catch(
      (error: unknown) => `it cannot be read: ${causeChain(error)}`,
    );
    if (says === notThere) checked.missing.push(name);
    else if (says !== null) {
      await report({
        kind: 'file',
        when: held.month.slice(0, 7),
        id: null,
        says: `${name}: ${says}`,
      });
    }
  };
  await look('certificate.json', async (path) => {
    const text = await textOfFile(path);
    if (text === null) return notThere;
    if (text === bytesOf(held.text)) return null;
    const byFile = text.includes(`"digest":"${now.digest}"`) ? 'the file' : 'neither';
    return `it is not the certificate in the database; what is held agrees with ${now.digest === held.digest ? 'the database' : byFile}`;
  });
  await look('leaves.txt', async (path) => {
    const digest = (await digestOfFile(path))?.sha256 ?? null;
    if (digest === null) return notThere;
    if (digest !== held.leavesSha256) return 'its digest is not the one in the certificate';
    checked.leavesPath = path;
    return null;
  });
  return checked;
}

const notThere = 'it is not there';

// The files beside the archive: a certificate and its leaves, for those who keep a copy where the archive's own rights
// do not reach. A file is whole or not there, and one that is there is never written over.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../files.ts';
import type { Day, ProjectId } from '../model.ts';
import type { Issued } from '../store/certificates.ts';

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

const fileForm = /^(orders|nft_classes)-(\d{4}-\d\d)\.(?:(\d+)\.)?(certificate\.json|leaves\.txt)$/;

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

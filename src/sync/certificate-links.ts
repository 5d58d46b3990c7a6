// The file behind a result's certificate link: found in the record, fetched, and judged. Links do not live long.
import { causeChain, OutlastError } from '../errors.ts';
import type { ParsedRecord } from '../model.ts';
import type { FileFetcher } from '../platform/certificate-file.ts';
import type { CertificateFile } from '../store/watched-commit.ts';
import type { FileOutcome } from './watched-policy.ts';

export type FileTurn = { outcome: FileOutcome; file: CertificateFile | null };

/** The certificate link of a final result; null where there is none. */
export function linkIn({ columns }: ParsedRecord): string | null {
  const body = columns['record'];
  if (columns['status'] !== 1 || typeof body !== 'string') return null;
  const { certificate_url: url } = JSON.parse(body) as { certificate_url?: unknown };
  return typeof url === 'string' && url !== '' ? url : null;
}

/** Fetches the file. Throws only what ends the run; everything else is an outcome. */
export async function keepFile(
  fetcher: FileFetcher,
  url: string,
  signal: AbortSignal,
): Promise<FileTurn> {
  try {
    const file = await fetcher.fetch(url, signal);
    return { outcome: { kind: 'kept' }, file };
  } catch (error) {
    if (!(error instanceof OutlastError) || error.code === 'aborted') throw error;
    const kind = error.kind === 'transient' ? 'passing' : 'final';
    return { outcome: { kind, problem: causeChain(error) }, file: null };
  }
}

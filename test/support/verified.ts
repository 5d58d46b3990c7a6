// What `outlast verify` finds in an archive of a test, all of it unless less is asked for. Needs no test runner.
import type { Db } from '../../src/store/db.ts';
import type { Finding } from '../../src/verify/finding.ts';
import {
  verifyChains,
  verifyProject,
  type ListVerified,
  type Verifying,
} from '../../src/verify/verify.ts';

type Verified = { lists: ListVerified[]; findings: Finding[] };

export async function verified(db: Db, asked: Partial<Verifying> = {}): Promise<Verified> {
  const findings: Finding[] = [];
  const verifying: Verifying = {
    db,
    projectId: 'p',
    months: null,
    certificatesDir: null,
    signal: new AbortController().signal,
    onFinding: (finding) => void findings.push(finding),
    onProgress: () => undefined,
    ...asked,
  };
  const lists = await verifyProject(verifying);
  await verifyChains(verifying);
  return { lists, findings };
}

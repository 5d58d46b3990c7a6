// The journal against itself, and heads that were kept elsewhere against it: who makes the whole chain anew is found out
// by a head that left the machine before.
import type { ProjectId } from '../model.ts';
import type { Tx } from '../store/db.ts';
import { brokenEntries, chainEnds } from '../store/journal/chain-queries.ts';
import { headsHeld, newestHead, type Head } from '../store/journal/heads.ts';
import type { Finding } from './finding.ts';

export type ChainsVerified = {
  project: ProjectId;
  /** The newest head; null before there is one. */
  head: Head | null;
  /** Heads kept elsewhere that the chain passes through. */
  passed: string[];
  findings: number;
};

type Tell = (finding: Finding) => Promise<void>;

/** `kept` are heads in lower-case hex. */
export async function checkChains(
  tx: Tx,
  projectId: ProjectId,
  kept: readonly string[],
  onFinding: Tell,
): Promise<ChainsVerified> {
  let findings = 0;
  const tell = (when: string | null, says: string): Promise<void> => {
    findings += 1;
    return onFinding({ kind: 'journal', project: projectId, resource: null, when, id: null, says });
  };
  for (const { no, resource, owner, day } of await brokenEntries(tx, projectId)) {
    const list = `${resource}${owner === '' ? '' : ` of ${owner}`}`;
    await tell(
      day,
      `entry ${no}, of ${list}, does not follow from the entry before it: it was altered, or one is gone`,
    );
  }
  const { said, is } = await chainEnds(tx, projectId);
  if (said?.no !== is?.no || said?.head !== is?.head) {
    await tell(null, `the journal does not end with entry ${said?.no ?? 0}, as its chain says`);
  }
  for (const list of ['orders', 'nft_classes'] as const) {
    if (said === null || is === null || said[list] === is[list]) continue;
    await tell(
      null,
      `the chain counts ${said[list]} of ${list}, and its entries stored ${is[list]}`,
    );
  }
  const passed = await headsHeld(tx, projectId, kept);
  for (const head of kept) {
    if (passed.includes(head)) continue;
    await tell(
      null,
      `the head ${head} was kept elsewhere, and no entry of this journal has it: it was made anew, or is an older one`,
    );
  }
  return { project: projectId, head: await newestHead(tx, projectId), passed, findings };
}

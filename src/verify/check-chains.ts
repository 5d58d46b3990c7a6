// The journal against itself, the project's heads against the journal, and heads that were kept elsewhere against both:
// who makes a whole chain anew is found out by a head that left the machine before.
import type { ProjectId } from '../model.ts';
import type { Tx } from '../store/db.ts';
import {
  brokenEntries,
  cutChains,
  headsOf,
  miscountedChains,
  uncoveredEntries,
  type HeldHead,
  type EntryPlace,
} from '../store/journal/chain-queries.ts';
import type { Finding } from './finding.ts';

export type ChainsVerified = {
  project: ProjectId;
  /** The newest head; null before there is one. */
  head: HeldHead | null;
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
  for (const place of await brokenEntries(tx, projectId)) {
    await tell(
      place.day,
      `${nameOf(place)} does not follow from the entries before it: it was altered, or one is gone`,
    );
  }
  for (const place of await cutChains(tx, projectId)) {
    await tell(place.day, `the journal does not end with ${nameOf(place)}, as its chain says`);
  }
  for (const { resource, owner, day, records, stored } of await miscountedChains(tx, projectId)) {
    const says = `the chain of ${listOf(resource, owner)} counts ${records} records, and its entries stored ${stored}`;
    await tell(day, says);
  }
  for (const place of await uncoveredEntries(tx, projectId)) {
    await tell(
      place.day,
      `${nameOf(place)} is not the one that head ${place.n} of the project covers`,
    );
  }
  const heads = await headsOf(tx, projectId);
  for (const { n, follows } of heads) {
    if (!follows)
      await tell(null, `head ${n} of the project does not follow from the one before it`);
  }
  const passed = kept.filter((head) => heads.some((one) => one.head === head));
  for (const head of kept) {
    if (passed.includes(head)) continue;
    await tell(
      null,
      `the head ${head} was kept elsewhere, and no head of this archive is that: its journal was made anew, or is an older one`,
    );
  }
  const newest = heads.at(-1);
  return {
    project: projectId,
    head: newest === undefined ? null : { n: newest.n, at: newest.at, head: newest.head },
    passed,
    findings,
  };
}

const listOf = (resource: string, owner: string): string =>
  `${resource}${owner === '' ? '' : ` of ${owner}`}`;

const nameOf = ({ resource, owner, seq }: EntryPlace): string =>
  `entry ${seq} of ${listOf(resource, owner)}`;

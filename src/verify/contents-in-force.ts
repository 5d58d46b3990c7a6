// The contents of a month that were in force at a moment: the row where it had been observed by then, else the version
// that had. So a certificate holds although its records changed later.
import { monthStart } from '../day.ts';
import type { Day } from '../model.ts';
import {
  correctionsOf,
  readLeaves,
  versionsOf,
  type HeldLeaf,
  type HeldVersion,
  type Listed,
} from '../store/held-for-proof.ts';
import type { Tx } from '../store/db.ts';
import type { Leaf } from './digest.ts';
import { comparable, inForce, readAgain } from './read-again.ts';

export type InForce = {
  /** Records of the month of which nothing had been observed yet. */
  later: number;
  /** Records that changed their day since: they stand under another one than they did at the moment. */
  moved: number;
};

/** Hands on the leaves in their order. A record counts for the day that its row says. */
export async function leavesInForce(
  tx: Tx,
  of: Listed,
  month: Day,
  at: string,
  onLeaf: (leaf: Leaf) => Promise<void> | void,
): Promise<InForce> {
  const found: InForce = { later: 0, moved: 0 };
  const days = { from: month, to: monthStart(month, 1) };
  await readLeaves(tx, of, days, at, async (leaves) => {
    const before = await contentsBefore(tx, of, leaves, at);
    for (const { day, id, sha256, is_later: isLater } of leaves) {
      const content = isLater ? before.get(id) : { day, sha256 };
      if (content === undefined) found.later += 1;
      else if (content.day !== day) found.moved += 1;
      else await onLeaf({ day, id, sha256: content.sha256 });
    }
  });
  return found;
}

/** What the records that changed since then had said, by id. */
async function contentsBefore(
  tx: Tx,
  of: Listed,
  leaves: HeldLeaf[],
  at: string,
): Promise<Map<string, { day: Day; sha256: string }>> {
  const later = new Map(leaves.filter((leaf) => leaf.is_later).map(({ id, day }) => [id, day]));
  const found = new Map<string, { day: Day; sha256: string }>();
  if (later.size === 0) return found;
  const versions = new Map<string, HeldVersion[]>();
  const correctedAt = await correctionsOf(tx, of, [...later.keys()], at);
  for (const version of await versionsOf(tx, of, [...later.keys()], at)) {
    // What was said before a correction competes no more.
    if (comparable(version.observed_at) < comparable(correctedAt.get(version.id) ?? '')) continue;
    versions.set(version.id, [...(versions.get(version.id) ?? []), version]);
  }
  for (const [id, day] of later) {
    const version = inForce(of.resource, versions.get(id) ?? []);
    if (version === null) continue;
    const said = readAgain(of.resource, version, day)?.columns['slice_day'];
    found.set(id, { day: typeof said === 'string' ? said : day, sha256: version.sha256 });
  }
  return found;
}

// The contents of a month that were in force at a moment: the row where it had been observed by then, else the version
// that had. So a certificate holds although its records changed later.
import { monthStart } from '../day.ts';
import type { Day } from '../model.ts';
import {
  readLeaves,
  versionsOf,
  type HeldLeaf,
  type HeldVersion,
  type Listed,
} from '../store/held-for-proof.ts';
import type { Tx } from '../store/db.ts';
import type { Leaf } from './digest.ts';
import { inForce } from './read-again.ts';

/**
 * Hands on the leaves in their order; returns of how many records of the month nothing had been observed yet. A record
 * counts for the day that its row says.
 */
export async function leavesInForce(
  tx: Tx,
  of: Listed,
  month: Day,
  at: string,
  onLeaf: (leaf: Leaf) => Promise<void> | void,
): Promise<{ later: number }> {
  let later = 0;
  const days = { from: month, to: monthStart(month, 1) };
  await readLeaves(tx, of, days, at, async (leaves) => {
    const before = await contentsBefore(tx, of, leaves, at);
    for (const { day, id, sha256, is_later: isLater } of leaves) {
      const content = isLater ? before.get(id) : sha256;
      if (content === undefined) later += 1;
      else await onLeaf({ day, id, sha256: content });
    }
  });
  return { later };
}

/** The digests of what the records that changed since then had said, by id. */
async function contentsBefore(
  tx: Tx,
  of: Listed,
  leaves: HeldLeaf[],
  at: string,
): Promise<Map<string, string>> {
  const later = leaves.filter((leaf) => leaf.is_later).map(({ id }) => id);
  const found = new Map<string, string>();
  if (later.length === 0) return found;
  const versions = new Map<string, HeldVersion[]>();
  for (const version of await versionsOf(tx, of, later, at)) {
    versions.set(version.id, [...(versions.get(version.id) ?? []), version]);
  }
  for (const id of later) {
    const version = inForce(of.resource, versions.get(id) ?? []);
    if (version === null) continue;
    found.set(id, version.sha256);
  }
  return found;
}

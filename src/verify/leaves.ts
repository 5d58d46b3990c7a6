// The leaves of a month: the contents that were in force at a moment, the row where it had been observed by then, else the
// version that had. So a certificate holds although its records changed later. And days whose digest differs, against the
// file of leaves: which record is altered, missing or extra. Both are in the order of days and id bytes, so neither is
// held in memory.
import { monthStart } from '../day.ts';
import { linesOf } from '../files.ts';
import type { Day } from '../model.ts';
import { compareUtf8 } from '../platform/bytes.ts';
import {
  leafOf,
  readLeaves,
  versionsOf,
  type HeldLeaf,
  type HeldVersion,
  type Listed,
} from '../store/read-held.ts';
import type { Tx } from '../store/db.ts';
import { readLeafLine, type Leaf } from './digest.ts';
import type { Report } from './finding.ts';
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

/** Records that only changed their day since the certificate are not reported. */
export async function compareWithLeaves(
  tx: Tx,
  of: Listed,
  certificate: { month: Day; certifiedAt: string },
  days: ReadonlySet<Day>,
  leavesPath: string,
  report: Report,
): Promise<void> {
  const { month, certifiedAt: at } = certificate;
  const certified = wanted(linesOf(leavesPath), days);
  let next = await certified.next();
  const missingBefore = async (leaf: Leaf | null): Promise<void> => {
    const isBefore = (one: Leaf): boolean => leaf === null || compare(one, leaf) < 0;
    // Ends with the file.
    while (next.done !== true && isBefore(next.value)) {
      await explain(tx, of, next.value, at, report);
      next = await certified.next();
    }
  };
  await leavesInForce(tx, of, month, at, async (leaf) => {
    if (!days.has(leaf.day)) return;
    await missingBefore(leaf);
    if (next.done === true || compare(next.value, leaf) !== 0) {
      const says = 'it is held as of the certified moment, and is not certified';
      await report({ kind: 'extra', when: leaf.day, id: leaf.id, says });
      return;
    }
    if (next.value.sha256 !== leaf.sha256) await explain(tx, of, next.value, at, report);
    next = await certified.next();
  });
  await missingBefore(null);
}

/** Looks up one record that is not where its leaf says, or not as it says. */
async function explain(tx: Tx, of: Listed, leaf: Leaf, at: string, report: Report): Promise<void> {
  const { day: when, id, sha256 } = leaf;
  const row = await leafOf(tx, of, id, at);
  if (row === null) {
    await report({ kind: 'missing', when, id, says: 'it is certified and no longer held' });
    return;
  }
  // Whether another day's list has shown it since, the journal says.
  if (row.sha256 === sha256) return;
  if (!row.is_later) {
    const says = `certified is raw_sha256 ${sha256}, held ${row.sha256}`;
    await report({ kind: 'altered', when, id, says });
    return;
  }
  // It changed later, its day perhaps too: what was certified must be among its versions.
  const versions = await versionsOf(tx, of, [id], at);
  if (versions.some((version) => version.sha256 === sha256)) return;
  const says =
    'it changed since it was certified, and the version that was certified is no longer held';
  await report({ kind: 'altered', when, id, says });
}

async function* wanted(lines: AsyncIterable<string>, days: ReadonlySet<Day>): AsyncGenerator<Leaf> {
  for await (const line of lines) {
    const leaf = readLeafLine(line);
    if (leaf !== null && days.has(leaf.day)) yield leaf;
  }
}

function compare(a: Leaf, b: Leaf): number {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1;
  return compareUtf8(a.id, b.id);
}

// Days whose digest differs, against the file of leaves: which record is altered, missing or extra. Both are in the
// order of days and id bytes, so neither is held in memory.
import { linesOf } from '../files.ts';
import type { Day } from '../model.ts';
import { compareUtf8 } from '../platform/bytes.ts';
import { leafOf, versionsOf, type Listed } from '../store/held-for-proof.ts';
import type { Tx } from '../store/db.ts';
import { leavesInForce } from './contents-in-force.ts';
import { readLeafLine, type Leaf } from './digest.ts';
import type { Report } from './finding.ts';

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

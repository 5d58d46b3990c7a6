// The leaves of a month: the contents that were in force at a moment, the row where it had been observed by then, else the
// version that had. So a certificate holds although its records changed later. And days whose digest differs, against the
// file of leaves: which record is altered, missing or extra. Both are in the order of days and id bytes, so neither is
// held in memory.
import { monthStart } from '../day.ts';
import { linesOf } from '../files.ts';
import type { Day } from '../model.ts';
import { compareUtf8 } from '../platform/bytes.ts';
import type { Tx } from '../store/db.ts';
import type { Listed } from '../store/read-held.ts';
import { tableShapes } from '../store/record-tables.ts';
import { readInPages } from '../store/snapshot.ts';
import { readLeafLine, type Leaf } from './digest.ts';
import type { Report } from './finding.ts';

/**
 * Hands on the leaves in their order; returns of how many records of the month nothing had been observed yet. A record
 * counts for the day that its row says. The row is in force since it was observed; which of its versions was before, the
 * precedence says that its commit went by (P2).
 */
export async function leavesInForce(
  tx: Tx,
  { projectId, resource }: Listed,
  month: Day,
  at: string,
  onLeaf: (leaf: Leaf) => Promise<void> | void,
): Promise<{ later: number }> {
  const { table, versions, key, precedence } = tableShapes[resource];
  const newestFirst = [...precedence, 'observed_at', 'raw_sha256'].join(' desc, ');
  let later = 0;
  await readInPages<Omit<Leaf, 'sha256'> & { sha256: string | null }>(
    tx,
    // Key columns are collate "C": their order is that of the bytes.
    `select slice_day as day, ${key} as id,
            encode(case when observed_at <= $4 then raw_sha256
                        else (select raw_sha256 from ${versions} v
                               where v.project_id = $1 and v.${key} = o.${key} and v.observed_at <= $4
                               order by ${newestFirst} desc limit 1) end, 'hex') as sha256
       from ${table} o
      where project_id = $1 and slice_day >= $2 and slice_day < $3
      order by slice_day, ${key}`,
    [projectId, month, monthStart(month, 1), at],
    async (leaves) => {
      for (const { day, id, sha256 } of leaves) {
        if (sha256 === null) later += 1;
        else await onLeaf({ day, id, sha256 });
      }
    },
  );
  return { later };
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
async function explain(
  tx: Tx,
  { projectId, resource }: Listed,
  { day: when, id, sha256 }: Leaf,
  at: string,
  report: Report,
): Promise<void> {
  const { table, versions, key } = tableShapes[resource];
  const { rows } = await tx.query<{ held: string; changed: boolean; kept: boolean }>(
    `select encode(raw_sha256, 'hex') as held, observed_at > $3 as changed,
            exists (select from ${versions} v
                     where v.project_id = $1 and v.${key} = $2 and v.raw_sha256 = decode($4, 'hex') and v.observed_at <= $3) as kept
       from ${table} where project_id = $1 and ${key} = $2`,
    [projectId, id, at, sha256],
  );
  const [row] = rows;
  if (row === undefined) {
    await report({ kind: 'missing', when, id, says: 'it is certified and no longer held' });
    return;
  }
  // Whether another day's list has shown it since, the journal says. What changed later, its day perhaps too, must be
  // among its versions.
  if (row.held === sha256 || (row.changed && row.kept)) return;
  const says = row.changed
    ? 'it changed since it was certified, and the version that was certified is no longer held'
    : `certified is raw_sha256 ${sha256}, held ${row.held}`;
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

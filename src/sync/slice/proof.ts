// The rules of proof as pure functions: what a walk was shown against what the platform counts.
import type { Proof } from '../../model.ts';
import type { Facts } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';

export type WalkEvidence = {
  /** The total before the first and after the last page; null where the platform gave none. */
  totalBefore: number | null;
  totalAfter: number | null;
  /** Distinct ids and rejects this walk was shown. */
  distinct: number;
};

export type ProofVerdict = {
  /** Nothing contradicts that the walk saw the whole list. */
  agrees: boolean;
  proof: Proof;
  /** In words, where it does not agree: both numbers. */
  disagreement: string | null;
};

/**
 * Proof rule 1. A list that is still growing may have more after than before: then the walk must have seen at least
 * what was there when it began, and the tail catches up. A total that is present and differs is a disagreement,
 * never a reason to change the method (proof rule 2).
 */
export function judge(evidence: WalkEvidence, growing: boolean): ProofVerdict {
  const { totalBefore: before, totalAfter: after, distinct } = evidence;
  if (before === null && after === null) return { agrees: true, proof: 'none', disagreement: null };
  if (before === distinct && after === distinct) {
    return { agrees: true, proof: 'walk', disagreement: null };
  }
  if (growing && before !== null && after !== null && before <= distinct && distinct <= after) {
    return { agrees: true, proof: 'none', disagreement: null };
  }
  return {
    agrees: false,
    proof: 'none',
    disagreement: `the platform counts ${before ?? 'nothing'} before and ${after ?? 'nothing'} after, and showed ${distinct}`,
  };
}

/** A platform that gives no totals may say 0 on an empty page as on every other: that counts nothing (proof rule 2). */
export function asGiven(
  evidence: WalkEvidence,
  facts: Facts,
  { resource }: Pick<Slice, 'resource'>,
): WalkEvidence {
  const isAbsent = facts.get(`${resource}.totals`) === 'absent';
  const given = (total: number | null): number | null => (isAbsent && total === 0 ? null : total);
  return {
    ...evidence,
    totalBefore: given(evidence.totalBefore),
    totalAfter: given(evidence.totalAfter),
  };
}

/**
 * A total that is missing where totals are known to be given is a fault: it proves nothing, and contradicts nothing.
 * But a day that never showed a record may be without one, where a total of none is left out.
 */
export function lacksTotal(
  evidence: WalkEvidence,
  facts: Facts,
  slice: Pick<Slice, 'resource' | 'shownTotal'>,
): boolean {
  if (facts.get(`${slice.resource}.totals`) !== 'present') return false;
  const isLeftOut =
    evidence.distinct === 0 &&
    (slice.shownTotal ?? 0) === 0 &&
    facts.get(`${slice.resource}.empty_total`) === 'absent';
  return !isLeftOut && (evidence.totalBefore === null || evidence.totalAfter === null);
}

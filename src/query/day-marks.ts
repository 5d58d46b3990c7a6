// How sure one may be of a day: one word for it, and whether something is in doubt. Whatever draws a calendar, counts
// safe days or says whether a range is covered goes by this. Pure.
import type { CoverageDay } from '../catalogue.ts';

/**
 * The least sure first. `open`: not read to its end since it was over. `unproved`: read to its end, or held as it is
 * since its month left the window, and never proved. `proved`: proved, and not sealed: an order is
 * pending.
 */
export const dayMarks = ['lost', 'open', 'unproved', 'proved', 'final', 'sealed'] as const;
export type DayMark = (typeof dayMarks)[number];

export function markOf({ state, proof }: Pick<CoverageDay, 'state' | 'proof'>): DayMark {
  if (state === 'lost' || state === 'open') return state;
  if (proof === 'none') return 'unproved';
  return state === 'walked' ? 'proved' : state;
}

/** The less sure of two. */
export const weaker = (a: DayMark, b: DayMark): DayMark =>
  dayMarks.indexOf(a) < dayMarks.indexOf(b) ? a : b;

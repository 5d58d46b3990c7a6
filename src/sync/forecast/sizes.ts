// How many records a day has, as far as anyone can know before it is read: an estimate from its neighbours in the same
// list. Pure.
import { startOf } from '../../day.ts';
import type { Day, Instant } from '../../model.ts';
import { overAfterMs } from '../judge.ts';
import type { ListDay } from './costs.ts';

export type Size = {
  records: number;
  /**
   * `known`: the platform has shown or counted it; `estimated`: from neighbours; `unknown`: nothing of the list was
   * read.
   */
  from: 'known' | 'estimated' | 'unknown';
};

/** So many of the nearest days that are known make an estimate. */
const neighbours = 7;

/** Says of any day of one list how large it is. Days that still last count as known only to be no smaller than that. */
export function sizesOf(days: ListDay[], now: Instant): (one: ListDay) => Size {
  const known: { at: Instant; records: number }[] = [];
  for (const one of days) {
    const records = knownSize(one);
    if (records !== null && hasEnded(one.day, now)) known.push({ at: startOf(one.day), records });
  }
  const estimate = (day: Day): number | null => {
    if (known.length === 0) return null;
    const at = startOf(day);
    const nearest = known
      .toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at) || a.at - b.at)
      .slice(0, neighbours);
    return Math.ceil(nearest.reduce((sum, one) => sum + one.records, 0) / nearest.length);
  };
  return (one) => {
    const itsOwn = knownSize(one);
    if (itsOwn !== null && hasEnded(one.day, now)) return { records: itsOwn, from: 'known' };
    const estimated = estimate(one.day);
    return estimated === null
      ? { records: itsOwn ?? 0, from: itsOwn === null ? 'unknown' : 'estimated' }
      : { records: Math.max(itsOwn ?? 0, estimated), from: 'estimated' };
  };
}

/** What the last whole walk was shown, or what the platform counted when the first one began. */
function knownSize({ slice }: ListDay): number | null {
  if (slice === null) return null;
  return slice.wholeWalk > 0
    ? (slice.shownTotal ?? slice.platformTotal)
    : (slice.checkpoint?.reading.mostTotal ?? null);
}

const hasEnded = (day: Day, now: Instant): boolean =>
  now >= startOf(day) + 86_400_000 + overAfterMs;

// What fewer records than before are worth (proof rule 5): around the cliff the month may have gone, in another zone or
// from one of two copies of a platform, and an empty answer is no empty day.
import { addDays, monthStart } from '../day.ts';
import { doubtFacts } from '../store/facts.ts';
import type { Slice } from '../store/ledger.ts';
import type { ActContext } from './conclude.ts';
import { dayEndOf } from './bounds.ts';
import { absenceProves } from './policy.ts';

/**
 * Whether a walk shows at least what the last one did. A month goes all at once, so that of a day's first walk any record
 * will do; but on its last day, where another zone's month may end in the middle.
 */
export function showsAll({ day, shownTotal }: Slice, distinct: number): boolean {
  const isLastOfMonth = addDays(day, 1) === monthStart(day, 1);
  return distinct > 0 && (shownTotal === null ? !isLastOfMonth : distinct >= shownTotal);
}

/**
 * From around the cliff on fewer records than before, or none, may only mean that the month has gone: then the platform
 * must still show another day of it beside the `records` of this one, or, where older days are answered, one as old.
 */
export async function trustsAbsence(
  { platform, settings, window }: ActContext,
  slice: Slice,
  records: number,
): Promise<boolean> {
  const orOlder = settings.answersOlder === true;
  return (
    absenceProves(slice.day, platform.clock.possible()) ||
    window.stillShowsMonth(slice, slice.day, { records, orOlder })
  );
}

/**
 * A day that held records and is empty all of a sudden: the platform may read an end date differently than it did at the
 * last probe (proof rule 6). Then the next run probes first, and what rested on the old fact is reopened.
 */
export async function readsDatesOtherwise(
  { db, facts, window, platform }: ActContext,
  { projectId, resource, owner, day, shownTotal }: Slice,
  distinct: number,
): Promise<boolean> {
  // Around the cliff a day may be empty in one copy of the platform and not in the next.
  const isKnown =
    dayEndOf(facts, resource) !== 'unknown' && absenceProves(day, platform.clock.possible());
  const isSudden = isKnown && distinct === 0 && (shownTotal ?? 0) > 0;
  if (!isSudden || !(await window.showsDay({ resource, owner }, day))) return false;
  await doubtFacts(db, projectId);
  return true;
}

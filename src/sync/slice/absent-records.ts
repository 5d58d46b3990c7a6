// What fewer records than before are worth (proof rule 5): around the cliff the month may have gone, in another zone or
// from one of two copies of a platform, and an empty answer is no empty day. Classes that left an owner's list were
// transferred, or are gone: each is asked for by its id, and only what is not shown at all counts as missing.
import { addDays, monthStart } from '../../day.ts';
import type { ObservedRecord, Span } from '../../model.ts';
import { doubtFacts, readFact } from '../../store/facts.ts';
import type { Slice } from '../../store/ledger.ts';
import { goneIds, type Walks } from '../../store/missing.ts';
import { dayEndOf } from '../list-rules.ts';
import { absenceProves } from '../policy.ts';
import type { ActContext } from './conclude.ts';
import { statusesExceed, statusTotals } from './status-totals.ts';
import { afterAll } from './walk.ts';

/**
 * Whether a walk shows at least what the last one did. A month goes all at once, so that of a day's first walk any
 * record will do; but on its last day, where another zone's month may end in the middle.
 */
export function showsAll({ day, shownTotal }: Slice, distinct: number): boolean {
  const isLastOfMonth = addDays(day, 1) === monthStart(day, 1);
  return distinct > 0 && (shownTotal === null ? !isLastOfMonth : distinct >= shownTotal);
}

/**
 * From around the cliff on fewer records than before, or none, may only mean that the month has gone: then the platform
 * must still show another day of it beside all that it shows of this one (`distinct`).
 */
export async function trustsAbsence(
  context: ActContext,
  slice: Slice,
  distinct: number,
): Promise<boolean> {
  return !(await isBeyondProof(context, slice)) && showsMonth(context, slice, distinct);
}

/**
 * Whether the month has not begun to go, or the platform still shows another day of it beside the `listed` records that
 * the list shows of this one without being asked by status; or, where older days are answered, one as old.
 */
export async function showsMonth(
  { platform, settings, window }: ActContext,
  slice: Slice,
  listed: number,
): Promise<boolean> {
  const orOlder = settings.answersOlder === true;
  return (
    absenceProves(slice.day, platform.clock.latest()) ||
    window.stillShowsMonth(slice, slice.day, { listed, orOlder })
  );
}

/**
 * Around the cliff one answer shows that the list still has its month. What is shown by status stands in other answers,
 * each of which may come from a copy that has let go of it: where lists leave orders out, or may do so, no walk proves
 * a day then, and none of its absences counts.
 */
export async function isBeyondProof(
  context: Pick<ActContext, 'db' | 'platform' | 'facts' | 'settings'>,
  slice: Slice,
): Promise<boolean> {
  // Where older days are answered no month goes.
  if (slice.resource !== 'orders' || context.settings.answersOlder === true) return false;
  if (absenceProves(slice.day, context.platform.clock.latest())) return false;
  const known = await readFact(context.db, slice.projectId, statusTotals);
  if (known !== null) return known.value === statusesExceed;
  return (context.facts.get('orders.totals') ?? 'present') === 'present';
}

/**
 * A day that held records and is empty all of a sudden: the platform may read an end date differently than it did at
 * the last probe (proof rule 6). Then the next run probes first, and what rested on the old fact is reopened.
 */
export async function readsDatesOtherwise(
  { db, facts, window, platform }: ActContext,
  { projectId, resource, owner, day, shownTotal }: Slice,
  distinct: number,
): Promise<boolean> {
  // Around the cliff a day may be empty in one copy of the platform and not in the next.
  const isKnown =
    dayEndOf(facts, resource) !== 'unknown' && absenceProves(day, platform.clock.latest());
  const isSudden = isKnown && distinct === 0 && (shownTotal ?? 0) > 0;
  if (!isSudden || !(await window.showsDay({ resource, owner }, day))) return false;
  await doubtFacts(db, projectId, resource);
  return true;
}

/**
 * What the platform shows of the classes that one owner's walk showed and the next one did not. Throws what it throws.
 */
export async function findMoved(
  { db, platform, signal }: Pick<ActContext, 'db' | 'platform' | 'signal'>,
  slice: Slice,
  span: Span,
  walks: Walks,
): Promise<ObservedRecord[]> {
  const found: ObservedRecord[] = [];
  // Ends: one request an id, and a day's list is finite.
  for (const id of await goneIds(db, slice, span, walks)) {
    const page = await platform.classes({ id, offset: 0, limit: 1, sortBy: 'DATE_ASC' }, signal);
    // A platform that ignores the filter shows others: they have their own slices.
    const record = page.records.find((one) => one.id === id);
    // After the pages that no longer show it, even if the platform's clock was set back meanwhile (P2).
    const observedAt = Math.max(page.askedAt, afterAll(slice));
    if (record !== undefined) found.push({ record, observedAt });
  }
  return found;
}

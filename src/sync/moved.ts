// Classes that left an owner's list were transferred, or are gone: each is asked for by its id. What is shown under
// another owner is archived as such; only what is not shown at all counts as missing.
import type { ObservedRecord, Span } from '../model.ts';
import type { Slice } from '../store/ledger.ts';
import { goneIds, type Walks } from '../store/missing.ts';
import type { ActContext } from './conclude.ts';
import { afterAll } from './walk.ts';

/** What the platform shows of the classes that one owner's walk showed and the next one did not. Throws what it throws. */
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

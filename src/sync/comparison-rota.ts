// Which past days are read whole although counts would do: counts cannot see one record in another's place. Pure.
import { startOf, dayOf } from '../day.ts';
import type { Instant } from '../model.ts';
import type { Slice } from '../store/ledger.ts';

const dayMs = 86_400_000;

/** Every past day is compared whole at least this often, ids and contents, unless that takes too much of the rate. */
export const compareMs = 7 * dayMs;
/** Of the allowed requests comparing takes no more than this share. */
export const compareShare = 0.1;

export type RotaSettings = {
  /** The greatest limit the platform honours: what fits in one page is compared daily. 0: not known. */
  pageSize?: number;
  /**
   * How often larger days are compared whole, in milliseconds: `compareMs`, or more where a tenth of the rate is too
   * little.
   */
  compareEveryMs?: number;
};

/**
 * Whether a day that is due to be counted is read whole instead: daily where one page shows it all, which is one
 * request instead of four; else when its turn has come.
 */
export function isComparedNow(
  slice: Pick<Slice, 'day' | 'owner' | 'shownTotal' | 'walkedAt'>,
  now: Instant,
  settings: RotaSettings,
): boolean {
  // A page that is full may not be all of it: the counts are another witness.
  if (slice.shownTotal !== null && slice.shownTotal < (settings.pageSize ?? 0)) return true;
  return hasTurn(slice, now, settings);
}

/** Whether the turn of a day on the rota has come since it was last read whole. */
export function hasTurn(
  slice: Pick<Slice, 'day' | 'owner' | 'walkedAt'>,
  now: Instant,
  { compareEveryMs = compareMs }: RotaSettings,
): boolean {
  const walkedAt = slice.walkedAt ?? 0;
  return walkedAt < turnOf(slice, now, compareEveryMs) || now >= walkedAt + compareEveryMs;
}

/** Turns come round in a day less than the period: each is taken at the next daily count. */
export const turnDays = (everyMs: number): number => Math.max(1, Math.floor(everyMs / dayMs) - 1);

/** When the turn of a day last began. Neighbours take turns, so that as many fall on each day of the rota. */
function turnOf(
  { day, owner }: Pick<Slice, 'day' | 'owner'>,
  now: Instant,
  everyMs: number,
): Instant {
  const every = turnDays(everyMs);
  const today = startOf(dayOf(now)) / dayMs;
  const behind = today - startOf(day) / dayMs + numberOf(owner);
  return (today - (((behind % every) + every) % every)) * dayMs;
}

/** Owners have their turns apart. */
const numberOf = (owner: string): number =>
  Array.from(owner).reduce((sum, letter) => (31 * sum + (letter.codePointAt(0) ?? 0)) % 9_973, 0);

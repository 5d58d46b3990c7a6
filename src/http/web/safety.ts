// What the coverage of all days comes to, and the headline of the first page and of `outlast status`: how many are safe, not yet, lost. Whether something is wrong
// is not decided here.
import { dayOf, monthStart, startOf } from '../../day.ts';
import type { Day, Instant } from '../../model.ts';
import type { CoverageDay } from '../../catalogue.ts';
import { markOf } from '../../query/day-marks.ts';
import type { Words } from './words.ts';

export type Safety = {
  /** Days that are over, each counted once: it is as safe as the least safe of its lists. */
  days: number;
  safe: number;
  /** Over and not read to their end, or not proved, while the platform still answers for them. */
  notYet: number;
  /** Of these: read once, and held; and when the first of their second readings is due. */
  readOnce: number;
  readAgainAt: string | null;
  lost: Day[];
  /** Held for good without proof, or with a record that could not be read. */
  reserved: number;
  /** Of the safe ones: days with orders that are pending. */
  unsettled: number;
  /** The month that leaves the window next, with days that are not final yet; null: none is held. */
  closing: { month: Day; at: Instant } | null;
};

/** Not safe yet, and the platform still answers for it. */
const mayBecomeSafe = (day: CoverageDay): boolean =>
  day.state !== 'final' && ['open', 'unproved'].includes(markOf(day));

export function safetyOf(coverage: readonly CoverageDay[], now: Instant): Safety {
  const today = dayOf(now);
  const days = new Map<Day, CoverageDay[]>();
  for (const slice of coverage) {
    if (slice.day < today) days.set(slice.day, [...(days.get(slice.day) ?? []), slice]);
  }
  const safety: Safety = {
    days: 0,
    safe: 0,
    notYet: 0,
    readOnce: 0,
    readAgainAt: null,
    lost: [],
    reserved: 0,
    unsettled: 0,
    closing: null,
  };
  for (const [day, slices] of days) {
    safety.days++;
    if (slices.some(({ state }) => state === 'lost')) safety.lost.push(day);
    else if (slices.some(mayBecomeSafe)) {
      safety.notYet++;
      const unsafe = slices.filter(mayBecomeSafe);
      if (unsafe.every(({ why }) => why === 'read once')) {
        safety.readOnce++;
        const next = [safety.readAgainAt, ...unsafe.map(({ dueAt }) => dueAt)];
        safety.readAgainAt = next.filter((at) => at !== null).toSorted()[0] ?? null;
      }
    } else if (!slices.every(({ isHeld }) => isHeld)) safety.reserved++;
    else {
      safety.safe++;
      if (!slices.every(({ isSettled }) => isSettled)) safety.unsettled++;
    }
  }
  const inWindow = coverage.filter(
    ({ state, deadlineAt }) => state !== 'final' && state !== 'lost' && deadlineAt < '9999',
  );
  const month = inWindow.map(({ day }) => monthStart(day)).toSorted()[0];
  if (month !== undefined) safety.closing = { month, at: startOf(monthStart(month, 2)) };
  return safety;
}

/** In a sentence. `number`: how numbers are written. */
export function headlineOf(
  { headline }: Words,
  number: (value: number) => string,
  { days, safe, notYet, readOnce, lost, reserved }: Safety,
): string {
  if (days === 0) return headline.nothing;
  if (lost.length > 0) return headline.lost(number(lost.length), number(safe));
  if (notYet > 0) {
    const say = readOnce === notYet && reserved === 0 ? headline.readOnceOnly : headline.notYet;
    return say(number(notYet), number(days));
  }
  return headline.safe(number(days));
}

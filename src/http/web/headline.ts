// What the coverage of all days comes to, and the headline of the first page and of `outlast status`: how many are safe,
// not yet, lost. Whether something is wrong is not decided here.
import { dayOf, monthStart, startOf } from '../../day.ts';
import type { Day, Instant } from '../../model.ts';
import type { Balance, CoverageDay } from '../../catalogue.ts';
import { markOf, weaker } from '../../query/day-marks.ts';
import type { Words } from './words.ts';

export type Safety = ReturnType<typeof safetyOf>;

export function safetyOf(coverage: readonly CoverageDay[], now: Instant) {
  const today = dayOf(now);
  const days = new Map<Day, CoverageDay[]>();
  for (const slice of coverage) {
    if (slice.day < today) days.set(slice.day, [...(days.get(slice.day) ?? []), slice]);
  }
  const safety = {
    /** Days of each list that the ledger has, whether or not they are over. */
    entered: coverage.length,
    /** Days that are over, each counted once: it is as safe as the least safe of its lists. */
    days: days.size,
    safe: 0,
    /** Over and not all held yet, while the platform still answers for them. */
    notYet: 0,
    /** Of these: read once; and when the first of their second readings is due. */
    readOnce: 0,
    readAgainAt: null as string | null,
    lost: [] as Day[],
    /** Their months have left the window, and not all of them is held. */
    doubtful: 0,
    /** Of the safe ones: days with orders that are pending. */
    unsettled: 0,
    /** The month that leaves the window next, with days that are not final yet; null: none is held. */
    closing: null as { month: Day; at: Instant } | null,
  };
  for (const [day, slices] of days) {
    const mark = slices.map(markOf).reduce(weaker);
    if (mark === 'lost') safety.lost.push(day);
    else if (mark === 'open' || mark === 'unproved') {
      safety.notYet++;
      const unsafe = slices.filter(({ isHeld }) => !isHeld);
      if (unsafe.every(({ why }) => why === 'read once')) {
        safety.readOnce++;
        const next = [safety.readAgainAt, ...unsafe.map(({ dueAt }) => dueAt)];
        safety.readAgainAt = next.filter((at) => at !== null).toSorted()[0] ?? null;
      }
    } else if (mark === 'doubtful') safety.doubtful++;
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
  { entered, days, safe, notYet, readOnce, lost, doubtful }: Safety,
): string {
  if (entered === 0) return headline.nothing;
  // Whoever reads this has a clock behind the platform's.
  if (days === 0) return headline.noneOver;
  if (lost.length > 0) return headline.lost(number(lost.length), number(safe));
  if (notYet > 0) {
    const say = readOnce === notYet && doubtful === 0 ? headline.readOnceOnly : headline.notYet;
    return say(number(notYet), number(days));
  }
  return doubtful > 0
    ? headline.doubtful(number(safe), number(doubtful))
    : headline.safe(number(days));
}

/** The others are in /archive/v1/books. */
const partsShown = 3;

/** How numbers, days and times are written; `days`: the last one included. */
type Writing = {
  number: (value: number) => string;
  day: (day: Day) => string;
  days: (first: Day, last: Day) => string;
  time: (at: string | null) => string;
};

/** As an accountant would say it: what the platform counts of all days that are over, and whether it is held. */
export function booksSentence(
  { headline, punctuation }: Words,
  { number, day, days, time }: Writing,
  of: Omit<Balance, 'project'>,
): string {
  const { total, succeeded, failed, pending, shown, balance, more } = of;
  const holds = (): string => {
    if (shown === null) return headline.holds.unread;
    if (balance === 'equal') return headline.holds.equal;
    if (balance !== 'more') return headline.holds.less(number(shown));
    const parts = more.slice(0, partsShown).map((part) => {
      const those = days(part.from, part.to);
      return part.counted === null || part.counted <= part.shown
        ? headline.holds.partOfStatus(those)
        : headline.holds.part(those, number(part.counted), number(part.shown));
    });
    const others = more.length > partsShown ? ['…'] : [];
    return headline.holds.more(
      [...parts, ...others].join(punctuation.semicolon),
      time(of.moreSince),
    );
  };
  const isByStatus = succeeded !== null && failed !== null && pending !== null;
  // Orders may have another status. A total that stops at a cap is below the sum, and leaves none.
  const others = isByStatus && total !== null ? total - succeeded - failed - pending : 0;
  return headline.books({
    list: (of.owner === '' ? '' : `${of.owner} · `) + headline.lists[of.resource],
    first: day(of.firstDay),
    last: day(of.lastDay),
    total: total === null ? null : number(total),
    statuses: isByStatus
      ? headline.byStatus(
          number(succeeded),
          number(failed),
          number(pending),
          others > 0 ? number(others) : null,
        )
      : '',
    holds: holds(),
    asked: time(of.askedAt),
  });
}

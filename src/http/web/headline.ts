// What the coverage of all days comes to, and the headline of the first page and of `outlast status`: how many are safe,
// not yet, lost. Whether something is wrong is not decided here.
import { dayOf, monthStart, startOf } from '../../day.ts';
import type { Day, Instant } from '../../model.ts';
import type { Balance, CoverageDay } from '../../catalogue.ts';
import { markOf, weaker } from '../../query/day-marks.ts';
import type { Language } from './view.ts';
import type { Say } from './words.ts';

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

/** In a sentence. */
export function headlineOf(
  t: Say,
  { entered, days, safe, notYet, readOnce, lost, doubtful }: Safety,
): string {
  if (entered === 0) return t('Nothing is archived yet.');
  // Whoever reads this has a clock behind the platform's.
  if (days === 0) return t('By the clock of this machine no archived day is over yet.');
  if (safe === days) return t('{days:The one day so far is|All # days are} safe.', { days });
  if (safe + readOnce === days) {
    return t('All {of} days are read; {days:one waits|# wait} for another reading.', {
      days: readOnce,
      of: days,
    });
  }
  // Whatever there is of the others is named, the worst first.
  const others = [
    lost.length > 0 && t('; {days:one is|# are} lost for ever', { days: lost.length }),
    doubtful > 0 && t('; {days:one was|# were} never proved whole', { days: doubtful }),
    notYet > 0 && t('; {days:one is|# are} not safe yet', { days: notYet }),
  ];
  return t('{safe} of {of} days {safe:is|are} safe{others}.', {
    safe,
    of: days,
    others: others.filter((part) => part !== false).join(''),
  });
}

/** The others are in /archive/v1/books. */
const partsShown = 3;

/** How days and times are written; `days`: the last one included. */
type Writing = {
  day: (day: Day) => string;
  days: (first: Day, last: Day) => string;
  time: (at: string | null) => string;
};

/** As an accountant would say it: what the platform counts of all days that are over, and whether it is held. */
export function booksSentence(
  { t, words: { between, punctuation } }: Pick<Language, 't' | 'words'>,
  { day, days, time }: Writing,
  of: Omit<Balance, 'projectId'>,
): string {
  const { total, succeeded, failed, pending, shown, balance, more } = of;
  const holds = (): string => {
    if (shown === null)
      return t('That was before all of these days had been read; it is asked again.');
    if (balance === 'equal') return t('All of these are held.');
    if (balance !== 'more') return t('Its lists showed {shown}: all of these are held.', { shown });
    const parts = more.slice(0, partsShown).map((part) => {
      const those = days(part.from, part.to);
      return part.counted === null || part.counted <= part.shown
        ? t('of {days} it counts more of a status than it showed', { days: those })
        : t('of {days} it counts {counted} and showed {shown}', {
            days: those,
            counted: part.counted,
            shown: part.shown,
          });
    });
    const others = more.length > partsShown ? ['…'] : [];
    return t(
      'This has not balanced since {since}: {parts}. These days are read again, first after a quarter of an hour, later once a day, until it does.',
      { parts: [...parts, ...others].join(punctuation.semicolon), since: time(of.moreSince) },
    );
  };
  const isByStatus = succeeded !== null && failed !== null && pending !== null;
  // Orders may have another status. A total that stops at a cap is below the sum, and leaves none.
  const others = isByStatus && total !== null ? total - succeeded - failed - pending : 0;
  const statuses = !isByStatus
    ? ''
    : t(': {succeeded} succeeded, {failed} failed, {pending} pending', {
        succeeded,
        failed,
        pending,
      }) + (others > 0 ? t(', {others} of another status', { others }) : '');
  const list = t(of.resource === 'orders' ? 'orders' : 'NFT classes');
  const counted = {
    first: day(of.firstDay),
    last: day(of.lastDay),
    list: of.owner === '' ? list : `${of.owner} · ${list}`,
    statuses,
  };
  return [
    total === null
      ? t('From {first} to {last} the platform gives no total of {list}{statuses}.', counted)
      : t('From {first} to {last} the platform counts {total} {list}{statuses}.', {
          ...counted,
          total,
        }),
    holds(),
    t('Asked at {time}.', { time: time(of.askedAt) }),
  ].join(between);
}

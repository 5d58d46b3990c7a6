// Questions about the whole window that a doubt about one day leads to: is it empty altogether, and does the platform
// still show the month at the cliff? Nothing that is shown here is archived.
import { addDays, monthStart, startOf } from '../../day.ts';
import { isOutlastError } from '../../errors.ts';
import type { Day, Instant, OrderStatus, PlatformPage } from '../../model.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Facts } from '../../store/facts.ts';
import { askList, type List } from '../ask-list.ts';
import { aheadMsOf } from '../day-zone.ts';
import { dayEndOf, limitOf } from '../list-rules.ts';
import { countByStatus, sumOfTotals } from './status-totals.ts';

/** Long before any platform of this kind. */
export const longAgo: Day = '2015-01-01';

/** How many records the list showed, not asked by status, and whether days before the window are answered. */
export type DoubtfulAnswer = { listed: number; orOlder: boolean };

export type WindowQuestions = {
  /**
   * When the platform was asked without an end date, and showed nothing and counted nothing: that proves all days of
   * the window empty (proof rule 4). Null when there is anything. Asked once a run.
   */
  emptyAt(list: List): Promise<Instant | null>;
  /** Whether the filter by status shows any order of the window at this moment; null: it tells nothing. */
  showsByStatus(list: List): Promise<boolean | null>;
  /** Whether a record of this day is shown when the next day is asked for along with it. */
  showsDay(list: List, day: Day): Promise<boolean>;
  /**
   * Whether the platform still shows the month of this day beside the day itself: an earlier record of it (with
   * `orOlder` of any time) or, where there is none, a later one. Then its absences count, too (proof rule 5). What
   * stands on the month's last day proves nothing: in a zone ahead of UTC it belongs to the next month.
   */
  stillShowsMonth(list: List, day: Day, shown: DoubtfulAnswer): Promise<boolean>;
};

/** As many records as show whether a day holds one. */
const aFew = 10;

export function createWindowQuestions(
  platform: Platform,
  facts: Facts,
  windowFrom: Day,
  signal: AbortSignal,
): WindowQuestions {
  const asked = new Map<string, Promise<Instant | null>>();

  const ask = (
    list: List,
    sortBy: 'DATE_ASC' | 'DATE_DESC',
    limit: number,
    startDate: Day,
    endDate?: Day,
  ): Promise<PlatformPage> => {
    const range = { startDate, ...(endDate === undefined ? {} : { endDate }) };
    return askList(platform, list, { ...range, limit, sortBy, countTotal: true }, signal);
  };

  /** How many records of a page were created on the days `[from, to)`, as the platform counts them. */
  const count = ({ resource }: List, page: PlatformPage, from: Day, to: Day): number => {
    const aheadMs = aheadMsOf(facts, resource);
    return page.records.filter(({ columns: { created_at: createdAt } }) => {
      const at = typeof createdAt === 'string' ? Date.parse(createdAt) + aheadMs : Number.NaN;
      return at >= startOf(from) && at < startOf(to);
    }).length;
  };

  const emptyAt = async (list: List): Promise<Instant | null> => {
    const page = await ask(list, 'DATE_DESC', 1, windowFrom).catch((error: unknown) => {
      // What is too long to be read is not empty.
      if (isOutlastError(error, 'platform_unusable')) return null;
      throw error;
    });
    if (page === null) return null;
    return page.shown === 0 && page.total === 0 ? page.askedAt : null;
  };

  return {
    emptyAt(list) {
      const name = `${list.resource} ${list.owner}`;
      const answer = asked.get(name) ?? emptyAt(list);
      asked.set(name, answer);
      return answer;
    },
    async showsByStatus(list) {
      const range = {
        startDate: windowFrom,
        sortBy: 'DATE_DESC',
        limit: 1,
        countTotal: true,
      } as const;
      const askFor = (status: OrderStatus): Promise<PlatformPage> =>
        askList(platform, list, { ...range, status }, signal);
      const { totals, ids } = await countByStatus(facts, askFor, true);
      // A filter that does nothing shows the same order each time.
      if (new Set(ids).size < ids.length) return null;
      if (ids.length > 0) return true;
      return sumOfTotals(totals) === 0 ? false : null;
    },
    async showsDay(list, day) {
      const next = addDays(day, 1);
      return count(list, await ask(list, 'DATE_ASC', aFew, day, next), day, next) > 0;
    },
    async stillShowsMonth(list, day, { listed, orOlder }) {
      const from = orOlder ? longAgo : monthStart(day);
      const [next, last] = [addDays(day, 1), addDays(monthStart(day, 1), -1)];
      // The day is asked for along with one record more: of two copies of a platform, one of which has let go of the
      // month, the one that still has it shows more of the day here than was shown before.
      if (listed < limitOf(facts, list.resource)) {
        const end = dayEndOf(facts, list.resource) === 'exclusive' ? next : day;
        const upTo = await ask(list, 'DATE_DESC', listed + 1, from, end);
        if (upTo.shown !== listed) {
          return upTo.shown === listed + 1 && count(list, upTo, from, day) === 1;
        }
      } else if (day > from) {
        const older = await ask(list, 'DATE_DESC', 1, from, addDays(day, -1));
        if (count(list, older, from, day) === 1) return true;
      }
      if (next >= last) return false;
      const since = await ask(list, 'DATE_ASC', 1, listed === 0 ? day : next, addDays(last, -1));
      return count(list, since, next, last) === 1;
    },
  };
}

// Questions about the whole window that a doubt about one day leads to: is it empty altogether, and does the platform
// still show the month at the cliff? Nothing that is shown here is archived.
import { addDays, monthStart, startOf } from '../day.ts';
import type { Day, Instant, ListedResource, Page } from '../model.ts';
import type { Platform } from '../platform/platform.ts';
import { doubtfulBeforeMs } from './policy.ts';

/** Long before any platform of this kind. */
export const longAgo: Day = '2015-01-01';

type List = { resource: ListedResource; owner: string };

export type WindowQuestions = {
  /**
   * When the platform was asked without an end date, and showed nothing and counted nothing: that proves all days of the
   * window empty (proof rule 4). Null when there is anything. Asked once a run.
   */
  emptyAt(list: List): Promise<Instant | null>;
  /**
   * Whether the platform shows a record of this day's month now, or with `orOlder` of any time until its end: then its
   * absences count, too (proof rule 5). One of the month's last hours does not do: where the month has ended in an
   * earlier zone they are the next one's, and still shown.
   */
  stillShowsMonth(list: List, day: Day, orOlder: boolean): Promise<boolean>;
};

export function createWindowQuestions(
  platform: Platform,
  windowFrom: Day,
  signal: AbortSignal,
): WindowQuestions {
  const asked = new Map<string, Promise<Instant | null>>();

  const ask = (
    list: List,
    sortBy: 'DATE_ASC' | 'DATE_DESC',
    startDate: Day,
    endDate?: Day,
  ): Promise<Page> => {
    const range = { startDate, ...(endDate === undefined ? {} : { endDate }) };
    const query = { ...range, limit: 1, sortBy };
    return list.resource === 'orders'
      ? platform.orders({ ...query, countTotal: true }, signal)
      : platform.classes(
          { ...query, offset: 0, ...(list.owner === '' ? {} : { owner: list.owner }) },
          signal,
        );
  };

  const emptyAt = async (list: List): Promise<Instant | null> => {
    const page = await ask(list, 'DATE_DESC', windowFrom);
    return page.shown === 0 && page.total === 0 ? page.askedAt : null;
  };

  return {
    emptyAt(list) {
      const name = `${list.resource} ${list.owner}`;
      const answer = asked.get(name) ?? emptyAt(list);
      asked.set(name, answer);
      return answer;
    },
    async stillShowsMonth(list, day, orOlder) {
      const from = orOlder ? longAgo : monthStart(day);
      const to = monthStart(day, 1);
      const end = startOf(to) - (orOlder ? 0 : doubtfulBeforeMs);
      // The oldest one: the newest may be of the last hours, with the whole month before them.
      const page = await ask(list, 'DATE_ASC', from, orOlder ? day : addDays(to, -1));
      return page.records.some(({ columns: { created_at: createdAt } }) => {
        const at = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
        return at >= startOf(from) && at < end;
      });
    },
  };
}

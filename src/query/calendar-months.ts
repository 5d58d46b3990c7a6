// The calendar of coverage: for each day of a resource the weakest of what its lists say (analytics.coverage_by_day).
import type { Day, SliceState } from '../model.ts';
import type { Queryable } from '../store/db.ts';
import { markOf, type DayMark } from './day-marks.ts';

export type CalendarMonth = {
  resource: string;
  /** First day of the month, `yyyy-MM-dd`. */
  month: Day;
  /** By day of the month, beginning with 1; days that nothing is known of are absent. */
  marks: ReadonlyMap<number, DayMark>;
};

/** Months of both lists from this one on, and whatever earlier ones have lost days; the oldest of each first. */
export async function readCalendar(
  db: Queryable,
  project: string,
  fromMonth: Day = '0001-01-01',
): Promise<CalendarMonth[]> {
  const { rows } = await db.query<{
    resource: string;
    month: Day;
    days: { day: number; state: SliceState; isHeld: boolean }[];
  }>(
    `select resource, month,
            json_agg(json_build_object('day', extract(day from day), 'state', state, 'isHeld', is_held) order by day) as days
       from analytics.coverage_by_day
      where project_id = $1
      group by resource, month
     -- P7: what is lost stays in sight for ever.
     having month >= $2 or bool_or(state = 'lost')
      order by resource desc, month`,
    [project, fromMonth],
  );
  return rows.map(({ resource, month, days }) => ({
    resource,
    month,
    marks: new Map(days.map((one) => [one.day, markOf(one)])),
  }));
}

// The SQL of figures: the contents that they are made of, and how much of each period is held, in one statement, so
// that no figure is older than the coverage it is shown with (P7). $1 is the project, `[$2, $3)` are the days, $4 is
// the instant. Runs none.
import type { ListedResource } from '../model.ts';
import { columnsOf, fieldsOf, inView } from '../resources.ts';
import { countsByState } from '../store/ledger.ts';
import { tableShapes } from '../store/record-tables.ts';
import { reservationNames } from '../catalogue.ts';
import { invalidArgument } from './check-arguments.ts';
import { sources } from './record-sql.ts';

export type By = 'day' | 'month';

/** As the indexes of figures spell it: any other spelling would read the rows. */
const monthOf = (day: string): string => `date_trunc('month', ${day}::timestamp)::date`;
export const periodOf = (by: By, day: string): string => (by === 'month' ? monthOf(day) : day);

/** The zone whose days are meant; undefined: UTC's, the ledger's. It is quoted as it is: arguments.ts checks it. */
export type Zone = string | undefined;

/** The day that a record is counted under. */
export const dayIn = (zone: Zone, day = 'slice_day', at = 'created_at'): string =>
  zone === undefined ? day : `analytics.local_day(${at}, ${day}, '${zone}')`;

/** Days of `[$2, $3)`, found by their months first (0001_storage_and_comments.sql). */
export const inRange = (zone: Zone, day = 'slice_day', at = 'created_at'): string => {
  if (zone === undefined) return between(day, '$2::date', '$3::date');
  const local = dayIn(zone, day, at);
  // The two days of a record are two days apart at most.
  return `${between(day, '($2::date - 2)', '($3::date + 2)')}
  and ($2::date is null or ${local} >= $2) and ($3::date is null or ${local} < $3)`;
};

const between = (day: string, from: string, to: string): string => `
      (${from} is null or (${monthOf(day)} >= ${monthOf(from)} and ${day} >= ${from}))
  and (${to} is null or (${monthOf(day)} <= ${monthOf(to)} and ${day} < ${to}))`;

/** Every list of the days with when the last of them was proved: none where one is not. */
const provedBy = (resource: ListedResource, zone: Zone): string => `
  select l.day, bool_and(proved_at <= $4::timestamptz) is true as is_proved_then
    from analytics.coverage c,
         ${zone === undefined ? 'lateral (select c.day)' : `analytics.local_days(c.day, '${zone}')`} l (day)
   where project_id = $1 and resource = '${resource}'
   group by l.day`;

const coverageDays = (zone: Zone): string =>
  zone === undefined
    ? '(select * from analytics.coverage_by_day where project_id = $1) days'
    : `analytics.coverage_by_day_in($1, '${zone}') days`;

/** How rows are counted: as of $4, and under which days. */
export type Counted = { isAsOf: boolean; zone: Zone };

/**
 * The coverage of each period; $1 is the project. As of an instant, $4, a day is held only where its proof is no
 * younger: what was proved later says nothing of what was held then.
 */
function coverage(by: By, resource: ListedResource, { isAsOf, zone }: Counted): string {
  const then = isAsOf ? ' and is_proved_then' : '';
  return `
  select ${periodOf(by, 'day')} as period,
         count(*)::int                                                          as accounted,
         ${countsByState(['open', 'sealed', 'final', 'lost'])},
         count(*) filter (where is_held${then})::int                            as held,
         count(*) filter (where is_settled${then})::int                         as settled,
         count(*) filter (where proof = 'readings')::int                           as by_readings,
         array_remove(array[${reservationNames
           .map((name) => `case when bool_or('${name}' = any (reservations)) then '${name}' end`)
           .join(', ')}], null)                                                 as reservations,
         sum(rejected)::float8                                                  as rejected,
         bool_and(is_whole_list)                                                as is_whole_list
    from ${coverageDays(zone)}
         ${isAsOf ? `join (${provedBy(resource, zone)}) proved using (day)` : ''}
   where resource = '${resource}'
     and ($2::date is null or day >= $2) and ($3::date is null or day < $3)
   group by 1`;
}

/** How many days of the period were asked for. */
const daysAsked = (by: By): string =>
  `(least($3::date, (period + interval '1 ${by}')::date) - greatest($2::date, period))`;

/** Rows at most: a report, and not an export. */
const rowsAtMost = 100_000;

/**
 * Figures with their coverage. `figures` is a query with a column `period`, `columns` what is shown of it as `f`,
 * `groups` what follows the period. With `isAsOf` they are those of $4. Periods without coverage are shown, and those
 * without figures.
 */
export const withCoverage = (
  by: By,
  resource: ListedResource,
  figures: string,
  columns: string,
  { groups, ...of }: Counted & { groups: readonly string[] },
): string => `
  with figures as (${figures}),
       coverage as (${coverage(by, resource, of)})
  select period, ${columns},
         ${daysAsked(by)} as "days",
         coalesce(c.accounted, 0) as "daysAccounted", coalesce(c.open, 0) as "daysOpen",
         coalesce(c.held, 0) as "daysHeld", coalesce(c.settled, 0) as "daysSettled",
         coalesce(c.sealed, 0) as "daysSealed", coalesce(c.final, 0) as "daysFinal", coalesce(c.lost, 0) as "daysLost",
         coalesce(c.by_readings, 0) as "daysByReadings", coalesce(c.reservations, '{}') as "reservations",
         coalesce(c.rejected, 0) as "rejected",
         coalesce(c.held, 0) = ${daysAsked(by)} as "isHeld", coalesce(c.settled, 0) = ${daysAsked(by)} as "isSettled"
    from figures f full join coverage c using (period)
   order by ${['period', ...groups].join(', ')}
   limit ${rowsAtMost + 1}`;

export function checkRows<Row>(call: string, rows: Row[]): Row[] {
  if (rows.length <= rowsAtMost) return rows;
  throw invalidArgument(
    `${call}: there are more than ${rowsAtMost} rows: narrow it by from and to, or group by less`,
  );
}

const inForce = `h.in_force_from <= $4 and (h.in_force_until is null or h.in_force_until > $4)`;

/**
 * The contents of these columns, of now or of $4; without an account everything is in the index of figures. Of then:
 * rows that had been observed by then, and of those that changed since the content that was in force.
 */
export function contentsOf(
  resource: ListedResource,
  wanted: readonly string[],
  { isAsOf, zone }: Counted,
): string {
  const { table, versions, key } = tableShapes[resource];
  if (!isAsOf) return `${table} where project_id = $1 and ${inRange(zone)}`;
  const columns = [...wanted, ...(zone === undefined ? [] : ['created_at'])];
  const named = new Map(columnsOf(fieldsOf[resource]).map((one) => [one.column, inView(one)]));
  return `(
  select slice_day, ${columns.join(', ')}
    from ${table}
   where project_id = $1 and ${inRange(zone)} and observed_at <= $4::timestamptz
  union all
  select o.slice_day, ${columns.map((name) => `h.${named.get(name)}`).join(', ')}
    from ${table} o,
         -- \`offset 0\` keeps this a query of its own: then the view reads one record, by its key, and not all.
         lateral (select * from ${sources[resource].view} h
                   where h.project_id = $1 and h.${key} = o.${key} and ${inForce} offset 0) h
   where o.project_id = $1 and ${inRange(zone, 'o.slice_day', 'h.created_at')} and o.observed_at > $4::timestamptz
     and exists (select from ${versions} v
                  where v.project_id = $1 and v.${key} = o.${key} and v.observed_at <= $4::timestamptz)) contents`;
}

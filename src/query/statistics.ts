// Figures of orders, classes and their growth. What they mean, and their units, is what the views of analytics say: a
// test holds both together. How much of each period is held stands in the same statement, so that no figure is older
// than the coverage it is shown with (P7). $1 is the project, `[$2, $3)` are the days, $4 is the instant.
import * as z from 'zod';
import { reservationNames } from '../catalogue.ts';
import type { ListedResource } from '../model.ts';
import { columnsOf, fieldsOf, inView } from '../resources.ts';
import type { Row } from '../store/db.ts';
import { tableShapes } from '../store/record-tables.ts';
import { asOf, days, groupsOf, limit, oneOf, parseArguments, project, zone } from './arguments.ts';
import { invalidArgument, optional } from './check-arguments.ts';
import type { Reader } from './reader.ts';
import { sources } from './record-sql.ts';
import type {
  AccountSpending,
  NftClassFigures,
  NftGrowth,
  NftOwner,
  OrderFigures,
  Statistics,
} from './statistics-types.ts';

/** What figures are asked for, whoever asks. */
export const figuresRange = {
  ...days,
  by: oneOf(['day', 'month']).describe('The length of a period; month by default'),
  zone,
  asOf,
};
export const orderGroups = groupsOf(['status', 'account', 'order_type']).describe(
  'A row for each of these; several with commas',
);
export const nftClassGroups = groupsOf(['owner']).describe('owner: a row for each');

const range = { project, ...optional(figuresRange), by: figuresRange.by };
const statisticsArguments = {
  orders: z.strictObject({ ...range, groupBy: orderGroups.default([]) }),
  nftClasses: z.strictObject({ ...range, groupBy: nftClassGroups.default([]) }),
  nftGrowth: z.strictObject(range),
  accounts: z.strictObject({ project, ...optional({ ...days, zone }), limit: limit.default(100) }),
  owners: z.strictObject({ project, limit: limit.default(100) }),
};
type Range = z.output<typeof statisticsArguments.nftGrowth>;

/** The zone whose days are meant; undefined: UTC's, the ledger's. It is quoted as it is: arguments.ts checks it. */
type Zone = Range['zone'];
/** What figures are asked for, and by what a period's are grouped. */
type Asked = Range & { groupBy: readonly (keyof typeof groupFields)[] };

const groupFields = {
  status: 'status',
  account: 'account',
  order_type: 'orderType',
  owner: 'owner',
} as const;

/** What is counted, and what is summed up, of which records. Sums `…Fen` of `inUnits` are given in units as well. */
type Figures = {
  columns: readonly string[];
  counts: Readonly<Record<string, string>>;
  sums: Readonly<Record<string, readonly [column: string, of: string]>>;
  inUnits?: readonly string[];
  /** Of the coverage `c`. */
  beside?: readonly string[];
};

const figuresOf: Record<ListedResource, Figures> = {
  orders: {
    columns: ['status', 'order_type', 'amount', 'number'],
    counts: {
      orders: 'true',
      succeeded: 'status = 2',
      failed: 'status = 3',
      pending: 'status = 1',
      ofOtherStatus: 'status is null or status not in (1, 2, 3)',
      withoutAmount: 'amount is null',
    },
    sums: {
      amountFen: ['amount', 'true'],
      spentFen: ['amount', 'status = 2'],
      pendingFen: ['amount', 'status = 1'],
      numberUgas: ['number', 'order_type = 1'],
      numberFen: ['number', 'order_type = 2'],
      creditedGasUgas: ['number', 'order_type = 1 and status = 2'],
      creditedFeesFen: ['number', 'order_type = 2 and status = 2'],
    },
    inUnits: ['amount', 'spent', 'pending', 'creditedFees'],
  },
  nft_classes: {
    columns: ['nft_count'],
    counts: { classes: 'true', classesWithoutCount: 'nft_count is null' },
    sums: { nfts: ['nft_count', 'true'] },
    beside: ['coalesce(c.is_whole_list, false) as "isWholeList"'],
  },
};

/** Counts are far below 2^53: as float8 they come as numbers. */
const countsOf = (counts: Figures['counts']): string[] =>
  Object.entries(counts).map(([name, of]) => `count(*) filter (where ${of})::float8 as "${name}"`);

const orZero = (row: 'f' | 'c', named: object): string[] =>
  Object.keys(named).map((name) => `coalesce(${row}."${name}", 0) as "${name}"`);

/** As the indexes of figures spell it: any other spelling would read the rows. */
const monthOf = (day: string): string => `date_trunc('month', ${day}::timestamp)::date`;
const periodOf = (by: Range['by'], day: string): string => (by === 'month' ? monthOf(day) : day);

/** The day that a record is counted under. */
const dayIn = (zone: Zone, day = 'slice_day', at = 'created_at'): string =>
  zone === undefined ? day : `analytics.local_day(${at}, ${day}, '${zone}')`;

/** Days of `[$2, $3)`, found by their months first (0001_storage_and_comments.sql). */
function inRange(zone: Zone, day = 'slice_day', at = 'created_at'): string {
  if (zone === undefined) return between(day, '$2::date', '$3::date');
  const local = dayIn(zone, day, at);
  // The two days of a record are two days apart at most.
  return `${between(day, '($2::date - 2)', '($3::date + 2)')}
  and ($2::date is null or ${local} >= $2) and ($3::date is null or ${local} < $3)`;
}

const between = (day: string, from: string, to: string): string => `
      (${from} is null or (${monthOf(day)} >= ${monthOf(from)} and ${day} >= ${from}))
  and (${to} is null or (${monthOf(day)} <= ${monthOf(to)} and ${day} < ${to}))`;

/**
 * The contents of these columns, of now or of $4; without an account everything is in the index of figures. Of then:
 * rows that had been observed by then, and of those that changed since the content that was in force.
 */
function contentsOf(
  resource: ListedResource,
  wanted: readonly string[],
  { asOf, zone }: Range,
): string {
  const { table, versions, key } = tableShapes[resource];
  if (asOf === undefined) return `${table} where project_id = $1 and ${inRange(zone)}`;
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
                   where h.project_id = $1 and h.${key} = o.${key} and h.in_force_from <= $4
                     and (h.in_force_until is null or h.in_force_until > $4) offset 0) h
   where o.project_id = $1 and ${inRange(zone, 'o.slice_day', 'h.created_at')} and o.observed_at > $4::timestamptz
     and exists (select from ${versions} v
                  where v.project_id = $1 and v.${key} = o.${key} and v.observed_at <= $4::timestamptz)) contents`;
}

/** Every list of the days with when the last of them was proved: none where one is not. */
const provedBy = (resource: ListedResource, zone: Zone): string => `
  select l.day, bool_and(proved_at <= $4::timestamptz) is true as is_proved_then
    from analytics.coverage c,
         ${zone === undefined ? 'lateral (select c.day)' : `analytics.local_days(c.day, '${zone}')`} l (day)
   where project_id = $1 and resource = '${resource}'
   group by l.day`;

/** Days of a period. As of an instant one is held only where its proof is no younger. */
const dayCounts = (then = '') => ({
  daysAccounted: 'true',
  daysOpen: `state = 'open'`,
  daysHeld: `is_held${then}`,
  daysSettled: `is_settled${then}`,
  daysSealed: `state = 'sealed'`,
  daysFinal: `state = 'final'`,
  daysLost: `state = 'lost'`,
  daysByReadings: `proof = 'readings'`,
});

/** The coverage of each period. */
function coverage(resource: ListedResource, { by, asOf, zone }: Range): string {
  const isAsOf = asOf !== undefined;
  const days =
    zone === undefined
      ? '(select * from analytics.coverage_by_day where project_id = $1) days'
      : `analytics.coverage_by_day_in($1, '${zone}') days`;
  const named = reservationNames.map(
    (name) => `case when bool_or('${name}' = any (reservations)) then '${name}' end`,
  );
  return `
  select ${periodOf(by, 'day')} as period,
         ${countsOf(dayCounts(isAsOf ? ' and is_proved_then' : '')).join(', ')},
         array_remove(array[${named.join(', ')}], null) as reservations,
         sum(rejected)::float8                          as rejected,
         bool_and(is_whole_list)                        as is_whole_list
    from ${days}
         ${isAsOf ? `join (${provedBy(resource, zone)}) proved using (day)` : ''}
   where resource = '${resource}'
     and ($2::date is null or day >= $2) and ($3::date is null or day < $3)
   group by 1`;
}

/** Rows at most: a report, and not an export. */
const rowsAtMost = 100_000;

/** Figures with their coverage. Periods without coverage are shown, and those without figures. */
function statementOf(resource: ListedResource, asked: Asked): string {
  const { by, groupBy: groups, zone } = asked;
  const { columns, counts, sums, inUnits = [], beside = [] } = figuresOf[resource];
  const contents = contentsOf(resource, [...new Set([...columns, ...groups])], asked);
  const summed = Object.entries(sums).map(
    ([name, [column, of]]) => `sum(${column}) filter (where ${of}) as "${name}"`,
  );
  const shown = [
    ...groups.map((name) => `f.${name} as "${groupFields[name]}"`),
    ...orZero('f', { ...counts, ...sums }),
    ...inUnits.map((name) => `coalesce(f."${name}Fen", 0) * 0.01 as "${name}Units"`),
    ...orZero('c', { ...dayCounts(), rejected: '' }),
    ...beside,
  ];
  // How many days of the period were asked for.
  const daysAsked = `(least($3::date, (period + interval '1 ${by}')::date) - greatest($2::date, period))`;
  return `
  with figures as (select ${[`${periodOf(by, dayIn(zone))} as period`, ...groups, ...countsOf(counts), ...summed].join(', ')}
                     from ${contents}
                    group by ${['period', ...groups].map((_, i) => i + 1).join(', ')}),
       coverage as (${coverage(resource, asked)})
  select period, ${shown.join(', ')}, coalesce(c.reservations, '{}') as "reservations", ${daysAsked} as "days",
         coalesce(c."daysHeld", 0) = ${daysAsked} as "isHeld", coalesce(c."daysSettled", 0) = ${daysAsked} as "isSettled"
    from figures f full join coverage c using (period)
   order by ${['period', ...groups].join(', ')}
   limit ${rowsAtMost + 1}`;
}

export function createStatistics(reader: Reader): Statistics {
  async function figures<Of extends Row>(
    call: string,
    resource: ListedResource,
    asked: Asked,
  ): Promise<Of[]> {
    const { project: of, from = null, to = null, asOf: at } = asked;
    const parameters = [of, from, to, ...(at === undefined ? [] : [at])];
    const { rows } = await reader.query<Of>(statementOf(resource, asked), parameters);
    if (rows.length <= rowsAtMost) return rows;
    throw invalidArgument(
      `${call}: there are more than ${rowsAtMost} rows: narrow it by from and to, or group by less`,
    );
  }
  return {
    orders: async (given) => {
      const call = 'statistics.orders';
      const asked = parseArguments(call, statisticsArguments.orders, given);
      return figures<OrderFigures>(call, 'orders', asked);
    },
    nftClasses: async (given) => {
      const call = 'statistics.nftClasses';
      const asked = parseArguments(call, statisticsArguments.nftClasses, given);
      return figures<NftClassFigures>(call, 'nft_classes', asked);
    },
    accounts: async (given) => {
      const query = parseArguments('statistics.accounts', statisticsArguments.accounts, given);
      const { rows } = await reader.query<AccountSpending>(
        `select account, orders, succeeded, spent::text as "spentFen", (spent * 0.01)::text as "spentUnits",
                unknown as "withoutAmount"
           from (select account,
                        count(*)::float8                                      as orders,
                        count(*) filter (where status = 2)::float8            as succeeded,
                        coalesce(sum(amount) filter (where status = 2), 0)    as spent,
                        count(*) filter (where amount is null)::float8        as unknown
                   from archive.orders
                  where project_id = $1 and ${inRange(query.zone)}
                  group by account) accounts
          order by spent desc, account
          limit $4`,
        [query.project, query.from ?? null, query.to ?? null, query.limit],
      );
      return rows;
    },
    nftGrowth: async (given) => {
      const query = parseArguments('statistics.nftGrowth', statisticsArguments.nftGrowth, given);
      const { by, zone: of } = query;
      const changedOn = of === undefined ? 'changed_on' : `(changed_at at time zone '${of}')::date`;
      const { rows } = await reader.query<NftGrowth>(
        `select ${periodOf(by, changedOn)} as "period", count(distinct id)::float8 as "classesChanged",
                coalesce(sum(nfts_added) filter (where nfts_added > 0), 0)::text  as "nftsMinted",
                coalesce(-sum(nfts_added) filter (where nfts_added < 0), 0)::text as "nftsBurnt",
                count(*) filter (where is_transfer)::float8                       as "transfers",
                count(*) filter (where nfts_added is null)::float8                as "countsUnread"
           from analytics.nft_class_changes
          where project_id = $1 and ${inRange(undefined, changedOn)}
            and ($4::timestamptz is null or changed_at <= $4)
          group by 1
          order by 1`,
        [query.project, query.from ?? null, query.to ?? null, query.asOf ?? null],
      );
      return rows;
    },
    owners: async (given) => {
      const query = parseArguments('statistics.owners', statisticsArguments.owners, given);
      const { rows } = await reader.query<NftOwner>(
        `select owner, classes::float8 as "classes", nfts::text as "nfts", first_class_on as "firstClassOn",
                newest_class_on as "newestClassOn"
           from analytics.nft_owners
          where project_id = $1
          order by nft_owners.classes desc, owner
          limit $2`,
        [query.project, query.limit],
      );
      return rows;
    },
  };
}

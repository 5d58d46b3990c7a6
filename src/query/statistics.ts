// Figures of orders, classes and their growth. What they mean, and their units, is what the views of analytics say: a
// test holds both together.
import * as z from 'zod';
import { asOf, days, groupsOf, limit, oneOf, parseArguments, project, zone } from './arguments.ts';
import { optional } from './check-arguments.ts';
import type { Reader } from './reader.ts';
import {
  checkRows,
  contentsOf,
  dayIn,
  inRange,
  periodOf,
  withCoverage,
  type By,
  type Counted,
  type Zone,
} from './statistics-sql.ts';
import type {
  AccountSpending,
  NftClassFigures,
  NftGrowth,
  NftOwner,
  OrderFigures,
  OrderGroup,
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

const fields: Record<OrderGroup, string> = {
  status: 'status',
  account: 'account',
  order_type: 'orderType',
};

/** What is counted, and what is summed up of which orders. Counts are far below 2^53: as float8 they come as numbers. */
const counts = {
  orders: 'true',
  succeeded: 'status = 2',
  failed: 'status = 3',
  pending: 'status = 1',
  ofOtherStatus: 'status is null or status not in (1, 2, 3)',
  withoutAmount: 'amount is null',
};
const sums = {
  amountFen: ['amount', 'true'],
  spentFen: ['amount', 'status = 2'],
  pendingFen: ['amount', 'status = 1'],
  numberUgas: ['number', 'order_type = 1'],
  numberFen: ['number', 'order_type = 2'],
  creditedGasUgas: ['number', 'order_type = 1 and status = 2'],
  creditedFeesFen: ['number', 'order_type = 2 and status = 2'],
};
/** Sums that are given in units as well. */
const inUnits = ['amountFen', 'spentFen', 'pendingFen', 'creditedFeesFen'];

const orderFigures = [
  ...Object.entries(counts).map(
    ([name, of]) => `count(*) filter (where ${of})::float8 as "${name}"`,
  ),
  ...Object.entries(sums).map(
    ([name, [column, of]]) => `sum(${column}) filter (where ${of}) as "${name}"`,
  ),
].join(', ');

const orderColumns = [
  ...[...Object.keys(counts), ...Object.keys(sums)].map(
    (name) => `coalesce(f."${name}", 0) as "${name}"`,
  ),
  ...inUnits.map((name) => `coalesce(f."${name}", 0) * 0.01 as "${name.replace(/Fen$/, 'Units')}"`),
].join(', ');

const grouped = (by: By, groups: readonly string[], zone: Zone): string =>
  [`${periodOf(by, dayIn(zone))} as period`, ...groups].join(', ');

/** 1, 2, 3 …: by what is selected first. */
const places = (groups: readonly string[]): string =>
  ['', ...groups].map((_, i) => i + 1).join(', ');

type Range = z.output<typeof statisticsArguments.nftGrowth>;

const parametersOf = ({ project: of, from, to, asOf: at }: Range): unknown[] => [
  of,
  from ?? null,
  to ?? null,
  ...(at === undefined ? [] : [at]),
];

const countedOf = ({ asOf: at, zone: of }: Range): Counted => ({
  isAsOf: at !== undefined,
  zone: of,
});

export const createStatistics = (reader: Reader): Statistics => ({
  orders: async (given) => {
    const query = parseArguments('statistics.orders', statisticsArguments.orders, given);
    const { by, groupBy: groups } = query;
    const of = countedOf(query);
    const columns = ['status', 'order_type', 'amount', 'number'];
    const account = groups.filter((name) => name === 'account');
    const contents = contentsOf('orders', [...columns, ...account], of);
    const figures = `select ${grouped(by, groups, query.zone)}, ${orderFigures} from ${contents} group by ${places(groups)}`;
    const shown = groups.map((name) => `f.${name} as "${fields[name]}"`);
    const { rows } = await reader.query<OrderFigures>(
      withCoverage(by, 'orders', figures, [...shown, orderColumns].join(', '), { groups, ...of }),
      parametersOf(query),
    );
    return checkRows('statistics.orders', rows);
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
  nftClasses: async (given) => {
    const query = parseArguments('statistics.nftClasses', statisticsArguments.nftClasses, given);
    const { by, groupBy: groups } = query;
    const of = countedOf(query);
    const figures = `
      select ${grouped(by, groups, query.zone)}, count(*)::float8 as classes, sum(nft_count) as nfts,
             count(*) filter (where nft_count is null)::float8 as without_count
        from ${contentsOf('nft_classes', ['nft_count', ...groups], of)}
       group by ${places(groups)}`;
    const columns = `${groups.length > 0 ? 'f.owner, ' : ''}coalesce(f.classes, 0) as "classes",
      coalesce(f.nfts, 0) as "nfts", coalesce(f.without_count, 0) as "classesWithoutCount",
      coalesce(c.is_whole_list, false) as "isWholeList"`;
    const { rows } = await reader.query<NftClassFigures>(
      withCoverage(by, 'nft_classes', figures, columns, { groups, ...of }),
      parametersOf(query),
    );
    return checkRows('statistics.nftClasses', rows);
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
});

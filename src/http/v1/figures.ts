// The routes of figures: sums by day or month, in groups, each with how much of its period is held (P7).
import { limit } from '../../query/arguments.ts';
import { days } from '../../query/days.ts';
import { figuresRange, nftClassGroups, orderGroups } from '../../query/statistics.ts';
import * as schema from './figure-schemas.ts';
import { listOf, type RowKind } from './answer-schemas.ts';
import { wholeReply } from './lists.ts';
import { route, type Reply, type Route } from './route.ts';

const about =
  'Report no figure without its coverage: `is_held` is true when all of every day asked for is held, `is_settled` when besides nothing is pending, so that no sum will change. Records the platform shows no more stay in the figures. A period that is only lost is a row too.';

/** What rows are not grouped by is no column of theirs. */
function grouped(
  rows: readonly object[],
  { fields }: RowKind,
  all: readonly string[],
  by: readonly string[],
): Reply {
  const isShown = (field: string): boolean => !all.includes(field) || by.includes(field);
  return { kind: 'rows', rows, fields: fields.filter(isShown) };
}

const fieldOf = { status: 'status', account: 'account', order_type: 'orderType' } as const;

export const figureRoutes: readonly Route[] = [
  route({
    path: '/statistics/orders',
    name: 'orderStatistics',
    summary: 'Orders by outcome, and what was spent, is pending and was credited',
    about,
    isList: true,
    inQuery: { ...figuresRange, groupBy: orderGroups },
    answer: listOf(schema.orderFigures),
    read: async (query, { archive, project }) =>
      grouped(
        await archive.statistics.orders({ project, by: 'month', ...query }),
        schema.orderFigures,
        Object.values(fieldOf),
        (query.groupBy ?? []).map((one) => fieldOf[one]),
      ),
  }),
  route({
    path: '/statistics/accounts',
    name: 'accountStatistics',
    summary: 'The accounts that spent most',
    about:
      'By what is held now of these days: /statistics/orders of the same days says how much of them is held.',
    isList: true,
    inQuery: { ...days, limit: limit.describe('How many of them; 100 by default') },
    answer: listOf(schema.accountSpending),
    read: async (query, { archive, project }) =>
      wholeReply(await archive.statistics.accounts({ project, ...query }), schema.accountSpending),
  }),
  route({
    path: '/statistics/nft_classes',
    name: 'nftClassStatistics',
    summary: 'Classes made, and the NFTs in them',
    about,
    isList: true,
    inQuery: { ...figuresRange, groupBy: nftClassGroups },
    answer: listOf(schema.nftClassFigures),
    read: async (query, { archive, project, classesOf }) =>
      grouped(
        await archive.statistics.nftClasses({
          project: classesOf(project),
          by: 'month',
          ...query,
        }),
        schema.nftClassFigures,
        ['owner'],
        query.groupBy ?? [],
      ),
  }),
  route({
    path: '/statistics/nft_growth',
    name: 'nftGrowthStatistics',
    summary: 'NFTs minted and burnt, and classes transferred, by when it was first seen',
    about:
      'Seen only while a class’s month is in the window; what was there when a class was first seen is in no growth. No coverage stands beside it.',
    isList: true,
    inQuery: figuresRange,
    answer: listOf(schema.nftGrowth),
    read: async (given, { archive, project, classesOf }) => {
      const query = { project: classesOf(project), by: 'month' as const, ...given };
      return wholeReply(await archive.statistics.nftGrowth(query), schema.nftGrowth);
    },
  }),
  route({
    path: '/statistics/nft_owners',
    name: 'nftOwnerStatistics',
    summary: 'The owners with the most classes',
    about: 'As they are held now, whatever is not: no coverage stands beside them.',
    isList: true,
    inQuery: { limit: limit.describe('How many of them; 100 by default') },
    answer: listOf(schema.nftOwner),
    read: async (given, { archive, project, classesOf }) => {
      const query = { project: classesOf(project), ...given };
      return wholeReply(await archive.statistics.owners(query), schema.nftOwner);
    },
  }),
];

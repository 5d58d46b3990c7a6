// The routes of figures: sums by day or month, in groups, each with how much of its period is held (P7).
import { days, limit, zone } from '../../query/arguments.ts';
import { figuresRange, nftClassGroups, orderGroups } from '../../query/statistics.ts';
import * as figures from '../../query/statistics-types.ts';
import { listOf, record, type RowKind } from './answer-schemas.ts';
import { wholeReply } from './question-routes.ts';
import { route, type Reply, type Route } from './route.ts';

const orderFigures = record('OrderFigures', 'Orders of a period', figures.orderFigures);
const accountSpending = record(
  'AccountSpending',
  'What the orders of an account came to',
  figures.accountSpending,
);
const nftClassFigures = record(
  'NftClassFigures',
  'Classes made in a period',
  figures.nftClassFigures,
);
const nftGrowth = record(
  'NftGrowth',
  'What became of classes, by when it was first seen',
  figures.nftGrowth,
);
const nftOwner = record('NftOwner', 'An owner of classes as last seen', figures.nftOwner);

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
  const shown = Object.entries(fields).filter(([field]) => isShown(field));
  return { kind: 'rows', rows, fields: Object.fromEntries(shown) };
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
    answer: listOf(orderFigures),
    read: async (query, { archive, project }) =>
      grouped(
        await archive.statistics.orders({ project, by: 'month', ...query }),
        orderFigures,
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
    inQuery: { ...days, zone, limit: limit.describe('How many of them; 100 by default') },
    answer: listOf(accountSpending),
    read: async (query, { archive, project }) =>
      wholeReply(await archive.statistics.accounts({ project, ...query }), accountSpending),
  }),
  route({
    path: '/statistics/nft_classes',
    name: 'nftClassStatistics',
    summary: 'Classes made, and the NFTs in them',
    about,
    isList: true,
    inQuery: { ...figuresRange, groupBy: nftClassGroups },
    answer: listOf(nftClassFigures),
    read: async (query, { archive, project, classesOf }) =>
      grouped(
        await archive.statistics.nftClasses({
          project: classesOf(project),
          by: 'month',
          ...query,
        }),
        nftClassFigures,
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
    answer: listOf(nftGrowth),
    read: async (given, { archive, project, classesOf }) => {
      const query = { project: classesOf(project), by: 'month' as const, ...given };
      return wholeReply(await archive.statistics.nftGrowth(query), nftGrowth);
    },
  }),
  route({
    path: '/statistics/nft_owners',
    name: 'nftOwnerStatistics',
    summary: 'The owners with the most classes',
    about: 'As they are held now, whatever is not: no coverage stands beside them.',
    isList: true,
    inQuery: { limit: limit.describe('How many of them; 100 by default') },
    answer: listOf(nftOwner),
    read: async (given, { archive, project, classesOf }) => {
      const query = { project: classesOf(project), ...given };
      return wholeReply(await archive.statistics.owners(query), nftOwner);
    },
  }),
];

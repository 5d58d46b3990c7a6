// The routes of figures: sums by day or month, in groups, each with how much of its period is held (P7).
import { days, limit, zone } from '../../query/arguments.ts';
import { figuresRange, nftClassGroups, orderGroups } from '../../query/statistics.ts';
import * as figures from '../../query/statistics-types.ts';
import { record } from './answer-schemas.ts';
import { wholeRoute } from './question-routes.ts';
import type { Route } from './route.ts';

const about =
  'Report no figure without its coverage: `is_held` is true when all of every day asked for is held, `is_settled` when besides nothing is pending, so that no sum will change. Records the platform shows no more stay in the figures. A period that is only lost is a row too.';

const most = limit.describe('How many of them; 100 by default');
const by = 'month' as const;

export const figureRoutes: readonly Route[] = [
  wholeRoute({
    path: '/statistics/orders',
    name: 'orderStatistics',
    summary: 'Orders by outcome, and what was spent, is pending and was credited',
    about,
    inQuery: { ...figuresRange, groupBy: orderGroups },
    kind: record('OrderFigures', 'Orders of a period', figures.orderFigures),
    rows: (query, { archive, project }) => archive.statistics.orders({ project, by, ...query }),
  }),
  wholeRoute({
    path: '/statistics/accounts',
    name: 'accountStatistics',
    summary: 'The accounts that spent most',
    about:
      'By what is held now of these days: /statistics/orders of the same days says how much of them is held.',
    inQuery: { ...days, zone, limit: most },
    kind: record(
      'AccountSpending',
      'What the orders of an account came to',
      figures.accountSpending,
    ),
    rows: (query, { archive, project }) => archive.statistics.accounts({ project, ...query }),
  }),
  wholeRoute({
    path: '/statistics/nft_classes',
    name: 'nftClassStatistics',
    summary: 'Classes made, and the NFTs in them',
    about,
    inQuery: { ...figuresRange, groupBy: nftClassGroups },
    kind: record('NftClassFigures', 'Classes made in a period', figures.nftClassFigures),
    rows: (query, { archive, project, classesOf }) =>
      archive.statistics.nftClasses({ project: classesOf(project), by, ...query }),
  }),
  wholeRoute({
    path: '/statistics/nft_growth',
    name: 'nftGrowthStatistics',
    summary: 'NFTs minted and burnt, and classes transferred, by when it was first seen',
    about:
      'Seen only while a class’s month is in the window; what was there when a class was first seen is in no growth. No coverage stands beside it.',
    inQuery: figuresRange,
    kind: record(
      'NftGrowth',
      'What became of classes, by when it was first seen',
      figures.nftGrowth,
    ),
    rows: (query, { archive, project, classesOf }) =>
      archive.statistics.nftGrowth({ project: classesOf(project), by, ...query }),
  }),
  wholeRoute({
    path: '/statistics/nft_owners',
    name: 'nftOwnerStatistics',
    summary: 'The owners with the most classes',
    about: 'As they are held now, whatever is not: no coverage stands beside them.',
    inQuery: { limit: most },
    kind: record('NftOwner', 'An owner of classes as last seen', figures.nftOwner),
    rows: (query, { archive, project, classesOf }) =>
      archive.statistics.owners({ project: classesOf(project), ...query }),
  }),
];

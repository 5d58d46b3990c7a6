// The routes of figures: sums by day or month, in groups, each with how much of its period is held (P7).
import * as schema from './figure-schemas.ts';
import { listOf, type RowKind } from './kinds.ts';
import { whole } from './lists.ts';
import * as parameter from './parameters.ts';
import { present, route, type Reply, type Route } from './route.ts';

const range = {
  ...parameter.days,
  by: parameter
    .oneOf(['day', 'month'])
    .optional()
    .describe('The length of a period; month unless told'),
  as_of: parameter.asOf,
};
const about =
  'Report no figure without its coverage: `is_complete` is true when every day asked for is held, proved and without a doubt. A period that is only lost is a row too.';

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
    inQuery: {
      ...range,
      group_by: parameter
        .severalOf(['status', 'account', 'order_type'])
        .optional()
        .describe('A row for each of these; several with commas'),
    },
    answer: listOf(schema.orderFigures),
    read: async (
      { from, to, by = 'month', as_of: asOf, group_by: groupBy },
      { archive, project },
    ) =>
      grouped(
        await archive.statistics.orders({ project, by, ...present({ from, to, asOf, groupBy }) }),
        schema.orderFigures,
        Object.values(fieldOf),
        (groupBy ?? []).map((one) => fieldOf[one]),
      ),
  }),
  route({
    path: '/statistics/nft_classes',
    name: 'nftClassStatistics',
    summary: 'Classes made, and the NFTs in them',
    about,
    isList: true,
    inQuery: {
      ...range,
      group_by: parameter.severalOf(['owner']).optional().describe('owner: a row for each'),
    },
    answer: listOf(schema.nftClassFigures),
    read: async (
      { from, to, by = 'month', as_of: asOf, group_by: groupBy },
      { archive, project, classesOf },
    ) =>
      grouped(
        await archive.statistics.nftClasses({
          project: classesOf(project),
          by,
          ...present({ from, to, asOf, groupBy }),
        }),
        schema.nftClassFigures,
        ['owner'],
        groupBy ?? [],
      ),
  }),
  route({
    path: '/statistics/nft_growth',
    name: 'nftGrowthStatistics',
    summary: 'NFTs minted and burnt, and classes transferred, by when it was first seen',
    about:
      'Seen only while a class’s month is in the window; what was there when a class was first seen is in no growth. No coverage stands beside it.',
    isList: true,
    inQuery: range,
    answer: listOf(schema.nftGrowth),
    read: async ({ from, to, by = 'month', as_of: asOf }, { archive, project, classesOf }) => {
      const query = { project: classesOf(project), by, ...present({ from, to, asOf }) };
      return whole(await archive.statistics.nftGrowth(query), schema.nftGrowth);
    },
  }),
  route({
    path: '/statistics/nft_owners',
    name: 'nftOwnerStatistics',
    summary: 'The owners with the most classes',
    about: 'As they are held now, whatever is not: no coverage stands beside them.',
    isList: true,
    inQuery: { limit: parameter.paging.limit },
    answer: listOf(schema.nftOwner),
    read: async ({ limit }, { archive, project, classesOf }) => {
      const query = { project: classesOf(project), ...present({ limit }) };
      return whole(await archive.statistics.owners(query), schema.nftOwner);
    },
  }),
];

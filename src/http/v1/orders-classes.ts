// The routes of what the platform lists: orders and NFT classes, a page, a stream or one record at a time.
import { asOf, id as anyId, order } from '../../query/arguments.ts';
import { days } from '../../query/days.ts';
import { nftClassFilters } from '../../query/nft-classes.ts';
import { orderFilters } from '../../query/orders.ts';
import { pageOf, listOf } from './answer-schemas.ts';
import { aboutHistory, listReply, one, pageArguments, versions } from './lists.ts';
import { count } from './parameters.ts';
import { route, type Route } from './route.ts';
import * as schema from './schemas.ts';

const listing = { ...days, asOf, order, ...pageArguments, count };
const single = {
  mayBeAbsent: true,
  inPath: { id: anyId.describe('The id, percent-encoded') },
} as const;

const orderRoutes: readonly Route[] = [
  route({
    path: '/orders',
    name: 'listOrders',
    summary: 'Purchase orders',
    about:
      'By day, time of creation and id. Following `next` gives each order held throughout exactly once, whatever is written meanwhile.',
    isList: true,
    inQuery: { ...listing, ...orderFilters },
    answer: pageOf(schema.order),
    read: ({ limit, cursor, count: isCounted, ...query }, asking) =>
      listReply(
        asking.archive.orders,
        { project: asking.project, ...query },
        { limit, cursor, count: isCounted },
        schema.order,
        asking,
      ),
  }),
  route({
    path: '/orders/{id}',
    name: 'getOrder',
    summary: 'One order',
    ...single,
    inQuery: { asOf },
    answer: schema.order.schema,
    read: async ({ id, ...at }, { archive, project }) =>
      one(await archive.orders.get(project, id, at), schema.order),
  }),
  route({
    path: '/orders/{id}/history',
    name: 'getOrderHistory',
    summary: 'Everything an order was ever seen to say',
    about: aboutHistory,
    isList: true,
    ...single,
    answer: listOf(schema.orderVersion),
    read: async ({ id }, { archive, project }) =>
      versions(await archive.orders.history(project, id), schema.orderVersion),
  }),
];

const nftClassRoutes: readonly Route[] = [
  route({
    path: '/nft_classes',
    name: 'listNftClasses',
    summary: 'NFT classes',
    about:
      'The platform’s list, whoever asks: where several projects share a platform, the one that archives it answers for all.',
    isList: true,
    inQuery: { ...listing, ...nftClassFilters },
    answer: pageOf(schema.nftClass),
    read: ({ limit, cursor, count: isCounted, ...query }, asking) =>
      listReply(
        asking.archive.nftClasses,
        { project: asking.classesOf(asking.project), ...query },
        { limit, cursor, count: isCounted },
        schema.nftClass,
        asking,
      ),
  }),
  route({
    path: '/nft_classes/{id}',
    name: 'getNftClass',
    summary: 'One NFT class',
    ...single,
    inQuery: { asOf },
    answer: schema.nftClass.schema,
    read: async ({ id, ...at }, { archive, project, classesOf }) =>
      one(await archive.nftClasses.get(classesOf(project), id, at), schema.nftClass),
  }),
  route({
    path: '/nft_classes/{id}/history',
    name: 'getNftClassHistory',
    summary: 'Everything a class was ever seen to say',
    about: aboutHistory,
    isList: true,
    ...single,
    answer: listOf(schema.nftClassVersion),
    read: async ({ id }, { archive, project, classesOf }) =>
      versions(await archive.nftClasses.history(classesOf(project), id), schema.nftClassVersion),
  }),
];

export const recordRoutes: readonly Route[] = [...orderRoutes, ...nftClassRoutes];

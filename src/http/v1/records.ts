// The routes of what the platform lists: orders and NFT classes, a page, a stream or one record at a time.
import { pageOf, listOf } from './kinds.ts';
import { aboutHistory, listed, one, versions } from './lists.ts';
import * as parameter from './parameters.ts';
import { present, route, type Route } from './route.ts';
import * as schema from './schemas.ts';

const order = parameter
  .oneOf(['asc', 'desc'])
  .optional()
  .describe('By (day, time of creation, id bytes); asc unless told');
const listing = {
  ...parameter.days,
  as_of: parameter.asOf,
  order,
  ...parameter.paging,
  count: parameter.count,
};
const single = {
  mayBeAbsent: true,
  inPath: { id: parameter.id.describe('The id, percent-encoded') },
} as const;

const orderRoutes: readonly Route[] = [
  route({
    path: '/orders',
    name: 'listOrders',
    summary: 'Purchase orders',
    about:
      'By day, time of creation and id. Following `next` gives each order held throughout exactly once, whatever is written meanwhile.',
    isList: true,
    inQuery: {
      ...listing,
      status: parameter
        .several([1, 2, 3])
        .optional()
        .describe('1 pending, 2 succeeded, 3 failed; several with commas'),
      account: parameter.text.optional().describe('Only what this account bought'),
    },
    answer: pageOf(schema.order),
    read: ({ limit, cursor, count, as_of: asOf, ...filters }, asking) =>
      listed(
        asking.archive.orders,
        { project: asking.project, ...present({ ...filters, asOf }) },
        { limit, cursor, count },
        schema.order,
        asking,
      ),
  }),
  route({
    path: '/orders/{id}',
    name: 'getOrder',
    summary: 'One order',
    ...single,
    inQuery: { as_of: parameter.asOf },
    answer: schema.order.schema,
    read: async ({ id, as_of: asOf }, { archive, project }) =>
      one(await archive.orders.get(project, id, present({ asOf })), schema.order),
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
    inQuery: {
      ...listing,
      id: parameter.id.optional().describe('The class with this id'),
      owner: parameter.text.optional().describe('Only what this account owns'),
      name: parameter.text.optional().describe('A part of the name, whatever its case'),
      tx_hash: parameter.text.optional().describe('Only what this transaction issued'),
    },
    answer: pageOf(schema.nftClass),
    read: ({ limit, cursor, count, as_of: asOf, tx_hash: txHash, ...filters }, asking) =>
      listed(
        asking.archive.nftClasses,
        { project: asking.classesOf(asking.project), ...present({ ...filters, txHash, asOf }) },
        { limit, cursor, count },
        schema.nftClass,
        asking,
      ),
  }),
  route({
    path: '/nft_classes/{id}',
    name: 'getNftClass',
    summary: 'One NFT class',
    ...single,
    inQuery: { as_of: parameter.asOf },
    answer: schema.nftClass.schema,
    read: async ({ id, as_of: asOf }, { archive, project, classesOf }) =>
      one(await archive.nftClasses.get(classesOf(project), id, present({ asOf })), schema.nftClass),
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

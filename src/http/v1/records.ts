// The routes of what the platform lists: orders and NFT classes, a page, a stream or one record at a time.
import { nftClassFields, orderFields } from '../../query/record-fields.ts';
import { firstOf, jsonText } from '../../query/record-text.ts';
import type { ListPage, Version } from '../../query/types.ts';
import { refuse } from '../answers.ts';
import * as parameter from './parameters.ts';
import { present, route, type Asking, type Reply, type Route } from './route.ts';
import * as schema from './schemas.ts';

type Paging = {
  limit?: number | undefined;
  cursor?: string | undefined;
  count?: boolean | undefined;
};

/** The part of the library that a list needs, whatever it is of. */
export type Listed<Item, Query> = {
  list(query: Query & { limit?: number; cursor?: string }): Promise<ListPage<Item>>;
  count?(query: Query): Promise<number>;
  stream(query: Query): AsyncIterable<Item>;
};

/** A page in JSON; in the other forms everything, or as many as `limit` says. */
export async function listed<Item extends object, Query extends object>(
  records: Listed<Item, Query>,
  query: Query,
  { limit, cursor, count }: Paging,
  fields: readonly string[],
  { format }: Asking,
): Promise<Reply> {
  if (format !== 'json') {
    if (cursor !== undefined || count !== undefined) {
      refuse(`cursor and count go with json: ${format} gives the list from its beginning`);
    }
    return { kind: 'rows', rows: firstOf(records.stream(query), limit ?? Infinity), fields };
  }
  const { items, next, previous } = await records.list({
    ...query,
    ...present({ limit, cursor }),
  });
  const counted = count === true ? { count: await records.count?.(query) } : {};
  return { kind: 'rows', rows: items, fields, beside: { next, previous, ...counted } };
}

const order = parameter
  .oneOf(['asc', 'desc'])
  .optional()
  .describe('By (day, time of creation, id bytes); asc unless told');
const count = parameter.flag.describe(
  'true: how many match, counted exactly, stands beside the items',
);
const versionFields = ['inForceFrom', 'inForceUntil', 'isCurrent'];
/** Every content with when it was in force, as rows. */
export const versions = <Item extends object>(
  found: readonly Version<Item>[],
  fields: readonly string[],
): Reply | null =>
  found.length === 0
    ? null
    : {
        kind: 'rows',
        rows: found.map(({ item, ...inForce }) => ({ ...inForce, ...item })),
        fields: [...versionFields, ...fields],
      };
export const aboutHistory =
  'Oldest first. A content that came late and was older than what was held never was in force: its `in_force_from` is null.';

const listing = { ...parameter.days, as_of: parameter.asOf, order, ...parameter.paging, count };

export const object = <Item extends object>(
  item: Item | null,
  fields: readonly string[],
): Reply | null =>
  item === null ? null : { kind: 'object', json: jsonText(item, fields as never[]) };

const one = {
  mayBeAbsent: true,
  inPath: { id: parameter.id.describe('The id, percent-encoded') },
} as const;
const statuses = parameter.several([1, 2, 3]).optional();

export const recordRoutes: readonly Route[] = [
  route({
    path: '/orders',
    name: 'listOrders',
    summary: 'Purchase orders',
    about:
      'By day, time of creation and id. Following `next` gives each order held throughout exactly once, whatever is written meanwhile.',
    isList: true,
    inQuery: {
      ...listing,
      status: statuses.describe('1 pending, 2 succeeded, 3 failed; several with commas'),
      account: parameter.text.optional().describe('Only what this account bought'),
    },
    answer: schema.pageOf(schema.order),
    read: ({ limit, cursor, count: counts, as_of: asOf, ...filters }, asking) =>
      listed(
        asking.archive.orders,
        { project: asking.project, ...present({ ...filters, asOf }) },
        { limit, cursor, count: counts },
        orderFields,
        asking,
      ),
  }),
  route({
    path: '/orders/{id}',
    name: 'getOrder',
    summary: 'One order',
    ...one,
    inQuery: { as_of: parameter.asOf },
    answer: schema.order,
    read: async ({ id, as_of: asOf }, { archive, project }) =>
      object(await archive.orders.get(project, id, present({ asOf })), orderFields),
  }),
  route({
    path: '/orders/{id}/history',
    name: 'getOrderHistory',
    summary: 'Everything an order was ever seen to say',
    about: aboutHistory,
    isList: true,
    ...one,
    answer: schema.listOf(schema.orderVersion),
    read: async ({ id }, { archive, project }) =>
      versions(await archive.orders.history(project, id), orderFields),
  }),
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
    answer: schema.pageOf(schema.nftClass),
    read: ({ limit, cursor, count: counts, as_of: asOf, tx_hash: txHash, ...filters }, asking) =>
      listed(
        asking.archive.nftClasses,
        { project: asking.classesOf(asking.project), ...present({ ...filters, txHash, asOf }) },
        { limit, cursor, count: counts },
        nftClassFields,
        asking,
      ),
  }),
  route({
    path: '/nft_classes/{id}',
    name: 'getNftClass',
    summary: 'One NFT class',
    ...one,
    inQuery: { as_of: parameter.asOf },
    answer: schema.nftClass,
    read: async ({ id, as_of: asOf }, { archive, project, classesOf }) =>
      object(
        await archive.nftClasses.get(classesOf(project), id, present({ asOf })),
        nftClassFields,
      ),
  }),
  route({
    path: '/nft_classes/{id}/history',
    name: 'getNftClassHistory',
    summary: 'Everything a class was ever seen to say',
    about: aboutHistory,
    isList: true,
    ...one,
    answer: schema.listOf(schema.nftClassVersion),
    read: async ({ id }, { archive, project, classesOf }) =>
      versions(await archive.nftClasses.history(classesOf(project), id), nftClassFields),
  }),
];

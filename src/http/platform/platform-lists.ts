// `/v3/orders` and `/v1beta1/nft/classes` from the archive (docs/platform.md §4.4, §4.7): the same parameters, paging
// and envelope, for any date.
import * as z from 'zod';
import { cursorSaid, offset, oneOf, whole } from '../../query/arguments.ts';
import type { Given } from '../../query/check-arguments.ts';
import { day, halfOpen } from '../../query/days.ts';
import { nftClassFilters } from '../../query/nft-classes.ts';
import type { ListScope } from '../../query/types.ts';
import { orderStatuses } from '../../model.ts';
import type { Answer } from '../http-answers.ts';
import { present } from '../v1/route.ts';
import { ofPlatform, platformRoute, record } from './platform-route.ts';

const dates = {
  start_date: day.describe('First day, yyyy-MM-dd'),
  end_date: day.describe('Last day, inclusive'),
  sort_by: oneOf(['DATE_ASC', 'DATE_DESC']).describe('DATE_DESC by default'),
};

type Selected = Pick<ListScope, 'from' | 'to'> & { order: 'asc' | 'desc' };

/** The days asked for, half-open. An end before the start selects nothing. */
function selectedBy({
  start_date: from,
  end_date: last,
  sort_by: sortBy,
}: Given<typeof dates>): Selected {
  const range = halfOpen({ from, to: last });
  const isEmpty = from !== undefined && range.to !== undefined && from > range.to;
  return {
    ...range,
    ...(isEmpty ? { to: from } : {}),
    order: sortBy === 'DATE_ASC' ? 'asc' : 'desc',
  };
}

/** The envelope around records that stand as they were archived. */
function listAnswer(
  head: Record<string, unknown>,
  listName: string,
  records: readonly { rawJson: string; rawBytes: Uint8Array | null }[],
): Answer {
  const opening = JSON.stringify(head).slice(0, -1);
  const parts: Uint8Array[] = [Buffer.from(`{"data":${opening},"${listName}":[`)];
  for (const [i, { rawJson, rawBytes }] of records.entries()) {
    if (i > 0) parts.push(Buffer.from(','));
    parts.push(rawBytes ?? Buffer.from(rawJson));
  }
  parts.push(Buffer.from(']}}'));
  return { status: 200, body: Buffer.concat(parts) };
}

export const ordersRoute = platformRoute({
  ...ofPlatform,
  path: '/v3/orders',
  name: 'platformOrders',
  summary: 'Purchase orders, for any date',
  about: 'Paged by key in both directions; `""` at the ends.',
  inQuery: {
    page_key: cursorSaid('must be the `next_page_key` or `prev_page_key` of a page').describe(
      'The key of a page of the same query',
    ),
    limit: whole(1, 50).describe('10 by default'),
    status: z.literal(orderStatuses, 'must be one of 1, 2, 3 (pending, succeeded, failed)'),
    ...dates,
    count_total: z.literal([0, 1], 'must be one of 0, 1').describe('1: with the total'),
  },
  answer: z.object({
    data: z.object({
      prev_page_key: z.string(),
      next_page_key: z.string(),
      limit: z.int(),
      total_count: z.int().optional(),
      order_infos: z.array(record),
    }),
  }),
  read: async (
    { page_key: key, limit = 10, status, count_total: isCounted, ...range },
    { archive, project },
  ) => {
    const scope = { project, ...selectedBy(range), ...present({ status }) };
    const page = await archive.orders.list({ ...scope, limit, ...present({ cursor: key }) });
    const counts = isCounted === 1 ? { total_count: await archive.orders.count(scope) } : {};
    return listAnswer(
      { prev_page_key: page.previous ?? '', next_page_key: page.next ?? '', limit, ...counts },
      'order_infos',
      page.items,
    );
  },
});

const { txHash, ...filters } = nftClassFilters;

export const classesRoute = platformRoute({
  ...ofPlatform,
  path: '/v1beta1/nft/classes',
  name: 'platformNftClasses',
  summary: 'NFT classes, for any date',
  about:
    'Paged by offset. Every class before the page is read to get there: narrow long lists by date.',
  inQuery: {
    offset,
    limit: whole(1, 200).describe('10 by default'),
    ...filters,
    tx_hash: txHash,
    ...dates,
  },
  answer: z.object({
    data: z.object({
      offset: z.int(),
      limit: z.int(),
      total_count: z.int(),
      classes: z.array(record),
    }),
  }),
  read: async (
    { offset: from = 0, limit = 10, tx_hash: hash, start_date, end_date, sort_by, ...named },
    { archive, project: asked, classesOf },
  ) => {
    const project = classesOf(asked);
    const range = { start_date, end_date, sort_by };
    const scope = {
      project,
      ...selectedBy(range),
      ...named,
      ...present({ txHash: hash }),
    };
    const total = await archive.nftClasses.count(scope);
    // Behind the end there is nothing to read one's way to.
    const items =
      from < total ? (await archive.nftClasses.list({ ...scope, limit, offset: from })).items : [];
    return listAnswer({ offset: from, limit, total_count: total }, 'classes', items);
  },
});

// `/v3/orders` from the archive (docs/platform.md §4.4): the same parameters, paging and envelope, for any date.
import * as z from 'zod';
import { cursorSaid, whole } from '../../query/arguments.ts';
import { orderStatuses } from '../../model.ts';
import { dates, listAnswer, selectedBy } from './list-answers.ts';
import { ofPlatform, platformRoute, record } from './platform-route.ts';

const text = z.string();

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
      prev_page_key: text,
      next_page_key: text,
      limit: z.int(),
      total_count: z.int().optional(),
      order_infos: z.array(record),
    }),
  }),
  read: async (
    { page_key: key, limit = 10, status, count_total: isCounted, ...range },
    { archive, project },
  ) => {
    const scope = {
      project,
      ...selectedBy(range),
      ...(status === undefined ? {} : { status }),
    };
    const from = key === undefined ? {} : { cursor: key };
    const page = await archive.orders.list({ ...scope, limit, ...from });
    const counts = isCounted === 1 ? { total_count: await archive.orders.count(scope) } : {};
    return listAnswer(
      { prev_page_key: page.previous ?? '', next_page_key: page.next ?? '', limit, ...counts },
      'order_infos',
      page.items,
    );
  },
});

// `/v3/orders` from the archive (docs/platform.md §4.4): the same parameters, paging and envelope, for any date.
import type { Archive } from '../query/types.ts';
import { listAnswer, refuse, type Answer } from './answers.ts';
import { daysIn, orderIn, wholeIn } from './parameters.ts';
import type { Query } from '../platform/target.ts';

const greatestLimit = 50;

export async function answerOrders(
  archive: Archive,
  project: string,
  query: Query,
): Promise<Answer> {
  const scope = {
    project,
    ...(await daysIn(query, archive, project, 'orders')),
    order: orderIn(query),
    ...statusIn(query),
  };
  const limit = wholeIn(query, 'limit', 10, 1, greatestLimit);
  const cursor = query.get('page_key');
  const page = await archive.orders.list({
    ...scope,
    limit,
    ...(cursor === undefined ? {} : { cursor }),
  });
  const counts = countsIn(query) ? { total_count: await archive.orders.count(scope) } : {};
  return listAnswer(
    { prev_page_key: page.previous ?? '', next_page_key: page.next ?? '', limit, ...counts },
    'order_infos',
    page.items,
  );
}

function statusIn(query: Query): { status?: 1 | 2 | 3 } {
  const text = query.get('status');
  if (text === undefined) return {};
  const status = ([1, 2, 3] as const).find((one) => String(one) === text);
  return status === undefined ? refuse('status must be 1, 2 or 3') : { status };
}

function countsIn(query: Query): boolean {
  const text = query.get('count_total') ?? '0';
  return text === '0' || text === '1' ? text === '1' : refuse('count_total must be 0 or 1');
}

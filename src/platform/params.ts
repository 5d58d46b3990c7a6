// Queries as parameters on the wire (docs/platform.md §4.4, §4.7). An empty parameter is never sent: client
// libraries disagree on how one is signed.
import { sentKey } from './page-key.ts';
import type { ClassesQuery, OrdersQuery } from './platform.ts';

/** Parameters by name, decoded: what is signed. */
export type Params = Record<string, string>;

export function ordersParams(query: OrdersQuery): Params {
  return withoutEmpty({
    page_key: query.pageKey === undefined ? undefined : sentKey(query.pageKey),
    limit: String(query.limit),
    status: query.status === undefined ? undefined : String(query.status),
    start_date: query.startDate,
    end_date: query.endDate,
    sort_by: query.sortBy,
    count_total: query.countTotal ? '1' : undefined,
  });
}

export function classesParams(query: ClassesQuery): Params {
  return withoutEmpty({
    offset: String(query.offset),
    limit: String(query.limit),
    id: query.id,
    owner: query.owner,
    start_date: query.startDate,
    end_date: query.endDate,
    sort_by: query.sortBy,
  });
}

function withoutEmpty(params: Record<string, string | undefined>): Params {
  const kept: Params = {};
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') kept[name] = value;
  }
  return kept;
}

/** `?name=value&…`, percent-encoded (`+` and space too), or '' without parameters. */
export function queryText(params: Params): string {
  let text = '';
  for (const [name, value] of Object.entries(params)) {
    text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}

// A request's path and parameters as they stand on the wire (docs/platform.md §4.4, §4.7). Pure. An empty parameter is
// never sent: client libraries disagree on how one is signed.
import type { ClassesQuery, OrdersQuery } from './platform.ts';

/** Decoded parameters; of a repeated name the first value counts. */
export type QueryParameters = ReadonlyMap<string, string>;

export type Target = {
  /** As sent: it is signed so. */
  path: string;
  /** As received, empty ones included: what a signature covers. */
  signed: Record<string, string>;
  /**
   * Whether a name stands there more than once: no signature can cover such a target, for only the first value is
   * signed.
   */
  isRepeated: boolean;
  /** Without the empty ones: an empty parameter asks for nothing. */
  query: QueryParameters;
};

export function targetOf(url: string): Target {
  const mark = url.indexOf('?');
  if (mark < 0) return { path: url, signed: {}, isRepeated: false, query: new Map() };
  const received = new Map<string, string>();
  let isRepeated = false;
  for (const [name, value] of new URLSearchParams(url.slice(mark + 1))) {
    if (received.has(name)) isRepeated = true;
    else received.set(name, value);
  }
  return {
    path: url.slice(0, mark),
    signed: Object.fromEntries(received),
    isRepeated,
    query: new Map([...received].filter(([, value]) => value !== '')),
  };
}

/** Parameters by name, decoded: what is signed. */
export type Params = Record<string, string>;

export function ordersParams(query: OrdersQuery): Params {
  return withoutEmpty({
    page_key: query.pageKey ?? undefined,
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

// A request's path and parameters as they stand on the wire (docs/platform.md §4.4, §4.7). Pure. An empty parameter is
// never sent: client libraries disagree on how one is signed.
import type { ListQuery } from './platform.ts';

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

export function listParams(query: ListQuery): Params {
  const { resource, pageKey, offset = 0, owner, limit, status } = query;
  const { startDate, endDate, sortBy, countTotal } = query;
  const isOrders = resource === 'orders';
  const named = {
    page_key: isOrders ? pageKey : null,
    offset: isOrders ? null : offset,
    limit,
    status: isOrders ? status : null,
    owner: isOrders ? null : owner,
    start_date: startDate,
    end_date: endDate,
    sort_by: sortBy,
    count_total: isOrders && countTotal === true ? 1 : null,
  };
  const given = Object.entries(named).map(([name, value]) => [name, String(value ?? '')]);
  return Object.fromEntries(given.filter(([, text]) => text !== '')) as Params;
}

/** `?name=value&…`, percent-encoded (`+` and space too), or '' without parameters. */
export function queryText(params: Params): string {
  let text = '';
  for (const [name, value] of Object.entries(params)) {
    text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return text;
}

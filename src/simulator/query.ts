// A request's path and parameters as they stand on the wire.

/** Decoded parameters; of a repeated name the first value counts. */
export type Query = ReadonlyMap<string, string>;

export type Target = {
  /** As sent: it is signed so. */
  path: string;
  /** As received, empty ones included: what a signature covers. */
  signed: Record<string, string>;
  /** Without the empty ones: what is asked. */
  query: Query;
};

export function targetOf(url: string): Target {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const signed: Record<string, string> = {};
  const query = new Map<string, string>();
  if (mark < 0) return { path, signed, query };
  const seen = new Set<string>();
  for (const [name, value] of new URLSearchParams(url.slice(mark + 1))) {
    if (seen.has(name)) continue;
    seen.add(name);
    signed[name] = value;
    if (value !== '') query.set(name, value);
  }
  return { path, signed, query };
}

/** A parameter that is a whole number from `least` on; a sentence if it is something else. */
export function wholeIn(
  query: Query,
  name: string,
  standard: number,
  least: number,
): number | string {
  const text = query.get(name);
  if (text === undefined) return standard;
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < least) {
    return `${name} must be a whole number from ${least} on`;
  }
  return value;
}

/** `sort_by` (interface.md §4.4, §4.7); null if it is neither. */
export function isAscending(query: Query): boolean | null {
  const sortBy = query.get('sort_by') ?? 'DATE_DESC';
  return sortBy === 'DATE_ASC' ? true : sortBy === 'DATE_DESC' ? false : null;
}

// A request's path and parameters as they stand on the wire. Pure.

/** Decoded parameters; of a repeated name the first value counts. */
export type Query = ReadonlyMap<string, string>;

export type Target = {
  /** As sent: it is signed so. */
  path: string;
  /** As received, empty ones included: what a signature covers. */
  signed: Record<string, string>;
  /** Whether a name stands there more than once: no signature can cover such a target, for only the first value is signed. */
  isRepeated: boolean;
  /** Without the empty ones: an empty parameter asks for nothing. */
  query: Query;
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

// Page keys are opaque, and a platform may put anything into one. In the house a key is text that Postgres can hold, in
// a column and in a checkpoint; only on its way out it becomes again what the platform gave. Pure. The parameter's name
// stands in target.ts, the field of an answer in pages.ts.
import { toUSVString } from 'node:util';
import { storable } from './canonical.ts';

/** Before a key that is kept as JSON text, where U+0000 and lone surrogates are escapes. */
const mark = 'json:';

/** The key as it is kept. Different keys stay different: one that looks marked already is marked as well. */
export function keptKey(key: string): string {
  return storable(key) === key && !key.startsWith(mark) ? key : mark + JSON.stringify(key);
}

/** The key as it is sent, in UTF-8: lone surrogates, which that cannot say, become U+FFFD. */
export function sentKey(kept: string): string {
  if (!kept.startsWith(mark)) return kept;
  const key: unknown = JSON.parse(kept.slice(mark.length));
  return typeof key === 'string' ? toUSVString(key) : kept;
}

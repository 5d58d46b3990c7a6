// Page keys: opaque to a client, and awkward on purpose: base64 with `+`, `/` and `=`, which a careless client breaks.
// A key says where a page begins, not on which page: what is added or hidden elsewhere does not shift it.
import { createHash } from 'node:crypto';
import type { ListPlace } from './list.ts';

export type PageKey = {
  /** `next`: what follows `place`; `prev`: what comes before it; `start`: the first page. */
  kind: 'next' | 'prev' | 'start';
  place: ListPlace;
  /** The number of the request it was given on; null for a key that does not age. */
  request: number | null;
};

const checkBytes = 8;

export const encodeKey = (key: PageKey, seed: number): string => sealed(JSON.stringify(key), seed);

/** Null for whatever is no key of this world, a damaged one included. */
export function decodeKey(key: string, seed: number): PageKey | null {
  const text = Buffer.from(key, 'base64').subarray(checkBytes).toString('utf8');
  return sealed(text, seed) === key ? (JSON.parse(text) as PageKey) : null;
}

/** With a checksum over text and seed: keys of another world are refused as keys of another platform would be. */
function sealed(text: string, seed: number): string {
  const check = createHash('sha256').update(`${seed} ${text}`).digest().subarray(0, checkBytes);
  return Buffer.concat([check, Buffer.from(text)]).toString('base64');
}

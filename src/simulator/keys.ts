// Page keys: opaque to a client, and awkward on purpose. A key says where a page begins, not on which page: what
// is added or hidden elsewhere does not shift it. Base64 with `+`, `/` and `=`, which a careless client breaks.
import type { ListPlace } from './list.ts';
import { mix } from './world.ts';

export type PageKey = {
  /** `next`: what follows `place`; `prev`: what comes before it; `start`: the first page. */
  kind: 'next' | 'prev' | 'start';
  place: ListPlace;
  /** The number of the request it was given on; null for a key that does not age. */
  request: number | null;
};

const kinds = { n: 'next', p: 'prev', s: 'start' } as const;
/** The id stands as JSON, for a lone surrogate in it would not survive as UTF-8. */
const form = /^([nps])(-?\d+)\.(\d+)\.(\d*)\.(".*")$/;

export function encodeKey(key: PageKey, seed: number): string {
  const { kind, place, request } = key;
  const text = Buffer.from(
    `${kind[0]}${place.at}.${place.seq}.${request ?? ''}.${JSON.stringify(place.id)}`,
    'utf8',
  );
  const check = checkOf(text, seed);
  const bytes = Buffer.allocUnsafe(text.length + 4);
  bytes.writeUInt32BE(check);
  text.copy(bytes, 4);
  return mask(bytes, check).toString('base64');
}

/** Null for whatever is no key of this world, a damaged one included. */
export function decodeKey(key: string, seed: number): PageKey | null {
  const bytes = Buffer.from(key, 'base64');
  if (bytes.length < 8 || bytes.toString('base64') !== key) return null;
  const check = bytes.readUInt32BE();
  const text = mask(bytes, check).subarray(4);
  if (checkOf(text, seed) !== check) return null;
  const parts = form.exec(text.toString('utf8'));
  if (parts === null) return null;
  const [, kind = '', at, seq, request, id = '""'] = parts;
  return {
    kind: kinds[kind as keyof typeof kinds],
    place: { at: Number(at), seq: Number(seq), id: JSON.parse(id) as string },
    request: request === '' ? null : Number(request),
  };
}

/** Over text and seed: keys of another world are refused as keys of another platform would be. */
function checkOf(text: Buffer, seed: number): number {
  let check = seed;
  for (const byte of text) check = mix(check, byte);
  return check;
}

/** Hides the text behind a stream that depends on its checksum; its own inverse. */
function mask(bytes: Buffer, check: number): Buffer {
  let stream = check;
  for (let i = 4; i < bytes.length; i++) {
    if ((i & 3) === 0) stream = mix(stream, i);
    bytes[i] = (bytes[i] ?? 0) ^ ((stream >>> (8 * (i & 3))) & 255);
  }
  return bytes;
}

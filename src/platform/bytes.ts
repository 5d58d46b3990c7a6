// Order of texts as UTF-8 bytes, and what UTF-8 cannot say. Pure.
import { isUtf8 } from 'node:buffer';
import { toUSVString } from 'node:util';

/**
 * Compares two texts by their UTF-8 bytes. JavaScript's own order is by UTF-16 units, which puts
 * U+E000…U+FFFF after the characters beyond U+FFFF instead of before them; only there do the two differ.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Moves surrogates (parts of characters beyond U+FFFF) behind every other unit. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/**
 * Bytes as text without losing any: valid UTF-8 is decoded, and each byte that is part of none becomes the
 * lone surrogate U+DC00 + byte, which no valid UTF-8 decodes to. `encodeUtf8` is the exact way back.
 */
export function decodeUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  let start = 0;
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes[at] ?? 0);
    if (length > 0 && at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length))) {
      at += length;
      continue;
    }
    text += bytes.toString('utf8', start, at) + String.fromCharCode(0xdc00 + (bytes[at] ?? 0));
    start = ++at;
  }
  return text + bytes.toString('utf8', start);
}

/** The bytes that `decodeUtf8` made this text (or a piece of it) from. */
export function encodeUtf8(text: string): Buffer {
  if (toUSVString(text) === text) return Buffer.from(text, 'utf8');
  const parts = text.split(/(\p{Surrogate}+)/u);
  return Buffer.concat(parts.map((part, i) => Buffer.from(part, i % 2 === 0 ? 'utf8' : 'latin1')));
}

/** How long the UTF-8 sequence is that this byte opens; 0 if it opens none. */
function sequenceLength(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc0) return 0;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

// Bytes from outside: how many of them are taken in, and which are no text. And the order of texts by their bytes. Pure.
import { isUtf8 } from 'node:buffer';

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * How much of anything foreign is taken in, in bytes: the one place that says it. What each of them costs at worst is
 * measured and told in docs/design.md.
 */
export const byteBounds = {
  /** An answer. A longer one is not read on, and its page is asked for again with a smaller limit. */
  answer: 64 * MiB,
  /** A record. A longer one is set aside: its beginning, its length and the digest of all of it are kept. */
  record: 512 * KiB,
  /** What is kept of the beginning of such a record. */
  beginning: 16 * KiB,
  /** A record as canonical JSON: a number of ten characters may stand for a hundred thousand digits. */
  canonical: 8 * MiB,
  /** A string that is no part of a record: a page key. */
  string: 64 * KiB,
  /** What is read of an answer that is a refusal. */
  refusal: 64 * KiB,
} as const;

/** Bytes as text; '', which is no JSON, where they are no UTF-8: what stands for a byte there might be taken for it. */
export const decodeUtf8 = (bytes: Buffer): string => (isUtf8(bytes) ? bytes.toString('utf8') : '');

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

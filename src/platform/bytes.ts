// Order of texts as UTF-8 bytes, and what UTF-8 cannot say. Pure.

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

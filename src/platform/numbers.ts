// Exact decimal numbers as text: JSON's spelling in, plain digits out. Nothing here passes through a double.

// What Postgres' numeric can hold, by its documentation and by trial on 15 and 18: digits before the point,
// digits after it (as written, zeros included), and the exponent that both accept even on a zero.
const maxWhole = 131_072;
const maxFraction = 16_383;
const maxExponent = 1_073_741_822;

/**
 * A JSON number as plain decimal: no exponent, no leading zeros, no trailing fractional zeros, -0 as 0.
 * null if Postgres' numeric cannot hold the number as it is written; such a number is never expanded.
 */
export function plainDecimal(text: string): string | null {
  if (isSmallWhole(text)) return text;
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (parts === null) return null;
  const [, minus = '', whole = '', fraction = '', power = '0'] = parts;
  const exponent = Number(power);
  if (fraction.length - exponent > maxFraction || Math.abs(exponent) > maxExponent) return null;

  const digits = whole + fraction;
  let first = 0;
  while (digits.charCodeAt(first) === 0x30) first++;
  if (first === digits.length) return '0';
  // The point stands before digit number `point`, which may lie outside of the digits written.
  const point = whole.length + exponent;
  if (point - first > maxWhole) return null;

  let last = digits.length;
  while (last > point && digits.charCodeAt(last - 1) === 0x30) last--;
  if (point <= first) return `${minus}0.${'0'.repeat(first - point)}${digits.slice(first, last)}`;
  if (point >= last) return minus + digits.slice(first, last) + '0'.repeat(point - last);
  return `${minus}${digits.slice(first, point)}.${digits.slice(point, last)}`;
}

/** The canonical spelling of a JSON number: plain decimal, or beyond numeric's reach its own text in lower case. */
export function canonicalNumber(text: string): string {
  return plainDecimal(text) ?? text.toLowerCase();
}

/** True for the everyday case, a few digits and nothing else, which is its own plain decimal. */
function isSmallWhole(text: string): boolean {
  if (text.length > 15 || (text.charCodeAt(0) === 0x30 && text.length > 1)) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text !== '';
}

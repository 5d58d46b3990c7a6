// Decimal text, added without a double in between: no figure is rounded.

/** The exact sum of whole numbers and of decimal text as Postgres writes it: never with an exponent. */
export function sumOf(values: Iterable<string | number>): string {
  const texts = [...values].map(String);
  const places = Math.max(0, ...texts.map((text) => fractionOf(text).length));
  let sum = 0n;
  for (const text of texts) {
    const [whole = '0'] = text.split('.');
    sum += BigInt(whole + fractionOf(text).padEnd(places, '0'));
  }
  if (places === 0) return String(sum);
  const digits = String(sum < 0n ? -sum : sum).padStart(places + 1, '0');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

const fractionOf = (text: string): string => text.split('.', 2)[1] ?? '';

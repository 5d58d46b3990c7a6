// Seeded chance: everything the simulator makes up is a hash of numbers, so the same seed and the same
// instant give the same world. Pure; no generator with a state, for a state would depend on who asked first.

/** Mixes two whole numbers to 32 well-spread bits (the finalizer of MurmurHash3). */
export function mix(a: number, b: number): number {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b ^ (b >>> 15), 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A text as 32 bits (FNV-1a). */
export function textSeed(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** 32 bits as a number in [0, 1). */
export const unit = (bits: number): number => bits / 0x1_0000_0000;

/** A whole number in [0, below). */
export const below = (bits: number, limit: number): number => Math.floor(unit(bits) * limit);

const hexDigits = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'));

/** 32 bits as eight lower-case hex digits. */
export const hex8 = (bits: number): string =>
  (hexDigits[bits >>> 24] ?? '') +
  (hexDigits[(bits >>> 16) & 255] ?? '') +
  (hexDigits[(bits >>> 8) & 255] ?? '') +
  (hexDigits[bits & 255] ?? '');

/** Made-up hex text of `words` times eight digits. */
export function hexText(seed: number, words: number): string {
  let text = '';
  for (let i = 0; i < words; i++) text += hex8(mix(seed, i));
  return text;
}

const bech32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** An account address of the usual shape, of no account: `iaa1` and 38 characters. */
export function addressText(seed: number): string {
  let text = 'iaa1';
  for (let i = 0; i < 38; i++) text += bech32[mix(seed, i) & 31];
  return text;
}

// The world's size and rhythm: how many records a day has and at which seconds. A pure function of seed and
// calendar day, so that a world needs no store, looks the same to everyone and goes on for ever. Its chance is a hash
// of numbers: a generator with a state would depend on who asked first.
import { dayNumber, type DayNumber } from './times.ts';

export type World = {
  /** The average of a day that is not quiet. */
  ordersPerDay: number;
  classesPerDay: number;
  transactionsPerDay: number;
  tokens: number;
  /** How many accounts own classes, and how many place orders. */
  owners: number;
  /** Orders usually leave pending within this time … */
  settleMs: number;
  /** … and this share of them only within `slowSettleMs`; one in twenty of those never does. */
  pendingShare: number;
  slowSettleMs: number;
  failedShare: number;
  /** Orders bought in bulk: no account, amount or number. */
  batchShare: number;
  /** Days without any record. */
  quietShare: number;
  /** Every day the same number, evenly spread: for counting on it. */
  flat: boolean;
  /** Nothing is older (UTC day). */
  since: string;
  /** `nft_count` and `owner` change only at multiples of this. */
  driftMs: number;
};

export const standardWorld: World = {
  ordersPerDay: 120,
  classesPerDay: 40,
  transactionsPerDay: 50,
  tokens: 6,
  owners: 40,
  settleMs: 120_000,
  pendingShare: 0.02,
  slowSettleMs: 3 * 86_400_000,
  failedShare: 0.04,
  batchShare: 0.12,
  quietShare: 0.05,
  flat: false,
  since: '2022-07-01',
  driftMs: 600_000,
};

const secondsPerDay = 86_400;
/** Sunday to Saturday; the mean is 1. */
const weekdayWeight = [0.7, 1.1, 1.12, 1.1, 1.13, 1.12, 0.73];

/** How many records day `day` has once it is over. */
export function countOn(seed: number, day: DayNumber, perDay: number, world: World): number {
  if (perDay <= 0 || day < dayNumber(world.since)) return 0;
  if (world.flat) return Math.round(perDay);
  const chance = mix(seed, day);
  if (unit(mix(chance, 1)) < world.quietShare) return 0;
  // 1970-01-01 was a Thursday.
  const weekday = weekdayWeight[(day + 4) % 7] ?? 1;
  const wanted = perDay * weekday * (0.7 + 0.6 * unit(mix(chance, 2)));
  return Math.floor(wanted + unit(mix(chance, 3)));
}

/** The seconds of the day at which its records are made, ascending; some days have one at the first or last second. */
export function secondsOn(seed: number, day: DayNumber, count: number, world: World): Uint32Array {
  const seconds = new Uint32Array(count);
  const chance = mix(seed ^ 0x5ec0d5, day);
  for (let i = 0; i < count; i++) {
    if (world.flat) seconds[i] = Math.floor((i * secondsPerDay) / count);
    else seconds[i] = secondOf(mix(chance, i), seconds[i - 1] ?? 0);
  }
  seconds.sort();
  if (!world.flat && count > 1) {
    // Where the days' borders are tested: midnight belongs to one day only.
    if (below(mix(chance, -1), 3) === 0) seconds[0] = 0;
    if (below(mix(chance, -2), 3) === 0) seconds[count - 1] = secondsPerDay - 1;
  }
  return seconds;
}

/** Mostly by day (UTC), a quarter at any time, and one in ten within the same second as another. */
function secondOf(chance: number, other: number): number {
  const kind = chance & 63;
  if (kind < 6 && other > 0) return other;
  const first = unit(mix(chance, 1));
  if (kind < 20) return Math.floor(first * secondsPerDay);
  const mean = (first + unit(mix(chance, 2)) + unit(mix(chance, 3))) / 3;
  return Math.floor(mean * secondsPerDay);
}

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

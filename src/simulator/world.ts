// The world's size and rhythm: how many records a day has, at which seconds, and how a time is spelt. A pure function
// of seed and calendar day, so that a world needs no store, looks the same to everyone and goes on for ever. Its chance
// is a hash of numbers: a generator with a state would depend on who asked first.
import { dayMs, dayOf, startOf } from '../day.ts';
import type { Day, Instant } from '../model.ts';

export type World = {
  /** The average of a day that is not quiet. */
  ordersPerDay: number;
  classesPerDay: number;
  transactionsPerDay: number;
  tokens: number;
  /** Orders usually leave pending within this time … */
  settleMs: number;
  /** … and this share of them only within days; one in twenty of those never does. */
  pendingShare: number;
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
  settleMs: 120_000,
  pendingShare: 0.02,
  quietShare: 0.05,
  flat: false,
  since: '2022-07-01',
  driftMs: 600_000,
};

/** How many accounts own classes, and how many place orders. */
export const owners = 40;

/** A UTC day counted from 1970-01-01. */
export type DayNumber = number;

export const dayNumberOf = (at: Instant): DayNumber => Math.floor(at / dayMs);
export const dayNumber = (day: Day): DayNumber => startOf(day) / dayMs;

const secondsPerDay = 86_400;
/** Sunday to Saturday; the mean is 1. */
const weekdayWeight = [0.7, 1.1, 1.12, 1.1, 1.13, 1.12, 0.73];

/** How many records each day has once it is over; what was counted is remembered. */
export function createDayCounts(
  seed: number,
  perDay: number,
  world: World,
): (day: DayNumber) => number {
  const counts = new Map<DayNumber, number>();
  return (day) => {
    let known = counts.get(day);
    if (known === undefined) counts.set(day, (known = countOn(seed, day, perDay, world)));
    return known;
  };
}

/** The days of a list that is made from seed and calendar; `idOf`: unique by day and number. */
export function createMadeDays(
  { seed, salt, perDay, world }: { seed: number; salt: number; perDay: number; world: World },
  idOf: (chance: number, day: DayNumber, seq: number) => string,
) {
  const counted = createDayCounts(seed, perDay, world);
  return {
    /** Nothing is older. */
    firstDay: dayNumber(world.since),
    /** How many records a day has once it is over. */
    countOn: counted,
    /** They, in order of time. `chance` is all that one is made from, beside its time and id. */
    entriesOn: (day: DayNumber) => {
      const chanceOf = mix(seed ^ salt, day);
      return Array.from(secondsOn(seed, day, counted(day), world), (second, seq) => {
        const chance = mix(chanceOf, seq);
        return { at: day * dayMs + second * 1000, seq, id: idOf(chance, day, seq), chance };
      });
    },
  };
}

function countOn(seed: number, day: DayNumber, perDay: number, world: World): number {
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

/** How a platform may spell a time; all in UTC. */
export const timeForms = ['rfc3339', 'fraction', 'space', 'go'] as const;

/** The day that was written last: most are written many times in a row. */
let written = { number: Number.NaN, day: '' };
const two = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

export function writeTime(at: Instant, form: (typeof timeForms)[number]): string {
  const seconds = Math.floor(at / 1000);
  const number = Math.floor(seconds / secondsPerDay);
  if (number !== written.number) written = { number, day: dayOf(at) };
  const { day } = written;
  const second = seconds % secondsPerDay;
  const [hours, minutes] = [Math.floor(second / 3600), Math.floor(second / 60) % 60];
  const time = `${two[hours]}:${two[minutes]}:${two[second % 60]}`;
  if (form === 'space') return `${day} ${time}`;
  if (form === 'go') return `${day} ${time} +0000 UTC`;
  if (form === 'rfc3339') return `${day}T${time}Z`;
  // The world's times are whole seconds. A shared second keeps a shared fraction, so that order and ties stay.
  const ms = at % 1000 === 0 ? ((at / 1000) * 7919) % 1000 : at % 1000;
  return `${day}T${time}.${String(ms).padStart(3, '0')}Z`;
}

const readable =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,3})?\d*(?: ?([+-]\d\d):?(\d\d)| ?Z| UTC)?/;

/** The instant in a text a test wrote; null if it is no time. */
export function instantIn(text: unknown): Instant | null {
  const parts = typeof text === 'string' ? readable.exec(text) : null;
  if (parts === null) return null;
  const [, day, time, fraction = '', hours = '+00', minutes = '00'] = parts;
  const at = Date.parse(`${day}T${time}${fraction}${hours}:${minutes}`);
  return Number.isNaN(at) ? null : at;
}

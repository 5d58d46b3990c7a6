// The NFT classes of the whole platform (docs/platform.md §2.6). `nft_count` grows and `owner` changes while the
// timestamp stays: both are functions of time, so two readers at one instant see the same.
import type { Instant } from '../model.ts';
import type { Dialect } from './dialect.ts';
import type { ListKind, Shelf, ShelfSource } from './shelf.ts';
import { dayMs, dayNumber, writeTime, type DayNumber } from './times.ts';
import {
  addressText,
  below,
  countOn,
  hex8,
  hexText,
  mix,
  secondsOn,
  unit,
  type World,
} from './world.ts';

/** `name` matches anywhere in the class's name, as written. */
export type ClassFilter = { id?: string; name?: string; owner?: string; txHash?: string };

export const classKind: ListKind<ClassFilter> = {
  idField: 'id',
  timeField: 'timestamp',
  matches: (record, { id, name, owner, txHash }) =>
    (id === undefined || record['id'] === id) &&
    (name === undefined || (typeof record['name'] === 'string' && record['name'].includes(name))) &&
    (owner === undefined || record['owner'] === owner) &&
    (txHash === undefined || record['tx_hash'] === txHash),
};

export function classOwners(worldSeed: number, world: World): string[] {
  return Array.from({ length: Math.max(1, world.owners) }, (_, i) =>
    addressText(mix(mix(worldSeed, 0x0e25), i)),
  );
}

export function classSource(
  worldSeed: number,
  world: World,
  dialect: () => Dialect,
): ShelfSource<ClassFilter> {
  const seed = mix(worldSeed, 0xc1a55);
  const owners = classOwners(worldSeed, world);

  function shelf(day: DayNumber): Shelf<ClassFilter> {
    const start = day * dayMs;
    const seconds = secondsOn(seed, day, count(day), world);
    const chanceOf = mix(seed ^ 0x0c1a5, day);
    const timeAt = (k: number): Instant => start + (seconds[k] ?? 0) * 1000;
    const ownerAt = (chance: number, createdAt: Instant, now: Instant): string =>
      owners[ownerNumber(chance, createdAt, now)] ?? '';
    return {
      size: seconds.length,
      timeAt,
      seqAt: (k) => k,
      idAt: (k) => classId(mix(chanceOf, k), day, k),
      matches: (k, { id, name, owner, txHash }, now) => {
        const chance = mix(chanceOf, k);
        if (id !== undefined && classId(chance, day, k) !== id) return false;
        if (name !== undefined && !className(chance).includes(name)) return false;
        if (txHash !== undefined && classTxHash(chance) !== txHash) return false;
        return owner === undefined || ownerAt(chance, timeAt(k), now) === owner;
      },
      textAt: (k, now) => {
        const chance = mix(chanceOf, k);
        const createdAt = timeAt(k);
        const id = classId(chance, day, k);
        return (
          `{"id":"${id}","name":${JSON.stringify(className(chance))},"symbol":"${symbolOf(chance)}"` +
          `,"nft_count":${nftCount(chance, createdAt, now)},"uri":"${uriOf(chance)}"` +
          `,"owner":"${ownerAt(chance, createdAt, now)}","tx_hash":"${classTxHash(chance)}"` +
          `,"timestamp":"${writeTime(createdAt, 'go', chance)}"` +
          (dialect().unknownFields ? `,"ext":[${chance}.50,{"x":null}]}` : '}')
        );
      },
    };
  }

  /** Changes come at multiples of `driftMs`, all over the platform at once. */
  const ageMs = (createdAt: Instant, now: Instant): number =>
    Math.max(0, Math.floor(now / world.driftMs) * world.driftMs - createdAt);

  function nftCount(chance: number, createdAt: Instant, now: Instant): number {
    const perDay = (chance & 1) === 0 ? 0 : below(mix(chance, 4), 200);
    return below(mix(chance, 3), 50) + Math.floor((ageMs(createdAt, now) / dayMs) * perDay);
  }

  /** One class in six is handed on every 2 to 40 days; a few accounts own most classes. */
  function ownerNumber(chance: number, createdAt: Instant, now: Instant): number {
    const isTraded = unit(mix(chance, 5)) < 1 / 6;
    const everyMs = (2 + 38 * unit(mix(chance, 6))) * dayMs;
    const transfers = isTraded ? Math.floor(ageMs(createdAt, now) / everyMs) : 0;
    const share = unit(mix(chance, 100 + transfers));
    return Math.floor(share * share * owners.length);
  }

  const counts = new Map<DayNumber, number>();
  function count(day: DayNumber): number {
    let known = counts.get(day);
    if (known === undefined) {
      counts.set(day, (known = countOn(seed, day, world.classesPerDay, world)));
    }
    return known;
  }

  return {
    kind: classKind,
    firstDay: dayNumber(world.since),
    countOn: count,
    // The platform breaks ties of classes in one way only: as they were made.
    shelf,
    stamp: (_day, now, { owner }) => (owner === undefined ? 0 : Math.floor(now / world.driftMs)),
    onlyDay: ({ id }) => (id === undefined ? null : dayOfClassId(id)),
  };
}

/** Ids take several forms; each holds the day and the number, so that a lookup by id needs no search. */
function classId(chance: number, day: DayNumber, i: number): string {
  const shape = chance & 3;
  if (shape === 0) return `${hex8(day)}${hex8(i)}${hexText(chance, 6)}`;
  if (shape === 1) return `cls-${day.toString(36)}-${i.toString(36)}`;
  if (shape === 2) return `nftclass${hexText(chance, 2)}x${day.toString(36)}x${i.toString(36)}`;
  return `DC_${day}_${String(i).padStart(5, '0')}`;
}

const idForms: readonly [RegExp, number][] = [
  [/^([0-9a-f]{8})[0-9a-f]{56}$/, 16],
  [/^cls-([0-9a-z]+)-[0-9a-z]+$/, 36],
  [/^nftclass[0-9a-f]{16}x([0-9a-wyz]+)x[0-9a-z]+$/, 36],
  [/^DC_(\d+)_\d+$/, 10],
];

function dayOfClassId(id: string): DayNumber {
  for (const [form, radix] of idForms) {
    const day = form.exec(id)?.[1];
    if (day !== undefined) return Number.parseInt(day, radix);
  }
  return NaN;
}

// Any Unicode, and not unique: two scripts, quotes, markup, an emoji of several code points, combining marks.
const firstNames = [
  '数字',
  'Genesis',
  '春节',
  'Ünïcode',
  '"quoted"',
  '<b>bold</b>',
  'क्षेत्र',
  'مجموعة',
];
const lastNames = [
  '藏品',
  'Collection',
  '& Co',
  '👩‍🚀',
  'e\u0301dition',
  '100%_off',
  "O'Neil",
  'pass\\word',
];

function className(chance: number): string {
  const name = `${firstNames[below(mix(chance, 7), 8)]} ${lastNames[below(mix(chance, 8), 8)]}`;
  return (chance & 4) === 0 ? name : `${name}<${below(mix(chance, 9), 20)}>`;
}

const classTxHash = (chance: number): string => hexText(mix(chance, 10), 8).toUpperCase();

const symbolOf = (chance: number): string =>
  (chance & 8) === 0 ? '' : `SYM${below(mix(chance, 11), 900)}`;

const uriOf = (chance: number): string =>
  (chance & 48) === 0 ? `https://example.invalid/class/${hex8(chance)}.json?a=1&b=2` : '';

// The NFT classes of the whole platform (docs/platform.md §2.6). `nft_count` grows and `owner` changes while the
// timestamp stays: both are functions of time, so two readers at one instant see the same.
import { dayMs } from '../day.ts';
import type { Instant } from '../model.ts';
import type { Dialect } from './dialect.ts';
import type { Entry, ListSource } from './simulated-list.ts';
import {
  addressText,
  below,
  createMadeDays,
  hex8,
  hexText,
  mix,
  owners,
  unit,
  writeTime,
  type DayNumber,
  type World,
} from './world.ts';

/** `name` matches anywhere in the class's name, as written. */
export type ClassFilter = Partial<Record<'id' | 'name' | 'owner' | 'txHash', string | undefined>>;

export function classSource(
  worldSeed: number,
  world: World,
  dialect: () => Dialect,
): ListSource<ClassFilter> {
  const seed = mix(worldSeed, 0xc1a55);
  const accounts = Array.from({ length: owners }, (_, i) =>
    addressText(mix(mix(worldSeed, 0x0e25), i)),
  );
  const days = { seed, salt: 0x0c1a5, perDay: world.classesPerDay, world };

  /** Changes come at multiples of `driftMs`, all over the platform at once. */
  const ageMs = (at: Instant, now: Instant): number =>
    Math.max(0, Math.floor(now / world.driftMs) * world.driftMs - at);

  function nftCount({ at, chance }: Entry, now: Instant): number {
    const perDay = (chance & 1) === 0 ? 0 : below(mix(chance, 4), 200);
    return below(mix(chance, 3), 50) + Math.floor((ageMs(at, now) / dayMs) * perDay);
  }

  /** One class in six is handed on every 2 to 40 days; a few accounts own most classes. */
  function ownerAt({ at, chance }: Entry, now: Instant): string {
    const isTraded = unit(mix(chance, 5)) < 1 / 6;
    const everyMs = (2 + 38 * unit(mix(chance, 6))) * dayMs;
    const transfers = isTraded ? Math.floor(ageMs(at, now) / everyMs) : 0;
    const share = unit(mix(chance, 100 + transfers));
    return accounts[Math.floor(share * share * owners)] ?? '';
  }

  return {
    idField: 'id',
    timeField: 'timestamp',
    ...createMadeDays(days, classId),
    textOf: (one, now) => {
      const { id, at, chance } = one;
      return (
        `{"id":"${id}","name":${JSON.stringify(className(chance))},"symbol":"${symbolOf(chance)}"` +
        `,"nft_count":${nftCount(one, now)},"uri":"${uriOf(chance)}"` +
        `,"owner":"${ownerAt(one, now)}","tx_hash":"${classTxHash(chance)}"` +
        `,"timestamp":"${writeTime(at, 'go')}"` +
        (dialect().unknownFields ? `,"ext":[${chance}.50,{"x":null}]}` : '}')
      );
    },
    matches: (one, { id, name, owner, txHash }, now) =>
      (id === undefined || one.id === id) &&
      (name === undefined || className(one.chance).includes(name)) &&
      (txHash === undefined || classTxHash(one.chance) === txHash) &&
      (owner === undefined || ownerAt(one, now) === owner),
    matchesWritten: (record, { id, name, owner, txHash }) =>
      (id === undefined || record['id'] === id) &&
      (name === undefined ||
        (typeof record['name'] === 'string' && record['name'].includes(name))) &&
      (owner === undefined || record['owner'] === owner) &&
      (txHash === undefined || record['tx_hash'] === txHash),
    stamp: (_day, now, { owner }) => (owner === undefined ? 0 : Math.floor(now / world.driftMs)),
  };
}

/** Ids take several forms, unique by day and number. */
function classId(chance: number, day: DayNumber, i: number): string {
  const shape = chance & 3;
  if (shape === 0) return `${hex8(day)}${hex8(i)}${hexText(chance, 6)}`;
  if (shape === 1) return `cls-${day.toString(36)}-${i.toString(36)}`;
  if (shape === 2) return `nftclass${hexText(chance, 2)}x${day.toString(36)}x${i.toString(36)}`;
  return `DC_${day}_${String(i).padStart(5, '0')}`;
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

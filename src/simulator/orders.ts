// The purchase orders of one project (docs/platform.md §2.3): made from seed, day and number. An order is pending
// until it settles; `update_time` is the moment it did.
import type { Instant } from '../model.ts';
import type { Dialect } from './dialect.ts';
import { compareText, type ListKind, type Shelf, type ShelfSource, type Ties } from './shelf.ts';
import { dayMs, dayNumber, writeTime, type DayNumber } from './times.ts';
import {
  addressText,
  below,
  countOn,
  hex8,
  hexText,
  mix,
  secondsOn,
  textSeed,
  unit,
  type World,
} from './world.ts';

export type OrderFilter = {
  status: number;
  /** All but those of this status. */
  isNot?: true;
};

const isChosen = (has: boolean, { isNot }: OrderFilter): boolean => has !== (isNot === true);

export const statusWords = ['', 'pending', 'success', 'failed'];

export const orderKind: ListKind<OrderFilter> = {
  idField: 'operation_id',
  timeField: 'create_time',
  matches: ({ status }, filter) => isChosen(Number(status) === filter.status, filter),
};

const messages = [
  'insufficient balance of the payer account',
  'recharge failed: account not found on chain',
  'chain is busy, please retry with a new operation id',
  '充值失败：余额不足',
  'recharge failed: "limit exceeded" <code 17> & more',
];

/** `dialect` is asked for each record, for its switches may be thrown at any time. */
export function orderSource(
  worldSeed: number,
  project: string,
  world: World,
  dialect: () => Dialect,
): ShelfSource<OrderFilter> {
  const seed = mix(mix(worldSeed, 0x0de5), textSeed(project));
  const accounts = Array.from({ length: Math.max(1, world.owners) }, (_, i) =>
    addressText(mix(seed, ~i)),
  );
  const longestMs = Math.max(world.slowSettleMs, world.settleMs * 3);

  /** Milliseconds from creation until the order settles; Infinity for one that never does. */
  function settleDelayMs(chance: number): number {
    const length = unit(mix(chance, 2));
    if (unit(mix(chance, 1)) >= world.pendingShare) {
      // Whole seconds, mostly short: as update_time shows no fraction either.
      return Math.ceil((world.settleMs * 3 * length * length) / 1000) * 1000;
    }
    return length < 0.05 ? Infinity : Math.ceil((world.slowSettleMs * length) / 1000) * 1000;
  }

  const outcomeOf = (chance: number): number => (unit(mix(chance, 3)) < world.failedShare ? 3 : 2);

  function shelf(day: DayNumber, ties: Ties): Shelf<OrderFilter> {
    const start = day * dayMs;
    const seconds = secondsOn(seed, day, count(day), world);
    const chanceOf = mix(seed ^ 0x0fde5, day);
    const id = (i: number): string => orderId(mix(chanceOf, i), day, i);
    const numbers = orderWithinSeconds(seconds, ties, id);
    const numberAt = (k: number): number => numbers?.[k] ?? k;
    const timeAt = (k: number): Instant => start + (seconds[k] ?? 0) * 1000;
    const statusAt = (k: number, now: Instant): number => {
      const chance = mix(chanceOf, numberAt(k));
      return timeAt(k) + settleDelayMs(chance) > now ? 1 : outcomeOf(chance);
    };
    return {
      size: seconds.length,
      timeAt,
      seqAt: numberAt,
      idAt: (k) => id(numberAt(k)),
      matches: (k, filter, now) => isChosen(statusAt(k, now) === filter.status, filter),
      textAt: (k, now) => {
        const chance = mix(chanceOf, numberAt(k));
        return orderText(id(numberAt(k)), chance, timeAt(k), statusAt(k, now));
      },
    };
  }

  function orderText(id: string, chance: number, createdAt: Instant, status: number): string {
    const how = dialect();
    const updatedAt = status === 1 ? createdAt : createdAt + settleDelayMs(chance);
    const message = status === 3 ? (messages[below(mix(chance, 4), messages.length)] ?? '') : '';
    const type = below(mix(chance, 5), 10) < 8 ? 1 : 2;
    return (
      `{"operation_id":"${id}","status":${status},"message":${JSON.stringify(message)}` +
      purchaseText(chance, type) +
      `,"create_time":"${writeTime(createdAt, how.timeForm, chance)}"` +
      `,"update_time":"${writeTime(updatedAt, how.timeForm, chance)}","order_type":${type}` +
      (how.unknownFields ? `${unknownText(chance)}}` : '}')
    );
  }

  function purchaseText(chance: number, type: number): string {
    if (unit(mix(chance, 6)) < world.batchShare) return '';
    const account = accounts[below(mix(chance, 7), accounts.length)] ?? '';
    // Whole currency units, a few odd ones; fen. An energy value is worth 10,000 ugas a fen here.
    const fen =
      below(mix(chance, 8), 20) === 0 ? 1 + below(mix(chance, 9), 999_999) : round(chance);
    return `,"account":"${account}","amount":"${fen}","number":"${type === 1 ? `${fen}0000` : fen}"`;
  }

  const counts = new Map<DayNumber, number>();
  function count(day: DayNumber): number {
    let known = counts.get(day);
    if (known === undefined)
      counts.set(day, (known = countOn(seed, day, world.ordersPerDay, world)));
    return known;
  }

  return {
    kind: orderKind,
    firstDay: dayNumber(world.since),
    countOn: count,
    shelf,
    // A day on which nothing can settle any more stays as it is.
    stamp: (day, now) => (now >= (day + 1) * dayMs + longestMs ? Infinity : Math.floor(now / 1000)),
  };
}

const round = (chance: number): number =>
  100 * 10 ** below(mix(chance, 10), 4) * (1 + (chance & 7));

/** What no document names: a nested object, a number no double holds, and a null. */
const unknownText = (chance: number): string =>
  `,"channel":{"code":"c${chance & 3}","ref":${chance}12345678901234567890.10},"remark":null`;

/** Ids of 1–64 characters of letters, digits, `_` and `-`, unique by day and number, some equal but for case. */
function orderId(chance: number, day: DayNumber, i: number): string {
  if (i === 0) return base64Id(day, 3);
  if (i === 1) return `${hexText(chance, 7)}${hex8(day * 8 + 1)}`;
  const own = `${base64Id(day, 3)}${base64Id(i, 4)}`;
  const shape = chance & 3;
  if (shape === 0) return own;
  if (shape === 1) return `order_${day}_${String(i).padStart(6, '0')}`;
  const tail = hex8(mix(chance, 2));
  if (shape === 2) return `${hex8(i)}-${hex8(day)}-${tail}`;
  return `Recharge-${own}-${tail}${hex8(mix(chance, 3))}`;
}

const idDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';

function base64Id(value: number, length: number): string {
  let text = '';
  for (let rest = value, i = 0; i < length; i++, rest = Math.floor(rest / 64)) {
    text += idDigits[rest % 64];
  }
  return text;
}

/** Which order stands at each position where ties go by id; null where all stand as inserted. */
function orderWithinSeconds(
  seconds: Uint32Array,
  ties: Ties,
  id: (i: number) => string,
): Uint32Array | null {
  if (ties === 'insertion') return null;
  let numbers: Uint32Array | null = null;
  for (let from = 0; from < seconds.length;) {
    let to = from + 1;
    while (to < seconds.length && seconds[to] === seconds[from]) to++;
    if (to - from > 1) {
      numbers ??= Uint32Array.from(seconds, (_, i) => i);
      const tied = Array.from({ length: to - from }, (_, i) => from + i);
      const names = new Map(tied.map((i) => [i, id(i)]));
      tied.sort((a, b) => compareText(names.get(a) ?? '', names.get(b) ?? ''));
      numbers.set(tied, from);
    }
    from = to;
  }
  return numbers;
}

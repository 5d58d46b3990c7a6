// The purchase orders of one project (docs/platform.md §2.3): made from seed, day and number. An order is pending
// until it settles; `update_time` is the moment it did.
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
  textSeed,
  unit,
  writeTime,
  type DayNumber,
  type World,
} from './world.ts';

export type OrderFilter = {
  status: number;
  /** All but those of this status. */
  isNot?: true;
};

const isChosen = (has: boolean, { isNot }: OrderFilter): boolean => has !== (isNot === true);

export const statusWords = ['', 'pending', 'success', 'failed'];

const messages = [
  'insufficient balance of the payer account',
  'recharge failed: account not found on chain',
  'chain is busy, please retry with a new operation id',
  '充值失败：余额不足',
  'recharge failed: "limit exceeded" <code 17> & more',
];

const slowSettleMs = 3 * dayMs;
const failedShare = 0.04;
/** Orders bought in bulk show no account, amount or number. */
const batchShare = 0.12;

/** `dialect` is asked for each record, for its switches may be thrown at any time. */
export function orderSource(
  worldSeed: number,
  project: string,
  world: World,
  dialect: () => Dialect,
): ListSource<OrderFilter> {
  const seed = mix(mix(worldSeed, 0x0de5), textSeed(project));
  const accounts = Array.from({ length: owners }, (_, i) => addressText(mix(seed, ~i)));
  const longestMs = Math.max(slowSettleMs, world.settleMs * 3);
  const days = { seed, salt: 0x0fde5, perDay: world.ordersPerDay, world };

  /** Milliseconds from creation until the order settles; Infinity for one that never does. */
  function settleDelayMs(chance: number): number {
    const length = unit(mix(chance, 2));
    if (unit(mix(chance, 1)) >= world.pendingShare) {
      // Whole seconds, mostly short: as update_time shows no fraction either.
      return Math.ceil((world.settleMs * 3 * length * length) / 1000) * 1000;
    }
    return length < 0.05 ? Infinity : Math.ceil((slowSettleMs * length) / 1000) * 1000;
  }

  function statusAt({ at, chance }: Entry, now: Instant): 1 | 2 | 3 {
    if (at + settleDelayMs(chance) > now) return 1;
    return unit(mix(chance, 3)) < failedShare ? 3 : 2;
  }

  function textOf(order: Entry, now: Instant): string {
    const { id, at, chance } = order;
    const { timeForm, unknownFields } = dialect();
    const status = statusAt(order, now);
    const updatedAt = status === 1 ? at : at + settleDelayMs(chance);
    const message = status === 3 ? (messages[below(mix(chance, 4), messages.length)] ?? '') : '';
    const type = below(mix(chance, 5), 10) < 8 ? 1 : 2;
    return (
      `{"operation_id":"${id}","status":${status},"message":${JSON.stringify(message)}` +
      purchaseText(chance, type) +
      `,"create_time":"${writeTime(at, timeForm)}"` +
      `,"update_time":"${writeTime(updatedAt, timeForm)}","order_type":${type}` +
      (unknownFields ? `${unknownText(chance)}}` : '}')
    );
  }

  function purchaseText(chance: number, type: number): string {
    if (unit(mix(chance, 6)) < batchShare) return '';
    const account = accounts[below(mix(chance, 7), accounts.length)] ?? '';
    // Whole currency units, a few odd ones; fen. An energy value is worth 10,000 ugas a fen here.
    const fen =
      below(mix(chance, 8), 20) === 0 ? 1 + below(mix(chance, 9), 999_999) : round(chance);
    return `,"account":"${account}","amount":"${fen}","number":"${type === 1 ? `${fen}0000` : fen}"`;
  }

  return {
    idField: 'operation_id',
    timeField: 'create_time',
    ...createMadeDays(days, orderId),
    textOf,
    matches: (order, filter, now) => isChosen(statusAt(order, now) === filter.status, filter),
    matchesWritten: ({ status }, filter) => isChosen(Number(status) === filter.status, filter),
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

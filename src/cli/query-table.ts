// Records as a person reads them: the columns that matter, cut to the width of the terminal. Every other format has it all.
import { nftClassFields, orderFields } from '../query/record-fields.ts';
import type { NftClass, Order } from '../query/types.ts';
import { formatCount, table } from './print.ts';
import { statusWords } from './query-filters.ts';
import type { Shown } from './query-output.ts';
import { fitting, printable, widthOf } from './terminal-text.ts';

export type Column<Item> = {
  header: string;
  text: (item: Item) => string;
  /** Numbers stand to the right. */
  isNumber?: true;
  /** May be cut down to so many characters where the terminal is narrow. */
  least?: number;
};

const time = (text: string | null): string => (text ?? '').slice(0, 19).replace('T', ' ');

/** interface.md §2.3: 1 is gas, 2 the business fee; others may come. */
const typeWords: Record<number, string> = { 1: 'gas', 2: 'business fee' };
const wordOf = (words: Record<number, string>, value: number | null): string =>
  value === null ? '' : (words[value] ?? String(value));

export const ordersShown: Shown<Order> = {
  name: 'orders',
  fields: orderFields,
  columns: [
    { header: 'created (UTC)', text: (order) => time(order.createdAt) },
    { header: 'operation id', text: (order) => order.operationId, least: 12 },
    { header: 'status', text: (order) => wordOf(statusWords, order.status) },
    { header: 'type', text: (order) => wordOf(typeWords, order.orderType) },
    { header: 'amount', text: (order) => order.amount ?? '', isNumber: true },
    { header: 'number', text: (order) => order.number ?? '', isNumber: true },
    { header: 'account', text: (order) => order.account ?? '', least: 12 },
    { header: 'message', text: (order) => order.message ?? '', least: 8 },
    { header: '', text: missingText },
  ],
};

export const nftClassesShown: Shown<NftClass> = {
  name: 'NFT classes',
  fields: nftClassFields,
  columns: [
    { header: 'created (UTC)', text: (one) => time(one.createdAt) },
    { header: 'id', text: (one) => one.id, least: 12 },
    { header: 'name', text: (one) => one.name ?? '', least: 12 },
    { header: 'symbol', text: (one) => one.symbol ?? '', least: 6 },
    { header: 'NFTs', text: (one) => one.nftCount ?? '', isNumber: true },
    { header: 'owner', text: (one) => one.owner ?? '', least: 12 },
    { header: '', text: missingText },
  ],
};

function missingText({ missingSince }: { missingSince: string | null }): string {
  return missingSince === null ? '' : `missing since ${missingSince.slice(0, 10)}`;
}

/** `columns`: how wide the terminal is; undefined cuts nothing. */
export function tableText<Item>(
  items: Item[],
  hasMore: boolean,
  { name, columns: all }: Shown<Item>,
  columns: number | undefined,
): string {
  if (items.length === 0) return `No ${name} match.\n`;
  const cells = items.map((item) => all.map((column) => printable(column.text(item))));
  const widest = all.map((column, i) =>
    Math.max(widthOf(column.header), ...cells.map((row) => widthOf(row[i] ?? ''))),
  );
  const isEmpty = all.map((_, i) => cells.every((row) => row[i] === ''));
  const shown = all.map((_, i) => i).filter((i) => isEmpty[i] !== true);
  const widths = narrowed(all, widest, shown, columns);
  const text = table(
    shown.map((i) => headerOf(all[i], widths[i] ?? 0)),
    cells.map((row) => shown.map((i) => cellOf(row[i] ?? '', widths[i] ?? 0, all[i]?.isNumber))),
  );
  const more = `The first ${formatCount(items.length)} ${name}: --limit shows more, --format csv all.`;
  return hasMore ? `${text}\n\n${more}\n` : `${text}\n`;
}

/** Takes from the widest column that may be cut, until the table fits or none can give more. */
function narrowed<Item>(
  all: readonly Column<Item>[],
  widest: number[],
  shown: number[],
  columns: number | undefined,
): number[] {
  const widths = [...widest];
  const gaps = 2 * (shown.length - 1);
  let over = shown.reduce((sum, i) => sum + (widths[i] ?? 0), gaps) - (columns ?? Infinity);
  // Ends: each step takes one from `over`.
  for (; over > 0; over--) {
    const givers = shown.filter((i) => (widths[i] ?? 0) > (all[i]?.least ?? Infinity));
    const [first, ...others] = givers;
    if (first === undefined) break;
    const giver = others.reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a), first);
    widths[giver] = (widths[giver] ?? 0) - 1;
  }
  return widths;
}

const headerOf = <Item>(column: Column<Item> | undefined, width: number): string =>
  column?.isNumber === true ? column.header.padStart(width) : (column?.header ?? '');

function cellOf(text: string, width: number, isNumber: true | undefined): string {
  if (isNumber === true) return text.padStart(width);
  return widthOf(text) <= width ? text : `${fitting(text, width - 1)}…`;
}

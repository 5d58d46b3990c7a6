// Records as a person reads them: a table cut to the width of the terminal. Which columns it has is query-shown.ts.
import { formatCount, table } from './print.ts';
import { fitting, printable, widthOf } from './terminal-text.ts';

export type Column<Item> = {
  header: string;
  text: (item: Item) => string;
  /** Numbers stand to the right. */
  isNumber?: true;
  /** May be cut down to so many characters where the terminal is narrow. */
  least?: number;
};

export type Shown<Item> = {
  /** What the records are called in a sentence. */
  name: string;
  /** The library's field names in the order of the output. */
  fields: readonly (keyof Item & string)[];
  columns: readonly Column<Item>[];
};

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

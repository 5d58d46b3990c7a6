// What a bench found, as tables: printed for a terminal, or as Markdown for docs/benchmarks.md.
import { printTable, type Cell } from '../src/cli/print.ts';

export type Table = {
  /** Between the words `bench:` and `end` in docs/benchmarks.md; one word. */
  name: string;
  head: string[];
  rows: Cell[][];
  /** Sentences below it. */
  notes: string[];
};

export const round = (number: number, digits = 0): number => Number(number.toFixed(digits));

export type Spread = { median: number; min: number; max: number };

export function spread(numbers: number[], digits = 0): Spread {
  const sorted = numbers.toSorted((a, b) => a - b);
  const last = sorted.length - 1;
  const at = (place: number): number => sorted[place] ?? Number.NaN;
  const median = (at(Math.floor(last / 2)) + at(Math.ceil(last / 2))) / 2;
  return { median: round(median, digits), min: round(at(0), digits), max: round(at(last), digits) };
}

/** A column: its head, and what stands in it of one. */
export type Column<Of> = readonly [head: string, cell: (one: Of) => Cell | Spread];

export const tableOf = <Of>(
  name: string,
  each: readonly Of[],
  columns: readonly Column<Of>[],
  notes: string[] = [],
): Table => ({
  name,
  head: columns.map(([head]) => head),
  rows: each.map((one) =>
    columns.map(([, cell]) => {
      const found = cell(one);
      return found !== null && typeof found === 'object' ? said(found) : found;
    }),
  ),
  notes,
});

/** What a part of the bench gives: data for `--json`, and tables for people. */
export type Measured = { results: object; tables: Table[] };

export const said = ({ median, min, max }: Spread): string =>
  min === max ? String(median) : `${median} (${min}–${max})`;

export function printTables(tables: readonly Table[]): void {
  for (const { head, rows, notes } of tables) {
    printTable(head, rows);
    process.stdout.write(
      `\n${notes.map((note) => `${note}\n`).join('')}${notes.length > 0 ? '\n' : ''}`,
    );
  }
}

const written = (cell: Cell): string =>
  typeof cell === 'number'
    ? cell.toLocaleString('en-US', { maximumFractionDigits: 3 })
    : (cell ?? '');

const line = (cells: readonly Cell[]): string => `| ${cells.map(written).join(' | ')} |`;

/** The page with each table in its place. Throws where a table has none. */
export function withTables(page: string, tables: readonly Table[], origin: string): string {
  let text = page;
  for (const { name, head, rows, notes } of tables) {
    const [begin, end] = [`<!-- bench:${name} -->`, `<!-- bench:${name}:end -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`the page has no place for ${begin}`);
    const inPlace = [
      begin,
      '',
      line(head),
      line(head.map(() => '---')),
      ...rows.map(line),
      '',
      [...notes, origin].join(' '),
      '',
      '',
    ].join('\n');
    text = text.slice(0, from) + inPlace + text.slice(to);
  }
  return text;
}

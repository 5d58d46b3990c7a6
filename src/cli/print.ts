// What people see in a terminal: tables, prose, counts, moments and spans of time; and foreign text made safe for it.
// This file alone knows how wide a line may be. Data goes to stdout, everything else to stderr. Colour only repeats
// what a word says; Node decides whether there is any (NO_COLOR, FORCE_COLOR, no terminal). Tables are our own: those
// of a library do not know which column to leave out or to cut where the terminal is narrow.
import { basename, relative } from 'node:path';
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import type { Instant } from '../model.ts';

export type Out = { write(text: string): unknown; isTTY?: boolean; columns?: number };

/** Columns of the terminal; else what COLUMNS says, as for `ls` and `man`; else 80. */
export function screenWidth(out: Out = process.stdout): number {
  // A pseudo-terminal without a size says 0.
  const width = out.columns || Number(process.env['COLUMNS']) || 80;
  return Math.max(20, width);
}

/** Whether a line there can be drawn over. */
export const isScreen = (out: Out): boolean => out.isTTY === true && process.env['TERM'] !== 'dumb';

/** Text for a person on stdout: prose as lines that fit, words of alarm in red. Ends with a line break of its own. */
export function print(text: string): void {
  process.stdout.write(`${loud(wrapped(typeable(text)))}\n`);
}

const commands =
  /(?<![\w./@-])outlast (?=<command>|(?:--help|demo|simulate|init|doctor|migrate|sync|start|watch|status|query|follow|alert|verify|export|import|rebuild|help)\b)/g;

/** Text whose commands can be typed where it is read: beginning as this one was begun. */
export function typeable(text: string): string {
  const begin = startedAs(process.argv[1] ?? '', process.env, process.cwd());
  return text.replaceAll(commands, () => `${begin} `);
}

/** How a command of this installation begins: as one that is installed, with npx, or in a clone. */
export function startedAs(script: string, env: NodeJS.ProcessEnv, folder: string): string {
  const by = env['npm_lifecycle_event'];
  const isInstalled =
    basename(script) !== 'main.js' || /[\\/]node_modules[\\/]outlast[\\/]/.test(script);
  if (isInstalled) return by === 'npx' ? 'npx outlast' : 'outlast';
  if (by === 'outlast' || by === 'demo') return 'npm run -s outlast --';
  const file = relative(folder, script);
  return `node ${shellWord(file)}`;
}

/** One word of a command, such as a path, as shells take it. */
export const shellWord = (text: string): string =>
  /^[\w./\\:-]+$/.test(text) ? text : JSON.stringify(text);

/** Takes away what is drawn over. */
export const clearLine = '\r\u001b[K';

/**
 * A sentence on stderr: wrapped on a terminal, where it may take the place of a progress line; elsewhere one line,
 * which a log or a program can search.
 */
export function printError(text: string): void {
  const { stderr } = process;
  const said = typeable(text);
  const line = isScreen(stderr) ? clearLine + wrapped(said, screenWidth(stderr)) : said;
  stderr.write(`${line}\n`);
}

export type Paint = 'red' | 'green' | 'yellow' | 'cyan' | 'dim';

/** For a text that goes to `out`. */
export const painted = (paint: Paint, text: string, out: Out = process.stdout): string =>
  styleText(paint, text, { stream: out as NodeJS.WritableStream });

/** What stands at the head of a line to be read before all others. */
const loud = (text: string): string =>
  text.replaceAll(
    /^( *)(TOO LATE|PARKED|ALERT|CLOCK|UNPROTECTED|LOST)(?=[ ,])/gm,
    (_, blanks: string, word: string) => blanks + painted('red', word),
  );

/**
 * Lines that fit, broken between words; lines that do are left alone. What follows a break is indented as its line is,
 * and by `hanging` more: two columns below an indented line by default. Commands in backticks or on an indented line of
 * their own, words without a blank and spans of time stay whole, all but the last so that they can be copied.
 */
export function wrapped(text: string, width = screenWidth(), hanging?: string): string {
  return text
    .split('\n')
    .flatMap((line) => wrappedLine(line, width, hanging))
    .join('\n');
}

const words = /( *)(\d+ (?:days|day|h|min|s)(?=[ ,.;:)]|$)[^ ]*|(?:`[^`]*`|[^ ])+)/g;

const commandLine =
  /^ +(?:[A-Z_]+=\S* )*(?:(?:npx )?outlast|npm run -s outlast --|node \S*main\.js"?) [a-z]/;

function wrappedLine(line: string, width: number, more?: string): string[] {
  if (widthOf(line) <= width || commandLine.test(line)) return [line];
  const [indent = ''] = /^ */.exec(line) ?? [];
  const hanging = more ?? (indent === '' ? '' : '  ');
  const lines: string[] = [];
  let current = indent;
  let isEmpty = true;
  for (const [, blanks = '', word = ''] of line.slice(indent.length).matchAll(words)) {
    const longer = current + (isEmpty ? '' : blanks) + word;
    if (isEmpty || widthOf(longer) <= width) current = longer;
    else {
      lines.push(current);
      current = indent + hanging + word;
    }
    isEmpty = false;
    // Text without blanks that is wide, Chinese for one, may be broken anywhere.
    while (widthOf(current) > width && isWide(word)) {
      const fits = fitting(current, width);
      if (fits.length <= (indent + hanging).length) break;
      lines.push(fits);
      current = indent + hanging + current.slice(fits.length);
    }
  }
  return [...lines, current];
}

const isWide = (word: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(word);

export type Cell = string | number | null;

export type TableColumn = {
  header: string;
  /** Stands to the right, though it is text: a number of any length. */
  isNumber?: true;
  /** May be cut down to so many columns, `…` at the end, where the table does not fit. */
  least?: number;
  /** Its text may go on in lines below, in so many columns or more. */
  wrapsTo?: number;
  /** Where the table does not fit it is left out, the lowest of them first. */
  spare?: number;
  /** It is left out where it holds nothing but noughts and blanks. */
  isRare?: true;
};

/** A column that is left out where nothing stands in it. */
export const rare = (header: string): TableColumn => ({ header, isRare: true });

/**
 * A table under its headers that fits into so many columns; nothing for null. One that cannot fit is shown as records,
 * a line for each value. The lines end without a line break.
 */
export const table = (columns: (string | TableColumn)[], rows: Cell[][], width?: number): string =>
  fittedTable(columns, rows, width).text;

/** The same, with the headers of the columns that were left out. */
export function fittedTable(
  columns: (string | TableColumn)[],
  given: Cell[][],
  width = screenWidth(),
): { text: string; left: string[] } {
  const named = columns.map((column) => (typeof column === 'string' ? { header: column } : column));
  const isThere = named.map(
    ({ isRare }, i) => isRare !== true || given.some((row) => row[i] !== 0 && row[i] !== ''),
  );
  const all = named.filter((_, i) => isThere[i]);
  const rows = given.map((row) => row.filter((_, i) => isThere[i]));
  const text = rows.map((row) => all.map((_, i) => cellText(row[i] ?? null)));
  const widest = all.map(({ header }, i) =>
    Math.max(widthOf(header), ...text.map((row) => widthOf(row[i] ?? ''))),
  );
  const spares = all.flatMap(({ spare }) => spare ?? []).toSorted((a, b) => a - b);
  for (const limit of [0, ...spares]) {
    const shown = all.map((_, i) => i).filter((i) => (all[i]?.spare ?? Infinity) > limit);
    const widths = narrowed(all, widest, shown, width);
    if (widths === null) continue;
    const left = all.filter((_, i) => !shown.includes(i)).map(({ header }) => header);
    return { text: drawn(all, rows, text, shown, widths), left };
  }
  return { text: asRecords(all, rows, width), left: [] };
}

/** Takes from the widest column that may be cut until the table fits; null: none can give more. */
function narrowed(
  all: TableColumn[],
  widest: number[],
  shown: number[],
  width: number,
): number[] | null {
  const widths = [...widest];
  // A header is not cut.
  const leastOf = (i: number): number =>
    Math.max(all[i]?.least ?? all[i]?.wrapsTo ?? Infinity, widthOf(all[i]?.header ?? ''));
  let over = shown.reduce((sum, i) => sum + (widths[i] ?? 0), 2 * (shown.length - 1)) - width;
  // Ends: each step takes one from `over`.
  for (; over > 0; over--) {
    const [first, ...others] = shown.filter((i) => (widths[i] ?? 0) > leastOf(i));
    if (first === undefined) return null;
    const giver = others.reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a), first);
    widths[giver] = (widths[giver] ?? 0) - 1;
  }
  return widths;
}

function drawn(
  all: TableColumn[],
  rows: Cell[][],
  text: string[][],
  shown: number[],
  widths: number[],
): string {
  const isNumeric = all.map(
    ({ isNumber }, i) => isNumber ?? rows.every((row) => typeof row[i] !== 'string'),
  );
  const line = (cells: string[]): string =>
    shown
      .map((i) => {
        const cell = cells[i] ?? '';
        const padding = ' '.repeat(Math.max(0, (widths[i] ?? 0) - widthOf(cell)));
        return isNumeric[i] === true ? padding + cell : cell + padding;
      })
      .join('  ')
      .trimEnd();
  const lines = text.flatMap((row) => {
    const cells = row.map((cell, i) => {
      const room = widths[i] ?? 0;
      if (widthOf(cell) <= room) return [cell];
      if (all[i]?.wrapsTo !== undefined) return wrappedLine(cell, room, '');
      return [`${fitting(cell, room - 1)}…`];
    });
    const height = Math.max(...cells.map((cell) => cell.length));
    return Array.from({ length: height }, (_, n) => line(cells.map((cell) => cell[n] ?? '')));
  });
  const headers = all.map(({ header }) => header);
  return [line(headers), line(widths.map((n) => '─'.repeat(n))), ...lines].join('\n');
}

/** A line for each value that is there, behind its name; of two columns the second below the first, without names. */
export function asRecords(given: (string | TableColumn)[], rows: Cell[][], width: number): string {
  const names = given.map((column) => (typeof column === 'string' ? column : column.header));
  const nameWidth = Math.max(...names.map(widthOf)) + 2;
  const linesOf = (cell: string, i: number): string[] => {
    if (cell === '') return [];
    if (names.length <= 2) return [wrapped(`${'  '.repeat(i)}${cell}`, width, '')];
    const name = names[i] ?? '';
    const [first = '', ...below] = wrapped(cell, width - nameWidth).split('\n');
    const fits = [first, ...below].every((line) => widthOf(line) <= width - nameWidth);
    if (!fits) return [name, wrapped(`  ${cell}`, width, '')];
    const padding = ' '.repeat(nameWidth - widthOf(name));
    return [`${name}${padding}${first}`, ...below.map((line) => ' '.repeat(nameWidth) + line)];
  };
  return rows
    .map((row) => row.flatMap((cell, i) => linesOf(cellText(cell), i)).join('\n'))
    .join(names.length <= 2 ? '\n' : '\n\n');
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  return typeof cell === 'number' ? formatCount(cell) : printable(cell);
}

export const indentedTable = (columns: (string | TableColumn)[], rows: Cell[][]): string =>
  table(columns, rows, screenWidth() - 2).replaceAll(/^/gm, '  ');

export function printTable(columns: (string | TableColumn)[], rows: Cell[][]): void {
  process.stdout.write(`${table(columns, rows)}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** 1234567 as `1,234,567`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 day`, `1,200 days`. */
export const counted = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/** What every command that reads says of an archive that holds no project. */
export const nothingArchived = 'Nothing is archived yet. Run `outlast sync` first.';

const units = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

export const formatMegabytes = (bytes: number): string =>
  `${formatCount(Math.round(bytes / 1e6))} MB`;

/**
 * A span in its two greatest units, cut off: `9 days 4 h`, `3 min 20 s`, `less than a second`. The sign is not shown.
 */
export function formatSpan(ms: number): string {
  const span = Math.abs(ms);
  const first = units.findIndex(([, size]) => span >= size);
  if (first === -1) return 'less than a second';
  let left = span;
  return units
    .slice(first, first + 2)
    .map(([unit, size]) => {
      const count = Math.floor(left / size);
      left -= count * size;
      return { count, unit };
    })
    .filter(({ count }) => count > 0)
    .map(({ count, unit }) => `${count} ${unit === 'day' && count !== 1 ? 'days' : unit}`)
    .join(' ');
}

/** When something is, seen from now, `ms` being negative for the past: `in 9 days 4 h`, `3 h ago`. */
export function formatWhen(ms: number): string {
  return ms >= 0 ? `in ${formatSpan(ms)}` : `${formatSpan(ms)} ago`;
}

/** `2026-11-30 00:00`. */
export function momentText(at: Instant | string): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}

/** `30 Nov`, or `29 Nov 18:00`: for a narrow column. */
export function shortMoment(at: Instant): string {
  const iso = new Date(at).toISOString();
  const month = new Date(at).toLocaleString('en-US', { month: 'short', timeZone: 'UTC' });
  const time = iso.slice(11, 16);
  return `${Number(iso.slice(8, 10))} ${month}${time === '00:00' ? '' : ` ${time}`}`;
}

/** A span in its greatest unit, rounded up: `12 min`; nothing for none. */
export function shortSpan(ms: number): string {
  const [unit, size] = units.find(([, one]) => ms >= 2 * one) ?? ['s', 1000];
  return `${formatCount(Math.ceil(ms / size))} ${unit === 'day' ? 'days' : unit}`;
}

/** What tables and sentences are made of: looked at one by one it took a tenth of `outlast status`. */
const plain = /^[ -~·–—‘’“”…─-╿]*$/;

/** Columns that a text takes: East Asian wide characters and most emoji take two, combining marks none. */
export const widthOf = (text: string): number =>
  plain.test(text) ? text.length : stringWidth(text);

/**
 * Text as it may reach a terminal: what the platform sends (names, messages) could otherwise move the cursor, recolour
 * the screen or turn the writing direction. Such characters are shown as `\u{…}`.
 */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** The beginning of a text that fits into so many columns. */
export function fitting(text: string, columns: number): string {
  let left = columns;
  let fits = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    fits += segment;
  }
  return fits;
}

// What people see in a terminal: aligned tables, counts, moments and spans of time, a progress line, and of text what
// may reach it. Data goes to stdout, everything else to stderr. No colours and no escape sequences, so NO_COLOR and
// simple terminals need no case here.
import stringWidth from 'string-width';
import type { Instant } from '../model.ts';

export type Cell = string | number | null;

/** A table under its headers; nothing for null. The lines end without a line break. */
export function table(headers: string[], rows: Cell[][]): string {
  const text = rows.map((row) => row.map(cellText));
  const widths = headers.map((header, i) =>
    Math.max(widthOf(header), ...text.map((row) => widthOf(row[i] ?? ''))),
  );
  const isNumeric = headers.map((_, i) => rows.every((row) => typeof row[i] !== 'string'));
  const line = (cells: string[]): string =>
    cells
      .map((cell, i) => {
        const padding = ' '.repeat((widths[i] ?? 0) - widthOf(cell));
        return isNumeric[i] === true ? padding + cell : cell + padding;
      })
      .join('  ')
      .trimEnd();
  return [line(headers), line(widths.map((n) => '─'.repeat(n))), ...text.map(line)].join('\n');
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  return typeof cell === 'number' ? formatCount(cell) : printable(cell);
}

export function printTable(headers: string[], rows: Cell[][]): void {
  process.stdout.write(`${table(headers, rows)}\n`);
}

/** Every line two columns further to the right. */
export function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** 1234567 as `1,234,567`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

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
export function momentText(at: Instant): string {
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
  const units = [
    ['days', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ] as const;
  const [unit, size] = units.find(([, one]) => ms >= 2 * one) ?? ['s', 1000];
  return `${formatCount(Math.ceil(ms / size))} ${unit}`;
}

export type ProgressLine = {
  /** Shows the text unless the last one was shown a moment ago. */
  update(text: string): void;
  /** Takes the line away, or shows the newest text where lines stay. May be called twice. */
  end(): void;
};

type Out = { write(text: string): unknown; isTTY?: boolean; columns?: number };

export function createProgress(
  out: Out,
  now: () => number = () => performance.now(),
): ProgressLine {
  return out.isTTY === true ? rewritten(out, now) : plain(out, now);
}

function rewritten(out: Out, now: () => number): ProgressLine {
  let shownAt = -Infinity;
  let width = 0;
  const show = (text: string): void => {
    const line = fitting(text, (out.columns ?? 80) - 1);
    const before = width;
    width = widthOf(line);
    // The cursor waits at the beginning of the line: a log line that comes in between covers it.
    out.write(`${line}${' '.repeat(Math.max(0, before - width))}\r`);
  };
  return {
    update(text) {
      if (now() - shownAt < 100) return;
      shownAt = now();
      show(text);
    },
    end() {
      if (width > 0) show('');
    },
  };
}

function plain(out: Out, now: () => number): ProgressLine {
  let shownAt = now();
  let latest = '';
  let shown = '';
  const show = (): void => {
    if (latest !== shown) out.write(`${latest}\n`);
    shown = latest;
  };
  return {
    update(text) {
      latest = text;
      if (now() - shownAt < 5_000) return;
      shownAt = now();
      show();
    },
    end() {
      // Only where there was progress to speak of: a quick command stays quiet.
      if (shown !== '') show();
    },
  };
}

/** Columns that a text takes: East Asian wide characters and most emoji take two, combining marks none. */
export const widthOf = (text: string): number => stringWidth(text);

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

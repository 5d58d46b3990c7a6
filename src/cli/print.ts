// What people see in a terminal: aligned tables, counts, durations, a progress line. Data goes to stdout,
// everything else to stderr.
export type Cell = string | number | null;

/** A table with numbers to the right and text to the left; nothing for null. */
export function table(headers: string[], rows: Cell[][]): string {
  const text = rows.map((row) => row.map(cellText));
  const widths = headers.map((header, i) =>
    Math.max(width(header), ...text.map((row) => width(row[i] ?? ''))),
  );
  const isNumeric = headers.map((_, i) => rows.every((row) => typeof row[i] !== 'string'));
  const line = (cells: string[]): string =>
    cells
      .map((cell, i) => {
        const padding = ' '.repeat((widths[i] ?? 0) - width(cell));
        return isNumeric[i] === true ? padding + cell : cell + padding;
      })
      .join('  ')
      .trimEnd();
  return [line(headers), line(widths.map((n) => '─'.repeat(n))), ...text.map(line)].join('\n');
}

export function printTable(headers: string[], rows: Cell[][]): void {
  process.stdout.write(`${table(headers, rows)}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** 1234567 as `1,234,567`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** A span in the two greatest units that matter: `9 d 4 h`, `3 min`, `less than a minute`. */
export function formatSpan(ms: number): string {
  const minutes = Math.floor(Math.abs(ms) / 60_000);
  const [days, hours, rest] = [
    Math.floor(minutes / 1440),
    Math.floor((minutes % 1440) / 60),
    minutes % 60,
  ];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  if (hours > 0) return rest > 0 ? `${hours} h ${rest} min` : `${hours} h`;
  return rest > 0 ? `${rest} min` : 'less than a minute';
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  return typeof cell === 'number' ? formatCount(cell) : cell;
}

/** Columns a text takes in a terminal: East Asian wide characters take two. */
function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += /\p{M}/u.test(character) ? 0 : isWide(character) ? 2 : 1;
  return columns;
}

const isWide = (character: string): boolean =>
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
    character,
  );

export type ProgressLine = {
  update(text: string): void;
  end(): void;
};

/** A line rewritten in place on a terminal, at most ten times a second; elsewhere a plain line every five seconds. */
export function createProgress(
  out: NodeJS.WriteStream,
  now: () => number = () => performance.now(),
): ProgressLine {
  const pauseMs = out.isTTY ? 100 : 5_000;
  let shownAt = out.isTTY ? -Infinity : now();
  let latest = '';
  let isOpen = false;
  const show = (): void => {
    const line = latest.slice(0, Math.max(20, (out.columns ?? 80) - 1));
    out.write(out.isTTY ? `\r\u001b[2K${line}` : `${latest}\n`);
    isOpen = true;
  };
  return {
    update(text) {
      latest = text;
      if (now() - shownAt < pauseMs) return;
      shownAt = now();
      show();
    },
    end() {
      if (out.isTTY && isOpen) out.write('\r\u001b[2K');
      isOpen = false;
    },
  };
}

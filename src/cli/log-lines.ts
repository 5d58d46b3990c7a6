// The log of a command: lines for a person on a terminal, JSON elsewhere. Our own few lines: pino-pretty brings
// thirteen packages for layouts that nobody sets here.
import { createLog, type Log, type LogLevel } from '../log.ts';
import {
  clearLine,
  isScreen,
  painted,
  printable,
  screenWidth,
  typeable,
  widthOf,
  wrapped,
  type Out,
  type Paint,
} from './print.ts';

/** A log on stderr, as whoever reads it there wants it. */
export function openLog(level: LogLevel): Log {
  const { stderr } = process;
  if (!isScreen(stderr)) return createLog(level);
  // The line begins where a progress line may stand: that is drawn again below it.
  return createLog(level, {
    write: (json) => stderr.write(`${clearLine}${lineOf(json, stderr)}\n`),
  });
}

const paints: Readonly<Record<string, Paint>> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
  info: 'green',
  debug: 'cyan',
  trace: 'cyan',
};

/** `09:38:11Z info   The database schema was brought up to date  from=3 to=7`, in UTC as all times are. */
export function lineOf(json: string, out: Out): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const head = `${String(time).slice(11, 19)}Z ${String(level).padEnd(5)}  `;
  const said = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeable(valueText(value))}`,
  );
  const room = screenWidth(out) - head.length;
  // A field stays in one line where it can.
  const lines = said.reduce(
    ([last = '', ...before], field) => {
      const longer = `${last}  ${field}`;
      return widthOf(longer) <= room ? [longer, ...before] : [field, last, ...before];
    },
    [typeable(printable(String(msg)))],
  );
  const [first = '', ...below] = lines
    .toReversed()
    .flatMap((line) => wrapped(line, room).split('\n'));
  const word = painted(paints[String(level)] ?? 'dim', head.slice(10, 15), out);
  return [
    `${painted('dim', head.slice(0, 9), out)} ${word}  ${first}`,
    ...below.map((line) => ' '.repeat(head.length) + line),
  ].join('\n');
}

/** As JSON writes it; a word or a number needs no quotes. */
function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const isPlain = typeof value !== 'string' || /^[^\s"=]+$/.test(text);
  return printable(isPlain ? text : JSON.stringify(text));
}

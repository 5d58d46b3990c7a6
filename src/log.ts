// The log: one JSON line per event, a fixed sentence plus fields.
// Never record values, secrets or whole URLs (P10); stdout belongs to a command's data.
import { pino, type Logger } from 'pino';

export type Log = Logger;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A log, on stderr by default. */
export function createLog(level: LogLevel, to: { write(line: string): void } = toStderr()): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // P10: a second line of defence; nothing passes these in the first place.
      redact: {
        paths: ['apiSecret', 'apiKey', 'password', '*.apiSecret', '*.apiKey', '*.password'],
        censor: '[hidden]',
      },
    },
    to,
  );
}

/**
 * Written synchronously, so that the last line before an exit is not lost. Where nothing can be written, as on a full
 * disk, the work goes on: a megabyte waits for room.
 */
const toStderr = (): { write(line: string): void } =>
  pino.destination({ dest: 2, sync: true, maxLength: 1_000_000 }).on('error', () => undefined);

/** A log that says nothing, for tests and for library use. */
export function silentLog(): Log {
  return pino({ level: 'silent' });
}

/** What goes on is told when it begins, and then as often as this. */
const againMs = 5 * 60_000;

/**
 * Whether to tell of a trouble that comes again and again: true the first time, and when it was last told five minutes
 * ago. `now` in milliseconds on a clock that never jumps.
 */
export function createLogThrottle(now: () => number = () => performance.now()): () => boolean {
  let toldAt = -Infinity;
  return () => {
    if (now() - toldAt < againMs) return false;
    toldAt = now();
    return true;
  };
}

// What `outlast query` is asked for beside filters: the form, how many, which days, and as of when. Each mistake is named by its option.
import { addDays, isDay } from '../day.ts';
import { settingsError } from '../errors.ts';
import { readInstant } from '../query/instant.ts';
import type { QueryFlags } from './query-filters.ts';
import type { Format } from './query-output.ts';

/** Rows of a table unless told: a person's screen or two. */
export const tableRows = 100;
/** Rows of a table at most: it is held whole to find its widths. */
const tableRowsAtMost = 10_000;

/** Throws settings `bad_format`. */
export function formatOf({ format, json }: QueryFlags, isTerminal: boolean): Format {
  if (json === true && format !== undefined && format !== 'json') {
    throw settingsError('bad_format', '--json and --format are two ways to say it: give one.');
  }
  return json === true ? 'json' : (format ?? (isTerminal ? 'table' : 'ndjson'));
}

/** Throws settings `bad_limit`. */
export function limitOf({ limit }: QueryFlags, format: Format): number {
  if (limit === undefined) return format === 'table' ? tableRows : Infinity;
  if (!/^[1-9]\d{0,14}$/.test(limit)) {
    throw settingsError('bad_limit', `--limit "${limit}" is no whole number above 0.`);
  }
  if (format === 'table' && Number(limit) > tableRowsAtMost) {
    const most = `A table shows ${tableRowsAtMost} records at most`;
    throw settingsError('bad_limit', `${most}: give --format csv, ndjson or json for more.`);
  }
  return Number(limit);
}

/** The days as the library's half-open bounds. Throws settings `bad_days`. */
export function readBounds({ from, to }: QueryFlags): { from?: string; to?: string } {
  for (const [option, day] of [
    ['--from', from],
    ['--to', to],
  ] as const) {
    if (day !== undefined && (!isDay(day) || day < '0001-01-01')) {
      throw settingsError(
        'bad_days',
        `${option} "${day}" is no day: give a date such as 2026-03-31.`,
      );
    }
  }
  if (from !== undefined && to !== undefined && to < from) {
    throw settingsError('bad_days', `--to ${to} lies before --from ${from}.`);
  }
  return {
    ...(from === undefined ? {} : { from }),
    // No day follows the last one that four digits can write: it is no bound.
    ...(to === undefined || to === '9999-12-31' ? {} : { to: addDays(to, 1) }),
  };
}

/** The instant for the library. Throws settings `bad_instant`. */
export function readMoment({ asOf, history }: QueryFlags): { asOf?: string } {
  if (asOf === undefined) return {};
  if (history === true) {
    throw settingsError('bad_instant', '--history shows every time: leave --as-of out.');
  }
  if (readInstant(asOf) === null) {
    const example = 'give one with its offset, such as 2026-03-31T23:59:59+08:00';
    throw settingsError('bad_instant', `--as-of "${asOf}" is no instant: ${example}.`);
  }
  return { asOf };
}

// Options of commands that are arguments of questions: checked as everywhere, and named in sentences as they are typed.
import * as z from 'zod';
import { addDays, dayOf } from '../day.ts';
import type { Day } from '../model.ts';
import {
  asText,
  checked,
  optional,
  type CheckedArguments,
  type Shape,
} from '../query/check-arguments.ts';

/** `txHash` as `--tx-hash`. */
export const optionOf = (argument: string): string =>
  `--${argument.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Days by their names, `today` and `yesterday` (UTC). */
export function inDays<Flags extends { from?: string; to?: string; asOf?: string }>(
  flags: Flags,
): Flags {
  const today = dayOf(Date.now());
  const named: Record<string, Day> = { today, yesterday: addDays(today, -1) };
  const of = (name: 'from' | 'to' | 'asOf'): object =>
    flags[name] === undefined ? {} : { [name]: named[flags[name]] ?? flags[name] };
  return { ...flags, ...of('from'), ...of('to'), ...of('asOf') };
}

/** Those of the shape that were given. Throws settings `argument_invalid` with a sentence for each mistake (P12). */
export function readOptions<S extends Shape>(
  shape: S,
  flags: object,
): Partial<CheckedArguments<S>> {
  const given = checked(z.object(optional(asText(shape))), flags, { nameOf: optionOf });
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as never;
}

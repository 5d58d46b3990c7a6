// Options of commands that are arguments of questions: checked as everywhere, and named in sentences as they are typed.
import * as z from 'zod';
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

// The one check of arguments, wherever they come from: the library, both HTTP interfaces, `outlast query`. Each
// mistake is told by its argument's one sentence (P12); what the arguments are is arguments.ts.
import * as z from 'zod';
import { settingsError, type OutlastError } from '../errors.ts';

/** Arguments by name, each with what it may be. */
export type Shape = Readonly<Record<string, z.ZodType>>;
/** What a shape gives where every argument may be left out. */
export type Given<S extends Shape> = { [Name in keyof S]?: z.output<S[Name]> | undefined };

/** What it gives where none may. */
export type CheckedArguments<S extends Shape> = { [Name in keyof S]: z.output<S[Name]> };

export const optional = <S extends Shape>(
  shape: S,
): { [Name in keyof S]: z.ZodOptional<S[Name]> } =>
  Object.fromEntries(Object.entries(shape).map(([name, kind]) => [name, kind.optional()])) as never;

export const invalidArgument = (message: string): OutlastError =>
  settingsError('argument_invalid', message);

type Door = {
  /** How an argument is spelt there. */
  nameOf?: (argument: string) => string;
  /** Said before every sentence. */
  before?: string;
};

/** What the schema makes of the arguments. Throws settings `argument_invalid` with a sentence for each mistake. */
export function checked<T>(
  schema: z.ZodType<T>,
  given: unknown,
  { nameOf = (argument) => argument, before = '' }: Door = {},
): T {
  const parsed = schema.safeParse(given);
  const mistakes = parsed.success
    ? mistakesTogether(parsed.data as Record<string, unknown>, nameOf)
    : parsed.error.issues.flatMap((issue) => {
        const [name] = issue.path;
        if (name !== undefined) return `${nameOf(String(name))} ${issue.message}`;
        return issue.code === 'unrecognized_keys'
          ? unknown(issue.keys, schema, nameOf)
          : issue.message;
      });
  if (mistakes.length > 0) throw invalidArgument(before + [...new Set(mistakes)].join('; '));
  return parsed.data as T;
}

/** Mistakes that only two arguments together make. */
function mistakesTogether(
  { from, to, cursor, offset, asOf }: Record<string, unknown>,
  nameOf: (argument: string) => string,
): string[] {
  const mistakes: string[] = [];
  if (typeof from === 'string' && typeof to === 'string' && from > to) {
    mistakes.push(`${nameOf('from')} (${from}) must not be after ${nameOf('to')} (${to})`);
  }
  if (cursor !== undefined && offset !== undefined) {
    mistakes.push('give a cursor or an offset, not both');
  }
  if (asOf !== undefined && offset !== undefined) {
    mistakes.push('as of an instant there are cursors and no offset');
  }
  return mistakes;
}

/** One sentence however many they are. */
function unknown(keys: string[], schema: z.ZodType, nameOf: (argument: string) => string): string {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const there = known.length === 0 ? 'none is' : `there are: ${known.map(nameOf).join(', ')}`;
  const named = keys.slice(0, 3).map((key) => JSON.stringify(key.slice(0, 80)));
  const more = keys.length > named.length ? ` and ${keys.length - named.length} more` : '';
  return `${named.join(', ')}${more} ${keys.length > 1 ? 'are' : 'is'} not taken here; ${there}`;
}

/**
 * The same kinds where text is given, in a URL or on a command line: numbers and lists are made of it first, and then
 * checked.
 */
export const asText = <S extends Shape>(
  shape: S,
): { [Name in keyof S]: z.ZodPipe<z.ZodTransform, S[Name]> } =>
  Object.fromEntries(
    Object.entries(shape).map(([name, kind]) => [
      name,
      z.preprocess((text) => (typeof text === 'string' ? valueIn(text, kind) : text), kind),
    ]),
  ) as never;

function valueIn(text: string, kind: z.core.$ZodType): unknown {
  if (kind instanceof z.ZodPipe) return valueIn(text, kind.out);
  if (kind instanceof z.ZodArray) return text.split(',').map((one) => valueIn(one, kind.element));
  const isNumber =
    kind instanceof z.ZodNumber ||
    (kind instanceof z.ZodLiteral && [...kind.values].every((one) => typeof one === 'number'));
  // No sign, no leading zero, no fraction, no exponent; more digits than that are not exact.
  if (isNumber) return /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
  if (kind instanceof z.ZodBoolean && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}

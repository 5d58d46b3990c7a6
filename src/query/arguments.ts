// What can be asked: every argument that more than one question has, with what it may be, the one sentence for whoever
// gets it wrong (P12), and what it means. What records are narrowed by is record-filters.ts.
import * as z from 'zod';
import { addDays, isDay, startOf } from '../day.ts';
import { listedResources, resources, type Day } from '../model.ts';
import { checked } from './check-arguments.ts';

/** A day that Postgres and `Day` write alike: there is no year 0. */
export const isArchiveDay = (text: string): boolean => isDay(text) && text >= '0001-01-01';

const sentence = 'must be a UTC day as yyyy-MM-dd, for example 2026-03-31';
export const day = z.string(sentence).refine(isArchiveDay, sentence).meta({ format: 'date' });

/** Both included, whoever asks. */
export const days = {
  from: day.describe('First UTC day, yyyy-MM-dd'),
  to: day.describe('Last UTC day, included'),
};

/** What was asked with its days half-open, as all that reads takes them. */
export const halfOpen = <Asked extends { to?: Day | undefined }>(asked: Asked): Asked =>
  asked.to === undefined
    ? asked
    : // No day follows the last one that four digits can write: it is no bound.
      { ...asked, to: asked.to === '9999-12-31' ? undefined : addDays(asked.to, 1) };

/** Ids of records are at most this long: see platform/parse.ts. */
const maxIdBytes = 512;
const maxTextLength = 1000;
const maxRowsAtOnce = 10_000;

/** Whether Postgres can hold the text: it has no NUL, and no surrogate stands alone. */
export const isStorable = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text);

const isId = (text: string): boolean =>
  text !== '' && Buffer.byteLength(text) <= maxIdBytes && isStorable(text);

const textOf = (most: number, sentence: string, holds: (text: string) => boolean) =>
  z.string(sentence).min(1, sentence).max(most, sentence).refine(holds, sentence);
const matching = (pattern: RegExp, sentence: string) => z.string(sentence).regex(pattern, sentence);

export const text = textOf(
  maxTextLength,
  `must be text of 1 to ${maxTextLength} characters, without NUL`,
  isStorable,
);
export const id = textOf(
  maxIdBytes,
  `must be an id: text of 1 to ${maxIdBytes} bytes, without NUL`,
  isId,
);
export const whole = (least: number, most: number) => {
  const sentence = `must be a whole number from ${least} to ${most}`;
  return z.int(sentence).min(least, sentence).max(most, sentence);
};
export const oneOf = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words, `must be one of ${words.join(', ')}`);

/** One number or several of them, in one spelling for one meaning: a cursor is bound to it. */
export const severalOf = <Kind extends z.ZodType<number>>(one: Kind, sentence: string) =>
  z.preprocess(
    (given) => (typeof given === 'number' ? [given] : given),
    z
      .array(one, sentence)
      .min(1, sentence)
      .overwrite((given) => [...new Set(given)].toSorted((a, b) => a - b)),
  );

/** By which figures are grouped: each named once, in the order given. In text none cannot be said. */
export const groupsOf = <const Name extends string>(names: readonly Name[]) => {
  const sentence = `must be a list of ${names.join(', ')}, each only once`;
  return z
    .array(z.enum(names, sentence), sentence)
    .refine((given) => new Set(given).size === given.length, sentence)
    .meta({ minItems: 1, uniqueItems: true });
};

const zoneSentence = 'must be UTC or the name of a time zone, such as Asia/Shanghai';
export function isZone(name: string): boolean {
  if (name !== 'UTC' && !/^[A-Z][A-Za-z_]+(?:\/[A-Z][A-Za-z_-]+)+$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const instantSentence =
  'must be an instant as RFC 3339 with its offset and at most six decimals, such as 2026-03-31T23:59:59.5+08:00, or a UTC day';

export const project = matching(
  /^[a-z0-9_-]{1,40}$/,
  'must be a project name: 1 to 40 of a-z, 0-9, _ and -',
);
/** Of a day its end is meant. */
const instantOf = (given: string): string | null =>
  readInstant(isArchiveDay(given) ? `${given}T23:59:59.999999Z` : given);

/** Becomes one text a moment, so that a cursor is bound to the moment and not to its spelling. */
export const asOf = z
  .preprocess(
    (given) => (typeof given === 'string' ? (instantOf(given) ?? given) : given),
    z
      .string(instantSentence)
      .refine((given) => readInstant(given) !== null, instantSentence)
      .meta({ anyOf: [{ format: 'date-time' }, { format: 'date' }] }),
  )
  .describe(
    'What was known at this instant, RFC 3339, or at the end of this UTC day; now by default',
  );
export const order = oneOf(['asc', 'desc']).describe(
  'By (day, time of creation, id bytes); asc by default',
);
export const limit = whole(1, maxRowsAtOnce);
/** Longer than any that we give are refused. */
export const cursorSaid = (sentence: string): z.ZodString =>
  z.string(sentence).min(1, sentence).max(8192, sentence);
export const cursor = cursorSaid('must be the `next` or `previous` of a page').describe(
  'The `next` or the `previous` of a page of the same query; opaque',
);
/** Of the time zones that Postgres knows, those with a name alone: it takes UTC+8 for what lies eight hours west. */
export const zone = z
  .string()
  .refine(isZone, zoneSentence)
  .describe('Days and months of this time zone, such as Asia/Shanghai; UTC by default');
/** Of fifteen digits, as many as a number in an address may have. */
export const offset = whole(0, 999_999_999_999_999);
export const resource = oneOf(resources);
export const listedResource = oneOf(listedResources).describe(
  'One of the two lists; both by default',
);
export const month = matching(
  /^(?!0000)\d{4}-(0[1-9]|1[0-2])$/,
  'must be a month as yyyy-MM, for example 2026-03',
).describe('One month, yyyy-MM');
export const sha256 = matching(
  /^[0-9a-f]{64}$/,
  'must be a SHA-256 as 64 lower-case hex digits',
).describe('Of its bytes, lower-case hex');

/** One page after another; 100 records by default. */
export const paging = { limit: limit.default(100), cursor: cursor.optional() };

/**
 * The arguments of a call of the library, with half-open days. TypeScript checks callers that use it; the others meet
 * these sentences.
 */
export const parseArguments = <T extends object>(
  call: string,
  schema: z.ZodType<T>,
  given: unknown,
): T => halfOpen(checked(schema, given, { before: `${call}: ` }));

const form =
  /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,6}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

/**
 * An instant as callers write it, any offset, up to microseconds. Made one text a moment, so that two spellings of it
 * mean the same to a cursor and compare as text: RFC 3339 in UTC without trailing zeros, `2026-03-01T10:00:00.5Z`; null for anything but a real moment
 * of the years 1 to 9999. Strict: a leap second, a space instead of `T`, a missing offset or a seventh decimal is
 * refused, not guessed at.
 */
export function readInstant(text: string): string | null {
  const parts = form.exec(text);
  if (parts === null) return null;
  const [, day = '', time = '', fraction = '', sign, hours, minutes] = parts;
  // An impossible date would roll over.
  if (new Date(startOf(day)).toJSON()?.slice(0, 10) !== day) return null;
  const offsetMinutes =
    sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const utc = new Date(Date.parse(`${day}T${time}Z`) - offsetMinutes * 60_000).toISOString();
  // Outside four digits the year is written with a sign, and year 0 is none of Postgres'.
  if (utc.length !== 24 || utc.startsWith('0000')) return null;
  const digits = fraction.replace(/0+$/, '');
  return `${utc.slice(0, 19)}${digits === '' ? '' : `.${digits}`}Z`;
}

/** A real time between the years 1 and 9999 in UTC as it is given out. */
export const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT[\d:]{8}(\.\d{1,6})?Z$/.test(text) && readInstant(text) !== null;

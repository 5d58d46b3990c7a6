// The parameters of `/archive/v1`: what each may be, as a schema that checks it with a sentence for whoever gets it wrong (P12), and
// describes it in /openapi.json.
import * as z from 'zod';
import { isArchiveDay, isId, isStorable } from '../../query/argument-kinds.ts';
import { readInstant } from '../../query/instant.ts';

/** What stands in a URL is text: numbers and lists are made of it first, and then checked. */
const wholeNumber = (text: unknown): unknown =>
  typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text;

const whole = (least: number, most: number) => {
  const sentence = `must be a whole number from ${least} to ${most}`;
  return z.preprocess(wholeNumber, z.int(sentence).min(least, sentence).max(most, sentence));
};

const mostText = 1000;
const textSentence = `must be text of at most ${mostText} characters, without NUL`;
export const text = z
  .string(textSentence)
  .min(1, textSentence)
  .max(mostText, textSentence)
  .refine(isStorable, textSentence);

const idSentence = 'must be an id: 1 to 512 bytes of UTF-8, without NUL';
export const id = z
  .string(idSentence)
  .min(1, idSentence)
  .max(512, idSentence)
  .refine(isId, idSentence);

const daySentence = 'must be a UTC day as yyyy-MM-dd, for example 2026-03-31';
export const day = z.string(daySentence).refine(isArchiveDay, daySentence).meta({ format: 'date' });

const instantSentence =
  'must be an instant as RFC 3339 with its offset and at most six decimals, such as 2026-03-31T23:59:59Z';
/** A `+` that nobody percent-encoded arrives as a space, which no instant has. */
export const asOf = z
  .preprocess(
    (given) => (typeof given === 'string' ? given.replace(/ (?=\d\d:\d\d$)/, '+') : given),
    z
      .string(instantSentence)
      .refine((given) => readInstant(given) !== null, instantSentence)
      .meta({ format: 'date-time' }),
  )
  .optional()
  .describe('What was known at this instant, RFC 3339; now unless told');

export const project = z
  .string()
  .regex(/^[a-z0-9_-]{1,40}$/, 'must be a project name: 1 to 40 of a-z, 0-9, _ and -')
  .describe('The project; needed only where you may read several');

/** Several of some numbers, with commas between them. */
export const several = <const Number extends number>(allowed: readonly Number[]) => {
  const sentence = `must be one of ${allowed.join(', ')}, or several of them with commas`;
  return z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').map(wholeNumber) : value),
    z.array(z.literal(allowed, sentence), sentence).min(1, sentence),
  );
};

/** The same of any whole numbers. */
export const severalWhole = (least: number, most: number) => {
  const sentence = `must be a whole number from ${least} to ${most}, or several of them with commas`;
  return z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').map(wholeNumber) : value),
    z.array(z.int(sentence).min(least, sentence).max(most, sentence), sentence).min(1, sentence),
  );
};

export const oneOf = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words, `must be ${words.join(' or ')}`);

/** The same of words, each once. */
export const severalOf = <const Word extends string>(words: readonly Word[]) => {
  const sentence = `must be one of ${words.join(', ')}, or several of them with commas, each once`;
  return z.preprocess(
    (given) => (typeof given === 'string' ? given.split(',') : given),
    z
      .array(z.enum(words, sentence), sentence)
      .min(1, sentence)
      .refine((given) => new Set(given).size === given.length, sentence)
      .meta({ uniqueItems: true }),
  );
};

export const month = z
  .string()
  .regex(/^(?!0000)\d{4}-(0[1-9]|1[0-2])$/, 'must be a month as yyyy-MM, for example 2026-03');
export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 as 64 lower-case hex digits')
  .describe('Of its bytes, lower-case hex');

/** `[from, to)` of UTC days. */
export const days = {
  from: day.optional().describe('First UTC day, yyyy-MM-dd'),
  to: day.optional().describe('The UTC day after the last one: it is not included'),
};

export const mostAtOnce = 10_000;
export const paging = {
  limit: whole(1, mostAtOnce)
    .optional()
    .describe(
      `Records a page, 100 unless told. With format ndjson or csv: records at all, everything unless told`,
    ),
  cursor: z
    .string()
    .min(1)
    .max(8192, 'must be the `next` or the `previous` of a page')
    .optional()
    .describe('The `next` or the `previous` of a page of the same query; opaque'),
};

export const formats = ['json', 'ndjson', 'csv'] as const;
export type Format = (typeof formats)[number];
export const format = oneOf(formats)
  .optional()
  .describe('json unless told; ndjson and csv give the whole list as a stream. Goes before Accept');

const flag = z
  .preprocess(
    (given) => (given === 'true' ? true : given === 'false' ? false : given),
    z.boolean('must be true or false'),
  )
  .optional();
export const count = flag.describe(
  'true: how many match, counted exactly, stands beside the items',
);

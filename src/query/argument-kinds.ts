// What an argument of the query module can be: each kind with the sentence for whoever gets it wrong (P12).
import * as z from 'zod';
import { isDay } from '../day.ts';
import { readInstant } from './instant.ts';

/** Ids of records are at most this long: see platform/parse.ts. */
const maxIdBytes = 512;
const maxTextLength = 1000;

/** Whether Postgres can hold the text: it has no NUL, and no surrogate stands alone. */
export const isStorable = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text);

export const isId = (text: string): boolean =>
  text !== '' && Buffer.byteLength(text) <= maxIdBytes && isStorable(text);

/** A day that Postgres and `Day` write alike: there is no year 0. */
export const isArchiveDay = (text: string): boolean => isDay(text) && text >= '0001-01-01';

export const rule = (sentence: string, holds: (text: string) => boolean) =>
  z.string(sentence).refine(holds, sentence);

export const wholeNumber = (min: number, max: number) => {
  const sentence = `must be a whole number from ${min} to ${max}`;
  return z.int(sentence).min(min, sentence).max(max, sentence);
};

export const project = rule('must be a project name: 1 to 40 of a-z, 0-9, _ and -', (text) =>
  /^[a-z0-9_-]{1,40}$/.test(text),
);
export const day = rule('must be a real day as yyyy-MM-dd', isArchiveDay);
export const id = rule(`must be an id: text of 1 to ${maxIdBytes} bytes, without NUL`, isId);
export const text = rule(
  `must be text of 1 to ${maxTextLength} characters, without NUL`,
  (value) => value !== '' && value.length <= maxTextLength && isStorable(value),
);

const instantSentence =
  'must be an instant as RFC 3339 with its offset and at most six decimals, such as 2026-03-31T23:59:59.5+08:00';

/** Becomes one text a moment (instant.ts), so that a cursor is bound to the moment and not to its spelling. */
export const instant = z.string(instantSentence).transform((given, context) => {
  const found = readInstant(given);
  if (found === null) context.addIssue({ code: 'custom', message: instantSentence });
  return found ?? z.NEVER;
});

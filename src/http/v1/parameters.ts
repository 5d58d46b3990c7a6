// What stands in the URL of a request to `/archive/v1`: read strictly, each parameter once, and the two that only this
// interface has. All others are the library's arguments (query/arguments.ts). Whatever is wrong is answered 400 with
// what is allowed (P12).
import * as z from 'zod';
import { oneOf } from '../../query/arguments.ts';
import { asText, type Shape } from '../../query/check-arguments.ts';
import { snake } from '../../query/record-text.ts';
import { refuse } from '../http-answers.ts';

/** A sheet is text/csv as well: `Accept` does not ask for it. */
export const acceptFormats = ['json', 'ndjson', 'csv'] as const;
export const answerFormats = [...acceptFormats, 'sheet'] as const;
export type AnswerFormat = (typeof answerFormats)[number];
/** And those in which a route answers that has no other. */
export type Form = (typeof acceptFormats)[number] | 'file' | 'events';
export const format = oneOf(answerFormats).describe(
  'json by default; ndjson and csv give the whole list as a stream; sheet does as CSV for a spreadsheet. Goes before Accept',
);
export const count = z
  .boolean('must be true or false')
  .describe('true: how many match, counted exactly, stands beside the items');

/** Arguments of the library as they stand in a URL: under the tables' names, as text. */
export const inUrl = (shape: Shape): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(asText(shape)).map(([name, kind]) => [snake(name), kind]));

/** The parameters as they stand in a URL, each once, decoded strictly. Throws `Refused`. */
export function readQuery(url: string): Map<string, string> {
  const mark = url.indexOf('?');
  const given = new Map<string, string>();
  if (mark < 0) return given;
  for (const piece of url.slice(mark + 1).split('&')) {
    if (piece === '') continue;
    const at = piece.indexOf('=');
    const name = decoded(at < 0 ? piece : piece.slice(0, at));
    const value = at < 0 ? '' : decoded(piece.slice(at + 1));
    if (given.has(name)) refuse(`${shown(name)} is given twice: give it once`);
    if (value === '') refuse(`${shown(name)} is empty: give it a value, or leave it out`);
    given.set(name, name === 'as_of' ? withPlus(value) : value);
  }
  return given;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return refuse('the query cannot be read: percent-signs must stand for UTF-8');
  }
}

/** A `+` that nobody percent-encoded arrives as a space, which no instant has. */
export const withPlus = (instant: string): string => instant.replace(/ (?=\d\d:\d\d$)/, '+');

const shown = (name: string): string => JSON.stringify(name.slice(0, 80));

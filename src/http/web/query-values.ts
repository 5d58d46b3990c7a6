// What was asked of a list in the page's address: under the names and with the meaning that it has in `/archive/v1`, so
// that one query serves both. Fields of a form that were left empty are left out.
import * as z from 'zod';
import { checked, optional, type Shape } from '../../query/check-arguments.ts';
import { snake } from '../../query/record-text.ts';
import { inUrl, withPlus } from '../v1/parameters.ts';
import { present } from '../v1/route.ts';

/** The parameters as they were written, several statuses with commas between them; `project` is not among them. */
export function givenIn(query: URLSearchParams): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name).filter((value) => value !== '');
    const text = values.join(',');
    const value = name === 'as_of' ? withPlus(text.trim()) : text;
    if (value !== '' && name !== 'project') given[name] = value;
  }
  return given;
}

/** In the library's names. Throws settings `argument_invalid`. */
export function askedOf(shape: Shape, given: Record<string, string>): Record<string, unknown> {
  const asked: Record<string, unknown> = checked(z.strictObject(optional(inUrl(shape))), given);
  return present(Object.fromEntries(Object.keys(shape).map((name) => [name, asked[snake(name)]])));
}

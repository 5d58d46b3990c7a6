// Parameters off a URL: decoded strictly, each once, none that is not known. Whatever is wrong is answered 400 with what is allowed
// (P12).
import type * as z from 'zod';
import { refuse } from '../answers.ts';

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
    given.set(name, value);
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

const shown = (name: string): string => JSON.stringify(name.slice(0, 80));

/** What a schema makes of the parameters. Throws `Refused` with a sentence for each mistake. */
export function checked<T>(schema: z.ZodObject & z.ZodType<T>, given: Map<string, string>): T {
  const allowed = Object.keys(schema.shape);
  for (const name of given.keys()) {
    if (name === 'as_of' && !allowed.includes(name)) {
      refuse(
        'as_of is not taken here: this is as it stands now. What was certain at an earlier moment stands in the certificates',
      );
    }
    if (!allowed.includes(name)) {
      refuse(
        `${shown(name)} is no parameter here; ${allowed.length === 0 ? 'none is taken' : `there are: ${allowed.join(', ')}`}`,
      );
    }
  }
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map(
      ({ path, message }) => `${String(path[0])} ${message}`,
    );
    return refuse([...new Set(mistakes)].join('; '));
  }
  const { from, to } = parsed.data as { from?: string; to?: string };
  if (from !== undefined && to !== undefined && from > to) {
    refuse(`from (${from}) must not be after to (${to}), which is not included`);
  }
  return parsed.data;
}

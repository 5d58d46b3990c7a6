// Our own reader of JSON text. It exists because JSON.parse loses what an archive must not: exact numbers
// (2^53 + 1, 1e400), and where in the text each element of a list stood, for the record's verbatim text.
// It knows nothing of platforms or records, and never puts a piece of the text into an error.

/**
 * A value of a JSON text. Exact: numbers keep their spelling, objects the last of several equal keys (as jsonb does).
 */
export type Json = string | boolean | null | JsonNumber | JsonArray | JsonObject | JsonDeep;

type JsonNumber = { type: 'number'; text: string };

/** Element `i` is `text.slice(spans[2 * i], spans[2 * i + 1])` of the text that was parsed. */
export type JsonArray = { type: 'array'; items: Json[]; spans: number[] };

/** A Map, so that no key is special (`__proto__`). `repeated`: some key stood there more than once. */
export type JsonObject = { type: 'object'; fields: Map<string, Json>; repeated: boolean };

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && value.type === 'object';

/** An array or object nested too deep to be taken apart: its text as it stands. */
type JsonDeep = { type: 'deep'; text: string };

/** How deep arrays and objects may nest inside one record; far below what a stack or jsonb bears. */
export const maxRecordDepth = 256;

/**
 * In one text, which a record within its bound never has. An answer could hold thirty million of them, each some hundred
 * bytes when it is taken apart.
 */
const mostValues = 300_000;

/**
 * Reads one JSON value. Arrays and objects with `maxDepth` others around them come back as `JsonDeep`;
 * inside those only strings and the balance of brackets are checked. Throws SyntaxError on anything else
 * that RFC 8259 does not allow, naming the position alone, and RangeError where there are too many values.
 */
export function parseJson(text: string, maxDepth: number = maxRecordDepth): Json {
  let at = 0;
  let values = 0;
  /** By place, the keys of the objects read so far: a list's records spell theirs alike, so each is made once. */
  const guesses: string[] = [];

  const fail = (): never => {
    throw new SyntaxError(`no valid JSON at character ${at} of ${text.length}`);
  };

  /** Skips white space; gives the code at the new position, NaN at the end. */
  function next(): number {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) {
        return code;
      }
      at++;
    }
  }

  function value(depth: number): Json {
    if (++values > mostValues) throw new RangeError(`more than ${mostValues} values`);
    switch (next()) {
      case 0x22:
        return string();
      case 0x7b:
        return depth < maxDepth ? object(depth + 1) : deep();
      case 0x5b:
        return depth < maxDepth ? array(depth + 1) : deep();
      case 0x74:
        return word('true', true);
      case 0x66:
        return word('false', false);
      case 0x6e:
        return word('null', null);
      default:
        return number();
    }
  }

  function object(depth: number): JsonObject {
    const fields = new Map<string, Json>();
    at++;
    if (next() === 0x7d) {
      at++;
      return { type: 'object', fields, repeated: false };
    }
    for (let count = 1; ; count++) {
      if (next() !== 0x22) fail();
      const key = keyAt(count);
      if (next() !== 0x3a) fail();
      at++;
      fields.set(key, value(depth));
      const code = next();
      if (code !== 0x2c && code !== 0x7d) fail();
      at++;
      if (code === 0x7d) return { type: 'object', fields, repeated: fields.size < count };
    }
  }

  function keyAt(place: number): string {
    const guess = guesses[place];
    if (guess !== undefined && text.startsWith(guess, at + 1)) {
      const end = at + 1 + guess.length;
      if (text.charCodeAt(end) === 0x22) {
        at = end + 1;
        return guess;
      }
    }
    const start = at + 1;
    const key = string();
    // Only a key that stands there as it is can be recognised by its text.
    if (at === start + key.length + 1) guesses[place] = key;
    return key;
  }

  function array(depth: number): JsonArray {
    const items: Json[] = [];
    const spans: number[] = [];
    at++;
    if (next() === 0x5d) {
      at++;
      return { type: 'array', items, spans };
    }
    for (;;) {
      next();
      spans.push(at);
      items.push(value(depth));
      spans.push(at);
      const code = next();
      if (code !== 0x2c && code !== 0x5d) fail();
      at++;
      if (code === 0x5d) return { type: 'array', items, spans };
    }
  }

  function string(): string {
    const start = ++at;
    const escaped = endOfString();
    if (!escaped) return text.slice(start, at++);
    try {
      const unescaped: unknown = JSON.parse(text.slice(start - 1, ++at));
      return typeof unescaped === 'string' ? unescaped : fail();
    } catch {
      // Not the engine's own error: it quotes the text.
      return fail();
    }
  }

  /** Moves from inside a string to its closing quote; true if there is an escape on the way. */
  function endOfString(): boolean {
    let escaped = false;
    for (; ; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22) return escaped;
      if (code === 0x5c) {
        escaped = true;
        at++;
      } else if (!(code >= 0x20)) fail();
    }
  }

  function number(): JsonNumber {
    const start = at;
    if (text.charCodeAt(at) === 0x2d) at++;
    if (text.charCodeAt(at) === 0x30) at++;
    else digits();
    if (text.charCodeAt(at) === 0x2e) {
      at++;
      digits();
    }
    const code = text.charCodeAt(at);
    if (code === 0x65 || code === 0x45) {
      at++;
      const sign = text.charCodeAt(at);
      if (sign === 0x2b || sign === 0x2d) at++;
      digits();
    }
    return { type: 'number', text: text.slice(start, at) };
  }

  function digits(): void {
    const start = at;
    for (let code = text.charCodeAt(at); code >= 0x30 && code <= 0x39;)
      code = text.charCodeAt(++at);
    if (at === start) fail();
  }

  function word<T>(spelling: string, meaning: T): T {
    if (!text.startsWith(spelling, at)) fail();
    at += spelling.length;
    return meaning;
  }

  /** Steps over an array or object without descending into it, so that no nesting overflows the stack. */
  function deep(): JsonDeep {
    const start = at;
    let open = 0;
    do {
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        at++;
        endOfString();
      } else if (code === 0x7b || code === 0x5b) open++;
      else if (code === 0x7d || code === 0x5d) open--;
      else if (at >= text.length) fail();
      at++;
    } while (open > 0);
    return { type: 'deep', text: text.slice(start, at) };
  }

  const root = value(0);
  if (!Number.isNaN(next())) fail();
  return root;
}

// Canonical JSON and its digest, `raw_sha256`. Auditors can recompute it from `raw` (or, where there are
// some, from `raw_bytes`) with any language; the whole recipe:
//   1. Objects: keys in ascending order of their UTF-8 bytes, of equal keys the last; `{"a":1,"b":[2]}`, no spaces.
//   2. Strings: `\"` `\\` `\b` `\t` `\n` `\f` `\r`, other characters below U+0020 as `\u00xx` and lone surrogates as
//      `\udxxx`, both in lower-case hex; everything else as it is, in UTF-8.
//   3. Numbers: plain decimal, no exponent, no trailing fractional zeros, -0 as 0. A number that Postgres' numeric
//      cannot hold (more than 131072 digits before or 16383 after the point) stays as it was written, in lower case.
//   4. An array or object with 256 others of its record around it: its text as it stands.
//   5. raw_sha256 is the lower-case hex of SHA-256 over the UTF-8 bytes of that text.
// So the digest of a record is that of what jsonb prints for it, wherever jsonb can hold the record.
import { hash } from 'node:crypto';
import { toUSVString } from 'node:util';
import { transient } from '../errors.ts';
import { byteBounds, compareUtf8 } from './bytes.ts';
import { parseJson, type Json } from './json.ts';

/** The canonical text, and whether jsonb holds the value as it is (else see `jsonbText`). */
type Canonical = { text: string; fits: boolean };

/** Lower-case hex SHA-256 of canonical text (or of any other text as UTF-8). */
export const sha256 = (data: string | Buffer): string => hash('sha256', data, 'hex');

/** Throws transient `unusable_answer` for numbers that nobody could write out. */
export function canonical(value: Json): Canonical {
  const out: Canonical = { text: '', fits: true };
  write(value, out);
  return out;
}

/** JSON text of any spelling as the bytes of a file: canonical, and a line feed. Throws SyntaxError on what is no JSON. */
export const canonicalFile = (json: string): string => `${canonical(parseJson(json)).text}\n`;

function write(value: Json, out: Canonical): void {
  if (typeof value === 'string') return writeString(value, out);
  if (value === null || typeof value === 'boolean') {
    out.text += String(value);
    return;
  }
  switch (value.type) {
    case 'number': {
      const plain = plainDecimal(value.text);
      if (plain === null) out.fits = false;
      out.text += plain ?? canonicalNumber(value.text);
      // Nothing else grows by being written out.
      if (out.text.length > byteBounds.canonical) {
        throw transient('unusable_answer', 'its numbers, written out, are too long');
      }
      return;
    }
    case 'array': {
      let mark = '[';
      for (const item of value.items) {
        out.text += mark;
        write(item, out);
        mark = ',';
      }
      out.text += mark === '[' ? '[]' : ']';
      return;
    }
    case 'object': {
      // jsonb keeps only the last of them, and chokes even on one that it would drop.
      const { sorted, fits } = shapeOf(value.fields);
      if (value.repeated || !fits) out.fits = false;
      for (const { key, opening } of sorted) {
        out.text += opening;
        write(value.fields.get(key) ?? null, out);
      }
      out.text += sorted.length === 0 ? '{}' : '}';
      return;
    }
    case 'deep':
      out.fits = false;
      out.text += value.text;
  }
}

/** An object's keys as they came, and in order with the text that opens each: `{"a":`, `,"b":`. */
type Shape = { keys: string[]; sorted: { key: string; opening: string }[]; fits: boolean };
/** Those met last: a list's records have two or three between them. */
let shapes: Shape[] = [];

/** A list's records have their keys in common: they are sorted and written once. */
function shapeOf(fields: ReadonlyMap<string, Json>): Shape {
  for (const shape of shapes) if (hasKeys(fields, shape.keys)) return shape;
  const keys = [...fields.keys()];
  const out: Canonical = { text: '', fits: true };
  const sorted = keys.toSorted(compareUtf8).map((key, i) => {
    out.text = i === 0 ? '{' : ',';
    writeString(key, out);
    return { key, opening: `${out.text}:` };
  });
  const shape = { keys, sorted, fits: out.fits };
  // What is remembered stays in memory: no more than a record has that is one.
  if (keys.length <= 64) shapes = [shape, ...shapes.slice(0, 3)];
  return shape;
}

function hasKeys(fields: ReadonlyMap<string, Json>, keys: string[]): boolean {
  if (fields.size !== keys.length) return false;
  let i = 0;
  for (const key of fields.keys()) if (key !== keys[i++]) return false;
  return true;
}

// oxlint-disable-next-line no-control-regex -- the control characters are what it looks for
const special = /["\\\u0000-\u001f\ud800-\udfff]/;

/** JSON.stringify writes exactly point 2 of the recipe; most strings need none of it, and looking first is cheaper. */
function writeString(value: string, out: Canonical): void {
  if (special.test(value)) {
    out.text += JSON.stringify(value);
    if (storable(value) !== value) out.fits = false;
  } else out.text += `"${value}"`;
}

/** The text as Postgres can hold it: U+0000 and lone surrogates become U+FFFD. */
export function storable(text: string): string {
  return special.test(text) ? toUSVString(text).replaceAll('\u0000', '\ufffd') : text;
}

/**
 * JSON text that jsonb holds, for a value that does not fit: strings and keys `storable`, numbers beyond
 * numeric as strings of their canonical text, of equal keys the last, what nests too deep as the string U+FFFD.
 */
export function jsonbText(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(storable(value));
  if (value === null || typeof value === 'boolean') return String(value);
  switch (value.type) {
    case 'number':
      return plainDecimal(value.text) === null ? `"${canonicalNumber(value.text)}"` : value.text;
    case 'array':
      return `[${value.items.map(jsonbText).join(',')}]`;
    case 'object':
      return `{${[...value.fields].map(([key, item]) => `${jsonbText(key)}:${jsonbText(item)}`).join(',')}}`;
    case 'deep':
  }
  return '"\ufffd"';
}

// Exact decimal numbers as text: JSON's spelling in, plain digits out. Nothing of them passes through a double.

// What Postgres' numeric can hold, by its documentation and by trial on 15 and 18: digits before the point,
// digits after it (as written, zeros included), and the exponent that both accept even on a zero.
const maxWhole = 131_072;
const maxFraction = 16_383;
const maxExponent = 1_073_741_822;

/**
 * A JSON number as plain decimal: no exponent, no leading zeros, no trailing fractional zeros, -0 as 0.
 * null if Postgres' numeric cannot hold the number as it is written; such a number is never expanded.
 */
export function plainDecimal(text: string): string | null {
  if (isSmallWhole(text)) return text;
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (parts === null) return null;
  const [, minus = '', whole = '', fraction = '', power = '0'] = parts;
  const exponent = Number(power);
  if (fraction.length - exponent > maxFraction || Math.abs(exponent) > maxExponent) return null;

  const digits = whole + fraction;
  let first = 0;
  while (digits.charCodeAt(first) === 0x30) first++;
  if (first === digits.length) return '0';
  // The point stands before digit number `point`, which may lie outside of the digits written.
  const point = whole.length + exponent;
  if (point - first > maxWhole) return null;

  let last = digits.length;
  while (last > point && digits.charCodeAt(last - 1) === 0x30) last--;
  if (point <= first) return `${minus}0.${'0'.repeat(first - point)}${digits.slice(first, last)}`;
  if (point >= last) return minus + digits.slice(first, last) + '0'.repeat(point - last);
  return `${minus}${digits.slice(first, point)}.${digits.slice(point, last)}`;
}

/** The canonical spelling of a JSON number: plain decimal, or beyond numeric's reach its own text in lower case. */
export function canonicalNumber(text: string): string {
  return plainDecimal(text) ?? text.toLowerCase();
}

/** True for the everyday case, a few digits and nothing else, which is its own plain decimal. */
function isSmallWhole(text: string): boolean {
  if (text.length > 15 || (text.charCodeAt(0) === 0x30 && text.length > 1)) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text !== '';
}

// Records' JSON as people read it: laid out line by line, and compared field by field. Numbers stay as they were
// written. What would turn the direction of the text, or cannot be seen, stands as its escape.
import { decodeUtf8 } from '../../platform/bytes.ts';
import { parseJson, type Json } from '../../platform/json.ts';

/** A record as the platform gave it: of its bytes where they are kept, for JSON in Postgres could not hold it then. */
export const readRaw = (raw: { rawJson: string; rawBytes: Uint8Array | null }): Json =>
  parseJson(raw.rawBytes === null ? raw.rawJson : decodeUtf8(Buffer.from(raw.rawBytes)));

const unseen = /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(
    unseen,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Two spaces a level, for so many: what nests deeper would be more space than text. The same JSON value. */
export const laidOut = (value: Json): string => written(value, '\n');
const deepestIndent = '\n'.length + 2 * 16;

const compact = (value: Json): string => written(value, null);

/** `line` is the break with the indentation so far; null: all in one line. */
function written(value: Json, line: string | null): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (value.type === 'number' || value.type === 'deep') return value.text;
  const inner = line === null || line.length >= deepestIndent ? line : `${line}  `;
  const parts =
    value.type === 'array'
      ? value.items.map((item) => written(item, inner))
      : [...value.fields].map(([key, item]) => `${quoted(key)}: ${written(item, inner)}`);
  const [open, close] = value.type === 'array' ? '[]' : '{}';
  if (parts.length === 0) return `${open}${close}`;
  return inner === null
    ? `${open}${parts.join(', ')}${close}`
    : `${open}${inner}${parts.join(`,${inner}`)}${line}${close}`;
}

/** A field that differs. `path`: `a.b[2]`, '' for the whole; values as JSON text, null where it was not there. */
export type Difference = { path: string; was: string | null; became: string | null };

/** In the order of the newer one; what is gone comes last in its object. Elements of arrays are told by their place. */
export function differences(was: Json, became: Json): Difference[] {
  const found: Difference[] = [];
  compare('', was, became, found);
  return found;
}

function compare(
  path: string,
  was: Json | undefined,
  became: Json | undefined,
  found: Difference[],
): void {
  const [before, parts] = [partsOf(was), partsOf(became)];
  if (before !== null && parts !== null && before.type === parts.type) {
    for (const key of new Set([...parts.byKey.keys(), ...before.byKey.keys()])) {
      compare(pathTo(path, key), before.byKey.get(key), parts.byKey.get(key), found);
    }
    return;
  }
  const [one = null, other = null] = [was, became].map((value) =>
    value === undefined ? null : compact(value),
  );
  if (one !== other) found.push({ path, was: one, became: other });
}

/** What an array or an object consists of, elements by their place; null for anything else. */
function partsOf(
  value: Json | undefined,
): { type: string; byKey: ReadonlyMap<string | number, Json> } | null {
  if (typeof value !== 'object' || value === null) return null;
  if (value.type === 'array') return { type: value.type, byKey: new Map(value.items.entries()) };
  return value.type === 'object' ? { type: value.type, byKey: value.fields } : null;
}

/** Of a key, which may be as long as a record. */
const longestKey = 100;

function pathTo(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  const shown = key.length > longestKey ? `${key.slice(0, longestKey)}…` : key;
  if (!/^[\p{L}\p{N}_-]+$/u.test(shown)) return `${path}[${quoted(shown)}]`;
  return path === '' ? shown : `${path}.${shown}`;
}

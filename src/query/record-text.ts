// Records as text, for whoever hands them on: JSON with the tables' own names, and CSV. Exact numbers stay text, and
// what is JSON already goes in as it stands: parsed and written again its numbers would be rounded. Knows no stream and
// no file.

const names = new Map<string, string>();

/**
 * `rawJson` is the column `raw`: the other names differ in their spelling only. Asked for every field of every record,
 * so it is kept.
 */
export function snake(field: string): string {
  const known = names.get(field);
  if (known !== undefined) return known;
  const name = field
    .replace(/Json$/, '')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  names.set(field, name);
  return name;
}

/** One record as a JSON object: these fields, in this order. What is undefined is left out. */
export function jsonText<Item extends object>(
  item: Item,
  fields: readonly (keyof Item & string)[],
): string {
  let text = '';
  for (const field of fields) {
    const value: unknown = item[field];
    if (value === undefined) continue;
    const said = field.endsWith('Json') ? (value as string | null) : jsonValue(value);
    text += `${text === '' ? '{' : ','}"${snake(field)}":${said}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

function jsonValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof Uint8Array) return JSON.stringify(plain(value));
  if (Array.isArray(value)) return `[${value.map(jsonValue).join(',')}]`;
  return jsonText(value, Object.keys(value) as never[]);
}

export const csvHead = (fields: readonly string[]): string => `${fields.map(snake).join(',')}\r\n`;

/** RFC 4180: nothing for null, `""` for empty text. */
export function csvLine<Item extends object>(
  item: Item,
  fields: readonly (keyof Item & string)[],
): string {
  const cells = fields.map((field) => {
    const value = plain(item[field]);
    if (value === null || value === undefined) return '';
    const text = typeof value === 'string' ? value : textIn(value);
    return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\r\n`;
}

/** Lists, of names that hold no space, and numbers. */
const textIn = (value: unknown): string =>
  Array.isArray(value) ? value.join(' ') : jsonValue(value);

/** Bytes as lower-case hex; everything else as it is. */
const plain = (value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;

/** Characters handed on at once. */
const pieceLength = 64 * 1024;

/** The same text in fewer and larger pieces. */
export async function* pieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** At most so many. */
export async function* firstOf<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  limit: number,
): AsyncGenerator<Item> {
  let left = limit;
  for await (const item of items) {
    yield item;
    left -= 1;
    if (left <= 0) return;
  }
}

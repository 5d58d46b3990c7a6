// Records as text, for whoever hands them on: JSON with the tables' own names, CSV, and CSV for a person's spreadsheet.
// Exact numbers stay text, and what is JSON already goes in as it stands: parsed and written again its numbers would be
// rounded. Which columns there are, resources.ts and catalogue.ts say. Knows no stream and no file.
import { snake, type Column, type Field, type Fields } from '../resources.ts';

/** A field as it is called where people read it: they ask for the day of a record, programs for its column. */
export const nameForPeople = (field: string): string =>
  field === 'sliceDay' ? 'day' : snake(field);

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

/** What has the library's names, as JSON names it everywhere. */
export const inSnakeCase = <Row extends object>(row: Row): unknown =>
  JSON.parse(jsonText(row, Object.keys(row) as (keyof Row & string)[]));

function jsonValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof Uint8Array) return JSON.stringify(plain(value));
  if (Array.isArray(value)) return `[${value.map(jsonValue).join(',')}]`;
  return jsonText(value, Object.keys(value) as never[]);
}

export const csvHead = (fields: readonly string[]): string => `${fields.map(snake).join(',')}\r\n`;

export const csvLine = <Item extends object>(
  item: Item,
  fields: readonly (keyof Item & string)[],
): string => csvOf(fields.map((field) => item[field]));

/** RFC 4180: nothing for null, `""` for empty text. */
function csvOf(values: readonly unknown[]): string {
  const cells = values.map((given) => {
    const value = plain(given);
    if (value === null || value === undefined) return '';
    const text = typeof value === 'string' ? value : textIn(value);
    return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\r\n`;
}

type Row = Readonly<Record<string, unknown>>;
type SheetColumn = { head: string; of: (row: Row) => unknown };

/**
 * CSV for a person's spreadsheet: with the byte order mark without which Excel takes UTF-8 for its machine's code page,
 * amounts in fen and in units, and a word beside a number that has one; without the record as the platform gave it and
 * its digest. Text that a spreadsheet would take for a formula, which whoever names a class may write, gets the
 * apostrophe that OWASP recommends: so this form is not for programs.
 */
export function sheetOf(fields: Fields): { head: string; line: (row: object) => string } {
  const columns = Object.entries(fields).flatMap(([name, field]) => sheetColumns(name, field));
  return {
    head: `\uFEFF${csvOf(columns.map(({ head }) => head))}`,
    line: (row) => csvOf(columns.map(({ of }) => of(row as Row))),
  };
}

function sheetColumns(name: string, field: Field): SheetColumn[] {
  if ('member' in field || name.startsWith('raw')) return [];
  if (!('members' in field)) return sheetColumnsOf(nameForPeople(name), field, (row) => row[name]);
  return Object.entries(field.members).flatMap(([member, column]) =>
    sheetColumnsOf(
      `${snake(name)}_${snake(member)}`,
      column,
      (row) => (row[name] as Row | null)?.[member],
    ),
  );
}

function sheetColumnsOf(
  head: string,
  { type, unit, words }: Column,
  of: SheetColumn['of'],
): SheetColumn[] {
  if (unit === 'fen') {
    return [
      { head, of },
      {
        head: head.replace(/_fen$/, '_units'),
        of: (row) => hundredths((of(row) ?? null) as string | null),
      },
    ];
  }
  if (words !== undefined) {
    return [
      { head, of },
      { head: `${head}_name`, of: (row) => words[Number(of(row) ?? undefined)] },
    ];
  }
  return [{ head, of: type === 'text' ? (row) => harmless(of(row)) : of }];
}

const harmless = (value: unknown): unknown =>
  typeof value === 'string' && /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;

/** An amount of hundredths in whole units: the point moves by two places. */
export function hundredths<Amount extends string | null>(decimal: Amount): Amount | string {
  const [, sign = '', whole = '', fraction = ''] =
    /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal ?? '') ?? [];
  if (whole === '') return decimal;
  const digits = whole.padStart(3, '0');
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}${fraction}`;
}

/** What an exact number is of, where the field alone does not say it. Of what was credited docs/platform.md does. */
export function unitOf(name: string, { unit }: Column, row: Row): 'fen' | 'ugas' | null {
  const type = name === 'number' ? row['orderType'] : null;
  if (unit === 'fen' || type === 2) return 'fen';
  return type === 1 ? 'ugas' : null;
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

// One field of a record as one typed column. Lenient: what cannot be read is NULL and its name goes into
// `unread`; absent, null and '' are "not set", which is no complaint. Everything is a function of the value
// alone and gives the same for what jsonb prints of it, so that columns can be derived from `raw` again.
import type { ColumnValue } from '../model.ts';
import { storable } from './canonical.ts';
import type { Json, JsonObject } from './json.ts';
import { canonicalNumber, plainDecimal } from './numbers.ts';
import { readTime } from './times.ts';

/** Typed columns by name, and the platform's names of the fields that are NULL because they could not be read. */
export type Columns = { columns: Record<string, ColumnValue>; unread: string[] };

/** A record's fields, and the names of those that turned out unreadable. */
export type ReadFields = { of: JsonObject['fields']; unread: string[] };

/** Texts longer than this are not put into an indexed column: a B-tree entry holds about 2,700 bytes. */
const maxIndexedLength = 512;
/** More digits than this are no amount of anything. */
const maxAmountLength = 1000;
const decimalText = /^[+-]?\d+(?:\.\d+)?$/;
const wholeText = /^[+-]?\d+$/;

function unread(fields: ReadFields, name: string): null {
  fields.unread.push(name);
  return null;
}

/** Text; a number is taken as its plain decimal. '' stays ''. */
export function textOf(fields: ReadFields, name: string): string | null {
  const value = fields.of.get(name);
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'object' && value.type === 'number') return canonicalNumber(value.text);
  return unread(fields, name);
}

/** Text for an indexed column. */
export function indexedTextOf(fields: ReadFields, name: string): string | null {
  const text = textOf(fields, name);
  return text !== null && text.length > maxIndexedLength ? unread(fields, name) : text;
}

/** Decimal text for a numeric column, from a JSON number of any spelling or from plain decimal text. */
export function amountOf(fields: ReadFields, name: string): string | null {
  const value = numberText(fields.of.get(name));
  if (value === null) return null;
  if (value === undefined || value.length > maxAmountLength || !decimalText.test(value)) {
    return unread(fields, name);
  }
  return value;
}

/** A whole number as plain decimal text if it lies within `[-max - 1, max]`. */
export function wholeOf(fields: ReadFields, name: string, max: bigint): string | null {
  const value = numberText(fields.of.get(name));
  if (value === null) return null;
  if (value === undefined || value.length > maxAmountLength || !wholeText.test(value)) {
    return unread(fields, name);
  }
  // Few digits need no exact arithmetic: both limits in use have more.
  if (value.length < 10) return String(Number(value));
  const whole = BigInt(value.startsWith('+') ? value.slice(1) : value);
  return whole > max || whole < -max - 1n ? unread(fields, name) : String(whole);
}

/** A whole number that fits a Postgres integer. */
export function integerOf(fields: ReadFields, name: string): number | null {
  const whole = wholeOf(fields, name, 2_147_483_647n);
  return whole === null ? null : Number(whole);
}

/** RFC 3339 text in UTC. */
export function timeOf(fields: ReadFields, name: string): string | null {
  const value = fields.of.get(name);
  if (value === undefined || value === null || value === '') return null;
  return readTime(value) ?? unread(fields, name);
}

/** The text of a number given as number or text: null where none is set, undefined where it is neither. */
function numberText(value: Json | undefined): string | null | undefined {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (typeof value === 'boolean' || value.type !== 'number') return undefined;
  return plainDecimal(value.text) ?? undefined;
}

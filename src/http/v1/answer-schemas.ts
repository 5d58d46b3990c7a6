// What the members of answers can be, and how rows and lists are described. The schemas describe, and the tests hold
// real answers to them; nothing is checked by them while it is served.
import * as z from 'zod';
import { reservationNames } from '../../catalogue.ts';
import { listedResources, proofs, resources, sliceStates } from '../../model.ts';
import { snake } from '../../query/record-text.ts';
import type { Column, ColumnType, Field, Fields } from '../../resources.ts';

/** A schema for every field of a type, in the library's names: TypeScript sees to it that none is forgotten. */
export type RowShape<Item> = { [Name in keyof Item & string]-?: z.ZodType };

/**
 * What a list consists of: its schema under the tables' names, and its fields in the order in which they are written.
 */
export type RowKind = { schema: z.ZodObject; fields: readonly string[] };

/** `fields` only where the order is another's promise. */
export function row<Item>(
  id: string,
  description: string,
  shape: RowShape<Item>,
  fields: readonly (keyof Item & string)[] = Object.keys(shape) as (keyof Item & string)[],
): RowKind {
  const members = fields.map((name) => [snake(name), shape[name]]);
  const schema = z.object(Object.fromEntries(members) as z.ZodRawShape).meta({ id, description });
  return { schema, fields };
}

export const text = z.string();
export const textOrNull = text.nullable();
export const whole = z.int();
export const wholeOrNull = whole.nullable();
export const truth = z.boolean();
export const day = z.string().meta({ format: 'date' });
export const time = z.string().meta({ format: 'date-time' });
export const timeOrNull = time.nullable();
export const decimal = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .describe('A number as decimal text: JavaScript would round it');
export const decimalOrNull = decimal.nullable();
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const json = z.unknown().describe('JSON as the platform gave it: numbers are not rounded');
export const listedResource = z.enum(listedResources);
export const anyResource = z.enum(resources);
export const apiVersion = z.enum(['v1beta1', 'v3']);
export const state = z.enum(sliceStates);
export const proof = z.enum(proofs);
export const reservations = z
  .array(z.enum(reservationNames))
  .describe('What is not certain, by name; empty for a clean claim');
export const isHeld = truth.describe(
  'Whether all of it is held: read whole and proved, no record without a usable id; as of an instant, by then',
);
export const isSettled = truth.describe('Whether it is, and nothing is pending');

/** What a column is given as, and what its type says beside its meaning. */
const given: Record<ColumnType, { kind: z.ZodType; as?: string }> = {
  text: { kind: text },
  integer: { kind: whole },
  bigint: { kind: decimal, as: 'as decimal text' },
  numeric: { kind: decimal, as: 'as decimal text' },
  boolean: { kind: truth },
  timestamptz: { kind: time },
  date: { kind: day },
  jsonb: { kind: json },
  bytea: { kind: text, as: 'as hex' },
  sha256: { kind: sha256 },
  'text[]': { kind: z.array(text) },
};

/** The fields of a record or of a row, as resources.ts and catalogue.ts describe them. */
export const shapeOf = (fields: Fields): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]));

export const record = (id: string, description: string, fields: Fields): RowKind =>
  row<Record<string, unknown>>(id, description, shapeOf(fields));

function schemaOf(field: Field): z.ZodType {
  if ('member' in field) return json.describe(field.meaning);
  if ('members' in field) return z.object(shapeOf(field.members)).nullable();
  const { kind, as } = formOf(field);
  // Any JSON may be null.
  const isSet = field.isSet === true || field.part === 'key' || field.type === 'jsonb';
  return (isSet ? kind : kind.nullable()).describe(
    as === undefined ? field.meaning : `${field.meaning}; ${as}`,
  );
}

function formOf({ type, values, items, isCount }: Column): { kind: z.ZodType; as?: string } {
  if (items !== undefined) return { kind: z.array(z.object(shapeOf(items))) };
  if (isCount === true) return { kind: whole };
  if (values === undefined) return given[type];
  return { kind: type === 'text[]' ? z.array(z.enum(values)) : z.enum(values) };
}

/** A list that comes whole. */
export const listOf = ({ schema }: RowKind, beside: z.ZodRawShape = {}): z.ZodObject =>
  z.object({ items: z.array(schema), ...beside });

const next = textOrNull.describe('The cursor of the next page; null at the end, and only there');
const previous = textOrNull.describe('The cursor of the page before; null at the beginning');
const count = whole.optional().describe('How many records match, where `count=true` asked');

/** A list that comes in pages, read both ways or forwards only. */
export const pageOf = (kind: RowKind): z.ZodObject => listOf(kind, { next, previous, count });
export const forwardOf = (kind: RowKind): z.ZodObject => listOf(kind, { next });
export const countedForwardOf = (kind: RowKind): z.ZodObject => listOf(kind, { next, count });

// What answers consist of: how rows and lists are described, the records as `/archive/v1` gives them, and what every
// refusal looks like. The schemas only describe: tests hold real answers to them, the server checks none.
import * as z from 'zod';
import { recordLists } from '../../catalogue.ts';
import type { Resource } from '../../model.ts';
import { change as changeFields, inForce } from '../../query/reports.ts';
import { snake, type Column, type ColumnType, type Field, type Fields } from '../../resources.ts';

/**
 * What a list consists of: its schema under the tables' names, and its fields in the order in which they are written.
 */
export type RowKind = { schema: z.ZodObject; fields: Fields };

const text = z.string();
const whole = z.int();
const day = z.string().meta({ format: 'date' });
const time = z.string().meta({ format: 'date-time' });
export const timeOrNull = time.nullable();
const decimal = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .describe('A number as decimal text: JavaScript would round it');
export const decimalOrNull = decimal.nullable();
const json = z.unknown().describe('JSON as the platform gave it: numbers are not rounded');

/** What a column is given as, and what its type says beside its meaning. */
const given: Record<ColumnType, { kind: z.ZodType; as?: string }> = {
  text: { kind: text },
  integer: { kind: whole },
  bigint: { kind: decimal, as: 'as decimal text' },
  numeric: { kind: decimal, as: 'as decimal text' },
  boolean: { kind: z.boolean() },
  timestamptz: { kind: time },
  date: { kind: day },
  jsonb: { kind: json },
  bytea: { kind: text, as: 'as hex' },
  sha256: { kind: z.string().regex(/^[0-9a-f]{64}$/) },
  'text[]': { kind: z.array(text) },
};

/** An object of fields, as resources.ts, catalogue.ts and query/reports.ts describe them. */
const inner = (fields: Fields): z.ZodObject =>
  z.object(
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [snake(name), schemaOf(field)]),
    ),
  );

export const record = (id: string, description: string, fields: Fields): RowKind => ({
  schema: inner(fields).meta({ id, description }),
  fields,
});

function schemaOf(field: Field): z.ZodType {
  if ('member' in field) return json.describe(field.meaning);
  if ('members' in field) {
    const object = field.isSet === true ? inner(field.members) : inner(field.members).nullable();
    return field.meaning === undefined ? object : object.describe(field.meaning);
  }
  if (field.isOptional === true) {
    const { isOptional: _, ...given } = field;
    return schemaOf(given).optional();
  }
  const { kind, as } = formOf(field);
  // Any JSON may be null.
  const isSet = field.isSet === true || field.part === 'key' || field.type === 'jsonb';
  const said = [field.meaning, as].filter((part) => part !== undefined && part !== '').join('; ');
  const schema = isSet ? kind : kind.nullable();
  return said === '' ? schema : schema.describe(said);
}

function formOf({ type, values, items, isCount }: Column): { kind: z.ZodType; as?: string } {
  if (items !== undefined) return { kind: z.array(inner(items)) };
  if (isCount === true) return { kind: whole };
  if (values === undefined) return given[type];
  return { kind: type === 'text[]' ? z.array(z.enum(values)) : z.enum(values) };
}

/** A list that comes whole. */
export const listOf = ({ schema }: RowKind, beside: z.ZodRawShape = {}): z.ZodObject =>
  z.object({ items: z.array(schema), ...beside });

const next = text
  .nullable()
  .describe('The cursor of the next page; null at the end, and only there');
const previous = text.nullable().describe('The cursor of the page before; null at the beginning');
const count = whole.optional().describe('How many records match, where `count=true` asked');

/** A list that comes in pages, read both ways or forwards only. */
export const pageOf = (kind: RowKind): z.ZodObject => listOf(kind, { next, previous, count });
export const forwardOf = (kind: RowKind): z.ZodObject => listOf(kind, { next });
export const countedForwardOf = (kind: RowKind): z.ZodObject => listOf(kind, { next, count });

const times = record('InForce', '', inForce);

/** What a record said, flat: a row a content. */
function versionOf({ schema, fields }: RowKind): RowKind {
  const { id, description } = schema.meta() ?? {};
  return {
    schema: z
      .object({ ...times.schema.shape, ...schema.shape })
      .meta({ id: `${String(id)}Version`, description: `${String(description)}, as it was seen` }),
    fields: { ...times.fields, ...fields },
  };
}

/** What a record of each resource says, and what it said before. */
export const recordKinds = Object.fromEntries(
  Object.entries(recordLists).map(([resource, { one, meaning, fields }]) => {
    const now = record(one, meaning, fields);
    return [resource, { now, earlier: versionOf(now) }];
  }),
) as Record<Resource, { now: RowKind; earlier: RowKind }>;

const told = record('', '', changeFields);
export const change: RowKind = {
  schema: z
    .object({
      ...told.schema.shape,
      record: z
        .union(Object.values(recordKinds).map(({ now }) => now.schema))
        .nullable()
        .describe('What the content says, whatever came later; null for missing and found'),
    })
    .meta({ id: 'Change', description: 'What became of a record, told once' }),
  fields: { ...told.fields, record: { member: 'record', meaning: '' } },
};

export const watched = z.object({
  data: z.object({
    given: z.int().describe('Distinct ids given'),
    added: z.int().describe('Those not watched before'),
    changed: z
      .int()
      .describe(
        'Those watched before that took another day or lookup, or were lost and are asked again',
      ),
  }),
});

export const problem = z
  .object({
    error: z.object({
      code_space: z.literal('outlast'),
      code: z.string().describe('BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, …'),
      message: z.string().describe('One sentence for people: what is wrong, and what is allowed'),
    }),
  })
  .meta({ id: 'Problem', description: 'What every refusal looks like' });

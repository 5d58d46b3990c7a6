// The records as `/archive/v1` gives them, what they said before, and what every refusal looks like.
import * as z from 'zod';
import { change as changeFields, inForce } from '../../query/reports.ts';
import { recordLists } from '../../catalogue.ts';
import type { Resource } from '../../model.ts';
import { record, type RowKind } from './answer-schemas.ts';

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
export const records = Object.fromEntries(
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
        .union(Object.values(records).map(({ now }) => now.schema))
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

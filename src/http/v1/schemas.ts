// The records as `/archive/v1` gives them, what they said before, and what every refusal looks like.
import * as z from 'zod';
import type { Change, Version } from '../../query/types.ts';
import { recordLists } from '../../catalogue.ts';
import type { Resource } from '../../model.ts';
import * as kind from './answer-schemas.ts';
import { record, row, type RowKind, type RowShape } from './answer-schemas.ts';

const { text, timeOrNull } = kind;

type InForce = Omit<Version<object>, 'item'>;
const inForce: RowShape<InForce> = {
  inForceFrom: timeOrNull.describe('Since when this was what was known; null: it never was'),
  inForceUntil: timeOrNull.describe('Until when, excluded; null while it is, or never was'),
  isCurrent: kind.truth.describe('Whether it is what the other reads give'),
};

/** What a record said, flat: a row a content. */
function versionOf({ schema, fields }: RowKind): RowKind {
  const { id, description } = schema.meta() ?? {};
  const times = row<InForce>('InForce', '', inForce);
  return {
    schema: z
      .object({ ...times.schema.shape, ...schema.shape })
      .meta({ id: `${String(id)}Version`, description: `${String(description)}, as it was seen` }),
    fields: [...times.fields, ...fields],
  };
}

/** What a record of each resource says, and what it said before. */
export const records = Object.fromEntries(
  Object.entries(recordLists).map(([resource, { one, meaning, fields }]) => {
    const now = record(one, meaning, fields);
    return [resource, { now, earlier: versionOf(now) }];
  }),
) as Record<Resource, { now: RowKind; earlier: RowKind }>;

export const change = row<Change>('Change', 'What became of a record, told once', {
  position: text.describe('Kept by whoever has taken this change and all before it: an `after`'),
  entryId: kind.decimal.describe(
    'The number of the journal’s entry. It only grows, in the order in which records changed',
  ),
  resource: kind.anyResource,
  apiVersion: kind.apiVersion.nullable().describe('Of which lookup a transaction result is'),
  id: text,
  change: z
    .enum(['new', 'changed', 'late', 'missing', 'found'])
    .describe(
      'new: held for the first time. changed: this content is in force now. late: kept as an earlier version, never in force. missing: not shown any more. found: shown again',
    ),
  observedAt: timeOrNull.describe(
    'When the content was observed, or since when the record is missing; null for found',
  ),
  writtenAt: kind.time.describe('On the database’s clock'),
  rawSha256: kind.sha256.nullable().describe('Of the content; null for missing and found'),
  record: z
    .union(Object.values(records).map(({ now }) => now.schema))
    .nullable()
    .describe('What the content says, whatever came later; null for missing and found'),
});

export const watched = z.object({
  data: z.object({
    given: kind.whole.describe('Distinct ids given'),
    added: kind.whole.describe('Those not watched before'),
  }),
});

export const problem = z
  .object({
    error: z.object({
      code_space: z.literal('outlast'),
      code: text.describe('BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, …'),
      message: text.describe('One sentence for people: what is wrong, and what is allowed'),
    }),
  })
  .meta({ id: 'Problem', description: 'What every refusal looks like' });

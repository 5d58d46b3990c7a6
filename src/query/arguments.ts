// The door of the query module: every argument is checked here, once, before any SQL sees it (P12). TypeScript checks
// callers that use it; the others meet these sentences.
import * as z from 'zod';
import { settingsError, type OutlastError } from '../errors.ts';
import { listedResources, type Day, type ProjectId } from '../model.ts';
import {
  day,
  id,
  instant,
  isStorable,
  project,
  rule,
  text,
  wholeNumber,
} from './argument-kinds.ts';

export const invalidArgument = (message: string): OutlastError =>
  settingsError('argument_invalid', message);

const statusSentence = 'must be 1, 2 or 3, or a list of them';
const status = z.literal([1, 2, 3], statusSentence);

const scope = {
  project,
  from: day.optional(),
  to: day.optional(),
  toInstant: z.literal(true, 'must be true or left out').optional(),
  order: z.enum(['asc', 'desc'], 'must be asc or desc').default('asc'),
  asOf: instant.optional(),
};
const paging = {
  limit: wholeNumber(1, 10_000).default(100),
  cursor: z.string('must be the `next` or `previous` of a page').optional(),
  offset: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional(),
};
const orderFilters = {
  status: z
    .union([status, z.array(status).min(1, statusSentence)], statusSentence)
    // One spelling for one meaning: a cursor is bound to it.
    .transform((given) =>
      typeof given === 'number' ? [given] : [...new Set(given)].toSorted((a, b) => a - b),
    )
    .optional(),
  account: text.optional(),
};
const nftClassFilters = {
  id: id.optional(),
  owner: text.optional(),
  name: text.optional(),
  txHash: text.optional(),
};

export const orderArguments = {
  list: z.strictObject({ ...scope, ...orderFilters, ...paging }),
  stream: z.strictObject({ ...scope, ...orderFilters }),
};
export const nftClassArguments = {
  list: z.strictObject({ ...scope, ...nftClassFilters, ...paging }),
  stream: z.strictObject({ ...scope, ...nftClassFilters }),
};
export const recordArguments = z.strictObject({ project, id });
export const contentArguments = z.strictObject({ project, id, asOf: instant.optional() });
export const coverageArguments = z.strictObject({
  project,
  resource: z.enum(listedResources, `must be one of ${listedResources.join(', ')}`).optional(),
  from: day.optional(),
  to: day.optional(),
});
export const factsArguments = z.strictObject({ project });
export const summaryArguments = z.strictObject({ project: project.optional() });

export const archiveArguments = z.strictObject({
  connectionString: rule(
    'must be the address of the archive, postgres://user:password@host:5432/database; nothing is read from the environment here, so pass for example process.env.DATABASE_URL',
    (value) => value !== '' && isStorable(value),
  ),
  max: wholeNumber(1, 100).default(4),
  statementTimeoutMs: wholeNumber(1, 86_400_000).default(30_000),
  // Passed on as it is: a log's methods may need their `this`.
  log: z
    .custom<{ warn(fields: object, sentence: string): void }>(
      (value) => typeof (value as { warn?: unknown } | null)?.warn === 'function',
      'must have a method warn(fields, sentence)',
    )
    .optional(),
});

/** A query's range and direction, checked. */
export type Scope = {
  project: ProjectId;
  from?: Day | undefined;
  to?: Day | undefined;
  toInstant?: true | undefined;
  order: 'asc' | 'desc';
  /** As instant.ts writes it. */
  asOf?: string | undefined;
};

/** What the schema makes of the arguments. `call` begins the sentence. Throws settings `argument_invalid`. */
export function parseArguments<T>(call: string, schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map((issue) =>
      [issue.path.join('.'), issue.message].filter((part) => part !== '').join(' '),
    );
    throw invalidArgument(`${call}: ${mistakes.join('; ')}`);
  }
  const { from, to } = parsed.data as { from?: Day; to?: Day };
  const { cursor, offset, asOf } = parsed.data as Record<'cursor' | 'offset' | 'asOf', unknown>;
  if (cursor !== undefined && offset !== undefined) {
    throw invalidArgument(`${call}: give a cursor or an offset, not both`);
  }
  if (asOf !== undefined && offset !== undefined) {
    throw invalidArgument(`${call}: as of an instant there are cursors and no offset`);
  }
  if (from !== undefined && to !== undefined && from > to) {
    throw invalidArgument(
      `${call}: from (${from}) must not be after to (${to}), which is not included`,
    );
  }
  return parsed.data;
}

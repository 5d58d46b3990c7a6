// The door of the query module: every argument is checked here, once, before any SQL sees it (P12). TypeScript checks
// callers that use it; the others meet these sentences.
import * as z from 'zod';
import { isDay } from '../day.ts';
import { settingsError, type OutlastError } from '../errors.ts';
import { listedResources, type Day, type ProjectId } from '../model.ts';

export const invalidArgument = (message: string): OutlastError =>
  settingsError('argument_invalid', message);

/** Ids of records are at most this long: see platform/parse.ts. */
const maxIdBytes = 512;
const maxTextLength = 1000;

/** Whether Postgres can hold the text: it has no NUL, and no surrogate stands alone. */
const isStorable = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text);

export const isId = (text: string): boolean =>
  text !== '' && Buffer.byteLength(text) <= maxIdBytes && isStorable(text);

/** A day that Postgres and `Day` write alike: there is no year 0. */
export const isArchiveDay = (text: string): boolean => isDay(text) && text >= '0001-01-01';

const rule = (sentence: string, holds: (text: string) => boolean) =>
  z.string(sentence).refine(holds, sentence);

const wholeNumber = (min: number, max: number) => {
  const sentence = `must be a whole number from ${min} to ${max}`;
  return z.int(sentence).min(min, sentence).max(max, sentence);
};

const project = rule('must be a project name: 1 to 40 of a-z, 0-9, _ and -', (text) =>
  /^[a-z0-9_-]{1,40}$/.test(text),
);
const day = rule('must be a real day as yyyy-MM-dd', isArchiveDay).optional();
const id = rule(`must be an id: text of 1 to ${maxIdBytes} bytes, without NUL`, isId);
const text = rule(
  `must be text of 1 to ${maxTextLength} characters, without NUL`,
  (value) => value !== '' && value.length <= maxTextLength && isStorable(value),
).optional();
const statusSentence = 'must be 1, 2 or 3, or a list of them';
const status = z.literal([1, 2, 3], statusSentence);

const scope = {
  project,
  from: day,
  to: day,
  toInstant: z.literal(true, 'must be true or left out').optional(),
  order: z.enum(['asc', 'desc'], 'must be asc or desc').default('asc'),
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
  account: text,
};
const nftClassFilters = { id: id.optional(), owner: text, name: text, txHash: text };

export const orderArguments = {
  list: z.strictObject({ ...scope, ...orderFilters, ...paging }),
  stream: z.strictObject({ ...scope, ...orderFilters }),
};
export const nftClassArguments = {
  list: z.strictObject({ ...scope, ...nftClassFilters, ...paging }),
  stream: z.strictObject({ ...scope, ...nftClassFilters }),
};
export const recordArguments = z.strictObject({ project, id });
export const tokenArguments = z.strictObject({ project, owner: text });
export const coverageArguments = z.strictObject({
  project,
  resource: z.enum(listedResources, `must be one of ${listedResources.join(', ')}`).optional(),
  from: day,
  to: day,
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
  const { cursor, offset } = parsed.data as { cursor?: string; offset?: number };
  if (cursor !== undefined && offset !== undefined) {
    throw invalidArgument(`${call}: give a cursor or an offset, not both`);
  }
  if (from !== undefined && to !== undefined && from > to) {
    throw invalidArgument(
      `${call}: from (${from}) must not be after to (${to}), which is not included`,
    );
  }
  return parsed.data;
}

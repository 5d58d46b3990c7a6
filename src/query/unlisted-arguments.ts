// The arguments of reads of what no list of days shows, and of the archive's own books. Checked once, here (P12).
import * as z from 'zod';
import { resources } from '../model.ts';
import { day, instant, project, rule, text, wholeNumber } from './argument-kinds.ts';

/** One page after another. */
const paging = {
  limit: wholeNumber(1, 10_000).default(100),
  cursor: z.string('must be the `next` of a page').optional(),
};

const status = wholeNumber(0, 2_147_483_647);
const transactionFilters = {
  project,
  status: z
    .union([status, z.array(status).min(1)], 'must be a whole number from 0, or a list of them')
    // One spelling for one meaning: a cursor is bound to it.
    .transform((given) =>
      typeof given === 'number' ? [given] : [...new Set(given)].toSorted((a, b) => a - b),
    )
    .optional(),
  module: text.optional(),
  asOf: instant.optional(),
};
export const transactionArguments = {
  list: z.strictObject({ ...transactionFilters, ...paging }),
  stream: z.strictObject(transactionFilters),
};

export const tokenArguments = z.strictObject({
  project,
  owner: text.optional(),
  asOf: instant.optional(),
});

export const watchedArguments = z.strictObject({
  project,
  state: z.enum(['open', 'done', 'lost'], 'must be open, done or lost').optional(),
  ...paging,
});

const resource = z.enum(resources, `must be one of ${resources.join(', ')}`);

export const certificateArguments = z.strictObject({
  project,
  resource: resource.optional(),
  month: rule('must be a month as yyyy-MM', (given) =>
    /^(?!0000)\d{4}-(0[1-9]|1[0-2])$/.test(given),
  ).optional(),
});

export const runArguments = z.strictObject({ project, ...paging });

export const rejectArguments = {
  list: z.strictObject({
    project,
    resource: resource.optional(),
    from: day.optional(),
    to: day.optional(),
    ...paging,
  }),
  one: z.strictObject({
    project,
    resource,
    sha256: rule('must be a SHA-256 as 64 hex digits', (given) => /^[0-9a-f]{64}$/i.test(given)),
  }),
};

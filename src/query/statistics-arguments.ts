// The arguments of statistics. Checked once, here (P12).
import * as z from 'zod';
import { day, instant, project, wholeNumber } from './argument-kinds.ts';

const range = {
  project,
  from: day.optional(),
  to: day.optional(),
  by: z.enum(['day', 'month'], 'must be day or month'),
  asOf: instant.optional(),
};

/** Each named once, in the order given. */
const groups = <const Name extends string>(names: readonly Name[]) => {
  const sentence = `must be a list of ${names.join(', ')}`;
  return z
    .array(z.enum(names, sentence), sentence)
    .refine((given) => new Set(given).size === given.length, 'must name each only once')
    .default([]);
};

export const statisticsArguments = {
  orders: z.strictObject({ ...range, groupBy: groups(['status', 'account', 'order_type']) }),
  nftClasses: z.strictObject({ ...range, groupBy: groups(['owner']) }),
  nftGrowth: z.strictObject(range),
  owners: z.strictObject({ project, limit: wholeNumber(1, 10_000).default(100) }),
};

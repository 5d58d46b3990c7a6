// What records can be narrowed by, whoever asks. Each filter is one of the record's fields; how its value meets the
// column is record-sql.ts.
import * as z from 'zod';
import { orderStatuses, type Resource } from '../model.ts';
import type { fieldsOf } from '../resources.ts';
import { id, severalOf, text } from './arguments.ts';

const orderSentence = 'must be one of 1, 2, 3 (pending, succeeded, failed), or a list of them';
const mostStatus = 2_147_483_647;
const resultSentence = `must be a whole number from 0 to ${mostStatus} (0 processing, 1 succeeded, 2 failed, 3 unprocessed), or a list of them`;
const owner = text.describe('Only what this account owns');

export const recordFilters = {
  orders: {
    status: severalOf(z.literal(orderStatuses, orderSentence), orderSentence).describe(
      '1 pending, 2 succeeded, 3 failed; several with commas',
    ),
    account: text.describe('Only what this account bought'),
  },
  nft_classes: {
    id: id.describe('The class with this id'),
    owner,
    name: text.describe('A part of the name, whatever its case'),
    txHash: text.describe('Only what this transaction issued'),
  },
  transactions: {
    status: severalOf(
      z.int(resultSentence).min(0, resultSentence).max(mostStatus, resultSentence),
      resultSentence,
    ).describe('0 and 3 go on, 1 succeeded, 2 failed, others may come; several with commas'),
    module: text.describe('As the lookup gave it: v3 gives numbers'),
  },
  tokens: { owner },
} satisfies { [Of in Resource]: { [Field in keyof (typeof fieldsOf)[Of]]?: z.ZodType } };

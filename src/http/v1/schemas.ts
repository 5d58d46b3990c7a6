// The records as `/archive/v1` gives them, what they said before, and what every refusal looks like.
import * as z from 'zod';
import {
  nftClassFields,
  orderFields,
  tokenFields,
  transactionFields,
} from '../../query/record-text.ts';
import type { NftClass, Order, Token, Transaction, Version } from '../../query/types.ts';
import * as kind from './kinds.ts';
import { row, type RowKind, type RowShape } from './kinds.ts';

const { text, textOrNull, wholeOrNull, decimalOrNull, time, timeOrNull, json } = kind;

const withoutDay = {
  project: text,
  rawJson: json.describe('The whole record as the platform gave it, unknown fields included'),
  rawBytes: textOrNull.describe('Its original bytes as hex, only where jsonb could not hold them'),
  rawSha256: kind.sha256.describe('SHA-256 of its canonical JSON'),
  unread: z.array(text).describe('Known fields that could not be read; they are null'),
  observedAt: time.describe('When this content was first observed'),
  firstSeenAt: time.describe('When the record was first observed'),
  changedAt: time.describe('When the row last changed'),
  missingSince: timeOrNull.describe('Since when the platform no longer shows it though it should'),
};
const bookkeeping = { ...withoutDay, sliceDay: kind.day.describe('The UTC day it stands under') };

const orderShape: RowShape<Order> = {
  operationId: text,
  status: wholeOrNull.describe('1 pending, 2 succeeded, 3 failed'),
  message: textOrNull,
  account: textOrNull,
  amount: decimalOrNull.describe('In fen, as decimal text'),
  number: decimalOrNull.describe('What was bought, as decimal text'),
  createdAt: timeOrNull,
  updatedAt: timeOrNull,
  orderType: wholeOrNull.describe('1 gas, 2 business fee; others may come'),
  ...bookkeeping,
};

const nftClassShape: RowShape<NftClass> = {
  id: text,
  name: textOrNull,
  symbol: textOrNull,
  nftCount: decimalOrNull,
  uri: textOrNull,
  owner: textOrNull,
  txHash: textOrNull,
  createdAt: timeOrNull,
  ...bookkeeping,
};

const transactionShape: RowShape<Transaction> = {
  operationId: text,
  apiVersion: kind.apiVersion.describe('Which lookup gave it'),
  module: textOrNull,
  type: textOrNull.describe('v1beta1 only'),
  operation: wholeOrNull.describe('v3 only'),
  txHash: textOrNull,
  status: wholeOrNull.describe('0 and 3 go on, 1 succeeded, 2 failed; others may come'),
  message: textOrNull,
  blockHeight: decimalOrNull,
  confirmedAt: timeOrNull,
  nftJson: json.describe('What it did to an NFT, by the platform; null where it did not'),
  mtJson: json.describe('The same of an MT'),
  recordJson: json.describe('The same of a record'),
  ...withoutDay,
};

const fee = z.object({ denom: textOrNull, amount: decimalOrNull }).nullable();
const tokenShape: RowShape<Token> = {
  symbol: text,
  name: textOrNull,
  minUnit: textOrNull,
  scale: wholeOrNull,
  initialSupply: decimalOrNull,
  maxSupply: decimalOrNull,
  mintable: kind.truth.nullable(),
  owner: textOrNull,
  issueFee: fee,
  mintFee: fee,
  height: decimalOrNull.describe('Where this content was first seen'),
  tokenJson: json.describe('The node’s own element of its list'),
  feesJson: json.describe('The node’s own answer about fees'),
  ...withoutDay,
};

export const order = row<Order>('Order', 'A purchase order', orderShape, orderFields);
export const nftClass = row<NftClass>('NftClass', 'An NFT class', nftClassShape, nftClassFields);
export const transaction = row<Transaction>(
  'Transaction',
  'The result of an operation by one of the two lookups',
  transactionShape,
  transactionFields,
);
export const token = row<Token>('Token', 'A token and its fees', tokenShape, tokenFields);

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
export const orderVersion = versionOf(order);
export const nftClassVersion = versionOf(nftClass);
export const transactionVersion = versionOf(transaction);
export const tokenVersion = versionOf(token);

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

// What `/archive/v1` answers with, as schemas: the library's own fields under the tables' names. They describe, and the tests hold
// real answers to them; nothing is checked by them while it is served.
import * as z from 'zod';
import { snake } from '../../query/record-text.ts';
import type {
  CoverageDay,
  NftClass,
  Order,
  Summary,
  Token,
  Transaction,
  Version,
} from '../../query/types.ts';

/** A schema for every field of a type: TypeScript sees to it that none is forgotten. */
type Shape<Item> = { [Name in keyof Item & string]-?: z.ZodType };

function object<Item>(id: string, about: string, shape: Shape<Item>): z.ZodObject {
  const members = Object.entries<z.ZodType>(shape).map(([name, schema]) => [snake(name), schema]);
  return z.object(Object.fromEntries(members) as z.ZodRawShape).meta({
    id,
    description: about,
  });
}

const text = z.string();
const textOrNull = z.string().nullable();
const whole = z.int();
const wholeOrNull = z.int().nullable();
const day = z.string().meta({ format: 'date' });
const time = z.string().meta({ format: 'date-time' });
const timeOrNull = time.nullable();
export const decimal = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .describe('A number as decimal text: JavaScript would round it');
const decimalOrNull = decimal.nullable();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const json = z.unknown().describe('JSON as the platform gave it: numbers are not rounded');
const resource = z.enum(['orders', 'nft_classes']);

const unlisted = {
  project: text,
  rawJson: json.describe('The whole record as the platform gave it, unknown fields included'),
  rawBytes: z
    .string()
    .nullable()
    .describe('Its original bytes as hex, only where jsonb could not hold them'),
  rawSha256: sha256.describe('SHA-256 of its canonical JSON'),
  unread: z.array(text).describe('Known fields that could not be read; they are null'),
  observedAt: time.describe('When this content was first observed'),
  firstSeenAt: time.describe('When the record was first observed'),
  changedAt: time.describe('When the row last changed'),
  missingSince: timeOrNull.describe('Since when the platform no longer shows it though it should'),
};
const bookkeeping = { ...unlisted, sliceDay: day.describe('The UTC day it stands under') };

type InForce = Omit<Version<object>, 'item'>;
const inForce: Shape<InForce> = {
  inForceFrom: timeOrNull.describe('Since when this was what was known; null: it never was'),
  inForceUntil: timeOrNull.describe('Until when, excluded; null while it is, or never was'),
  isCurrent: z.boolean(),
};

const orderShape: Shape<Order> = {
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
export const order = object<Order>('Order', 'A purchase order', orderShape);
export const orderVersion = object<Order & InForce>('OrderVersion', 'What an order said', {
  ...inForce,
  ...orderShape,
});

const nftClassShape: Shape<NftClass> = {
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
export const nftClass = object<NftClass>('NftClass', 'An NFT class', nftClassShape);
export const nftClassVersion = object<NftClass & InForce>('NftClassVersion', 'What a class said', {
  ...inForce,
  ...nftClassShape,
});

export const transaction = object<Transaction>(
  'Transaction',
  'The result of an operation by one of the two lookups',
  {
    operationId: text,
    apiVersion: z.enum(['v1beta1', 'v3']),
    module: textOrNull,
    type: textOrNull.describe('v1beta1 only'),
    operation: wholeOrNull.describe('v3 only'),
    txHash: textOrNull,
    status: wholeOrNull.describe('0 and 3 go on, 1 succeeded, 2 failed'),
    message: textOrNull,
    blockHeight: decimalOrNull,
    confirmedAt: timeOrNull,
    nftJson: json,
    mtJson: json,
    recordJson: json,
    ...unlisted,
  },
);

const fee = z.object({ denom: textOrNull, amount: decimalOrNull }).nullable();
export const token = object<Token>('Token', 'A token and its fees', {
  symbol: text,
  name: textOrNull,
  minUnit: textOrNull,
  scale: wholeOrNull,
  initialSupply: decimalOrNull,
  maxSupply: decimalOrNull,
  mintable: z.boolean().nullable(),
  owner: textOrNull,
  issueFee: fee,
  mintFee: fee,
  height: decimalOrNull,
  tokenJson: json,
  feesJson: json,
  ...unlisted,
});

const reservations = z
  .array(z.enum(['lost', 'no_proof', 'proved_before_closing', 'unresolved_orders']))
  .describe('What is not certain, by name; empty for a clean claim');

export const coverageDay = object<CoverageDay>(
  'CoverageDay',
  'What is held of a UTC day and how sure that is',
  {
    project: text,
    resource,
    owner: text.describe('The owner whose classes these are; empty for the whole list'),
    day,
    state: z.enum(['open', 'walked', 'sealed', 'final', 'lost']),
    proof: z.enum(['none', 'counts', 'walk', 'walks']),
    provedAt: timeOrNull,
    walkedAt: timeOrNull,
    platformTotal: wholeOrNull.describe('What the platform said there is'),
    shownTotal: wholeOrNull.describe('What the last walk was shown'),
    unresolved: whole.describe('Orders still pending'),
    rejected: whole.describe('Records without a usable id, kept as bytes'),
    deadlineAt: time,
    reservations,
    lastError: textOrNull,
  },
);

export const summary = object<Summary>('Summary', 'How one resource of one project stands', {
  project: text,
  resource,
  records: whole,
  oldestDay: day.nullable(),
  newestDay: day.nullable(),
  days: z.object({ open: whole, walked: whole, sealed: whole, final: whole, lost: whole }),
  reserved: whole,
  unresolved: whole,
  rejected: whole,
  nextDeadlineAt: timeOrNull,
});

export const watched = z.object({
  data: z.object({
    given: whole.describe('Distinct ids given'),
    added: whole.describe('Those not watched before'),
  }),
});

/** A list that comes whole. */
export const listOf = (item: z.ZodType, beside: z.ZodRawShape = {}): z.ZodObject =>
  z.object({ items: z.array(item), ...beside });

/** A list that comes in pages. */
export const pageOf = (item: z.ZodType): z.ZodObject =>
  listOf(item, {
    next: textOrNull.describe('The cursor of the next page; null at the end'),
    previous: textOrNull.describe('The cursor of the page before; null at the beginning'),
    count: whole.optional().describe('How many records match, where `count=true` asked'),
  });

export const problem = z
  .strictObject({
    error: z.object({
      code_space: z.literal('outlast'),
      code: text.describe('BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, …'),
      message: text.describe('One sentence for people: what is wrong, and what is allowed'),
    }),
  })
  .meta({ id: 'Problem', description: 'What every refusal looks like' });

export { time, timeOrNull, textOrNull, text as textValue, whole as wholeValue, day as dayValue };

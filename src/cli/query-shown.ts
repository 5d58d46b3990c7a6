// What `outlast query` shows of each kind of record: the columns that matter to a person, and the fields that every other format has.
import {
  nftClassFields,
  orderFields,
  tokenFields,
  transactionFields,
} from '../query/record-fields.ts';
import type { NftClass, Order, Token, Transaction, Version } from '../query/types.ts';
import { resultWords, statusWords } from './query-filters.ts';
import type { Shown } from './query-table.ts';

const time = (text: string | null): string => (text ?? '').slice(0, 19).replace('T', ' ');

/** docs/platform.md §2.3: 1 is gas, 2 the business fee; others may come. */
const typeWords: Record<number, string> = { 1: 'gas', 2: 'business fee' };
const wordOf = (words: Record<number, string>, value: number | null): string =>
  value === null ? '' : (words[value] ?? String(value));

export const ordersShown: Shown<Order> = {
  name: 'orders',
  fields: orderFields,
  columns: [
    { header: 'created (UTC)', text: (order) => time(order.createdAt) },
    { header: 'operation id', text: (order) => order.operationId, least: 12 },
    { header: 'status', text: (order) => wordOf(statusWords, order.status) },
    { header: 'type', text: (order) => wordOf(typeWords, order.orderType) },
    { header: 'amount', text: (order) => order.amount ?? '', isNumber: true },
    { header: 'number', text: (order) => order.number ?? '', isNumber: true },
    { header: 'account', text: (order) => order.account ?? '', least: 12 },
    { header: 'message', text: (order) => order.message ?? '', least: 8 },
    { header: '', text: missingText },
  ],
};

export const nftClassesShown: Shown<NftClass> = {
  name: 'NFT classes',
  fields: nftClassFields,
  columns: [
    { header: 'created (UTC)', text: (one) => time(one.createdAt) },
    { header: 'id', text: (one) => one.id, least: 12 },
    { header: 'name', text: (one) => one.name ?? '', least: 12 },
    { header: 'symbol', text: (one) => one.symbol ?? '', least: 6 },
    { header: 'NFTs', text: (one) => one.nftCount ?? '', isNumber: true },
    { header: 'owner', text: (one) => one.owner ?? '', least: 12 },
    { header: '', text: missingText },
  ],
};

export const transactionsShown: Shown<Transaction> = {
  name: 'results',
  fields: transactionFields,
  columns: [
    { header: 'confirmed (UTC)', text: (one) => time(one.confirmedAt) },
    { header: 'operation id', text: (one) => one.operationId, least: 12 },
    { header: 'lookup', text: (one) => one.apiVersion },
    { header: 'status', text: (one) => wordOf(resultWords, one.status) },
    { header: 'module', text: (one) => one.module ?? '', least: 6 },
    { header: 'type', text: (one) => one.type ?? String(one.operation ?? ''), least: 8 },
    { header: 'block', text: (one) => one.blockHeight ?? '', isNumber: true },
    { header: 'transaction', text: (one) => one.txHash ?? '', least: 12 },
    { header: 'message', text: (one) => one.message ?? '', least: 8 },
    { header: '', text: missingText },
  ],
};

const feeText = (fee: Token['issueFee']): string =>
  [fee?.amount ?? '', fee?.denom ?? ''].join(' ').trim();

export const tokensShown: Shown<Token> = {
  name: 'tokens',
  fields: tokenFields,
  columns: [
    { header: 'symbol', text: (one) => one.symbol, least: 8 },
    { header: 'name', text: (one) => one.name ?? '', least: 8 },
    { header: 'min unit', text: (one) => one.minUnit ?? '', least: 8 },
    { header: 'scale', text: (one) => String(one.scale ?? ''), isNumber: true },
    { header: 'initial supply', text: (one) => one.initialSupply ?? '', isNumber: true },
    { header: 'max supply', text: (one) => one.maxSupply ?? '', isNumber: true },
    {
      header: 'mintable',
      text: (one) => (one.mintable === null ? '' : one.mintable ? 'yes' : 'no'),
    },
    { header: 'owner', text: (one) => one.owner ?? '', least: 12 },
    { header: 'issue fee', text: (one) => feeText(one.issueFee) },
    { header: 'mint fee', text: (one) => feeText(one.mintFee) },
    { header: '', text: missingText },
  ],
};

/** A content of a record, and when it was in force: fields of their own before those of the record. */
export type Flat<Item> = Item & Omit<Version<Item>, 'item'>;

export const flat = <Item>({ item, ...when }: Version<Item>): Flat<Item> => ({ ...item, ...when });

/** The same for all contents of one record. */
export const historyShown = <Item>({ fields, columns }: Shown<Item>): Shown<Flat<Item>> => ({
  name: 'contents',
  fields: ['inForceFrom', 'inForceUntil', 'isCurrent', ...fields],
  columns: [
    { header: 'in force from (UTC)', text: (one) => time(one.inForceFrom) || 'never' },
    { header: 'until', text: (one) => (one.isCurrent ? 'now' : time(one.inForceUntil)) },
    ...columns,
  ],
});

function missingText({ missingSince }: { missingSince: string | null }): string {
  return missingSince === null ? '' : `missing since ${missingSince.slice(0, 10)}`;
}

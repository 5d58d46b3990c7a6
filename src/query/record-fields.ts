// Which fields of a record a text of it has, and in which order: the columns of CSV files are a promise to whoever loads them.
import type { NftClass, Order, Token, Transaction } from './types.ts';

const bookkeeping = [
  'sliceDay',
  'observedAt',
  'firstSeenAt',
  'changedAt',
  'missingSince',
  'unread',
  'rawSha256',
  'rawBytes',
  'rawJson',
] as const;

export const orderFields: readonly (keyof Order)[] = [
  'project',
  'operationId',
  'status',
  'message',
  'account',
  'amount',
  'number',
  'createdAt',
  'updatedAt',
  'orderType',
  ...bookkeeping,
];

export const nftClassFields: readonly (keyof NftClass)[] = [
  'project',
  'id',
  'name',
  'symbol',
  'nftCount',
  'uri',
  'owner',
  'txHash',
  'createdAt',
  ...bookkeeping,
];

const unlisted = bookkeeping.filter((field) => field !== 'sliceDay');

export const transactionFields: readonly (keyof Transaction)[] = [
  'project',
  'operationId',
  'apiVersion',
  'module',
  'type',
  'operation',
  'txHash',
  'status',
  'message',
  'blockHeight',
  'confirmedAt',
  'nftJson',
  'mtJson',
  'recordJson',
  ...unlisted,
];

export const tokenFields: readonly (keyof Token)[] = [
  'project',
  'symbol',
  'name',
  'minUnit',
  'scale',
  'initialSupply',
  'maxSupply',
  'mintable',
  'owner',
  'issueFee',
  'mintFee',
  'height',
  'tokenJson',
  'feesJson',
  ...unlisted,
];

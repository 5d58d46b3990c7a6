// How a resource lies in its table: what writing its records needs to know to make its SQL.
import type { ApiVersion, ListedResource } from '../model.ts';

export type TableShape = {
  table: string;
  versions: string;
  key: string;
  /** A further column of the primary key, before `key`, and its value: constants of ours, they are put into the SQL. */
  fixed?: readonly [column: string, value: string];
  /** Typed columns in the table's order with their SQL types, without the bookkeeping. */
  columns: readonly (readonly [name: string, type: string])[];
  /** What decides between two contents of a record, most telling first, before observed_at (P2). */
  precedence: readonly string[];
};

export const tableShapes: Record<ListedResource, TableShape> = {
  orders: {
    table: 'archive.orders',
    versions: 'archive.order_versions',
    key: 'operation_id',
    columns: [
      ['status', 'integer'],
      ['message', 'text'],
      ['account', 'text'],
      ['amount', 'numeric'],
      ['number', 'numeric'],
      ['created_at', 'timestamptz'],
      ['updated_at', 'timestamptz'],
      ['order_type', 'integer'],
      ['slice_day', 'date'],
    ],
    // A terminal order returns to pending only under a later update_time.
    precedence: [`coalesce(updated_at, '-infinity')`, `(status is distinct from 1)`],
  },
  nft_classes: {
    table: 'archive.nft_classes',
    versions: 'archive.nft_class_versions',
    key: 'id',
    columns: [
      ['name', 'text'],
      ['symbol', 'text'],
      ['nft_count', 'bigint'],
      ['uri', 'text'],
      ['owner', 'text'],
      ['tx_hash', 'text'],
      ['created_at', 'timestamptz'],
      ['slice_day', 'date'],
    ],
    precedence: [],
  },
};

const transactionShape = (version: ApiVersion): TableShape => ({
  table: 'archive.transactions',
  versions: 'archive.transaction_versions',
  key: 'operation_id',
  fixed: ['api_version', version],
  columns: [
    ['module', 'text'],
    ['type', 'text'],
    ['operation', 'integer'],
    ['tx_hash', 'text'],
    ['status', 'integer'],
    ['message', 'text'],
    ['block_height', 'bigint'],
    ['confirmed_at', 'timestamptz'],
    ['nft', 'jsonb'],
    ['mt', 'jsonb'],
    ['record', 'jsonb'],
  ],
  precedence: [],
});

/** Each lookup has results of its own: an operation may be known to both, in two shapes. */
export const transactionShapes: Record<ApiVersion, TableShape> = {
  v1beta1: transactionShape('v1beta1'),
  v3: transactionShape('v3'),
};

export const tokenShape: TableShape = {
  table: 'archive.tokens',
  versions: 'archive.token_versions',
  key: 'symbol',
  columns: [
    ['name', 'text'],
    ['min_unit', 'text'],
    ['scale', 'integer'],
    ['initial_supply', 'numeric'],
    ['max_supply', 'numeric'],
    ['mintable', 'boolean'],
    ['owner', 'text'],
    ['issue_fee_denom', 'text'],
    ['issue_fee_amount', 'numeric'],
    ['mint_fee_denom', 'text'],
    ['mint_fee_amount', 'numeric'],
    ['height', 'bigint'],
  ],
  precedence: [],
};

// How a listed resource lies in its table: what the commit of a page needs to know to write its SQL.
import type { ListedResource } from '../model.ts';

export type TableShape = {
  table: string;
  versions: string;
  key: string;
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

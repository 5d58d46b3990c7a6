// What the lookups said of operations, whenever they said it: the contents of analytics.transaction_history as items.
import { apiVersions, type ApiVersion } from '../model.ts';
import type { Reader } from './reader.ts';
import type { Transaction, Version } from './types.ts';

export type TransactionFilters = {
  status?: number[] | undefined;
  module?: string | undefined;
};

type Row = Record<
  | 'module'
  | 'type'
  | 'tx_hash'
  | 'message'
  | 'block_height'
  | 'confirmed_at'
  | 'nft'
  | 'mt'
  | 'record'
  | 'missing_since'
  | 'in_force_until',
  string | null
> & {
  operation_id: string;
  api_version: ApiVersion;
  operation: number | null;
  status: number | null;
  raw: string;
  raw_bytes: Buffer | null;
  raw_sha256: string;
  unread: string[];
  first_seen_at: string;
  changed_at: string;
  in_force_from: string;
  is_current: boolean;
};

/** $4 is the instant; null: now. */
const select = `
  -- As text: read as jsonb they would be parsed, and their numbers rounded.
  select h.operation_id, h.api_version, h.module, h.type, h.operation, h.tx_hash, h.status, h.message,
         h.block_height::text, h.confirmed_at, h.nft::text, h.mt::text, h.record::text, h.raw::text, h.raw_bytes,
         h.raw_sha256, h.unread, t.first_seen_at, t.changed_at, h.in_force_from, h.in_force_until, h.is_current,
         case when coalesce(t.missing_since <= $4::timestamptz, h.is_current) then t.missing_since end as missing_since
    -- Each found by its key: see contents.ts.
    from unnest($3::text[]) wanted(id),
         lateral (select * from analytics.transaction_history h
                   where h.project_id = $1 and h.api_version = any ($2::text[]) and h.operation_id = wanted.id offset 0) h,
         lateral (select first_seen_at, changed_at, missing_since from archive.transactions
                   where project_id = $1 and api_version = h.api_version and operation_id = wanted.id offset 0) t
   where true`;

/** A condition on `h`: $4 is the instant, null: now. */
export const isInForce = `
  case when $4::timestamptz is null then h.is_current
       else h.in_force_from <= $4 and (h.in_force_until is null or h.in_force_until > $4) end`;

/** The results of some operations, of both lookups, by id and lookup. */
export async function transactionsOf(
  reader: Reader,
  of: { project: string; ids: string[]; asOf?: string | undefined } & TransactionFilters,
): Promise<Transaction[]> {
  if (of.ids.length === 0) return [];
  const { rows } = await reader.query<Row>(
    `${select}
     and ${isInForce}
     and ($5::int[] is null or h.status = any ($5)) and ($6::text is null or h.module = $6)
   order by h.operation_id, h.api_version`,
    [of.project, apiVersions, of.ids, of.asOf ?? null, of.status ?? null, of.module ?? null],
  );
  return rows.map((row) => toTransaction(of.project, row));
}

/** All contents of both lookups, v1beta1 first, each oldest first. */
export async function transactionHistory(
  reader: Reader,
  project: string,
  operationId: string,
): Promise<Version<Transaction>[]> {
  const { rows } = await reader.query<Row>(
    `${select} order by h.api_version, h.in_force_from, h.is_current, h.raw_sha256`,
    [project, apiVersions, [operationId], null],
  );
  return rows.map((row) => ({
    item: toTransaction(project, row),
    inForceFrom: row.in_force_from,
    inForceUntil: row.in_force_until,
    isCurrent: row.is_current,
  }));
}

function toTransaction(project: string, row: Row): Transaction {
  return {
    project,
    operationId: row.operation_id,
    apiVersion: row.api_version,
    module: row.module,
    type: row.type,
    operation: row.operation,
    txHash: row.tx_hash,
    status: row.status,
    message: row.message,
    blockHeight: row.block_height,
    confirmedAt: row.confirmed_at,
    nftJson: row.nft,
    mtJson: row.mt,
    recordJson: row.record,
    rawJson: row.raw,
    rawBytes: row.raw_bytes,
    rawSha256: row.raw_sha256,
    unread: row.unread,
    observedAt: row.in_force_from,
    firstSeenAt: row.first_seen_at,
    changedAt: row.changed_at,
    missingSince: row.missing_since,
  };
}

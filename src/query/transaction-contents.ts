// What the lookups said of operations, whenever they said it: the contents of analytics.transaction_history as items.
import { apiVersions } from '../model.ts';
import { columnsThen, inForceColumns, toVersion } from './selected-columns.ts';
import { transaction } from '../resources.ts';
import type { Reader } from './reader.ts';
import type { Flat, Transaction, Version } from './types.ts';

export type TransactionFilters = {
  status?: number[] | undefined;
  module?: string | undefined;
};

/** $4 is the instant; null: now. */
const columns = `${columnsThen(transaction)},
         case when coalesce(o.missing_since <= $4::timestamptz, h.is_current) then o.missing_since end as "missingSince"`;
const from = `
    -- Each found by its key: see contents.ts.
    from unnest($3::text[]) wanted(id),
         lateral (select * from analytics.transaction_history h
                   where h.project_id = $1 and h.api_version = any ($2::text[]) and h.operation_id = wanted.id offset 0) h,
         lateral (select first_seen_at, changed_at, missing_since from archive.transactions
                   where project_id = $1 and api_version = h.api_version and operation_id = wanted.id offset 0) o
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
  const { rows } = await reader.query<Transaction>(
    `select ${columns}
     ${from}
     and ${isInForce}
     and ($5::int[] is null or h.status = any ($5)) and ($6::text is null or h.module = $6)
   order by h.operation_id, h.api_version`,
    [of.project, apiVersions, of.ids, of.asOf ?? null, of.status ?? null, of.module ?? null],
  );
  return rows;
}

/** All contents of both lookups, v1beta1 first, each oldest first. */
export async function transactionHistory(
  reader: Reader,
  project: string,
  operationId: string,
): Promise<Version<Transaction>[]> {
  const { rows } = await reader.query<Flat<Transaction>>(
    `select ${columns}, ${inForceColumns}
     ${from}
   order by h.api_version, h.in_force_from, h.is_current, h.raw_sha256`,
    [project, apiVersions, [operationId], null],
  );
  return rows.map(toVersion);
}

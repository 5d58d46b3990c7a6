// Reading transaction results: by their operation ids, which are also the order of their list, for no list of the
// platform has them.
import * as z from 'zod';
import type { RecordFilter } from '../catalogue.ts';
import { apiVersions, type ApiVersion } from '../model.ts';
import {
  asOf,
  contentArguments,
  isId,
  paging,
  parseArguments,
  project,
  recordArguments,
  severalOf,
  text,
} from './arguments.ts';
import { optional } from './check-arguments.ts';
import { cursorText, fingerprintOf, readCursorText } from './cursor.ts';
import { scanFor, scanThrough, type ScanResult, type Scanned } from './bounded-scan.ts';
import type { Reader } from './reader.ts';
import { columnsThen, inForceColumns, toVersion } from './selected-columns.ts';
import { transaction } from '../resources.ts';
import type { CertificateFile, Flat, Transaction, Transactions, Version } from './types.ts';

const mostStatus = 2_147_483_647;
const statusSentence = `must be a whole number from 0 to ${mostStatus} (0 processing, 1 succeeded, 2 failed, 3 unprocessed), or a list of them`;

/** What results can be narrowed by, whoever asks. */
export const transactionFilters = {
  status: severalOf(
    z.int(statusSentence).min(0, statusSentence).max(mostStatus, statusSentence),
    statusSentence,
  ).describe('0 and 3 go on, 1 succeeded, 2 failed, others may come; several with commas'),
  module: text.describe('As the lookup gave it: v3 gives numbers'),
} satisfies Record<RecordFilter<'transactions'>, z.ZodType>;
const question = { project, ...optional({ ...transactionFilters, asOf }) };
const transactionArguments = {
  list: z.strictObject({ ...question, ...paging }),
  stream: z.strictObject(question),
};

type TransactionFilters = {
  status?: number[] | undefined;
  module?: string | undefined;
};

type Asked = { project: string; asOf?: string | undefined } & TransactionFilters;
type Key = { id: string; apiVersion: ApiVersion };

/** Results a stream reads at a time. */
const streamedAtOnce = 1000;

export const createTransactions = (reader: Reader): Transactions => ({
  list: async (given) => {
    const query = parseArguments('transactions.list', transactionArguments.list, given);
    const { limit, cursor, ...asked } = query;
    const fingerprint = fingerprintOf('transactions', asked);
    const after = cursor === undefined ? null : readCursorText(cursor, fingerprint, keyOf).key;
    const { found, reached } = await read(reader, asked, after, limit + 1);
    const shown = found.slice(0, limit);
    const next = found.length > limit ? (shown.at(-1)?.key ?? null) : reached;
    return {
      items: shown.map(({ item }) => item),
      next: next === null ? null : cursorText(fingerprint, 'after', [next.id, next.apiVersion]),
    };
  },
  count: async (given) => {
    const asked = parseArguments('transactions.count', transactionArguments.stream, given);
    return count(reader, asked);
  },
  stream: (given) => {
    const asked = parseArguments('transactions.stream', transactionArguments.stream, given);
    return scanThrough<Key, Transaction>((after) => read(reader, asked, after, streamedAtOnce));
  },
  get: async (project, operationId, at = {}) => {
    const given = { project, id: operationId, ...at };
    const { id, ...of } = parseArguments('transactions.get', contentArguments, given);
    return transactionsOf(reader, { ...of, ids: [id] });
  },
  history: async (project, operationId) => {
    const given = { project, id: operationId };
    const key = parseArguments('transactions.history', recordArguments, given);
    return transactionHistory(reader, key.project, key.id);
  },
  certificateFile: async (project, operationId) => {
    const given = { project, id: operationId };
    const key = parseArguments('transactions.certificateFile', recordArguments, given);
    const { rows } = await reader.query<CertificateFile>(
      `select url, bytes, encode(sha256, 'hex') as sha256, media_type as "mediaType", fetched_at as "fetchedAt"
         from archive.certificate_files where project_id = $1 and operation_id = $2`,
      [key.project, key.id],
    );
    return rows[0] ?? null;
  },
});

const read = (
  reader: Reader,
  asked: Asked,
  after: Key | null,
  wanted: number,
): Promise<ScanResult<Key, Transaction>> =>
  scanFor(
    { after, wanted },
    (from, atMost) => scan(reader, asked, from, atMost),
    async (keys) => {
      const ids = [...new Set(keys.map(({ id }) => id))];
      const results = await transactionsOf(reader, { ...asked, ids });
      const nameOf = (id: string, version: ApiVersion): string => `${version} ${id}`;
      const byName = new Map(results.map((one) => [nameOf(one.operationId, one.apiVersion), one]));
      return keys.map(({ id, apiVersion }) => byName.get(nameOf(id, apiVersion)));
    },
  );

/**
 * Whether a row of now may match: the filters decide of a content that was observed by $2, earlier contents of one that
 * changed since. $1 is the project, $3 and $4 are the filters. As `exists` the planner may hash every version instead
 * of looking by key.
 */
const mayMatch = `
  case when $2::timestamptz is null or t.observed_at <= $2
       then ($3::int[] is null or t.status = any ($3)) is true and ($4::text is null or t.module = $4) is true
       else coalesce((select true from archive.transaction_versions v
                       where v.project_id = $1 and v.api_version = t.api_version and v.operation_id = t.operation_id
                         and v.observed_at <= $2
                       limit 1), false) end`;

/** Each lookup has its results in the order of their ids; two such lists make one. */
const scanSql = `
  select operation_id, api_version, matches
    from (${apiVersions
      .map(
        (version) => `(
          select t.operation_id, t.api_version, ${mayMatch} as matches
            from archive.transactions t
           where t.project_id = $1 and t.api_version = '${version}'
             and t.operation_id >= $5 and (t.operation_id, t.api_version) > ($5, $6)
           order by t.operation_id
           limit $7)`,
      )
      .join(' union all ')}) scanned
   order by operation_id, api_version
   limit $7`;

async function scan(
  reader: Reader,
  asked: Asked,
  after: Key | null,
  atMost: number,
): Promise<Scanned<Key>[]> {
  const { rows } = await reader.query<{
    operation_id: string;
    api_version: ApiVersion;
    matches: boolean;
  }>(scanSql, [...parametersOf(asked), after?.id ?? '', after?.apiVersion ?? '', atMost]);
  return rows.map((row) => ({
    key: { id: row.operation_id, apiVersion: row.api_version },
    matches: row.matches,
  }));
}

async function count(reader: Reader, asked: Asked): Promise<number> {
  const { rows } = await reader.query<{ matching: string }>(
    `select count(*) as matching
       from (select t.operation_id, t.api_version, t.observed_at > $2 as is_later
               from archive.transactions t
              where t.project_id = $1 and ${mayMatch}) t
      where is_later is not true
         or (select true from analytics.transaction_history h
              where h.project_id = $1 and h.api_version = t.api_version and h.operation_id = t.operation_id
                and ${isInForce.replaceAll('$4', '$2')}
                and ($3::int[] is null or h.status = any ($3)) and ($4::text is null or h.module = $4)
              limit 1)`,
    parametersOf(asked),
  );
  return Number(rows[0]?.matching ?? 0);
}

const parametersOf = (asked: Asked): unknown[] => [
  asked.project,
  asked.asOf ?? null,
  asked.status ?? null,
  asked.module ?? null,
];

function keyOf(parts: unknown[]): Key | null {
  const [id, version, ...others] = parts;
  const apiVersion = apiVersions.find((one) => one === version);
  const isKey = others.length === 0 && typeof id === 'string' && isId(id);
  return isKey && apiVersion !== undefined ? { id, apiVersion } : null;
}

// What the lookups said of operations, whenever they said it.

/** $4 is the instant; null: now. */
const columns = `${columnsThen(transaction)},
         case when coalesce(o.missing_since <= $4::timestamptz, h.is_current) then o.missing_since end as "missingSince"`;
const from = `
    -- Each found by its key: see as-of.ts.
    from unnest($3::text[]) wanted(id),
         lateral (select * from analytics.transaction_history h
                   where h.project_id = $1 and h.api_version = any ($2::text[]) and h.operation_id = wanted.id offset 0) h,
         lateral (select first_seen_at, changed_at, missing_since from archive.transactions
                   where project_id = $1 and api_version = h.api_version and operation_id = wanted.id offset 0) o
   where true`;

/** A condition on `h`: $4 is the instant, null: now. */
const isInForce = `
  case when $4::timestamptz is null then h.is_current
       else h.in_force_from <= $4 and (h.in_force_until is null or h.in_force_until > $4) end`;

/** The results of some operations, of both lookups, by id and lookup. */
async function transactionsOf(
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
async function transactionHistory(
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

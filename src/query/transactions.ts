// Reading transaction results: by their operation ids, for there is no list of them.
import { apiVersions, type ApiVersion } from '../model.ts';
import { parseArguments, recordArguments } from './arguments.ts';
import type { Reader } from './reader.ts';
import type { CertificateFile, Transaction, Transactions } from './types.ts';

type Row = Record<
  | 'module'
  | 'type'
  | 'tx_hash'
  | 'message'
  | 'block_height'
  | 'confirmed_at'
  | 'nft'
  | 'mt'
  | 'record',
  string | null
> & {
  api_version: ApiVersion;
  operation: number | null;
  status: number | null;
  raw: string;
  raw_bytes: Buffer | null;
  sha256: string;
  unread: string[];
  observed_at: string;
  first_seen_at: string;
  changed_at: string;
  missing_since: string | null;
};

export const createTransactions = (reader: Reader): Transactions => ({
  get: async (project, operationId) => {
    const key = parseArguments('transactions.get', recordArguments, { project, id: operationId });
    // As text: read as jsonb they would be parsed, and their numbers rounded.
    const { rows } = await reader.query<Row>(
      `select api_version, module, type, operation, tx_hash, status, message, block_height::text, confirmed_at,
              nft::text, mt::text, record::text, raw::text, raw_bytes, encode(raw_sha256, 'hex') as sha256,
              unread, observed_at, first_seen_at, changed_at, missing_since
         from archive.transactions
        where project_id = $1 and api_version = any ($3::text[]) and operation_id = $2
        order by api_version`,
      [key.project, key.id, apiVersions],
    );
    return rows.map((row) => toTransaction(key.project, key.id, row));
  },
  certificateFile: async (project, operationId) => {
    const key = parseArguments('transactions.certificateFile', recordArguments, {
      project,
      id: operationId,
    });
    const { rows } = await reader.query<{
      url: string;
      bytes: Buffer;
      sha256: string;
      media_type: string | null;
      fetched_at: string;
    }>(
      `select url, bytes, encode(sha256, 'hex') as sha256, media_type, fetched_at
         from archive.certificate_files where project_id = $1 and operation_id = $2`,
      [key.project, key.id],
    );
    const [row] = rows;
    if (row === undefined) return null;
    const { url, bytes, sha256, media_type: mediaType, fetched_at: fetchedAt } = row;
    return { url, bytes, sha256, mediaType, fetchedAt } satisfies CertificateFile;
  },
});

function toTransaction(project: string, operationId: string, row: Row): Transaction {
  return {
    project,
    operationId,
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
    rawSha256: row.sha256,
    unread: row.unread,
    observedAt: row.observed_at,
    firstSeenAt: row.first_seen_at,
    changedAt: row.changed_at,
    missingSince: row.missing_since,
  };
}

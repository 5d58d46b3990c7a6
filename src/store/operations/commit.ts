// The commit of a watched operation's turn: what its lookups said, the certificate file, its state and its lease in one
// transaction (P1, P8).
import { transient } from '../../errors.ts';
import type { ApiVersion, Instant, ObservedRecord, WatchedState } from '../../model.ts';
import { timeoutsWithin, withTx, type Db, type Tx } from '../db.ts';
import { givenBack } from '../lease.ts';
import { iso } from '../ledger.ts';
import { writeInto, type RecordEffects } from '../records.ts';
import { transactionShapes } from '../tables.ts';
import type { LeasedOperation } from './watched.ts';

/** What a turn leaves behind; the lease is given back with it. */
export type OperationEnd = {
  state: WatchedState;
  /** Platform's clock; null: never again. */
  dueAt: Instant | null;
  attempts: number;
  lastError: string | null;
};

/** A file behind a certificate link. */
export type NewCertificateFile = {
  url: string;
  bytes: Buffer;
  sha256: string;
  mediaType: string | null;
};

export type OperationCommit = {
  operation: LeasedOperation;
  end: OperationEnd;
  results: (ObservedRecord & { apiVersion: ApiVersion })[];
  file: NewCertificateFile | null;
  leaseMs: number;
  /** Platform's clock at the commit. */
  writtenAt: Instant;
};

/**
 * Commits a turn: results, versions, the file, the operation's state and its lease in one transaction (P1). Throws
 * transient `lease_lost` when the operation is another's by now: nothing was written (P8).
 */
export function commitOperation(db: Db, commit: OperationCommit): Promise<RecordEffects[]> {
  return withTx(db, (tx) => commitIn(tx, commit), timeoutsWithin(commit.leaseMs));
}

async function commitIn(tx: Tx, commit: OperationCommit): Promise<RecordEffects[]> {
  const { operation, end, results, file, writtenAt } = commit;
  const { projectId, operationId } = operation;
  const { rows } = await tx.query(
    `update sync.watched_operations
        set state = $4, due_at = $5, attempts = $6, last_error = $7, ${givenBack},
            -- P4: what was held once is looked for by verify.
            found_by = array(select unnest(found_by) union select unnest($8::text[]) order by 1),
            file_sha256 = coalesce(file_sha256, decode($9, 'hex'))
      where project_id = $1 and operation_id = $2 and lease_epoch = $3
     returning 1`,
    [
      projectId,
      operationId,
      operation.leaseEpoch,
      end.state,
      iso(end.dueAt),
      end.attempts,
      end.lastError,
      results.map(({ apiVersion }) => apiVersion),
      file?.sha256 ?? null,
    ],
  );
  if (rows.length !== 1) {
    throw transient('lease_lost', 'The operation went on without us: it is asked for again');
  }
  const effects: RecordEffects[] = [];
  for (const { apiVersion, ...observed } of results) {
    const shape = transactionShapes[apiVersion];
    const to = { projectId, expectsNew: null };
    effects.push(await writeInto(tx, shape, to, [observed], writtenAt));
  }
  if (file !== null) await keepFile(tx, operation, file, writtenAt);
  return effects;
}

/** The first one stays: what a link showed later is another thing. */
async function keepFile(
  tx: Tx,
  { projectId, operationId }: LeasedOperation,
  { url, bytes, sha256, mediaType }: NewCertificateFile,
  at: Instant,
): Promise<void> {
  await tx.query(
    `insert into archive.certificate_files (project_id, operation_id, url, bytes, sha256, media_type, fetched_at)
     values ($1, $2, $3, $4, decode($5, 'hex'), $6, $7)
         on conflict (project_id, operation_id) do nothing`,
    [projectId, operationId, url, bytes, sha256, mediaType, iso(at)],
  );
}

// The commit of a watched operation's turn: what its lookups said, the certificate file and its state in one transaction
// (P1).
import type { ApiVersion, Instant, ObservedRecord, WatchedState } from '../../model.ts';
import { withTx, type Db, type Tx } from '../db.ts';
import { iso } from '../ledger.ts';
import { writeInto, type RecordEffects } from '../records.ts';
import { transactionShapes } from '../tables.ts';
import type { DueOperation } from './watched.ts';

/** What a turn leaves behind. */
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
  operation: DueOperation;
  end: OperationEnd;
  results: (ObservedRecord & { apiVersion: ApiVersion })[];
  file: NewCertificateFile | null;
  /** Platform's clock at the commit. */
  writtenAt: Instant;
};

/** Commits a turn: results, versions, the file and the operation's state in one transaction (P1). */
export function commitOperation(db: Db, commit: OperationCommit): Promise<RecordEffects[]> {
  return withTx(db, (tx) => commitIn(tx, commit));
}

async function commitIn(tx: Tx, commit: OperationCommit): Promise<RecordEffects[]> {
  const { operation, end, results, file, writtenAt } = commit;
  const { projectId, operationId } = operation;
  await tx.query(
    `update sync.watched_operations
        set state = $3, due_at = $4, attempts = $5, last_error = $6,
            found_by = array(select unnest(found_by) union select unnest($7::text[]) order by 1),
            file_sha256 = coalesce(file_sha256, decode($8, 'hex'))
      where project_id = $1 and operation_id = $2`,
    [
      projectId,
      operationId,
      end.state,
      iso(end.dueAt),
      end.attempts,
      end.lastError,
      results.map(({ apiVersion }) => apiVersion),
      file?.sha256 ?? null,
    ],
  );
  const effects: RecordEffects[] = [];
  for (const { apiVersion, ...observed } of results) {
    const shape = transactionShapes[apiVersion];
    effects.push(await writeInto(tx, shape, { projectId }, [observed], writtenAt));
  }
  if (file !== null) await keepFile(tx, operation, file, writtenAt);
  return effects;
}

/** The first one stays: what a link showed later is another thing. */
async function keepFile(
  tx: Tx,
  { projectId, operationId }: DueOperation,
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

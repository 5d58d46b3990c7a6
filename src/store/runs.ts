// sync.runs: one row for each pass of the worker over what was due.
import { randomUUID } from 'node:crypto';
import type { Instant, ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';

export type RunCounts = {
  requests: number;
  slicesDone: number;
  recordsShown: number;
  recordsNew: number;
  recordsChanged: number;
  recordsRejected: number;
};

export async function openRun(db: Queryable, projectId: ProjectId, at: Instant): Promise<string> {
  const runId = randomUUID();
  await db.query('insert into sync.runs (project_id, run_id, started_at) values ($1, $2, $3)', [
    projectId,
    runId,
    new Date(at).toISOString(),
  ]);
  return runId;
}

/** A run that found nothing new replaces the quiet one before it: a row a minute would say nothing. */
export async function closeRun(
  db: Queryable,
  projectId: ProjectId,
  runId: string,
  at: Instant,
  outcome: string,
  counts: RunCounts,
  lastError: string | null,
): Promise<void> {
  await db.query(
    `update sync.runs
        set ended_at = $3, outcome = $4, requests = $5, slices_done = $6, records_shown = $7,
            records_new = $8, records_changed = $9, records_rejected = $10, last_error = $11
      where project_id = $1 and run_id = $2`,
    [
      projectId,
      runId,
      new Date(at).toISOString(),
      outcome,
      counts.requests,
      counts.slicesDone,
      counts.recordsShown,
      counts.recordsNew,
      counts.recordsChanged,
      counts.recordsRejected,
      lastError,
    ],
  );
  if (outcome !== 'quiet') return;
  await db.query(
    `delete from sync.runs where project_id = $1 and outcome = 'quiet' and run_id <> $2`,
    [projectId, runId],
  );
}

// sync.runs: one row for each pass of the worker over what was due.
import { randomUUID } from 'node:crypto';
import type { Instant, ProjectId } from '../model.ts';
import { noteClock } from './alerts/problem-rows.ts';
import { withTx, type Db, type Queryable } from './db.ts';
import { drizzleOn } from './drizzle-statements.ts';
import { and, eq } from './drizzle-import.ts';
import { runs } from './schema.ts';

export type RunCounts = Pick<
  typeof runs.$inferSelect,
  'requests' | 'slicesDone' | 'recordsShown' | 'recordsNew' | 'recordsChanged' | 'recordsRejected'
>;

export async function openRun(db: Queryable, projectId: ProjectId, at: Instant): Promise<string> {
  const runId = randomUUID();
  await drizzleOn(db).insert(runs).values({ projectId, runId, startedAt: at });
  await noteClock(db, projectId, at);
  return runId;
}

/**
 * A run that found nothing new, or nothing to do, replaces the one before it that did as little, and one that left
 * something due likewise: a row a minute would say nothing.
 */
export async function closeRun(
  db: Db,
  projectId: ProjectId,
  runId: string,
  at: Instant,
  outcome: string,
  counts: RunCounts,
  lastError: string | null,
): Promise<void> {
  const isNews = counts.recordsNew + counts.recordsChanged + counts.recordsRejected > 0;
  const replaces = outcome === 'quiet' || outcome === 'idle' || (outcome === 'left' && !isNews);
  await withTx(db, async (tx) => {
    await drizzleOn(tx)
      .update(runs)
      .set({ endedAt: at, outcome, ...counts, lastError })
      .where(and(eq(runs.projectId, projectId), eq(runs.runId, runId)));
    if (!replaces) return;
    await tx.query(
      `delete from sync.runs
        where project_id = $1 and outcome = $2 and run_id <> $3
          and records_new + records_changed + records_rejected = 0`,
      [projectId, outcome, runId],
    );
  });
}

// sync.reopenings: days that were final or lost and are looked after again, kept for ever. One statement a function.
import type { Day, Instant, ListedResource, ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';

/**
 * `window`: the day lies in the window by every witness; `answered`: the platform was seen to answer for days as old.
 */
export type ReopenReason = 'window' | 'answered';

export type ReopenedSlice = {
  resource: ListedResource;
  owner: string;
  day: Day;
  reopenedAt: Instant;
  was: 'lost' | 'final';
  reason: ReopenReason;
};

/**
 * Every reopening of a project, or those of one month, the oldest first: a certificate that is older must be replaced.
 */
export async function reopeningsOf(
  db: Queryable,
  projectId: ProjectId,
  of?: { resource: ListedResource; month: Day },
): Promise<ReopenedSlice[]> {
  const { rows } = await db.query<{
    resource: ListedResource;
    owner: string;
    day: Day;
    reopened_at: string;
    was: ReopenedSlice['was'];
    reason: ReopenReason;
  }>(
    `select resource, owner, day, reopened_at, was, reason
       from sync.reopenings
      where project_id = $1 and ($2::text is null or resource = $2)
        and ($3::date is null or date_trunc('month', day)::date = $3)
      order by reopened_at, resource, owner, day`,
    [projectId, of?.resource ?? null, of?.month ?? null],
  );
  return rows.map(({ reopened_at: at, ...row }) => ({ ...row, reopenedAt: Date.parse(at) }));
}

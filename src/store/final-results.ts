// Results that are final and whose month the platform may still show: what can be asked for once more. Reads only.
import type { ApiVersion, Day, ProjectId } from '../model.ts';
import type { HeldContent } from './contents.ts';
import type { Queryable } from './db.ts';

export type FinalResult = HeldContent & {
  /** The earliest UTC day the operation can have been begun on, as far as that was said. */
  begun: Day;
};

/** By one lookup and by id, from the one behind `after` on (from the first: ''); of operations begun at `from` or later. */
export async function finalResultsAfter(
  db: Queryable,
  { projectId, apiVersion }: { projectId: ProjectId; apiVersion: ApiVersion },
  from: Day,
  after: string,
  limit: number,
): Promise<FinalResult[]> {
  const { rows } = await db.query<FinalResult>(
    `select t.operation_id as id, t.raw::text as raw, t.raw_bytes, encode(t.raw_sha256, 'hex') as sha256,
            -- Whose day nobody said was begun in the month before it was seen, at the earliest.
            coalesce(w.created_on, (date_trunc('month', t.first_seen_at at time zone 'UTC') - interval '1 month')::date) as begun
       from archive.transactions t
       left join sync.watched_operations w on w.project_id = $1 and w.operation_id = t.operation_id
      where t.project_id = $1 and t.api_version = $2 and t.operation_id > $4 and t.status in (1, 2)
        and coalesce(w.created_on, (t.first_seen_at at time zone 'UTC')::date) >= $3
      order by t.operation_id
      limit $5`,
    [projectId, apiVersion, from, after, limit],
  );
  return rows;
}

// What the store says about watched operations that somebody should hear of. Reads only; what is worth an alert is decided
// in src/alert/conditions.ts. Counts, never an id.
import type { Day, Instant, ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';
import { iso } from './ledger.ts';

/** Operations of a month that have something to say: that they were begun in or, where nobody said so, were given in. */
export type OperationSigns = {
  month: Day;
  /** Known for a while, without a final result, and near their deadlines. */
  open: number;
  /** The nearest of those; null where there are none. */
  deadlineAt: Instant | null;
  lost: number;
};

/** Open operations count that have a deadline by then and were given by then. */
export type OpenBy = { deadlineBy: Instant; givenBy: Instant };

/**
 * By two small indexes: what is done may be millions. An operation may be open with a final result: where one lookup, or
 * the certificate's file, gives no answer.
 */
export async function readOperationSigns(
  db: Queryable,
  projectId: ProjectId,
  { deadlineBy, givenBy }: OpenBy,
): Promise<OperationSigns[]> {
  const { rows } = await db.query<{
    month: Day;
    open: number;
    deadline_at: string | null;
    lost: number;
  }>(
    `select date_trunc('month', coalesce(created_on::timestamp, added_at at time zone 'UTC'))::date as month,
            count(*) filter (where state = 'open')::int as open,
            min(deadline_at) filter (where state = 'open') as deadline_at,
            count(*) filter (where state = 'lost')::int as lost
       from (select * from sync.watched_operations w
              where project_id = $1 and state = 'open' and deadline_at <= $2 and added_at <= $3
                and not exists (select from archive.transactions t
                                 where t.project_id = $1 and t.api_version in ('v1beta1', 'v3')
                                   and t.operation_id = w.operation_id and t.status in (1, 2))
              union all
             select * from sync.watched_operations
              where project_id = $1 and state = 'lost') telling
      group by 1
      order by 1`,
    [projectId, iso(deadlineBy), iso(givenBy)],
  );
  return rows.map(({ month, open, deadline_at: deadlineAt, lost }) => ({
    month,
    open,
    deadlineAt: deadlineAt === null ? null : Date.parse(deadlineAt),
    lost,
  }));
}

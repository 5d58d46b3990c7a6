// sync.rate: what a process leaves for the next one of how often a project may be asked (P11): the rate, for forecasts,
// and until when the platform wants quiet. The limit itself is in the memory of whoever holds the project
// (sync/contact/rate-limiter.ts).
import type { ProjectId } from '../model.ts';
import { onlyRow, type Queryable } from './db.ts';

/** Notes the rate. Returns for how much longer the platform wants quiet, in milliseconds; 0 when it does not. */
export async function noteRate(
  db: Queryable,
  projectId: ProjectId,
  perSecond: number,
): Promise<number> {
  const { quiet } = onlyRow(
    await db.query<{ quiet: number | null }>(
      `insert into sync.rate as r (project_id, per_second) values ($1, $2)
           on conflict (project_id) do update set per_second = excluded.per_second
       returning case
         -- A later moment is from before the database's clock was set back: no pause lasts longer than an hour.
         when not_before < statement_timestamp() + interval '61 minutes'
         then ceil(1000 * greatest(0, extract(epoch from not_before - statement_timestamp())))::float8
       end as quiet`,
      [projectId, perSecond],
    ),
  );
  return quiet ?? 0;
}

/** Nobody asks again before so many milliseconds from now; a longer wait already set stays. */
export async function pauseRate(db: Queryable, projectId: ProjectId, forMs: number): Promise<void> {
  await db.query(
    `update sync.rate set not_before = greatest(not_before, statement_timestamp() + make_interval(secs => $2))
      where project_id = $1`,
    [projectId, forMs / 1000],
  );
}

// sync.rate: one token bucket per project over all replicas (P11), on the database's clock. A process takes a
// grant for a quarter of a second in a statement of its own, never inside a page's transaction.
import type { ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';

export type Grant = {
  /** Requests that may be sent now. */
  granted: number;
  /** When nothing was granted: milliseconds until asking again makes sense. */
  waitMs: number;
  /** How much longer the platform wants quiet, in milliseconds; 0 when it does not. */
  pausedMs: number;
};

/**
 * A grant not used within this time is given up: the platform's rhythm counts, not ours. With the half second that a
 * bucket holds it keeps any one second of all replicas together below twice the rate, from two a second on.
 */
export const grantLivesMs = 250;

/** Takes the requests of one grant at `perSecond`; the bucket holds half a second's worth, at least one request. */
export async function takeGrant(
  db: Queryable,
  projectId: ProjectId,
  perSecond: number,
): Promise<Grant> {
  const want = Math.max(1, Math.floor((perSecond * grantLivesMs) / 1000));
  const burst = Math.max(1, perSecond / 2);
  const { rows } = await db.query<{ granted: number; wait_ms: number; paused_ms: number }>(
    `update sync.rate r
        -- Whoever waited for the row looked at the clock before it did: the time since is not to be filled in twice.
        set tokens = d.tokens - d.granted, refilled_at = greatest(d.refilled_at, d.now), per_second = $3::numeric
       from (select tokens, refilled_at, now,
                    (paused_for = 0)::int * least($2::numeric, floor(tokens)) as granted,
                    greatest(paused_for, (1 - tokens) / $3::numeric)           as wait_for,
                    paused_for
               from (select least($4::numeric, tokens + $3::numeric * greatest(0, extract(epoch from now - refilled_at))) as tokens,
                            refilled_at,
                            -- The greatest of null and 0 is 0.
                            greatest(0, extract(epoch from not_before - now)) as paused_for,
                            now
                       from (select tokens, statement_timestamp() as now,
                                    -- Times to come are from before the database's clock was set back: no pause lasts
                                    -- longer than an hour, and no wait for a row a minute.
                                    case when refilled_at < statement_timestamp() + interval '1 minute' then refilled_at
                                         else statement_timestamp() end as refilled_at,
                                    case when not_before < statement_timestamp() + interval '61 minutes' then not_before end as not_before
                               from sync.rate where project_id = $1 for update) held) filled) d
      where r.project_id = $1
     returning d.granted::int                          as granted,
               ceil(1000 * greatest(d.wait_for, 0))::float8 as wait_ms,
               ceil(1000 * d.paused_for)::float8            as paused_ms`,
    [projectId, want, perSecond, burst],
  );
  const [row] = rows;
  if (row === undefined) {
    // The very first grant, or a rival's: the bucket is there now, and asked at once.
    await db.query(
      `insert into sync.rate (project_id, tokens, refilled_at, per_second)
       values ($1, $2::numeric, statement_timestamp(), $3::numeric)
           on conflict (project_id) do nothing`,
      [projectId, burst, perSecond],
    );
    return { granted: 0, waitMs: 0, pausedMs: 0 };
  }
  return { granted: row.granted, waitMs: row.wait_ms, pausedMs: row.paused_ms };
}

/** Nobody asks again before so many milliseconds from now; a longer wait already set stays. */
export async function pauseRate(db: Queryable, projectId: ProjectId, forMs: number): Promise<void> {
  await db.query(
    `insert into sync.rate as r (project_id, tokens, refilled_at, not_before)
     values ($1, 0, statement_timestamp(), statement_timestamp() + make_interval(secs => $2))
         on conflict (project_id) do update
        set tokens = 0, not_before = greatest(r.not_before, excluded.not_before)`,
    [projectId, forMs / 1000],
  );
}

// sync.clocks: what each machine believes of the platform's clock, so that a new process need not start from nothing.
// The belief is held against the database's clock, which all machines share; who disagrees is timed by the platform's.
import { and, eq, gt, isNotNull, sql } from 'drizzle-orm';
import type { ClockDisagreement, Instant, ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';
import { drizzleOn } from './drizzle.ts';
import { iso } from './ledger.ts';
import { clocks } from './schema.ts';

/** What the platform's clock shows now, by the newest belief of any machine; null where there is none. */
export async function platformNowOf(db: Queryable, projectId: ProjectId): Promise<Instant | null> {
  const { rows } = await db.query<{ at: string }>(
    `select statement_timestamp() + ahead_ms * interval '1 millisecond' as at
       from sync.clocks where project_id = $1
      order by seen_at desc limit 1`,
    [projectId],
  );
  const [row] = rows;
  return row === undefined ? null : Date.parse(row.at);
}

export type Belief = {
  machine: string;
  platformNow: Instant;
  /** How far the machine's own clock is behind the platform's, milliseconds. */
  machineBehindMs: number;
  disagreement: ClockDisagreement | null;
};

/** Notes a belief; where nothing has changed for a while, nothing is written. */
export async function noteClock(
  db: Queryable,
  projectId: ProjectId,
  belief: Belief,
): Promise<void> {
  const { machine, platformNow, machineBehindMs, disagreement } = belief;
  await db.query(
    `insert into sync.clocks as c
            (project_id, machine, ahead_ms, machine_behind_ms, seen_at, disagrees, disagrees_by_ms, disagrees_since)
     values ($1, $2, round(extract(epoch from $3::timestamptz - statement_timestamp()) * 1000), $4, statement_timestamp(), $5, $6,
             case when $5::text is null then null else $3::timestamptz end)
         on conflict (project_id, machine) do update
        set ahead_ms = excluded.ahead_ms,
            machine_behind_ms = excluded.machine_behind_ms,
            seen_at = excluded.seen_at,
            disagrees = excluded.disagrees,
            disagrees_by_ms = excluded.disagrees_by_ms,
            -- Since when without a pause; never after now, for the belief itself may have been set back.
            disagrees_since = case when excluded.disagrees is null then null
                                   else least(c.disagrees_since, excluded.disagrees_since) end
      where c.disagrees is distinct from excluded.disagrees
         or abs(c.ahead_ms - excluded.ahead_ms) > 5000
         or abs(c.machine_behind_ms - excluded.machine_behind_ms) > 5000
         or excluded.seen_at - c.seen_at > interval '10 minutes'`,
    [
      projectId,
      machine,
      iso(platformNow),
      machineBehindMs,
      disagreement?.of ?? null,
      disagreement?.byMs ?? null,
    ],
  );
}

export type Disagreement = ClockDisagreement & { machine: string; since: Instant };

/** Who contradicts the belief, and since when (platform's clock); of machines that were heard of within a day. */
export async function disagreements(db: Queryable, projectId: ProjectId): Promise<Disagreement[]> {
  const rows = await drizzleOn(db)
    .select()
    .from(clocks)
    .where(
      and(
        eq(clocks.projectId, projectId),
        isNotNull(clocks.disagreesSince),
        gt(clocks.seenAt, sql`statement_timestamp() - interval '25 hours'`),
      ),
    )
    .orderBy(clocks.machine);
  return rows.flatMap(({ machine, disagrees: of, disagreesByMs: byMs, disagreesSince: since }) =>
    of === null || byMs === null || since === null ? [] : [{ machine, of, byMs, since }],
  );
}

// sync.reopenings: days that were final or lost and are looked after again, kept for ever; and what a clock that was
// wrong for a while left in the ledger. One statement a function.
import type { Day, Instant, ListedResource, ProjectId } from '../model.ts';
import type { Queryable } from './db.ts';
import { isFree } from './lease.ts';
import { inOrder, iso } from './ledger.ts';

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
 * Reopens what is final or lost of the days `[from, to)`, due at once: what was never read whole is open again, the
 * rest walked. Of the days before the window a final one is reopened once at most, and only where something is left to
 * prove. Returns what was reopened.
 */
export async function reopenDays(
  db: Queryable,
  projectId: ProjectId,
  days: { resource: ListedResource; from: Day; to: Day; reason: ReopenReason },
  at: Instant,
  /** Of each; null: as it was. */
  deadlineAt: Instant | null,
): Promise<Pick<ReopenedSlice, 'day' | 'was'>[]> {
  const { rows } = await db.query<{ day: Day; was: ReopenedSlice['was'] }>(
    `with found as (
       select resource, owner, day, state as was, sync.ledger_of(row(s.*)::sync.slices) as said
         from sync.slices s
        where project_id = $1 and resource = $2 and day >= $3 and day < $4 and state in ('lost', 'final')
          and (state = 'lost' or $5 = 'window'
               or ((proof = 'none' or unresolved > 0)
                   and not exists (select from sync.reopenings r
                                    where r.project_id = $1 and r.resource = s.resource and r.owner = s.owner
                                      and r.day = s.day and r.reason = 'answered')))
          for update
     ),
     noted as (
       insert into sync.reopenings (project_id, resource, owner, day, reopened_at, was, reason)
       select $1, resource, owner, day, $6, was, $5 from found
           on conflict do nothing
     ),
     done as (
     update sync.slices s
        set state = case when found.was = 'lost' then 'open' else 'walked' end,
            due_at = s.day::timestamp at time zone 'UTC',
            deadline_at = coalesce($7, s.deadline_at),
            reopened_at = $6,
            checkpoint = null,
            attempts = 0,
            last_error = null
       from found
      where s.project_id = $1 and s.resource = found.resource and s.owner = found.owner and s.day = found.day
     returning s.*
     )
     select day, found.was, sync.journal_ledger(found.said, s)
       from ${inOrder('done')} join found using (owner, day)`,
    [projectId, days.resource, days.from, days.to, days.reason, iso(at), iso(deadlineAt)],
  );
  return rows;
}

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

/** Takes back days that begin later than any witness of the time allows and were never read. Returns how many. */
export async function takeBackFutureDays(
  db: Queryable,
  projectId: ProjectId,
  from: Day,
): Promise<number> {
  const { rows } = await db.query(
    `with dropped as (
       delete from sync.slices
        where project_id = $1 and day >= $2 and state = 'open' and whole_walk = 0 and observed_at is null
          and ${isFree()}
       returning *
     )
     select sync.journal_dropped(s) from ${inOrder('dropped')}`,
    [projectId, from],
  );
  return rows.length;
}

const future = `project_id = $1 and state not in ('final', 'lost')
          and (greatest(walked_at, proved_at) > $2
               -- Whatever is due is due within a day, but for days to come and an owner's whole list.
               or (due_at > greatest($2, day::timestamp at time zone 'UTC') + interval '25 hours' and day > '0001-01-01'))`;

/**
 * Slices that were read or counted at a moment that has not come yet, while the platform's clock was wrong: what was
 * concluded then counts for nothing, and they are due again, days still to come when they begin. Returns how many.
 */
export async function voidFutureActs(
  db: Queryable,
  projectId: ProjectId,
  possible: Instant,
): Promise<number> {
  const { rows } = await db.query(
    `with was as materialized (
       select resource, owner, day, sync.ledger_of(row(s.*)::sync.slices) as said
         from sync.slices s
        where ${future}
        order by resource, owner, day
          for no key update
     ),
     done as (
     update sync.slices s
        set state = case when whole_walk > 0 then 'walked' else 'open' end,
            proof = 'none',
            walked_at = null,
            proved_at = case when proved_at > $2 then null else proved_at end,
            due_at = greatest($2, s.day::timestamp at time zone 'UTC')
       from was
      where s.project_id = $1 and s.resource = was.resource and s.owner = was.owner and s.day = was.day
     returning s.*
     )
     select sync.journal_ledger(was.said, s)
       from ${inOrder('done')} join was using (resource, owner, day)`,
    [projectId, iso(possible)],
  );
  // An operation is asked for hourly at least.
  await db.query(
    `update sync.watched_operations set due_at = $2
      where project_id = $1 and state = 'open' and due_at > $2::timestamptz + interval '25 hours'`,
    [projectId, iso(possible)],
  );
  await db.query(
    'update sync.token_snapshots set due_at = $2 where project_id = $1 and taken_at > $2 and due_at > $2',
    [projectId, iso(possible)],
  );
  return rows.length;
}

// Leases on slices: claiming, giving back, and what is left when a process dies or freezes. The lease epoch decides who
// may write (P8); the database clock serves leases only.
import type { Day, DayRange, Instant, ListedResource, ProjectId, SliceKey } from '../model.ts';
import { withTx, type Db, type Queryable } from './db.ts';
import { claimed, givenBack, isFree } from './lease.ts';
import { columnNamesOf } from './drizzle.ts';
import { columns, iso, keyOf, ofSlice, toSlice, type Slice } from './ledger.ts';

/** Half-open days, one resource; absent means all. */
export type Only = { days?: DayRange; resource?: ListedResource };

export type SliceClaimOptions = {
  projectId: ProjectId;
  holder: string;
  leaseMs: number;
  /** Slices due at or before this moment (platform's clock); null: due or not. */
  dueBy: Instant | null;
  /** The day whose tail goes ahead. */
  today: Day;
  only?: Only;
  /** Slices this run is done with. */
  except?: SliceKey[];
  /** The lists that may be asked; absent: all. */
  lists?: readonly ListedResource[];
  /** Days before this one have left the window by every clock: they are concluded though their list is not asked. */
  lapsedBefore?: Day;
};

/** The condition on slices that claiming and counting share, with the numbers of its parameters. */
function wanted(dueBy: number, first: number): string {
  return `($${dueBy}::timestamptz is null or due_at <= $${dueBy}
                     -- Whatever is due is due within a day, but for days to come and an owner's whole list: what lies
                     -- beyond was set by a clock that was wrong, and binds nobody.
                     or (due_at > greatest($${dueBy}, day::timestamp at time zone 'UTC') + interval '25 hours'
                         and (day > '0001-01-01' or walked_at > $${dueBy}::timestamptz + interval '1 hour')))
                and ($${first}::date is null or day >= $${first})
                and ($${first + 1}::date is null or day < $${first + 1})
                and ($${first + 2}::text is null or resource = $${first + 2})
                and (resource, owner, day) not in
                    (select * from unnest($${first + 3}::text[], $${first + 4}::text[], $${first + 5}::date[]))
                and ($${first + 6}::text[] is null or resource = any ($${first + 6})
                     or (day < $${first + 7}::date and deadline_at < '9999-01-01'))`;
}

function wantedValues({
  only,
  except,
  lists,
  lapsedBefore,
}: Pick<SliceClaimOptions, 'only' | 'except' | 'lists' | 'lapsedBefore'>): unknown[] {
  return [
    only?.days?.from ?? null,
    only?.days?.to ?? null,
    only?.resource ?? null,
    (except ?? []).map((slice) => slice.resource),
    (except ?? []).map((slice) => slice.owner),
    (except ?? []).map((slice) => slice.day),
    lists ?? null,
    lapsedBefore ?? null,
  ];
}

/**
 * Claims the next due slice: today's first, for its tail is small, then the nearest deadline, and of a month first the
 * days never read to their ends: they alone can be lost. The claim raises the epoch: whoever held the slice before
 * writes nothing from now on (P8). Null when nothing is free.
 */
export async function claimSlice(db: Queryable, options: SliceClaimOptions): Promise<Slice | null> {
  const { rows } = await db.query(
    // Compared with, the one row is looked for once; joined, it may be once a row, and each time claim the next one.
    `update sync.slices s
        set ${claimed('s.', '$2', '$3')}
      where s.project_id = $1
        and (s.resource, s.owner, s.day) = (
              select resource, owner, day
                from sync.slices
               where project_id = $1
                 and ${isFree('$3')}
                 and ${wanted(4, 6)}
               order by (day = $5::date) desc, deadline_at, (whole_walk > 0), day, resource, owner
               limit 1
                 for no key update skip locked)
     returning ${columnNamesOf(columns, 's')}`,
    [
      options.projectId,
      options.holder,
      options.leaseMs / 1000,
      iso(options.dueBy),
      options.today,
      ...wantedValues(options),
    ],
  );
  const [row] = rows;
  return row === undefined ? null : toSlice(row);
}

/** Gives a slice back as it is, to be claimed again at once: the orderly end of a process. */
export async function releaseSlice(db: Queryable, slice: Slice): Promise<void> {
  await db.query(`update sync.slices set ${givenBack} where ${ofSlice}`, keyOf(slice));
}

/** Gives back what a holder still has of an earlier run: its connection broke before it could. */
export async function releaseHeldBy(
  db: Queryable,
  projectId: ProjectId,
  holder: string,
): Promise<void> {
  await db.query(
    `update sync.slices set ${givenBack}
      where project_id = $1 and lease_holder = $2`,
    [projectId, holder],
  );
}

/**
 * Ends sessions of ours whose process froze in the middle of a COPY: no time-out of Postgres reaches one that waits for
 * its client's rows, and its locks would keep the slice from everybody (P8). A living COPY takes far less than a lease.
 */
export async function endFrozenSessions(db: Db, leaseMs: number): Promise<void> {
  await withTx(db, async (tx) => {
    // The writer role may not end a session of the login role it was set from.
    await tx.query('set local role to default');
    await tx.query(
      `select pg_terminate_backend(pid)
         from pg_stat_activity
        where datname = current_database() and usename = session_user and application_name = $1
          and state = 'active' and wait_event = 'ClientRead' and query like 'copy archive.%'
          and query_start < clock_timestamp() - make_interval(secs => $2)`,
      ['outlast', leaseMs / 1000],
    );
  });
}

/** How many slices are due by then (null: at all) besides `except`, and how many of them another process holds. */
export async function countDue(
  db: Db,
  projectId: ProjectId,
  dueBy: Instant | null,
  of: Pick<SliceClaimOptions, 'only' | 'except' | 'lists'> = {},
): Promise<{ due: number; held: number }> {
  const { rows } = await db.query<{ due: number; held: number }>(
    `select count(*)::int as due,
            count(*) filter (where lease_until >= statement_timestamp())::int as held
       from sync.slices
      where project_id = $1
                and ${wanted(2, 3)}`,
    [projectId, iso(dueBy), ...wantedValues(of)],
  );
  return rows[0] ?? { due: 0, held: 0 };
}

/**
 * What the last attempt at the newest day of a list said, where it failed and the next one is not due yet; null: none
 * waits so. Of an older day it says nothing: one stubborn day is no platform that is down.
 */
export async function newestFailure(db: Db, projectId: ProjectId): Promise<string | null> {
  const { rows } = await db.query<{ error: string | null }>(
    `select last_error as error
       from (select distinct on (resource, owner) attempts, last_error
               from sync.slices where project_id = $1
              order by resource, owner, day desc) newest
      where attempts > 0 order by last_error limit 1`,
    [projectId],
  );
  return rows[0]?.error ?? null;
}

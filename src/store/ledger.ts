// The ledger, sync.slices: what is held of a slice, how sure we are, what is due. One statement a function.
// The lease epoch decides who may write (P8); the database clock serves leases only.
import type {
  Day,
  DayRange,
  Instant,
  ListedResource,
  ProjectId,
  Proof,
  SliceKey,
  SliceState,
} from '../model.ts';
import type { Db, Queryable, Tx } from './db.ts';

/** How a walk is asked for: fixed from its first page to its last. */
export type WalkQuery = { startDate: Day; endDate: Day; limit: number };

/** Where a walk in progress goes on. */
export type Checkpoint = {
  query: WalkQuery;
  /** Number of the next page, from 0. */
  page: number;
  /** Orders: the key of the next page; null before the first. */
  pageKey: string | null;
  /** Classes: the offset of the next page, one row of overlap included; and the id that row must show. */
  offset: number;
  lastId: string | null;
  /** The total of the first page; null where the platform gave none. */
  totalBefore: number | null;
};

export type Slice = SliceKey & {
  state: SliceState;
  proof: Proof;
  provedAt: Instant | null;
  dueAt: Instant | null;
  deadlineAt: Instant;
  leaseEpoch: number;
  checkpoint: Checkpoint | null;
  walk: number;
  wholeWalk: number;
  walkedAt: Instant | null;
  observedAt: Instant | null;
  platformTotal: number | null;
  shownTotal: number | null;
  unresolved: number;
  attempts: number;
};

const iso = (at: Instant | null): string | null =>
  at === null ? null : new Date(at).toISOString();
const instant = (text: string | null): Instant | null => (text === null ? null : Date.parse(text));

const columns = `project_id, resource, owner, day, state, proof, proved_at, due_at, deadline_at, lease_epoch,
  checkpoint, walk, whole_walk, walked_at, observed_at, platform_total, shown_total, unresolved, attempts`;

type SliceRow = {
  project_id: string;
  resource: ListedResource;
  owner: string;
  day: Day;
  state: SliceState;
  proof: Proof;
  proved_at: string | null;
  due_at: string | null;
  deadline_at: string;
  lease_epoch: string;
  checkpoint: Checkpoint | null;
  walk: number;
  whole_walk: number;
  walked_at: string | null;
  observed_at: string | null;
  platform_total: string | null;
  shown_total: string | null;
  unresolved: number;
  attempts: number;
};

const numberOrNull = (text: string | null): number | null => (text === null ? null : Number(text));

function toSlice(row: SliceRow): Slice {
  return {
    projectId: row.project_id,
    resource: row.resource,
    owner: row.owner,
    day: row.day,
    state: row.state,
    proof: row.proof,
    provedAt: instant(row.proved_at),
    dueAt: instant(row.due_at),
    deadlineAt: Date.parse(row.deadline_at),
    leaseEpoch: Number(row.lease_epoch),
    checkpoint: row.checkpoint,
    walk: row.walk,
    wholeWalk: row.whole_walk,
    walkedAt: instant(row.walked_at),
    observedAt: instant(row.observed_at),
    platformTotal: numberOrNull(row.platform_total),
    shownTotal: numberOrNull(row.shown_total),
    unresolved: row.unresolved,
    attempts: row.attempts,
  };
}

export type NewSlice = SliceKey & { dueAt: Instant; deadlineAt: Instant };

/** Enters slices that are not in the ledger yet; the others stay as they are (P7). Returns how many were new. */
export async function addSlices(db: Queryable, added: NewSlice[]): Promise<number> {
  if (added.length === 0) return 0;
  const { rows } = await db.query(
    `insert into sync.slices (project_id, resource, owner, day, due_at, deadline_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::date[], $5::timestamptz[], $6::timestamptz[])
      order by 1, 2, 3, 4
         on conflict do nothing
     returning 1`,
    [
      added.map((slice) => slice.projectId),
      added.map((slice) => slice.resource),
      added.map((slice) => slice.owner),
      added.map((slice) => slice.day),
      added.map((slice) => iso(slice.dueAt)),
      added.map((slice) => iso(slice.deadlineAt)),
    ],
  );
  return rows.length;
}

/** Half-open days, one resource; absent means all. */
export type Only = { days?: DayRange; resource?: ListedResource };

export type ClaimOptions = {
  projectId: ProjectId;
  holder: string;
  leaseMs: number;
  /** Slices due at or before this moment (platform's clock); null: due or not. */
  dueBy: Instant | null;
  today: Day;
  only?: Only;
  /** Slices this run is done with. */
  except?: SliceKey[];
};

/** The condition on slices that claiming and counting share, with the numbers of its parameters. */
function wanted(dueBy: number, first: number): string {
  return `($${dueBy}::timestamptz is null or due_at <= $${dueBy})
                and ($${first}::date is null or day >= $${first})
                and ($${first + 1}::date is null or day < $${first + 1})
                and ($${first + 2}::text is null or resource = $${first + 2})
                and (resource, owner, day) not in
                    (select * from unnest($${first + 3}::text[], $${first + 4}::text[], $${first + 5}::date[]))`;
}

function wantedValues(only: Only | undefined, except: SliceKey[] | undefined): unknown[] {
  return [
    only?.days?.from ?? null,
    only?.days?.to ?? null,
    only?.resource ?? null,
    (except ?? []).map((slice) => slice.resource),
    (except ?? []).map((slice) => slice.owner),
    (except ?? []).map((slice) => slice.day),
  ];
}

/**
 * Claims the next due slice: today's first, for its tail is small, then the nearest deadline. The claim raises the
 * epoch: whoever held the slice before writes nothing from now on (P8). Null when nothing is free.
 */
export async function claimSlice(db: Queryable, options: ClaimOptions): Promise<Slice | null> {
  const { rows } = await db.query<SliceRow>(
    `update sync.slices s
        set lease_holder = $2,
            lease_epoch = s.lease_epoch + 1,
            lease_until = clock_timestamp() + make_interval(secs => $3)
       from (select project_id, resource, owner, day
               from sync.slices
              where project_id = $1
                and (lease_until is null or lease_until < clock_timestamp())
                and ${wanted(4, 6)}
              order by (day = $5::date) desc, deadline_at, day, resource, owner
              limit 1
                for no key update skip locked) next
      where s.project_id = next.project_id and s.resource = next.resource
        and s.owner = next.owner and s.day = next.day
     returning ${columns
       .split(',')
       .map((name) => `s.${name.trim()}`)
       .join(', ')}`,
    [
      options.projectId,
      options.holder,
      options.leaseMs / 1000,
      iso(options.dueBy),
      options.today,
      ...wantedValues(options.only, options.except),
    ],
  );
  const [row] = rows;
  return row === undefined ? null : toSlice(row);
}

const ofSlice =
  'project_id = $1 and resource = $2 and owner = $3 and day = $4 and lease_epoch = $5';
const keyOf = (slice: Slice): unknown[] => [
  slice.projectId,
  slice.resource,
  slice.owner,
  slice.day,
  slice.leaseEpoch,
];

/** What the commit of pages changes in the ledger. */
export type Progress = {
  walk: number;
  checkpoint: Checkpoint | null;
  /** When the oldest and the newest of the pages were asked for. */
  oldestAskedAt: Instant;
  newestAskedAt: Instant;
  leaseMs: number;
};

/**
 * The first statement of a page's commit. False when the lease is another's by now (P8) or the pages are older than
 * what the slice already holds (P2): the caller must roll back. Touches no indexed column.
 */
export async function moveCheckpoint(tx: Tx, slice: Slice, progress: Progress): Promise<boolean> {
  const { rows } = await tx.query(
    `update sync.slices
        set checkpoint = $6,
            walk = $7,
            observed_at = $9,
            lease_until = clock_timestamp() + make_interval(secs => $10)
      where ${ofSlice}
        and (observed_at is null or observed_at <= $8)
     returning 1`,
    [
      ...keyOf(slice),
      progress.checkpoint === null ? null : JSON.stringify(progress.checkpoint),
      progress.walk,
      iso(progress.oldestAskedAt),
      iso(progress.newestAskedAt),
      progress.leaseMs / 1000,
    ],
  );
  return rows.length === 1;
}

/** What a finished act leaves in the ledger; the lease is given back with it. */
export type Finished = {
  state: SliceState;
  proof: Proof;
  provedAt: Instant | null;
  walkedAt: Instant | null;
  wholeWalk: number;
  platformTotal: number | null;
  shownTotal: number | null;
  unresolved: number;
  dueAt: Instant | null;
  attempts: number;
  lastError: string | null;
  /** Whether the walk in progress is over: its checkpoint is dropped. */
  over: boolean;
};

/** False when the lease is another's by now: nothing was written (P8). */
export async function finishSlice(db: Queryable, slice: Slice, end: Finished): Promise<boolean> {
  const { rows } = await db.query(
    `update sync.slices
        set state = $6, proof = $7, proved_at = $8, walked_at = $9, whole_walk = $10,
            platform_total = $11, shown_total = $12, unresolved = $13,
            due_at = $14, attempts = $15, last_error = $16,
            checkpoint = case when $17 then null else checkpoint end,
            lease_holder = null, lease_until = null
      where ${ofSlice}
     returning 1`,
    [
      ...keyOf(slice),
      end.state,
      end.proof,
      iso(end.provedAt),
      iso(end.walkedAt),
      end.wholeWalk,
      end.platformTotal,
      end.shownTotal,
      end.unresolved,
      iso(end.dueAt),
      end.attempts,
      end.lastError,
      end.over,
    ],
  );
  return rows.length === 1;
}

/** Gives a slice back as it is, to be claimed again at once: the orderly end of a process. */
export async function releaseSlice(db: Queryable, slice: Slice): Promise<void> {
  await db.query(
    `update sync.slices set lease_holder = null, lease_until = null where ${ofSlice}`,
    keyOf(slice),
  );
}

/** Gives back what a holder still has of an earlier run: its connection broke before it could. */
export async function releaseHeldBy(
  db: Queryable,
  projectId: ProjectId,
  holder: string,
): Promise<void> {
  await db.query(
    `update sync.slices set lease_holder = null, lease_until = null
      where project_id = $1 and lease_holder = $2`,
    [projectId, holder],
  );
}

/**
 * Ends sessions of ours whose process froze in the middle of a COPY: no time-out of Postgres reaches one that waits for
 * its client's rows, and its locks would keep the slice from everybody (P8). A living COPY takes far less than a lease.
 */
export async function endFrozenSessions(db: Db, leaseMs: number): Promise<void> {
  const client = await db.pool.connect();
  try {
    // The writer role may not end a session of the login role it was set from.
    await client.query('reset role');
    await client.query(
      `select pg_terminate_backend(pid)
         from pg_stat_activity
        where datname = current_database() and usename = session_user and application_name = $1
          and state = 'active' and wait_event = 'ClientRead'
          and query_start < clock_timestamp() - make_interval(secs => $2)`,
      ['outlast', leaseMs / 1000],
    );
  } finally {
    // It has another role now: the pool makes a new one.
    client.release(true);
  }
}

/** How many slices are due by then (null: at all) besides `except`, and how many of them another process holds. */
export async function countDue(
  db: Db,
  projectId: ProjectId,
  dueBy: Instant | null,
  only?: Only,
  except?: SliceKey[],
): Promise<{ due: number; held: number }> {
  const { rows } = await db.query<{ due: number; held: number }>(
    `select count(*)::int as due,
            count(*) filter (where lease_until >= clock_timestamp())::int as held
       from sync.slices
      where project_id = $1
                and ${wanted(2, 3)}`,
    [projectId, iso(dueBy), ...wantedValues(only, except)],
  );
  return rows[0] ?? { due: 0, held: 0 };
}

/**
 * A fact that proofs rest on has changed: what was proved under the old one is due again, unsealed (proof rule 6). Where
 * the fact was unknown before, only what it left unproved. Returns how many slices.
 */
export async function reopenSlices(
  db: Queryable,
  projectId: ProjectId,
  resource: string,
  onlyUnproved: boolean,
): Promise<number> {
  const { rows } = await db.query(
    `update sync.slices
        set state = 'walked', proof = 'none', due_at = least(due_at, day::timestamp at time zone 'UTC')
      where project_id = $1 and resource = $2 and state in ('walked', 'sealed')
        and (not $3 or proof = 'none')
     returning 1`,
    [projectId, resource, onlyUnproved],
  );
  return rows.length;
}

/** Takes back days that were never read, where their months stand for them now; what was walked stays as it is. */
export async function dropUnreadDays(
  db: Queryable,
  projectId: ProjectId,
  resource: ListedResource,
): Promise<void> {
  await db.query(
    `delete from sync.slices
      where project_id = $1 and resource = $2 and day <> date_trunc('month', day)::date
        and state = 'open' and whole_walk = 0
        and (lease_until is null or lease_until < clock_timestamp())`,
    [projectId, resource],
  );
}

/** The newest day of the ledger, by which the days that passed since are found (P7). */
export async function newestDay(db: Queryable, projectId: ProjectId): Promise<Day | null> {
  const { rows } = await db.query<{ day: Day | null }>(
    'select max(day) as day from sync.slices where project_id = $1',
    [projectId],
  );
  return rows[0]?.day ?? null;
}

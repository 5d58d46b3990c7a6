// The ledger, sync.slices: what is held of a slice, how sure we are, what is due. One statement a function.
// Who may write is decided by the lease epoch (P8), which every statement here names; slice-leases.ts hands them out.
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
import type { Queryable, Tx } from './db.ts';
import { givenBack, isFree, leaseEnd } from './lease.ts';

/** How a walk is asked for: fixed from its first page to its last. */
export type WalkQuery = {
  /** As the platform reads them; absent for an owner's whole list. */
  startDate?: Day;
  endDate?: Day;
  limit: number;
  /** Newest first; absent: oldest first, as every walk that a tail may follow. */
  order?: 'desc';
  /** Orders of one status, where a list is cut and read in parts. */
  status?: 1 | 2 | 3;
};

/** A list that ends before all its records were shown: what is known of it while it is read in parts, all of one walk. */
export type CutList = {
  /** The end from which its first part was read. */
  first: 'asc' | 'desc';
  /** The total before the walk; null where there was none. */
  total: number | null;
  /** The platform does not show it from its other end. */
  isBlind: boolean;
  /** Records of the first part: so many are shown at a time. */
  size: number;
  /** A part was left whose two ends did not meet. */
  hasGap: boolean;
  /** It leaves out what is shown when its status is asked for. */
  hides?: true;
};

export type PartInProgress = {
  list: CutList;
  /** Number of its first page. */
  begins: number;
  /** A record that stands on one of these pages of the walk ends the part: the ends have met. Null: it is read to its end. */
  meets: { from: number; to: number } | null;
};

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
  /** The part in progress, where a list is read in parts. */
  part?: PartInProgress;
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
  /** How the last whole walk was read. */
  walkOrder: 'asc' | 'desc';
  walkedAt: Instant | null;
  observedAt: Instant | null;
  platformTotal: number | null;
  shownTotal: number | null;
  unresolved: number;
  attempts: number;
  /** When it was last taken up again after it had been final or lost; absent or null: never. */
  reopenedAt?: Instant | null;
};

export const iso = (at: Instant | null): string | null =>
  at === null ? null : new Date(at).toISOString();
const instant = (text: string | null): Instant | null => (text === null ? null : Date.parse(text));

export const columns = `project_id, resource, owner, day, state, proof, proved_at, due_at, deadline_at, lease_epoch,
  checkpoint, walk, whole_walk, walk_order, walked_at, observed_at, platform_total, shown_total, unresolved, attempts, reopened_at`;

export type SliceRow = {
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
  walk_order: 'asc' | 'desc';
  walked_at: string | null;
  observed_at: string | null;
  platform_total: string | null;
  shown_total: string | null;
  unresolved: number;
  attempts: number;
  reopened_at: string | null;
};

const numberOrNull = (text: string | null): number | null => (text === null ? null : Number(text));

export function toSlice(row: SliceRow): Slice {
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
    walkOrder: row.walk_order,
    walkedAt: instant(row.walked_at),
    observedAt: instant(row.observed_at),
    platformTotal: numberOrNull(row.platform_total),
    shownTotal: numberOrNull(row.shown_total),
    unresolved: row.unresolved,
    attempts: row.attempts,
    reopenedAt: instant(row.reopened_at),
  };
}

/** What a statement returned of slices, as rows `s` that the journal takes: it locks their chains one after the other. */
export const inOrder = (returned: string): string => `
     (select row(r.*)::sync.slices as s, resource, owner, day from ${returned} r order by resource, owner, day) ${returned}_ones`;

export type NewSlice = SliceKey & { dueAt: Instant; deadlineAt: Instant };

/** Enters slices that are not in the ledger yet; the others stay as they are (P7). Returns how many were new. */
export async function addSlices(db: Queryable, added: NewSlice[]): Promise<number> {
  if (added.length === 0) return 0;
  const { rows } = await db.query(
    `with added as (
       insert into sync.slices (project_id, resource, owner, day, due_at, deadline_at)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::date[], $5::timestamptz[], $6::timestamptz[])
        order by 1, 2, 3, 4
           on conflict do nothing
       returning *
     )
     select sync.journal_ledger(null, s) from ${inOrder('added')}`,
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

export const ofSlice =
  'project_id = $1 and resource = $2 and owner = $3 and day = $4 and lease_epoch = $5';
export const keyOf = (slice: Slice): unknown[] => [
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
            lease_until = ${leaseEnd('$10')}
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
export type Finished = Pick<
  Slice,
  | 'state'
  | 'proof'
  | 'provedAt'
  | 'walkedAt'
  | 'wholeWalk'
  | 'walkOrder'
  | 'platformTotal'
  | 'shownTotal'
  | 'unresolved'
  | 'dueAt'
  | 'attempts'
> & {
  lastError: string | null;
  /** Whether the walk in progress is over: its checkpoint is dropped. */
  over: boolean;
};

/**
 * Writes what an act came to; what is not given stays as it is. False when the lease is another's by now: nothing was
 * written (P8).
 */
export async function finishSlice(
  db: Queryable,
  slice: Slice,
  changes: Partial<Finished>,
): Promise<boolean> {
  const end: Finished = { ...slice, lastError: null, over: false, ...changes };
  const { rows } = await db.query(
    `with was as materialized (
       select sync.ledger_of(s) as said from sync.slices s where ${ofSlice} for no key update
     ),
     done as (
     update sync.slices
        set state = $6, proof = $7, proved_at = $8, walked_at = $9, whole_walk = $10,
            platform_total = $11, shown_total = $12, unresolved = $13,
            due_at = $14, attempts = $15, last_error = $16,
            checkpoint = case when $17 then null else checkpoint end,
            walk_order = $18, ${givenBack}
       from was
      where ${ofSlice}
     returning slices.*
     )
     select sync.journal_ledger(was.said, s) from was, ${inOrder('done')}`,
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
      end.walkOrder,
    ],
  );
  return rows.length === 1;
}

/**
 * A fact that proofs rest on has changed: what was proved under the old one is due again, unsealed (proof rule 6). Where
 * the fact was unknown before, only what it left unproved; with `atLeast`, only what showed so many records. Returns how
 * many slices.
 */
export async function reopenSlices(
  db: Queryable,
  projectId: ProjectId,
  resource: string,
  onlyUnproved: boolean,
  atLeast = 0,
): Promise<number> {
  const { rows } = await db.query(
    `with was as materialized (
       select owner, day, sync.ledger_of(s) as said
         from sync.slices s
        where project_id = $1 and resource = $2 and state in ('walked', 'sealed')
          and (not $3 or proof = 'none')
          and ($4 = 0 or shown_total >= $4)
        order by owner, day
          for no key update
     ),
     done as (
       update sync.slices s
          set state = 'walked', proof = 'none', due_at = least(due_at, s.day::timestamp at time zone 'UTC')
         from was
        where s.project_id = $1 and s.resource = $2 and s.owner = was.owner and s.day = was.day
       returning s.*
     )
     select sync.journal_ledger(was.said, s) from ${inOrder('done')} join was using (owner, day)`,
    [projectId, resource, onlyUnproved, atLeast],
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
    `with dropped as (
       delete from sync.slices
        where project_id = $1 and resource = $2 and day <> date_trunc('month', day)::date
          and state = 'open' and whole_walk = 0
          and ${isFree()}
       returning *
     )
     select sync.journal_dropped(s) from ${inOrder('dropped')}`,
    [projectId, resource],
  );
}

/**
 * The newest day of the ledger before another, by which the days that passed since are found (P7): of an empty ledger the
 * first day accounted for, since when the platform may have failed to answer.
 */
export async function newestDay(db: Queryable, projectId: ProjectId, before: Day): Promise<Day> {
  const { rows } = await db.query<{ day: Day | null }>(
    `select coalesce((select max(day) from sync.slices where project_id = $1 and day < $2), first_day) as day
       from sync.projects where project_id = $1`,
    [projectId, before],
  );
  return rows[0]?.day ?? before;
}

/** The slices of the days that claim a proof, by day. */
export async function provedSlices(
  db: Queryable,
  projectId: ProjectId,
  days: DayRange,
): Promise<Slice[]> {
  const { rows } = await db.query<SliceRow>(
    `select ${columns} from sync.slices
      where project_id = $1 and day >= $2 and day < $3 and proof <> 'none' and state in ('walked', 'sealed')
      order by day, resource desc, owner`,
    [projectId, days.from, days.to],
  );
  return rows.map(toSlice);
}

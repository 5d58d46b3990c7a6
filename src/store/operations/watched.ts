// sync.watched_operations: operations whose results are asked for by their ids, for there is no list of them; and the
// commit of a turn: what its lookups said, the certificate file and its state in one transaction (P1).
import type {
  ApiVersion,
  Day,
  Instant,
  NewOperation,
  ObservedRecord,
  ProjectId,
  WatchedState,
} from '../../model.ts';
import { and, eq } from '../drizzle-import.ts';
import type { HeldContent } from '../read-held.ts';
import { withTx, type Db, type Queryable } from '../db.ts';
import { drizzleOn } from '../drizzle-statements.ts';
import { iso, msOf } from '../ledger.ts';
import { writeInto, type RecordEffects } from '../records.ts';
import { watchedOperations } from '../schema.ts';

/** A result held by now. */
export type HeldResult = {
  apiVersion: ApiVersion;
  status: number | null;
  firstSeenAt: Instant;
  /** The record's body names a certificate link. */
  hasLink: boolean;
};

export type DueOperation = {
  projectId: ProjectId;
  operationId: string;
  /** Null: both lookups. */
  apiVersion: ApiVersion | null;
  createdOn: Day | null;
  addedAt: Instant;
  deadlineAt: Instant;
  attempts: number;
  held: HeldResult[];
  hasFile: boolean;
};

/**
 * Enters operations to watch, distinct by id. One that is watched already takes another day or lookup, so that a
 * mistyped one can be put right; one that was lost is asked for again. A day alone opens nothing that is done.
 */
export async function addOperations(
  db: Queryable,
  projectId: ProjectId,
  operations: NewOperation[],
): Promise<{ added: number; changed: number }> {
  const { rows } = await db.query<{ is_new: boolean }>(
    `with given as (
       select * from unnest($2::text[], $3::text[], $4::date[]) as g(operation_id, api_version, created_on)
     ),
     held as materialized (
       select operation_id from sync.watched_operations w join given using (operation_id)
        where w.project_id = $1
     ),
     added as (
       insert into sync.watched_operations as w (project_id, operation_id, api_version, created_on)
       select $1, operation_id, api_version, created_on from given order by operation_id collate "C"
           on conflict (project_id, operation_id) do update
          set api_version = coalesce(excluded.api_version, w.api_version),
              created_on  = coalesce(excluded.created_on, w.created_on),
              state       = case when w.state = 'done' and (excluded.api_version is null or
                                      excluded.api_version is not distinct from w.api_version)
                                 then 'done' else 'open' end,
              attempts    = 0,
              added_at    = case w.state when 'lost' then now() else w.added_at end,
              -- The next run enters it afresh.
              deadline_at = null
        where w.state = 'lost'
           or (excluded.api_version is not null and excluded.api_version is distinct from w.api_version)
           or (excluded.created_on is not null and excluded.created_on is distinct from w.created_on)
       returning operation_id
     )
     select h.operation_id is null as is_new from added a left join held h using (operation_id)`,
    [
      projectId,
      operations.map((one) => one.operationId),
      operations.map((one) => one.apiVersion ?? null),
      operations.map((one) => one.createdOn ?? null),
    ],
  );
  const added = rows.filter((row) => row.is_new).length;
  return { added, changed: rows.length - added };
}

/** How many are asked for still. */
export async function countOpen(db: Queryable, projectId: ProjectId): Promise<number> {
  return drizzleOn(db).$count(
    watchedOperations,
    and(eq(watchedOperations.projectId, projectId), eq(watchedOperations.state, 'open')),
  );
}

/** Whether any of these is asked for still. */
export async function isAnyOpen(
  db: Queryable,
  projectId: ProjectId,
  operations: readonly NewOperation[],
): Promise<boolean> {
  const { rows } = await db.query(
    `select from sync.watched_operations
      where project_id = $1 and state = 'open' and operation_id = any($2) limit 1`,
    [projectId, operations.map((one) => one.operationId)],
  );
  return rows.length > 0;
}

// Named as a date first, the parameter would be one: midnight instead of now.
const isSensible = `(created_on >= '2000-01-01' and created_on <= ($2::timestamptz at time zone 'UTC')::date + 31)`;

/**
 * Takes in what came by whatever way since the last run, insert statements of others included: it gets its deadline,
 * and is due at once on the platform's clock, which may be far from the database's. A day that makes no sense counts as
 * not given. Returns how many.
 */
export async function enterOperations(
  db: Queryable,
  projectId: ProjectId,
  now: Instant,
  deadlineMarginMs: number,
): Promise<number> {
  const { rows } = await db.query(
    `update sync.watched_operations
        set created_on = case when ${isSensible} then created_on end,
            deadline_at = (case when not coalesce(${isSensible}, false)
                                then date_trunc('month', $2::timestamptz at time zone 'UTC') + interval '1 month'
                                else date_trunc('month', created_on::timestamp) + interval '2 months'
                            end) at time zone 'UTC' - make_interval(secs => $3),
            added_at = least(added_at, $2::timestamptz),
            due_at = case when state = 'open' then $2::timestamptz end
      where project_id = $1 and deadline_at is null
     returning 1`,
    [projectId, iso(now), deadlineMarginMs / 1000],
  );
  return rows.length;
}

/** The due operation with the nearest deadline; null when none is due. */
export async function nextOperation(
  db: Queryable,
  projectId: ProjectId,
  dueBy: Instant,
): Promise<DueOperation | null> {
  const { rows } = await db.query<DueOperation>(
    `select w.project_id as "projectId", w.operation_id as "operationId", w.api_version as "apiVersion",
            w.created_on as "createdOn", ${msOf('w.added_at')} as "addedAt", ${msOf('w.deadline_at')} as "deadlineAt",
            w.attempts,
            exists (select from archive.certificate_files f
                     where f.project_id = $1 and f.operation_id = w.operation_id) as "hasFile",
            coalesce((select json_agg(json_build_object(
                               'apiVersion', t.api_version, 'status', t.status,
                               'firstSeenAt', ${msOf('t.first_seen_at')},
                               'hasLink', coalesce(t.record ->> 'certificate_url' <> '', false)))
                        from archive.transactions t
                       where t.project_id = $1 and t.operation_id = w.operation_id), '[]') as held
       from sync.watched_operations w
      where w.project_id = $1 and w.state = 'open' and w.deadline_at is not null
        -- One is asked for hourly at least: a later moment was set by a clock that was wrong.
        and (w.due_at <= $2 or w.due_at > $2::timestamptz + interval '25 hours')
      order by w.deadline_at, w.due_at
      limit 1`,
    [projectId, iso(dueBy)],
  );
  return rows[0] ?? null;
}

/** What a turn leaves behind. */
export type OperationEnd = {
  state: WatchedState;
  /** Platform's clock; null: never again. */
  dueAt: Instant | null;
  attempts: number;
  lastError: string | null;
};

/** A file behind a certificate link. */
export type NewCertificateFile = {
  url: string;
  bytes: Buffer;
  sha256: string;
  mediaType: string | null;
};

export type OperationCommit = {
  operation: DueOperation;
  end: OperationEnd;
  results: (ObservedRecord & { apiVersion: ApiVersion })[];
  file: NewCertificateFile | null;
  /** Platform's clock at the commit. */
  writtenAt: Instant;
};

/** Commits a turn: results, versions, the file and the operation's state in one transaction (P1). */
export function commitOperation(db: Db, commit: OperationCommit): Promise<RecordEffects[]> {
  const { operation, end, results, file, writtenAt } = commit;
  const { projectId, operationId } = operation;
  return withTx(db, async (tx) => {
    await tx.query(
      // One that was given anew while it was asked for has no deadline yet, and is judged by what it says now.
      `update sync.watched_operations
          set state = case when deadline_at is null then state else $3 end, due_at = $4, attempts = $5, last_error = $6,
              found_by = array(select unnest(found_by) union select unnest($7::text[]) order by 1),
              file_sha256 = coalesce(file_sha256, decode($8, 'hex'))
        where project_id = $1 and operation_id = $2`,
      [
        projectId,
        operationId,
        end.state,
        iso(end.dueAt),
        end.attempts,
        end.lastError,
        results.map(({ apiVersion }) => apiVersion),
        file?.sha256 ?? null,
      ],
    );
    const effects: RecordEffects[] = [];
    for (const { apiVersion, ...observed } of results) {
      const of = { projectId, resource: 'transactions', apiVersion } as const;
      effects.push(await writeInto(tx, of, [observed], writtenAt));
    }
    if (file !== null) {
      // The first one stays: what a link showed later is another thing.
      await tx.query(
        `insert into archive.certificate_files (project_id, operation_id, url, bytes, sha256, media_type, fetched_at)
         values ($1, $2, $3, $4, decode($5, 'hex'), $6, $7)
             on conflict (project_id, operation_id) do nothing`,
        [projectId, operationId, file.url, file.bytes, file.sha256, file.mediaType, iso(writtenAt)],
      );
    }
    return effects;
  });
}

export type FinalResult = HeldContent & {
  /** The earliest UTC day the operation can have been begun on, as far as that was said. */
  begun: Day;
};

/**
 * By one lookup and by id, from the one behind `after` on (from the first: ''); of operations begun at `from` or later.
 */
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

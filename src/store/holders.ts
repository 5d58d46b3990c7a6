// sync.holders: which process writes a project. Taking one raises its epoch, and whoever took it before writes nothing
// from then on (P8): every transaction of a holder begins by looking (Db.asHolder). The database's clock serves leases
// only. And sync.asks: runs that a person asks for of a project which another process holds. The holder does them, and
// says how far it is and what came of it. One statement a function.
import type { ProjectId } from '../model.ts';
import { onlyRow, withTx, type Db, type Queryable } from './db.ts';

/** Who holds a project, and since when (RFC 3339). */
export type HeldBy = { holder: string; heldSince: string };

type Row = HeldBy & { projectId: ProjectId; process: string; epoch: number; isFree: boolean };

// A lease that ends later than two of them is from before the database's clock was set back, and binds nobody.
const rowsOf = (leaseMs: string): string =>
  `select project_id as "projectId", coalesce(holder, 'another process') as holder, process, epoch::float8 as epoch, coalesce(held_since, statement_timestamp()) as "heldSince",
          held_until is null
            or held_until not between statement_timestamp() and statement_timestamp() + 2 * make_interval(secs => ${leaseMs} / 1000.0) as "isFree"
     from sync.holders`;

/**
 * Takes a project that nobody holds, or whose holder has ended; returns its epoch, else who holds it. The process is
 * named for people (`holder`) and for a look whether it has ended (`process`). A transaction of the last holder that is
 * still open is not waited for: it ends by itself.
 */
export async function takeProject(
  db: Db,
  projectId: ProjectId,
  { holder, process }: { holder: string; process: string },
  leaseMs: number,
  hasEnded: (process: string) => boolean,
): Promise<{ epoch: number } | HeldBy> {
  await db.query(
    `insert into sync.holders (project_id) select $1
      where not exists (select from sync.holders where project_id = $1)
         on conflict do nothing`,
    [projectId],
  );
  const read = async (): Promise<Row> =>
    onlyRow(
      await db.query<Row>(`${rowsOf('$2::int')} where project_id = $1`, [projectId, leaseMs]),
    );
  const found = await read();
  const isHeld = !found.isFree && found.process !== process && !hasEnded(found.process);
  if (isHeld) return { holder: found.holder, heldSince: found.heldSince };
  const epoch = await withTx(db, async (tx) => {
    const { rows } = await tx.query(
      `select from sync.holders where project_id = $1 and epoch = $2 for update skip locked`,
      [projectId, found.epoch],
    );
    if (rows.length === 0) return null;
    await tx.query(
      `update sync.holders
          set holder = $2, process = $3, epoch = epoch + 1, held_since = statement_timestamp(),
              held_until = statement_timestamp() + make_interval(secs => $4 / 1000.0)
        where project_id = $1`,
      [projectId, holder, process, leaseMs],
    );
    return found.epoch + 1;
  });
  if (epoch !== null) return { epoch };
  await endFrozenSessions(db, leaseMs);
  const { holder: by, heldSince } = await read();
  return { holder: by, heldSince };
}

/** Renews what a process holds, and returns it. A hold whose lease ran out minutes ago, for the machine slept, begins anew. */
export async function renewProjects(
  db: Queryable,
  process: string,
  projectIds: readonly ProjectId[],
  leaseMs: number,
): Promise<ProjectId[]> {
  const { rows } = await db.query<{ projectId: ProjectId }>(
    `update sync.holders
        set held_since = case when held_until < statement_timestamp() - interval '5 minutes' then statement_timestamp() else held_since end,
            held_until = statement_timestamp() + make_interval(secs => $3 / 1000.0)
      where project_id = any ($1) and process = $2
     returning project_id as "projectId"`,
    [projectIds, process, leaseMs],
  );
  return rows.map(({ projectId }) => projectId);
}

/** Whether its lease has run out, and nobody has renewed or taken it yet. */
export async function hasLapsed(db: Queryable, projectId: ProjectId): Promise<boolean> {
  const { rows } = await db.query(
    'select from sync.holders where project_id = $1 and held_until < statement_timestamp()',
    [projectId],
  );
  return rows.length > 0;
}

/** Gives a project back, to be taken at once by whoever comes. */
export async function releaseProject(
  db: Queryable,
  process: string,
  projectId: ProjectId,
): Promise<void> {
  await db.query(
    `update sync.holders set holder = null, process = null, held_since = null, held_until = null
      where project_id = $1 and process = $2`,
    [projectId, process],
  );
}

/** Those of these projects that may be taken. */
export async function freeProjects(
  db: Queryable,
  projectIds: readonly ProjectId[],
  leaseMs: number,
  hasEnded: (process: string) => boolean,
): Promise<ProjectId[]> {
  const { rows } = await db.query<Row>(`${rowsOf('$2::int')} where project_id = any ($1)`, [
    projectIds,
    leaseMs,
  ]);
  return rows.filter((row) => row.isFree || hasEnded(row.process)).map((row) => row.projectId);
}

/**
 * Ends sessions of holders whose process froze: no time-out of Postgres reaches one that waits for the rows of a COPY or
 * for the rest of a long statement, nor is there any after an analyze, and its locks would keep the project from
 * everybody (P8). A living holder is waited for far shorter than a lease.
 */
async function endFrozenSessions(db: Db, leaseMs: number): Promise<void> {
  await withTx(db, async (tx) => {
    // The writer role may not end a session of the login role it was set from.
    await tx.query('set local role to default');
    await tx.query(
      `select pg_terminate_backend(pid)
         from pg_stat_activity
        where datname = current_database() and usename = session_user and application_name = $1
          and wait_event = 'ClientRead' and state_change < clock_timestamp() - make_interval(secs => $2)
          and pid in (select l.pid from pg_locks l join pg_class c on c.oid = l.relation
                       where c.relname = 'holders' and l.mode = 'RowShareLock')`,
      ['outlast', leaseMs / 1000],
    );
  });
}

/** As JSON holds them. */
export type Ask = { projectId: ProjectId; askId: string; options: unknown };
type AskState = { progress: unknown; ending: unknown };

export async function addAsk(
  db: Queryable,
  projectId: ProjectId,
  askId: string,
  options: object,
): Promise<void> {
  await db.query(`insert into sync.asks (project_id, ask_id, options) values ($1, $2, $3)`, [
    projectId,
    askId,
    JSON.stringify(options),
  ]);
}

/** Null where it is not there any more. */
export async function readAsk(
  db: Queryable,
  projectId: ProjectId,
  askId: string,
): Promise<AskState | null> {
  const { rows } = await db.query<AskState>(
    `select progress, ending from sync.asks where project_id = $1 and ask_id = $2`,
    [projectId, askId],
  );
  return rows[0] ?? null;
}

export async function dropAsk(db: Queryable, projectId: ProjectId, askId: string): Promise<void> {
  await db.query(`delete from sync.asks where project_id = $1 and ask_id = $2`, [projectId, askId]);
}

/** What was asked for of these projects and is not done, the oldest first. */
export async function openAsks(db: Queryable, projectIds: readonly ProjectId[]): Promise<Ask[]> {
  const { rows } = await db.query<Ask>(
    `select project_id as "projectId", ask_id as "askId", options from sync.asks
      where project_id = any ($1) and ending is null
      order by asked_at, ask_id`,
    [projectIds],
  );
  return rows;
}

export async function noteProgress(db: Queryable, ask: Ask, progress: object): Promise<void> {
  await db.query(
    `update sync.asks set progress = $3 where project_id = $1 and ask_id = $2 and ending is null`,
    [ask.projectId, ask.askId, JSON.stringify(progress)],
  );
}

/** Notes what came of it, and forgets what nobody came back for within a day. */
export async function endAsk(db: Queryable, ask: Ask, ending: object): Promise<void> {
  await db.query(
    `with forgotten as (
       delete from sync.asks where project_id = $1 and asked_at < statement_timestamp() - interval '1 day' and ask_id <> $2
     )
     update sync.asks set ending = $3 where project_id = $1 and ask_id = $2`,
    [ask.projectId, ask.askId, JSON.stringify(ending)],
  );
}

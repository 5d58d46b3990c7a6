// How the operations watched and the tokens stand, which are in no list of days. Reads only.
import type { Queryable } from '../store/db.ts';

export type OperationsStatus = {
  open: number;
  done: number;
  lost: number;
  /** The nearest deadline of those open, RFC 3339; null where no run has taken any in. */
  next_deadline_at: string | null;
  /** Results held, a lookup each, and certificate files. */
  held: number;
  files: number;
  /** Some of those lost, the last given first, each with its reason. */
  lost_named: { operation_id: string; reason: string | null }[];
  /** Some of those open that were asked for in vain, the nearest deadline first. */
  problems: { operation_id: string; attempts: number; last_error: string }[];
};

export type TokensStatus = {
  held: number;
  missing: number;
  /** RFC 3339; null before the first look, or where none is ever taken. */
  taken_at: string | null;
  last_error: string | null;
};

/** So many are named; the view analytics.watched_operations has them all. */
const namedAtMost = 100;

/** Null where nothing was ever watched. */
export async function readOperations(
  db: Queryable,
  project: string,
): Promise<OperationsStatus | null> {
  const counts = await db.query<
    Record<'open' | 'done' | 'lost' | 'held' | 'files', number> & {
      next_deadline_at: string | null;
    }
  >(
    `select count(*) filter (where state = 'open')::int as open,
            count(*) filter (where state = 'done')::int as done,
            count(*) filter (where state = 'lost')::int as lost,
            min(deadline_at) filter (where state = 'open') as next_deadline_at,
            (select count(*)::int from archive.transactions where project_id = $1)      as held,
            (select count(*)::int from archive.certificate_files where project_id = $1) as files
       from sync.watched_operations where project_id = $1`,
    [project],
  );
  const [row] = counts.rows;
  if (row === undefined || row.open + row.done + row.lost + row.held === 0) return null;
  const lost = await db.query<OperationsStatus['lost_named'][number]>(
    `select operation_id, last_error as reason
       from sync.watched_operations where project_id = $1 and state = 'lost'
      order by added_at desc, operation_id limit $2`,
    [project, namedAtMost],
  );
  const problems = await db.query<OperationsStatus['problems'][number]>(
    `select operation_id, attempts, last_error
       from sync.watched_operations
      where project_id = $1 and state = 'open' and last_error is not null
      order by deadline_at, operation_id limit $2`,
    [project, namedAtMost],
  );
  return { ...row, lost_named: lost.rows, problems: problems.rows };
}

/** Null where the tokens were never asked for. */
export async function readTokens(db: Queryable, project: string): Promise<TokensStatus | null> {
  const { rows } = await db.query<TokensStatus>(
    `select (select count(*)::int from archive.tokens where project_id = $1) as held,
            (select count(*)::int from archive.tokens
              where project_id = $1 and missing_since is not null)          as missing,
            taken_at, last_error
       from sync.token_snapshots where project_id = $1`,
    [project],
  );
  return rows[0] ?? null;
}

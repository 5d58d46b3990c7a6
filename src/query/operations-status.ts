// The status of watched operations and of tokens, which are in no list of days. Reads only.
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
  const { rows } = await db.query<OperationsStatus>(
    `with watched as not materialized (select * from sync.watched_operations where project_id = $1)
     select count(*) filter (where state = 'open')::int as open,
            count(*) filter (where state = 'done')::int as done,
            count(*) filter (where state = 'lost')::int as lost,
            min(deadline_at) filter (where state = 'open') as next_deadline_at,
            (select count(*)::int from archive.transactions where project_id = $1)      as held,
            (select count(*)::int from archive.certificate_files where project_id = $1) as files,
            (select coalesce(json_agg(l), '[]')
               from (select operation_id, last_error as reason from watched where state = 'lost'
                      order by added_at desc, operation_id limit $2) l)                 as lost_named,
            (select coalesce(json_agg(p), '[]')
               from (select operation_id, attempts, last_error
                       from watched where state = 'open' and last_error is not null
                      order by deadline_at, operation_id limit $2) p)                   as problems
       from watched`,
    [project, namedAtMost],
  );
  const [row] = rows;
  return row === undefined || row.open + row.done + row.lost + row.held === 0 ? null : row;
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

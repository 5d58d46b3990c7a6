// sync.rebuilds: how far a rebuild of a resource's typed columns has come, so that one that was cut off goes on (P3). One
// statement a function; what is rebuilt stands in derived-columns.ts.
import { onlyRow, type Queryable, type Tx } from './db.ts';
import { archivedName, type Archived } from './tables.ts';

export type Rebuild = {
  /** RFC 3339; names this rebuild among others of the same list. */
  startedAt: string;
  /** Everything up to this key is done; null: nothing yet. */
  doneUpTo: string | null;
  rowsRead: number;
  /** Versions included. */
  rowsChanged: number;
  /** How often each column changed, by name. */
  changes: Record<string, number>;
};

/** The rebuild of a list that was cut off; null where there is none. */
export async function unfinishedRebuild(db: Queryable, of: Archived): Promise<Rebuild | null> {
  const { rows } = await db.query<RebuildRow>(
    `select ${columns} from sync.rebuilds
      where project_id = $1 and resource = $2 and ended_at is null`,
    [of.projectId, archivedName(of)],
  );
  const [row] = rows;
  return row === undefined ? null : toRebuild(row);
}

/** Begins at the first key. The last one's figures go. */
export async function beginRebuild(db: Queryable, of: Archived): Promise<Rebuild> {
  return toRebuild(
    onlyRow(
      await db.query<RebuildRow>(
        `insert into sync.rebuilds (project_id, resource, started_at) values ($1, $2, clock_timestamp())
             on conflict (project_id, resource) do update
            set started_at = excluded.started_at, ended_at = null, done_up_to = null,
                rows_read = 0, rows_changed = 0, changes = '{}'
         returning ${columns}`,
        [of.projectId, archivedName(of)],
      ),
    ),
  );
}

/** Moves a rebuild on from where `before` left it. False when another process has moved it: nothing may be written then. */
export async function moveRebuild(
  tx: Tx,
  of: Archived,
  before: Rebuild,
  after: Rebuild,
): Promise<boolean> {
  const { rows } = await tx.query(
    `update sync.rebuilds
        set done_up_to = $5, rows_read = $6, rows_changed = $7, changes = $8
      where project_id = $1 and resource = $2 and ended_at is null
        and started_at = $3 and done_up_to is not distinct from $4
     returning 1`,
    [
      of.projectId,
      archivedName(of),
      before.startedAt,
      before.doneUpTo,
      after.doneUpTo,
      after.rowsRead,
      after.rowsChanged,
      JSON.stringify(after.changes),
    ],
  );
  return rows.length === 1;
}

export async function endRebuild(
  db: Queryable,
  of: Archived,
  { startedAt }: Rebuild,
): Promise<void> {
  await db.query(
    `update sync.rebuilds set ended_at = clock_timestamp()
      where project_id = $1 and resource = $2 and started_at = $3`,
    [of.projectId, archivedName(of), startedAt],
  );
}

const columns = 'started_at, done_up_to, rows_read, rows_changed, changes';
type RebuildRow = {
  started_at: string;
  done_up_to: string | null;
  rows_read: string;
  rows_changed: string;
  changes: Record<string, number>;
};

const toRebuild = (row: RebuildRow): Rebuild => ({
  startedAt: row.started_at,
  doneUpTo: row.done_up_to,
  rowsRead: Number(row.rows_read),
  rowsChanged: Number(row.rows_changed),
  changes: row.changes,
});

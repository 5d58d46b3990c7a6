// sync.rebuilds: how far a rebuild of a resource's typed columns has come, so that one that was cut off goes on (P3).
// One statement a function; what is rebuilt stands in derived-columns.ts.
import { and, eq, isNull, sql, type SQL } from 'drizzle-orm';
import { onlyRow, type Queryable, type Tx } from './db.ts';
import { drizzleOn, type SelectedRow } from './drizzle.ts';
import { rebuilds } from './schema.ts';
import { archivedName, type Archived } from './tables.ts';

const columns = {
  /** RFC 3339 to the microsecond; names this rebuild among others of the same list. */
  startedAt: rebuilds.startedAt,
  doneUpTo: rebuilds.doneUpTo,
  rowsRead: rebuilds.rowsRead,
  /** Versions included. */
  rowsChanged: rebuilds.rowsChanged,
  changes: rebuilds.changes,
};
export type Rebuild = SelectedRow<typeof columns>;

const ofList = (of: Archived): SQL | undefined =>
  and(eq(rebuilds.projectId, of.projectId), eq(rebuilds.resource, archivedName(of)));

/** The rebuild of a list that was cut off; null where there is none. */
export async function unfinishedRebuild(db: Queryable, of: Archived): Promise<Rebuild | null> {
  const [begun] = await drizzleOn(db)
    .select(columns)
    .from(rebuilds)
    .where(and(ofList(of), isNull(rebuilds.endedAt)));
  return begun ?? null;
}

/** Begins at the first key. The last one's figures go. */
export async function beginRebuild(db: Queryable, of: Archived): Promise<Rebuild> {
  const anew = {
    startedAt: sql`statement_timestamp()`,
    endedAt: null,
    doneUpTo: null,
    rowsRead: 0,
    rowsChanged: 0,
    changes: {},
  };
  const rows = await drizzleOn(db)
    .insert(rebuilds)
    .values({ projectId: of.projectId, resource: archivedName(of), ...anew })
    .onConflictDoUpdate({
      target: [rebuilds.projectId, rebuilds.resource],
      set: { ...anew, startedAt: sql`excluded.started_at` },
    })
    .returning(columns);
  return onlyRow({ rows });
}

/**
 * Moves a rebuild on from where `before` left it. False when another process has moved it: nothing may be written then.
 */
export async function moveRebuild(
  tx: Tx,
  of: Archived,
  before: Rebuild,
  after: Rebuild,
): Promise<boolean> {
  const { doneUpTo, rowsRead, rowsChanged, changes } = after;
  const moved = await drizzleOn(tx)
    .update(rebuilds)
    .set({ doneUpTo, rowsRead, rowsChanged, changes })
    .where(
      and(
        ofList(of),
        isNull(rebuilds.endedAt),
        eq(rebuilds.startedAt, before.startedAt),
        sql`${rebuilds.doneUpTo} is not distinct from ${before.doneUpTo}`,
      ),
    )
    .returning({ doneUpTo: rebuilds.doneUpTo });
  return moved.length === 1;
}

export async function endRebuild(
  db: Queryable,
  of: Archived,
  { startedAt }: Rebuild,
): Promise<void> {
  await drizzleOn(db)
    .update(rebuilds)
    .set({ endedAt: sql`statement_timestamp()` })
    .where(and(ofList(of), eq(rebuilds.startedAt, startedAt)));
}

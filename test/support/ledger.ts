// Brings the ledger into a state for a test as the service would have done it: the journal tells of it.
import type { Queryable } from '../../src/store/db.ts';

/** Runs a change of sync.slices and lets the journal catch up with it. */
export async function settle(db: Queryable, sql: string, parameters?: unknown[]): Promise<void> {
  await db.query(sql, parameters);
  await db.query(
    `select sync.journal_ledger(c.ledger, row(s.*)::sync.slices)
       from sync.slices s left join sync.chains c using (project_id, resource, owner, day)`,
  );
}

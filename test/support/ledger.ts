// The ledger in tests: a slice in memory, and a state of the table that the journal tells of as if the service had made
// it.
import type { Queryable } from '../../src/store/db.ts';
import type { Slice } from '../../src/store/ledger.ts';

/** Runs a change of sync.slices and lets the journal catch up with it. */
export async function settle(db: Queryable, sql: string, parameters?: unknown[]): Promise<void> {
  await db.query(sql, parameters);
  await db.query(
    `select sync.journal_ledger(j.said, s.project_id, s.resource, s.owner, s.day)
       from sync.slices s
       left join lateral (select j.body::jsonb - 'was' as said from sync.journal j
                           where (j.project_id, j.resource, j.owner, j.day, j.kind) = (s.project_id, s.resource, s.owner, s.day, 'ledger')
                           order by j.no desc limit 1) j on true`,
  );
}

/** Past days that showed nothing, read twice two hours apart, as if it had been a day. */
export const sealEmpty = (db: Queryable): Promise<void> =>
  settle(
    db,
    `update sync.slices set state = 'sealed', proof = 'readings', why = null
      where shown_total = 0 and why = 'read once'`,
  );

/** A day of orders that nothing was read of, but for what is `given`. */
export const unreadSlice = (given: Partial<Slice> & { day: string }): Slice => ({
  projectId: 'p',
  resource: 'orders',
  owner: '',
  state: 'open',
  proof: 'none',
  why: 'not read',
  newsNo: 0,
  provedAt: null,
  dueAt: 0,
  deadlineAt: 0,
  checkpoint: null,
  walk: 0,
  wholeWalk: 0,
  walkedAt: null,
  observedAt: null,
  platformTotal: null,
  shownTotal: null,
  unresolved: 0,
  attempts: 0,
  ...given,
});

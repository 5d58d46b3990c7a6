// Claims: one at a time, whatever plan Postgres makes of them.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { claimSlice } from '../../src/store/slice-leases.ts';
import { claimOperation } from '../../src/store/operations/watched.ts';
import { claimTokens } from '../../src/store/tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let db: Db;
beforeEach(async () => {
  database = await createTestDatabase();
  const { connectionString } = database;
  // The plan that is left joins every row with the choice, one by one.
  const settings = Object.fromEntries(
    ['hashjoin', 'mergejoin', 'indexscan', 'bitmapscan', 'indexonlyscan', 'material'].map(
      (name) => [`enable_${name}`, 'off'],
    ),
  );
  db = await openDb({ connectionString, settings, log: silentLog() });
  await db.query(
    `insert into sync.slices (project_id, resource, day, due_at, deadline_at)
     select 'p', 'orders', '2026-03-01'::date + n, '2026-04-01', '2026-04-30' from generate_series(0, 9) n`,
  );
  await db.query(
    `insert into sync.watched_operations (project_id, operation_id, due_at, deadline_at)
     select 'p', 'op_' || n, '2026-04-01', '2026-04-30' from generate_series(0, 9) n`,
  );
});
afterEach(async () => {
  await db.close();
  await database.drop();
});

const leased = async (table: string): Promise<number> =>
  (await db.query(`select from ${table} where lease_holder is not null`)).rows.length;

const dueBy = Date.parse('2026-04-02T00:00:00Z');
const claim = { projectId: 'p', holder: 'test', leaseMs: 60_000, dueBy };

test('P8: a claim of a slice leases that slice and no other', async () => {
  const slice = await claimSlice(db, { ...claim, today: '2026-04-02' });
  expect([slice?.day, await leased('sync.slices')]).toEqual(['2026-03-01', 1]);
});

test('P8: a claim of an operation leases that operation and no other', async () => {
  expect(await claimOperation(db, claim)).not.toBeNull();
  expect(await leased('sync.watched_operations')).toBe(1);
});

/** Claims all ten, one after the other, and what comes when the lease of one is over, or as long as no lease is. */
async function claimAll<Of>(
  claimNext: () => Promise<Of | null>,
  table: string,
  one: string,
): Promise<{ all: unknown[]; meanwhile: Of | null; afterwards: (Of | null)[] }> {
  const all: unknown[] = [];
  for (let i = 0; i < 10; i++) all.push(await claimNext());
  const meanwhile = await claimNext();
  const afterwards: (Of | null)[] = [];
  // Of hours, as after the database's clock was set back.
  for (const by of ["- interval '1 second'", "+ interval '5 hours'"]) {
    await db.query(`update ${table} set lease_until = statement_timestamp() ${by} where ${one}`);
    afterwards.push(await claimNext());
  }
  return { all, meanwhile, afterwards };
}

test('P8: an operation that is leased is claimed by nobody else until its lease is over', async () => {
  const { all, meanwhile, afterwards } = await claimAll(
    () => claimOperation(db, claim),
    'sync.watched_operations',
    `operation_id = 'op_4'`,
  );
  expect([all.includes(null), meanwhile]).toEqual([false, null]);
  expect(afterwards).toMatchObject(
    [2, 3].map((epoch) => ({ operationId: 'op_4', leaseEpoch: epoch })),
  );
});

test('P8: a slice that is leased is claimed by nobody else until its lease is over', async () => {
  const { all, meanwhile, afterwards } = await claimAll(
    () => claimSlice(db, { ...claim, today: '2026-04-02' }),
    'sync.slices',
    `day = '2026-03-05'`,
  );
  expect([all.includes(null), meanwhile]).toEqual([false, null]);
  expect(afterwards).toMatchObject(
    [2, 3].map((epoch) => ({ day: '2026-03-05', leaseEpoch: epoch })),
  );
});

test('P8: tokens that are leased are claimed by nobody else until the lease is over', async () => {
  // A process may take its own again.
  let holders = 0;
  const { all, meanwhile, afterwards } = await claimAll(
    () => claimTokens(db, { ...claim, holder: `test ${holders++}` }),
    'sync.token_snapshots',
    'true',
  );
  expect([all.filter(Boolean).length, meanwhile]).toEqual([1, null]);
  expect(afterwards).toMatchObject([2, 3].map((epoch) => ({ leaseEpoch: epoch })));
});

describe('a moment that a wrong clock has set more than a day ahead binds nobody', () => {
  const farAhead = '2027-04-01';

  test.each([
    ['of a day that has come', { day: '2026-03-05' }, true],
    ['of a day still to come, which is left alone', { day: '2027-04-01' }, false],
    ['of a day, and within a day', { day: '2026-03-05', due_at: '2026-04-03T00:30:00Z' }, false],
    ['of a whole list that was read then', { day: '0001-01-01', walked_at: '2027-03-10' }, true],
    ['of a whole list that is read monthly', { day: '0001-01-01', walked_at: '2026-04-01' }, false],
  ])('%s', async (_, of, isClaimed) => {
    const { day, due_at = farAhead, walked_at = null } = of as Record<string, string>;
    await db.query('delete from sync.slices');
    await db.query(
      `insert into sync.slices (project_id, resource, day, due_at, walked_at, deadline_at)
       values ('p', 'nft_classes', $1, $2, $3, '9999-12-31')`,
      [day, due_at, walked_at],
    );
    const slice = await claimSlice(db, { ...claim, today: '2026-04-02' });
    expect(slice?.day ?? null).toBe(isClaimed ? day : null);
  });

  test('of operations and tokens', async () => {
    await db.query('update sync.watched_operations set due_at = $1', [farAhead]);
    expect(await claimOperation(db, claim)).not.toBeNull();
    await claimTokens(db, claim);
    await db.query(
      'update sync.token_snapshots set due_at = $1, taken_at = $1, lease_until = null',
      [farAhead],
    );
    expect(await claimTokens(db, { ...claim, holder: 'another' })).not.toBeNull();
    await db.query(`update sync.token_snapshots set taken_at = '2026-04-01', lease_until = null`);
    expect(await claimTokens(db, { ...claim, holder: 'a third' })).toBeNull();
  });
});

test('sabotaged: the choice as a subquery leases more than it returns first', async () => {
  const { rows } = await db.query(
    `update sync.watched_operations w set lease_holder = 'test'
       from (select operation_id from sync.watched_operations
              where project_id = 'p' and lease_holder is null
              order by deadline_at limit 1 for no key update skip locked) next
      where w.project_id = 'p' and w.operation_id = next.operation_id
     returning 1`,
  );
  expect(rows.length).toBeGreaterThan(1);
});

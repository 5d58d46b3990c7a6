// What is due, also after a clock was wrong.
import { beforeEach, describe, expect, test } from 'vitest';
import { type Db } from '../../src/store/db.ts';
import { nextSlice } from '../../src/store/due.ts';
import { nextOperation } from '../../src/store/operations/watched.ts';
import { dueTokens } from '../../src/store/token-rows.ts';
import { eachOnDatabase } from '../support/opened.ts';

let db: Db;
eachOnDatabase((given) => ({ db } = given));
beforeEach(() =>
  db.query(
    `insert into sync.watched_operations (project_id, operation_id, due_at, deadline_at)
     select 'p', 'op_' || n, '2026-04-01', '2026-04-30' from generate_series(0, 9) n`,
  ),
);

const dueBy = Date.parse('2026-04-02T00:00:00Z');

describe('a moment that a wrong clock has set more than a day ahead binds nobody', () => {
  const farAhead = '2027-04-01';

  test.each([
    ['of a day that has come', { day: '2026-03-05' }, true],
    ['of a day still to come, which is left alone', { day: '2027-04-01' }, false],
    ['of a day, and within a day', { day: '2026-03-05', due_at: '2026-04-03T00:30:00Z' }, false],
    ['of a whole list that was read then', { day: '0001-01-01', walked_at: '2027-03-10' }, true],
    ['of a whole list that is read monthly', { day: '0001-01-01', walked_at: '2026-04-01' }, false],
  ])('%s', async (_, of, isDue) => {
    const { day, due_at = farAhead, walked_at = null } = of as Record<string, string>;
    await db.query(
      `insert into sync.slices (project_id, resource, day, due_at, walked_at, deadline_at)
       values ('p', 'nft_classes', $1, $2, $3, '9999-12-31')`,
      [day, due_at, walked_at],
    );
    const slice = await nextSlice(db, { projectId: 'p', dueBy, today: '2026-04-02' });
    expect(slice?.day ?? null).toBe(isDue ? day : null);
  });

  test('of operations and tokens', async () => {
    await db.query('update sync.watched_operations set due_at = $1', [farAhead]);
    expect(await nextOperation(db, 'p', dueBy)).not.toBeNull();
    await db.query(
      `insert into sync.token_snapshots (project_id, due_at, taken_at) values ('p', $1, $1)`,
      [farAhead],
    );
    expect(await dueTokens(db, 'p', dueBy)).not.toBeNull();
    await db.query(`update sync.token_snapshots set taken_at = '2026-04-01'`);
    expect(await dueTokens(db, 'p', dueBy)).toBeNull();
    // Put off, as after a failure: for an hour at most.
    await db.query('update sync.token_snapshots set attempts = 1');
    expect(await dueTokens(db, 'p', dueBy)).not.toBeNull();
    await db.query(`update sync.token_snapshots set due_at = '2026-04-02T01:00:00Z'`);
    expect(await dueTokens(db, 'p', dueBy)).toBeNull();
  });
});

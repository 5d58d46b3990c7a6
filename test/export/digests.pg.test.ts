// The digests of days in an export are those that verify computes, whoever computed them; and a month's rows come
// without being sorted.
import { expect, test } from 'vitest';
import { digestsSql, readContent, readDayDigests } from '../../src/export/content.ts';
import {
  exportedTables,
  isIndexed,
  partRowsSql,
  type ExportedTable,
} from '../../src/export/exported-tables.ts';
import { silentLog } from '../../src/log.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { withSnapshot } from '../../src/store/snapshot.ts';
import { createMonthDigest, type DayDigest } from '../../src/verify/digest.ts';
import { setUp } from '../support/fresh.ts';
import { createTestDatabase, isOnCluster, type TestDatabase } from '../support/postgres.ts';

const usualDay = '2026-03-14';
const oddDay = '2026-03-15';
/** In byte order, which is no language's. */
const usualIds = ['A_1', 'Z-2', 'a_1', 'é', '数'];
const oddIds = ['back\\slash', 'line\nfeed', 'ta\tb', 'zero'];

let database: TestDatabase;
let db: Db;
setUp(async (keep) => {
  database = await keep(createTestDatabase());
  db = await keep(openDb({ connectionString: database.connectionString, log: silentLog() }));
  for (const [day, ids] of [
    [usualDay, usualIds],
    [oddDay, oddIds],
  ] as const) {
    await db.query(
      `insert into archive.orders (project_id, operation_id, slice_day, raw, raw_sha256, observed_at, first_seen_at, changed_at)
       select 'p', id, $1, '{}', sha256(convert_to(id, 'UTF8')), now(), now(), now() from unnest($2::text[]) id`,
      [day, ids.toReversed()],
    );
  }
});

/** As verify computes them. */
async function expectedDays(): Promise<DayDigest[]> {
  const { rows } = await db.query<{ day: string; id: string; sha256: string }>(
    `select slice_day as day, operation_id as id, encode(raw_sha256, 'hex') as sha256
       from archive.orders where project_id = 'p' order by slice_day, operation_id`,
  );
  const digest = createMonthDigest([]);
  for (const row of rows) digest.add(row);
  return digest.end().days;
}

const exportedDays = (mostHeld?: number): Promise<DayDigest[]> =>
  withSnapshot(db, (tx) =>
    readDayDigests(tx, 'orders', 'p', '2026-03', usualIds.length + oddIds.length, mostHeld),
  );

test('Postgres digests a day as verify does', async () => {
  expect(await exportedDays()).toEqual(await expectedDays());
});

test('a day too great to be held comes in pieces, to the same digest', async () => {
  expect(await exportedDays(0)).toEqual(await expectedDays());
});

test('a day with an id that no line can hold as it is is left to COPY', async () => {
  const sql = digestsSql('archive.orders', 'operation_id');
  const { rows } = await db.query(sql, ['p', '2026-03-01', []]);
  expect(rows).toContainEqual({ day: oddDay, records: oddIds.length, digest: null });
  expect(rows).toContainEqual((await expectedDays())[0]);
});

test('sabotaged, without that the digest would be another', async () => {
  const sql = digestsSql('archive.orders', 'operation_id').replace(/not bool_or\(.*\)\n/, 'true\n');
  const { rows } = await db.query<{ digest: string }>(sql, ['p', '2026-03-01', [usualDay]]);
  expect(rows[0]?.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(rows[0]?.digest).not.toBe((await expectedDays())[1]?.digest);
});

const planOf = (of: ExportedTable): Promise<string> =>
  withSnapshot(db, async (tx) => {
    await tx.query('set local enable_sort = off');
    const sql = partRowsSql({ of, project: 'p', month: '2026-03' }, '*');
    return JSON.stringify((await tx.query(`explain ${sql}`)).rows);
  });

// A coordinator puts in order what its workers hand it.
test.skipIf(isOnCluster)('a month that an index has in order is not sorted', async () => {
  const indexed = exportedTables.filter(isIndexed);
  expect(indexed.map(({ name }) => name)).toEqual(['orders', 'nft_classes']);
  for (const of of indexed) {
    expect(await planOf(of)).not.toContain('Sort');
    expect(await planOf({ ...of, order: `${of.order}, changed_at` })).toContain('Sort');
  }
});

test('and that is how a month and its digests are read; what no index has in order is sorted', async () => {
  await withSnapshot(db, async (tx) => {
    const sorts = async (): Promise<string | undefined> =>
      (await tx.query<{ enable_sort: string }>('show enable_sort')).rows[0]?.enable_sort;
    const read = async (name: string, month: string): Promise<void> => {
      const of = exportedTables.find((one) => one.name === name);
      if (of === undefined) throw new Error(`no table ${name}`);
      const columns = [{ name: 'raw_sha256', type: 'bytea' }];
      await readContent(tx, { of, project: 'p', month }, columns, null);
    };
    await read('orders', '2026-03');
    expect(await sorts()).toBe('off');
    // The leaves of a day come in another order.
    await readDayDigests(tx, 'orders', 'p', '2026-03', 1);
    expect(await sorts()).toBe('on');
    await read('orders', '2026-03');
    await read('order_versions', '2026-03');
    expect(await sorts()).toBe('on');
  });
});

// What a record said before, and what was known at a moment (P2, P5): SQL picks the content in force as the verifier
// does.
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { parseJson, type Json } from '../../src/platform/json.ts';
import { isReject, readOrder } from '../../src/platform/parse.ts';
import { openDb, withTx, type Db } from '../../src/store/db.ts';
import { leavesInForce } from '../../src/verify/leaves.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { observe as archiveAs } from '../support/observe.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let db: Db;
let writer: Db;
setUp(async (keep) => {
  database = await keep(createTestDatabase());
  const alike = { connectionString: database.connectionString, log: silentLog() };
  writer = await keep(openDb({ ...alike, max: 1 }));
  const settings = { timezone: 'America/St_Johns' };
  db = await keep(openDb({ ...alike, role: 'outlast_reader', settings }));
});

const ask = async <R extends Record<string, unknown>>(
  sql: string,
  parameters: unknown[] = [],
): Promise<R[]> => (await db.query<R>(sql, parameters)).rows;

/** Archives what a page showed at a moment. */
async function observe(
  resource: 'orders' | 'nft_classes',
  record: object | string,
  at: string,
): Promise<void> {
  await archiveAs(writer, { project: 'p', resource }, [record], at);
}

describe('as-of reads', () => {
  const moments = Array.from({ length: 9 }, (_, i) => `2026-03-06T0${i}:00:00.000Z`);
  const times = [
    null,
    '',
    '2026-03-05T10:00:00Z',
    '2026-03-05 11:00:00',
    '2026-03-05 19:30:00 +0800 CST',
    'nonsense',
  ];
  const content = fc.record({
    id: fc.integer({ min: 1, max: 12 }).map((n) => `order-${n}`),
    at: fc.constantFrom(...moments.slice(1, 8)),
    status: fc.constantFrom<Json>(1 as never, 2 as never, 'failed', 'pending'),
    update_time: fc.constantFrom(...times),
    amount: fc.constantFrom('100', '250', null),
  });

  beforeAll(async () => {
    // Committed in an order of their own, not that of being observed: slices overlap.
    for (const { id, at, ...fields } of fc.sample(content, { numRuns: 70, seed: 3 })) {
      const record = {
        operation_id: id,
        create_time: '2026-03-05T09:00:00Z',
        order_type: 1,
        number: '5',
        ...fields,
      };
      await observe('orders', record, at);
    }
    let nftCount = 0;
    for (const at of moments.slice(1, 8)) {
      nftCount += 3;
      for (const id of ['a', 'b', 'c']) {
        const record = {
          id,
          name: 'n',
          owner: `${id}-${Math.floor(nftCount / 9)}`,
          nft_count: nftCount,
          timestamp: '2026-03-05 08:00:00',
        };
        if (id !== 'c' || nftCount === 9) await observe('nft_classes', record, at);
      }
    }
  });

  const reads = [
    ['orders', 'orders_as_of', 'operation_id'],
    ['nft_classes', 'nft_classes_as_of', 'id'],
  ] as const;

  test.each(reads)(
    'of %s give what the verifier takes to be in force, at any moment',
    async (resource, call, key) => {
      for (const at of moments) {
        const expected: Record<string, string> = {};
        await withTx(db, (tx) =>
          leavesInForce(tx, { projectId: 'p', resource }, '2026-03-01', at, (leaf) => {
            expected[leaf.id] = leaf.sha256;
          }),
        );
        const rows = await ask<{ id: string; sha: string }>(
          `select ${key} as id, raw_sha256 as sha from analytics.${call}('p', $1)`,
          [at],
        );
        expect(Object.fromEntries(rows.map(({ id, sha }) => [id, sha]))).toEqual(expected);
        expect(rows).toHaveLength(Object.keys(expected).length);
      }
      const versions = await ask(
        `select from archive.${resource === 'orders' ? 'order' : 'nft_class'}_versions`,
      );
      expect(versions.length).toBeGreaterThan(10);
    },
  );

  test('type the fields of versions as those of rows', async () => {
    for (const at of moments) {
      const rows = await ask<Record<string, unknown>>(
        `select status, account, order_type, amount_fen, amount_units, number, created_at, updated_at, day, raw::text as raw
           from analytics.orders_as_of('p', $1)`,
        [at],
      );
      for (const { raw, ...typed } of rows) {
        const record = readOrder(parseJson(String(raw)), String(raw), '2026-03-05');
        if (isReject(record)) throw new Error(record.reason);
        const { amount, updated_at: updatedAt, created_at: createdAt, ...columns } = record.columns;
        // Whatever the session's zone.
        const instant = (time: unknown): number | null =>
          typeof time === 'string' ? Date.parse(time) : null;
        expect({
          ...typed,
          created_at: instant(typed['created_at']),
          updated_at: instant(typed['updated_at']),
        }).toEqual({
          account: null,
          status: columns['status'],
          order_type: columns['order_type'],
          number: columns['number'],
          day: columns['slice_day'],
          amount_fen: amount,
          amount_units: amount === null ? null : (Number(amount) / 100).toFixed(2),
          created_at: instant(createdAt),
          updated_at: instant(updatedAt),
        });
      }
    }
  });
  // P2
  test('sabotaged, a read that takes the content seen last is noticed', async () => {
    const { connectionString } = database;
    const owner = await fresh(openDb({ connectionString, role: null, log: silentLog() }));
    const [row] = (
      await owner.query<{ sql: string }>(
        `select pg_get_functiondef('analytics.orders_as_of(text, timestamptz)'::regprocedure) as sql`,
      )
    ).rows;
    const sql = row?.sql ?? '';
    const spoilt = sql.replace(
      /coalesce\(w\.updated_at, '-infinity'\) desc, \(w\.status is distinct from 1\) desc,/,
      '',
    );
    expect(spoilt).not.toBe(sql);
    await owner.query(spoilt);
    let differing = 0;
    for (const at of moments) {
      const known = await ask(
        `select operation_id, raw_sha256 from analytics.order_history
          where in_force_from <= $1 and (in_force_until is null or in_force_until > $1)
         except select operation_id, raw_sha256 from analytics.orders_as_of('p', $1)`,
        [at],
      );
      differing += known.length;
    }
    await owner.query(sql);
    expect(differing).toBeGreaterThan(0);
  });

  test('growth is what classes gained since they were first seen', async () => {
    const [row] = await ask(
      `select classes_changed::int, nfts_minted::int, nfts_burnt::int, transfers::int from analytics.nft_growth_by_day`,
    );
    // a and b: seven looks, 3 NFTs more each time, another owner twice.
    expect(row).toEqual({ classes_changed: 2, nfts_minted: 36, nfts_burnt: 0, transfers: 4 });
  });

  test('of a day are those that stood under it then, wherever they stand now', async () => {
    const times = ['2026-03-04T09:00:00Z', '2026-03-05T09:00:00Z', 'nonsense'];
    const says = fc.record({ at: fc.constantFrom(...moments.slice(1, 8)), when: fc.nat(2) });
    for (const [i, { at, when }] of fc.sample(says, { numRuns: 20, seed: 5 }).entries()) {
      const record = { operation_id: `moving-${i % 4}`, message: `${i}`, create_time: times[when] };
      await observe('orders', record, at);
    }
    let moved = 0;
    for (const at of moments) {
      for (const day of ['2026-03-04', '2026-03-05']) {
        const ids = async (from: string): Promise<string[]> =>
          (
            await ask<{ id: string }>(
              `select operation_id as id from ${from} where day = $2 order by 1`,
              [at, day],
            )
          ).map(({ id }) => id);
        const then = await ids(`analytics.orders_as_of('p', $1)`);
        expect(then).toEqual(
          await ids(`(select * from analytics.orders_as_of('p', $1) offset 0) whole`),
        );
        const now = await ids(`(select *, $1::text from analytics.orders) now`);
        moved += then.filter((id) => !now.includes(id)).length;
      }
    }
    expect(moved).toBeGreaterThan(0);
  });
});

describe('late changes', () => {
  test('are named with what they were and what they became', async () => {
    const order = {
      operation_id: 'late',
      status: 1,
      amount: '300',
      create_time: '2026-01-10T22:00:00Z',
    };
    await observe('orders', order, '2026-01-10T23:00:00Z');
    await observe('orders', { ...order, message: 'x' }, '2026-01-10T23:30:00Z');
    await observe(
      'orders',
      { ...order, message: 'x', status: 2, update_time: '2026-01-12T06:00:00Z' },
      '2026-01-12T06:00:00Z',
    );
    const changes = await ask(
      `select status_before, status, amount_fen, changed_fields, round(hours_after_day, 2) as hours, is_late
         from analytics.order_changes where operation_id = 'late' order by changed_at`,
    );
    expect(changes).toEqual([
      {
        status_before: 1,
        status: 1,
        amount_fen: '300',
        changed_fields: ['message'],
        hours: '-0.50',
        is_late: false,
      },
      {
        status_before: 1,
        status: 2,
        amount_fen: '300',
        changed_fields: ['status', 'update_time'],
        hours: '30.00',
        is_late: true,
      },
    ]);
    const [month] = await ask(
      `select * from analytics.late_changes_by_month where month = '2026-01-01'`,
    );
    expect(month).toMatchObject({
      orders_changed: '1',
      orders_settled: '1',
      orders_reopened: '0',
      amounts_changed: '0',
      spent_fen_added: '300',
      spent_units_added: '3.00',
      days_accounted: 0,
      is_settled: false,
    });
  });
});

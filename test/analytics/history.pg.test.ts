// What SQL says of what a record said before (P5): growth, days as they were, and changes that came late. Which content
// it takes to be in force at a moment is for test/query/as-of.pg.test.ts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import type { ListedResource } from '../../src/model.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { setUp } from '../support/fresh.ts';
import { observe as archiveAs } from '../support/observe.ts';
import { createTestDatabase } from '../support/postgres.ts';

/** As a BI tool connects that speaks another zone. */
let reader: Db;
let writer: Db;
setUp(async (keep) => {
  const { connectionString } = await keep(createTestDatabase());
  const alike = { connectionString, log: silentLog() };
  writer = await keep(openDb({ ...alike, max: 1 }));
  const settings = { timezone: 'America/St_Johns' };
  reader = await keep(openDb({ ...alike, role: 'outlast_reader', settings }));
});

const ask = async <R extends Record<string, unknown>>(
  sql: string,
  parameters: unknown[] = [],
): Promise<R[]> => (await reader.query<R>(sql, parameters)).rows;

/** Archives what a page showed at a moment. */
const observe = (resource: ListedResource, record: object, at: string): Promise<void> =>
  archiveAs(writer, { project: 'p', resource }, [record], at);

const moments = Array.from({ length: 7 }, (_, i) => `2026-03-06T0${i + 1}:00:00.000Z`);

test('growth is what classes gained since they were first seen', async () => {
  for (const [i, at] of moments.entries()) {
    const same = { name: 'n', nft_count: 3 * (i + 1), timestamp: '2026-03-05 08:00:00' };
    for (const id of ['a', 'b']) {
      const owner = `${id}-${Math.floor((i + 1) / 3)}`;
      await observe('nft_classes', { ...same, id, owner }, at);
    }
  }
  await observe('nft_classes', { id: 'seen once', nft_count: 9 }, moments[3] ?? '');
  const [row] = await ask(
    `select classes_changed::int, nfts_minted::int, nfts_burnt::int, transfers::int from analytics.nft_growth_by_day`,
  );
  // a and b: seven looks, 3 NFTs more each time, another owner twice.
  expect(row).toEqual({ classes_changed: 2, nfts_minted: 36, nfts_burnt: 0, transfers: 4 });
});

test('as-of reads of a day are of those that stood under it then, wherever they stand now', async () => {
  const times = ['2026-03-04T09:00:00Z', '2026-03-05T09:00:00Z', 'nonsense'];
  const says = fc.record({ at: fc.constantFrom(...moments), when: fc.nat(2) });
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

test('late changes are named with what they were and what they became', async () => {
  const when = { create_time: '2026-01-10T22:00:00Z' };
  const order = { operation_id: 'late', status: 1, amount: '300', ...when };
  await observe('orders', order, '2026-01-10T23:00:00Z');
  await observe('orders', { ...order, message: 'x' }, '2026-01-10T23:30:00Z');
  const settled = { ...order, message: 'x', status: 2, update_time: '2026-01-12T06:00:00Z' };
  await observe('orders', settled, '2026-01-12T06:00:00Z');
  const changes = await ask(
    `select status_before, status, amount_fen, changed_fields, round(hours_after_day, 2) as hours, is_late
       from analytics.order_changes where operation_id = 'late' order by changed_at`,
  );
  const was = { status_before: 1, amount_fen: '300' };
  const fields = ['status', 'update_time'];
  expect(changes).toEqual([
    { ...was, status: 1, changed_fields: ['message'], hours: '-0.50', is_late: false },
    { ...was, status: 2, changed_fields: fields, hours: '30.00', is_late: true },
  ]);
  for (const [at, name] of [
    ['2026-01-11', 'pending'],
    ['2026-01-13', 'succeeded'],
  ]) {
    const then = `select amount_units, status_name from analytics.orders_as_of('p', $1) where operation_id = 'late'`;
    expect(await ask(then, [at])).toEqual([{ amount_units: '3.00', status_name: name }]);
  }
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

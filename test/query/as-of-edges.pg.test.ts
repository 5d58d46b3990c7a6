// The edges of reads as of an instant: the very moment of a change, contents that came late or at once, records that
// moved their day, that are missing or rare, and a writer at work meanwhile (P2, P9).
import { describe, expect, test } from 'vitest';
import type { Archive } from '../../src/index.ts';
import { readInstant } from '../../src/query/arguments.ts';
import type { Db } from '../../src/store/db.ts';
import { collect } from '../support/collect.ts';
import { observe } from '../support/observe.ts';
import { eachInProject } from '../support/opened.ts';
import { pagesBeyond, pagesOf } from '../support/paged.ts';
import { writeOrders } from '../support/rows.ts';

let db: Db;
let archive: Archive;
let project = '';
eachInProject((given) => ({ db, archive, project } = given), 2);

const show = (fields: object, at: string, resource: 'orders' | 'nft_classes' = 'orders') =>
  observe(db, { project, resource }, [fields], at);
const order = (fields: object = {}): object => ({
  operation_id: 'op',
  status: 1,
  create_time: '2026-03-05T09:00:00Z',
  ...fields,
});
const statusAt = async (asOf: string): Promise<number | null | undefined> =>
  (await archive.orders.get(project, 'op', { asOf }))?.status;
const idsAt = async (query: object): Promise<string[]> => {
  const found = await collect(archive.orders.stream({ project, ...query }));
  expect(await archive.orders.count({ project, ...query })).toBe(found.length);
  return found.map((one) => one.operationId);
};

describe('a change', () => {
  test('is there from its own moment on, to the microsecond, in whatever zone it is asked for', async () => {
    await show(order(), '2026-03-05T10:00:00Z');
    await show(order({ status: 2 }), '2026-03-05T12:00:00Z');
    expect(await statusAt('2026-03-05T09:59:59.999999Z')).toBeUndefined();
    expect(await statusAt('2026-03-05T10:00:00Z')).toBe(1);
    expect(await statusAt('2026-03-05T11:59:59.999999Z')).toBe(1);
    expect(await statusAt('2026-03-05T12:00:00Z')).toBe(2);
    expect(await statusAt('2026-03-05T17:44:59.999999+05:45')).toBe(1);
    expect(await statusAt('2026-03-05T17:45:00+05:45')).toBe(2);
    expect(await statusAt('2026-03-06T11:59:00+23:59')).toBe(2);
    expect(await statusAt('2026-03-04T12:00:59.999999-23:59')).toBe(1);
    expect(await statusAt('2026-03-04t12:01:00-23:59')).toBe(2);
    expect(await statusAt('0001-01-01T00:00:00Z')).toBeUndefined();
    expect(await statusAt('9999-12-31T23:59:59.999999Z')).toBe(2);
  });

  test('of two contents observed at once the one that decides is there, and the other never was', async () => {
    const at = '2026-03-05T10:00:00Z';
    await observe(db, { project, resource: 'orders' }, [order(), order({ status: 2 })], at);
    expect(await statusAt(at)).toBe(2);
    expect(await idsAt({ asOf: at, status: 1 })).toEqual([]);
    const versions = await archive.orders.history(project, 'op');
    const times = versions.map(({ item, inForceFrom, inForceUntil }) => [
      item.status,
      inForceFrom,
      inForceUntil,
    ]);
    expect(times).toEqual([
      [1, at, at],
      [2, at, null],
    ]);
  });

  test('that came late and was older was never in force; one that was newer was, since it was observed', async () => {
    await show(order({ status: 2, update_time: '2026-03-05T09:30:00Z' }), '2026-03-05T12:00:00Z');
    // Observed earlier and later than what is held, and older by the platform's own word.
    await show(order(), '2026-03-05T10:00:00Z');
    await show(order({ status: 1, message: 'late' }), '2026-03-05T13:00:00Z');
    expect(await statusAt('2026-03-05T11:00:00Z')).toBe(1);
    expect(await statusAt('2026-03-05T12:00:00Z')).toBe(2);
    expect(await statusAt('2026-03-05T14:00:00Z')).toBe(2);
    const versions = await archive.orders.history(project, 'op');
    expect(versions.map((one) => [one.item.message, one.inForceFrom, one.isCurrent])).toEqual([
      [null, '2026-03-05T10:00:00Z', false],
      [null, '2026-03-05T12:00:00Z', true],
      ['late', null, false],
    ]);
    const found = await idsAt({ asOf: '2026-03-05T10:30:00Z' });
    expect(found).toEqual(['op']);
  });
});

/** As when that day's list has shown it. */
const standUnder = (id: string, day: string): Promise<unknown> =>
  db.query(`update archive.orders set slice_day = $2 where operation_id = $1`, [id, day]);

describe('a record', () => {
  test('that moved its day stands under its present one, however far away', async () => {
    const days = ['2026-03-05', '2026-01-02', '2027-11-30', '9999-12-31', '0001-01-01'];
    for (const [i, day] of days.entries()) {
      const id = `op_${i}`;
      await show(order({ operation_id: id, status: 1 }), '2026-03-05T10:00:00Z');
      if (i === 0) continue;
      const later = { operation_id: id, status: 2, create_time: `${day}T01:00:00Z` };
      await show(order(later), `2026-04-0${i}T00:00:00Z`);
      await standUnder(id, day);
    }
    // Not there yet, and under days before and after.
    for (const [i, day] of ['2026-03-04', '2026-03-06', '2027-12-01'].entries()) {
      const later = { operation_id: `later_${i}`, create_time: `${day}T01:00:00Z` };
      await show(order(later), '2026-04-09T00:00:00Z');
    }
    const asOf = '2026-03-05T12:00:00Z';
    const inOrder = ['op_4', 'op_1', 'op_0', 'op_2', 'op_3'];
    expect(await idsAt({ asOf })).toEqual(inOrder);
    expect(await idsAt({ asOf, status: 1 })).toEqual(inOrder);
    expect(await idsAt({ asOf, status: 2 })).toEqual([]);
    expect(await idsAt({ asOf, order: 'desc' })).toEqual(inOrder.toReversed());
    expect(await idsAt({ asOf, from: '2026-03-05', to: '2026-03-05' })).toEqual(['op_0']);
    expect(await idsAt({ asOf, from: '2026-03-07' })).toEqual(['op_2', 'op_3']);
    expect(await idsAt({ asOf, from: '2027-01-01', to: '2027-12-30' })).toEqual(['op_2']);
    expect(await idsAt({ asOf, to: '2027-12-30', order: 'desc' })).toEqual(
      inOrder.slice(0, 4).toReversed(),
    );
    for (const direction of ['asc', 'desc'] as const) {
      const query = { project, asOf, order: direction, limit: 1 };
      const pages = await pagesOf((paging) => archive.orders.list({ ...query, ...paging }));
      const found = pages.flatMap(({ items }) => items);
      const expected = direction === 'asc' ? inOrder : inOrder.toReversed();
      expect(found.map((one) => one.operationId)).toEqual(expected);
      expect(found.every((one) => one.createdAt === '2026-03-05T09:00:00Z')).toBe(true);
    }
    expect((await archive.orders.get(project, 'op_2', { asOf }))?.sliceDay).toBe('2027-11-30');
  });

  test('sabotaged, without the index of those that are ahead the last two would not be found', async () => {
    await show(order(), '2026-03-05T10:00:00Z');
    await show(order({ create_time: '2027-11-30T00:00:00Z' }), '2026-03-06T10:00:00Z');
    await standUnder('op', '2027-11-30');
    expect(await idsAt({ asOf: '2026-03-05T12:00:00Z' })).toEqual(['op']);
    // As if its time of creation had been so from the beginning.
    await db.query(`update archive.orders set first_seen_at = '2027-11-30' where project_id = $1`, [
      project,
    ]);
    expect(await idsAt({ asOf: '2026-03-05T12:00:00Z' })).toEqual([]);
  });

  test('is missing as of an instant only where it was so already', async () => {
    await show(order(), '2026-03-05T10:00:00Z');
    await show(
      { id: 'c', timestamp: '2026-03-05 09:00:00' },
      '2026-03-05T10:00:00Z',
      'nft_classes',
    );
    for (const table of ['orders', 'nft_classes']) {
      await db.query(
        `update archive.${table} set missing_since = '2026-03-05T12:00:00.5Z' where project_id = $1`,
        [project],
      );
    }
    for (const [records, id] of [
      [archive.orders, 'op'],
      [archive.nftClasses, 'c'],
    ] as const) {
      const at = async (asOf: string) => (await records.get(project, id, { asOf }))?.missingSince;
      expect(await at('2026-03-05T12:00:00Z')).toBeNull();
      expect(await at('2026-03-05T12:00:00.499999Z')).toBeNull();
      expect(await at('2026-03-05T12:00:00.5Z')).toBe('2026-03-05T12:00:00.5Z');
      const { items } = await records.list({ project, asOf: '2026-03-05T11:00:00Z' });
      expect(items[0]?.missingSince).toBeNull();
    }
  });
});

describe('a list', () => {
  const asOf = '2026-06-01T00:00:00Z';
  const query = { account: 'rare', asOf };

  test('in which little matches is found to its end, over pages that may be empty', async () => {
    await writeOrders(db, { project, count: 14_000, from: '2026-03-01', perDay: 1000 });
    for (const [i, day] of ['2026-03-02', '2026-03-13'].entries()) {
      await show(
        order({ operation_id: `rare_${i}`, account: 'rare', create_time: `${day}T12:00:00Z` }),
        '2026-04-01T00:00:00Z',
      );
    }
    const read = (paging: object) =>
      archive.orders.list({ project, ...query, limit: 1, ...paging });
    const pages = await pagesOf(read);
    const idsIn = (of: typeof pages): string[] =>
      of.flatMap(({ items }) => items.map((one) => one.operationId));
    expect(idsIn(pages)).toEqual(['rare_0', 'rare_1']);
    expect(pages.some(({ items, next }) => items.length === 0 && next !== null)).toBe(true);
    expect(pages.length).toBeLessThan(20);
    // And back again, to the first of them.
    const [last] = pages.toReversed();
    const [, ...before] = last === undefined ? [] : await pagesBeyond(read, last, 'previous');
    expect(before.every(({ next }) => next !== null)).toBe(true);
    const back = idsIn(before);
    expect(back).toEqual(pages.at(-1)?.items.length === 0 ? ['rare_1', 'rare_0'] : ['rare_0']);
    expect(await idsAt(query)).toEqual(['rare_0', 'rare_1']);
  });

  test('is read to its end while a writer changes every record of it', async () => {
    const given = Array.from({ length: 3500 }, (_, i) =>
      order({ operation_id: `op_${i}`, status: 1 + (i % 3), create_time: 1_772_700_000 + i * 60 }),
    );
    await observe(db, { project, resource: 'orders' }, given, '2026-03-08T00:00:00Z');
    const { rows } = await db.query<{ id: string; at: string }>(
      `select operation_id as id, created_at as at from archive.orders where project_id = $1`,
      [project],
    );
    const found = new Map<string, number | null>();
    let round = 0;
    for await (const one of archive.orders.stream({ project, asOf })) {
      expect(found.has(one.operationId)).toBe(false);
      found.set(one.operationId, one.status);
      if (found.size % 700 !== 0) continue;
      // Contents of later, and records of later.
      const changed = rows.map(({ id, at: createdAt }) => ({
        operation_id: id,
        status: 3,
        message: `round ${round}`,
        create_time: createdAt,
        update_time: `2026-06-0${2 + round}T00:00:00Z`,
      }));
      const at = `2026-06-0${2 + round}T00:00:00Z`;
      await observe(db, { project, resource: 'orders' }, changed, at);
      await show(order({ operation_id: `new_${round}` }), at);
      round += 1;
    }
    expect(round).toBe(5);
    expect([...found.keys()].toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
    const { items } = await archive.orders.list({ project, asOf, limit: 10_000 });
    expect(items).toHaveLength(3500);
    for (const { operationId, status, message } of items) {
      expect([message, found.get(operationId)]).toEqual([null, status]);
    }
  });
});

test.each([
  ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00Z'],
  ['2026-03-01t10:00:00.500000z', '2026-03-01T10:00:00.5Z'],
  ['2026-03-01T10:00:00-00:00', '2026-03-01T10:00:00Z'],
  ['2024-02-29T23:59:59.000001+13:45', '2024-02-29T10:14:59.000001Z'],
  ['2026-01-01T00:00:00+00:01', '2025-12-31T23:59:00Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ['0099-12-31T00:00:00+00:00', '0099-12-31T00:00:00Z'],
  ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
  ['0001-01-01T00:00:00+00:01', null],
  ['9999-12-31T23:59:59-00:01', null],
  ['0000-12-31T00:00:00Z', null],
  ['2023-02-29T00:00:00Z', null],
  ['2026-04-31T00:00:00Z', null],
  ['2026-03-01T10:00:00.Z', null],
  ['2026-03-01T10:00:00Z\n', null],
  ['٢٠٢٦-03-01T10:00:00Z', null],
  ['2026-3-1', null],
  ['2026-03-01T10:00:00', null],
  ['2026-03-01 10:00:00Z', null],
  ['2026-03-01T10:00:00.1234567Z', null],
  ['2026-03-01T24:00:00Z', null],
  ['2026-03-01T23:59:60Z', null],
  ['2026-03-01T10:00:00+24:00', null],
  ['2026-03-01T10:00:00+0800', null],
  ['now', null],
  ['', null],
  ['2026-03-01T10:00:00Z\0', null],
  [' 2026-03-01T10:00:00Z', null],
])('the instant %j is %j', (given, instant) => {
  expect(readInstant(given)).toBe(instant);
});

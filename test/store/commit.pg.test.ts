// The commit of pages (P1, P2, P5): rows, versions, rejects, entries and checkpoint move together.
import { beforeEach, describe, expect, test } from 'vitest';
import { wholeList, type Instant } from '../../src/model.ts';
import { readPage } from '../../src/platform/pages.ts';
import { commitPages } from '../../src/store/commit.ts';
import { withTx, type Db } from '../../src/store/db.ts';
import { nextSlice } from '../../src/store/due.ts';
import { takeProject } from '../../src/store/holders.ts';
import { addSlices, type Slice } from '../../src/store/ledger.ts';
import type { WalkedPage } from '../../src/store/walked-pages.ts';
import { fileOnDatabase } from '../support/opened.ts';

const day = '2026-03-10';
const noon = Date.parse('2026-03-11T12:00:00Z');
let db: Db;
let slice: Slice;

fileOnDatabase((given) => ({ db } = given));

let projects = 0;
beforeEach(() => begin(`p${++projects}`));

/** Goes on in a project of its own, with its first day. */
async function begin(projectId: string, days = [day]): Promise<void> {
  await enter(projectId, days);
  slice = await next(projectId);
}

/** Days of orders, due and not read. */
const enter = (projectId: string, days: string[]): Promise<number> => {
  const due = { resource: 'orders', owner: '', dueAt: noon, deadlineAt: noon } as const;
  return withTx(db, (tx) =>
    addSlices(
      tx,
      days.map((one) => ({ projectId, day: one, ...due })),
    ),
  );
};

async function next(projectId: string, except: Slice[] = []): Promise<Slice> {
  const found = await nextSlice(db, { projectId, dueBy: null, today: day, except });
  if (found === null) throw new Error('nothing is due');
  return found;
}

/** Of the project, which is parameter 1. */
const ask = async <R extends Record<string, unknown>>(sql: string): Promise<R[]> =>
  (await db.query<R>(sql, [slice.projectId])).rows;

type Given = { id: string; status?: number; update?: string; message?: string };

const order = ({ id, status = 2, update = '10:00:05', message = '' }: Given): string =>
  `{"operation_id":"${id}","status":${status},"message":"${message}","account":"a","amount":"100","number":"1","create_time":"${day} 10:00:00","update_time":"${day} ${update}","order_type":1}`;

function page(number: number, askedAt: Instant, elements: string[]): WalkedPage {
  const body = Buffer.from(`{"data":{"next_page_key":"","order_infos":[${elements.join(',')}]}}`);
  return {
    number,
    pageKey: number === 0 ? null : `k${number}`,
    offset: null,
    page: readPage('orders', body, askedAt, day),
    observedAt: askedAt,
  };
}

const committed = (pages: WalkedPage[], under: Slice = slice) => ({
  slice: under,
  walk: 1,
  pages,
  checkpoint: null,
  writtenAt: noon + 3_600_000,
});
const commit = (pages: WalkedPage[], under?: Slice) => commitPages(db, committed(pages, under));
/** A page of some orders. */
const show = (at: Instant, ...orders: Given[]) => commit([page(0, at, orders.map(order))]);

const archived = async () => ({
  rows: await ask(
    `select operation_id, status, message, observed_at, raw::text from archive.orders
      where project_id = $1 order by 1`,
  ),
  versions: await ask(
    `select operation_id, observed_at, raw->>'message' as message from archive.order_versions
      where project_id = $1 order by 1, 2, 3`,
  ),
});

test('a page becomes typed rows, its entry, its checkpoint', async () => {
  const effects = await show(noon, { id: 'b' }, { id: 'a', status: 1 });
  expect(effects).toMatchObject({ inserted: 2, changed: 0, versions: 0, rejected: 0 });
  const [, b] = await ask(
    `select operation_id, status, account, amount, number, created_at, updated_at, order_type, slice_day,
            first_seen_at, changed_at, unread
       from archive.orders where project_id = $1 order by 1`,
  );
  expect(b).toEqual({
    operation_id: 'b',
    status: 2,
    account: 'a',
    amount: '100',
    number: '1',
    created_at: `${day}T10:00:00Z`,
    updated_at: `${day}T10:00:05Z`,
    order_type: 1,
    slice_day: day,
    first_seen_at: '2026-03-11T12:00:00Z',
    changed_at: '2026-03-11T13:00:00Z',
    unread: [],
  });
  expect(await ask('select walk, page, ids from sync.pages where project_id = $1')).toEqual([
    { walk: 1, page: 0, ids: ['b', 'a'] },
  ]);
});

test('P2: a page committed twice changes nothing', async () => {
  const held = 'select ctid, xmin, * from archive.orders where project_id = $1 order by 3';
  await show(noon, { id: 'a' }, { id: 'b' });
  const before = await ask(held);
  const again = await show(noon, { id: 'a' }, { id: 'b' });
  expect(again).toMatchObject({ inserted: 0, changed: 0, versions: 0 });
  expect(await ask(held)).toEqual(before);
});

test('P2: a page older than what its slice already holds is refused, and nothing of it is written', async () => {
  await show(noon, { id: 'a', message: 'new' });
  await expect(show(noon - 1, { id: 'a', message: 'old' }, { id: 'z' })).rejects.toMatchObject({
    code: 'older_pages',
  });
  const { rows, versions } = await archived();
  expect([rows.length, versions.length]).toEqual([1, 0]);
});

test('P8: entering days waits for no slice that somebody else is writing', async () => {
  const { projectId } = slice;
  const entered = await withTx(db, async (tx) => {
    await tx.query('update sync.slices set due_at = due_at where project_id = $1', [projectId]);
    return enter(projectId, [day, '2026-03-11']);
  });
  expect(entered).toBe(1);
});

test('P1: when the transaction cannot be finished, neither rows nor entries nor checkpoint are there', async () => {
  const broken = page(0, noon, [order({ id: 'a' })]);
  for (const { columns } of broken.page.records) columns['status'] = 'no status';
  await expect(commit([broken])).rejects.toThrow();
  const left = await ask(
    `select (select count(*)::int from archive.orders where project_id = $1) as rows,
            (select count(*)::int from sync.pages where project_id = $1) as pages,
            (select observed_at from sync.slices where project_id = $1) as observed`,
  );
  expect(left).toEqual([{ rows: 0, pages: 0, observed: null }]);
});

test('P1: when whoever writes gives up, nothing of what was written stays', async () => {
  const givesUp = withTx(db, async (tx) => {
    const halfway = `update sync.slices set last_error = 'halfway' where project_id = $1`;
    await tx.query(halfway, [slice.projectId]);
    throw new Error('no further');
  });
  await expect(givesUp).rejects.toThrow('no further');
  expect(await ask('select last_error from sync.slices where project_id = $1')).toEqual([
    { last_error: null },
  ]);
});

describe('P5: every content that a committed page carried is kept', () => {
  test('a changed order keeps what it said before', async () => {
    await show(noon, { id: 'a', status: 1, message: 'first' });
    const effects = await show(noon + 1000, { id: 'a', message: 'second', update: '11:00:00' });
    expect(effects).toMatchObject({ inserted: 0, changed: 1, versions: 1 });
    const { rows, versions } = await archived();
    expect(rows).toMatchObject([
      { status: 2, message: 'second', observed_at: '2026-03-11T12:00:01Z' },
    ]);
    expect(versions).toEqual([
      { operation_id: 'a', observed_at: '2026-03-11T12:00:00Z', message: 'first' },
    ]);
  });

  test('two contents of one order in one page: the newer is held, the other a version', async () => {
    const newer = { id: 'a', message: 'newer', update: '12:00:00' };
    await show(noon, newer, { ...newer, message: 'older', update: '11:00:00' }, { id: 'b' });
    const { rows, versions } = await archived();
    expect(rows).toMatchObject([{ operation_id: 'a', message: 'newer' }, { operation_id: 'b' }]);
    expect(versions).toMatchObject([{ operation_id: 'a', message: 'older' }]);
  });

  test('contents in between, all in one commit, are kept as well', async () => {
    const contents = ['one', 'two', 'three', 'four'];
    await commit(
      contents.map((message, i) =>
        page(i, noon + i, [order({ id: 'a', message, update: `11:00:0${i}` })]),
      ),
    );
    const { rows, versions } = await archived();
    expect(rows).toMatchObject([{ message: 'four' }]);
    expect(versions).toHaveLength(3);
  });

  test('P2: one shown again behind another is in force anew, in one commit as in several', async () => {
    const shown = ['one', 'two', 'one'].map((message, i) =>
      page(i, noon + i * 1000, [order({ id: 'a', message })]),
    );
    for (const one of shown) await commit([one]);
    const apart = await archived();
    await begin(`p${++projects}`);
    await commit(shown.slice(0, 1));
    await commit(shown.slice(1));
    const together = await archived();
    expect(together.versions).toEqual(apart.versions);
    for (const { rows } of [apart, together]) {
      expect(rows).toMatchObject([{ message: 'one', observed_at: '2026-03-11T12:00:02Z' }]);
    }
  });

  test('a terminal order returns to pending only under a later update_time', async () => {
    await show(noon, { id: 'a' });
    // Shown again and again, it becomes one version, not many.
    for (const i of [1, 2, 3]) {
      const same = await show(noon + i, { id: 'a', status: 1 });
      expect(same).toMatchObject({ changed: 0, versions: i === 1 ? 1 : 0 });
    }
    expect((await archived()).rows).toMatchObject([{ status: 2 }]);
    const later = await show(noon + 2000, { id: 'a', status: 1, update: '23:00:00' });
    expect(later).toMatchObject({ changed: 1 });
    expect((await archived()).rows).toMatchObject([{ status: 1 }]);
  });
});

test('P2: contents committed in every order, from different slices, end in the same archive', async () => {
  const contents: [after: number, given: Omit<Given, 'id'>][] = [
    [0, { status: 1, update: '10:00:00', message: 'A' }],
    [3, { status: 2, update: '10:00:00', message: 'B' }],
    [1, { status: 2, update: '10:00:02', message: 'C' }],
    [2, { status: 3, update: '10:00:02', message: 'D' }],
  ];
  const results = new Set<string>();
  for (const sequence of permutations(contents)) {
    const projectId = `perm${++projects}`;
    await enter(projectId, ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04']);
    const slices: Slice[] = [];
    for (const [after, given] of sequence) {
      slice = await next(projectId, slices);
      slices.push(slice);
      await show(noon + after, { id: 'a', ...given });
    }
    const { rows, versions } = await archived();
    expect(versions).toHaveLength(3);
    results.add(JSON.stringify(rows));
  }
  expect(results.size).toBe(1);
  expect([...results][0]).toContain('"message":"D"');
});

test('P2: pages of one slice in every order: the refused ones are read again, and the end is the same', async () => {
  const results = new Set<string>();
  for (const sequence of permutations([0, 1, 2])) {
    await begin(`seq${++projects}`);
    const showAt = (i: number, at: number) => {
      const same = { id: 'same', message: `content ${i}`, update: `11:00:0${i}` };
      return commit([page(i, at, [order(same), order({ id: `own${i}` })])]);
    };
    let refused = 0;
    for (const i of sequence) {
      await showAt(i, noon + i).catch(async (error: unknown) => {
        expect(error).toMatchObject({ code: 'older_pages' });
        refused += 1;
        // Read again: the same content under a later moment.
        await showAt(i, noon + 10 + refused);
      });
    }
    expect(refused > 0).toBe(sequence.some((i, k) => sequence.slice(0, k).some((j) => j > i)));
    const rows =
      'select operation_id, message from archive.orders where project_id = $1 order by 1';
    results.add(JSON.stringify(await ask(rows)));
  }
  expect([...results]).toEqual([expect.stringContaining('content 2')]);
});

test('overlapping changes from several writers neither deadlock nor lose a content', async () => {
  const ids = Array.from({ length: 60 }, (_, i) => `o${i}`);
  const elements = (of: string[], message: string, update: string): string[] =>
    of.map((id) => order({ id, message, update }));
  await commit([page(0, noon, elements(ids, 'first', '10:00:00'))]);
  const others = ['2026-02-01', '2026-02-02', '2026-02-03', '2026-02-04'];
  await enter(slice.projectId, others);
  for (let round = 0; round < 8; round++) {
    await Promise.all(
      others.map((other, i) => {
        const shuffled = ids.toSorted((a, b) => (a + i < b + i ? 1 : -1));
        const shown = elements(shuffled, `w${i} r${round}`, `1${round}:00:0${i}`);
        return commit([page(0, noon + round * 10 + i, shown)], { ...slice, day: other });
      }),
    );
  }
  const contents = await ask(
    `select from archive.orders where project_id = $1
      union all select from archive.order_versions where project_id = $1`,
  );
  expect(contents).toHaveLength(ids.length * (1 + others.length * 8));
});

test('P2: two lists that show one record in the same group leave it under its own day', async () => {
  const { projectId } = slice;
  const before = { ...slice, day: '2026-03-09' };
  const after = { ...slice, day: '2026-03-11' };
  await enter(projectId, [before.day, after.day]);
  const showIn = (by: Db, of: Slice, walk: number, at: number) =>
    commitPages(by, { ...committed([page(0, at, [order({ id: 'a' })])], of), walk });
  await showIn(db, before, 1, noon);
  const name = { holder: 'a', process: 'a' };
  const taken = await takeProject(db, projectId, name, 60_000, () => false);
  if (!('epoch' in taken)) throw new Error('it is held');
  const holder = db.asHolder(projectId, taken.epoch);
  await Promise.all([
    withTx(holder, (tx) => tx.query('select 1')),
    showIn(holder, slice, 2, noon + 1),
    showIn(holder, after, 2, noon + 2),
  ]);
  expect(await ask('select slice_day as day from archive.orders where project_id = $1')).toEqual([
    { day },
  ]);
});

test('a record stands under the day whose list shows it, until its own day’s list has; the journal says which', async () => {
  const under = async (of: string, at: number, id = 'a'): Promise<string | undefined> => {
    const shown = [page(0, at, [id === 'zero' ? ofNoTime : order({ id })])];
    await commitPages(db, { ...committed(shown, { ...slice, day: of }), walk: 2 });
    const [row] = await ask<{ day: string }>(
      `select slice_day as day from archive.orders where project_id = $1 and operation_id = '${id}'`,
    );
    return row?.day;
  };
  const ofNoTime = '{"operation_id":"zero","create_time":"0001-01-01T00:00:00Z"}';
  const [before, after] = ['2026-03-09', '2026-03-11'];
  await enter(slice.projectId, [before, after, wholeList]);
  expect(await under(before, noon)).toBe(before);
  expect(await under(wholeList, noon + 1)).toBe(before);
  expect(await under(after, noon + 2)).toBe(after);
  expect(await under(day, noon + 3)).toBe(day);
  expect(await under(before, noon + 4)).toBe(day);
  expect(await under(wholeList, noon + 5)).toBe(day);
  const entries = await ask(
    `select day, body::jsonb -> 'moved' as moved from sync.journal
      where project_id = $1 and (body like '%"first"%' or body like '%"moved"%') order by no`,
  );
  expect(entries).toEqual([
    { day: before, moved: null },
    { day: after, moved: ['a'] },
    { day, moved: ['a'] },
  ]);

  // A list without dates moves nothing, and a day has news when its own list shows a record first.
  expect(await under(wholeList, noon + 6, 'b')).toBe(wholeList);
  expect(await under(day, noon + 7, 'b')).toBe(day);
  // Nor does a time of which Go makes the first of all days.
  expect(await under(day, noon + 8, 'zero')).toBe(day);
  expect(await under(wholeList, noon + 9, 'zero')).toBe(day);
  expect(await under(before, noon + 10, 'zero')).toBe(before);
});

test('records that are no records: kept as bytes with the reason, and the page goes on', async () => {
  const effects = await commit([
    page(0, noon, ['{"status":2}', 'null', '"text"', order({ id: 'a' }), '{"status":2}']),
  ]);
  expect(effects).toMatchObject({ inserted: 1, rejected: 3 });
  const rows = await ask(
    `select convert_from(bytes, 'UTF8') as kept, reason <> '' as says from sync.rejects where project_id = $1 order by 1`,
  );
  const kept = ['"text"', 'null', '{"status":2}'];
  expect(rows).toEqual(kept.map((one) => ({ kept: one, says: true })));
});

test('what Postgres cannot hold: NUL, lone surrogates, 1e400, 2^53 and half a megabyte end in rows with the original bytes', async () => {
  const big = 'x'.repeat(500 * 1024);
  const weird = [
    `{"operation_id":"nul","status":2,"message":"a\\u0000b","create_time":"${day} 10:00:00"}`,
    `{"operation_id":"lone","status":2,"message":"a\\ud800b","create_time":"${day} 10:00:00"}`,
    `{"operation_id":"big","status":2,"number":1e400,"amount":9007199254740993,"create_time":"${day} 10:00:00"}`,
    `{"operation_id":"huge","status":2,"number":1e999999999,"create_time":"${day} 10:00:00"}`,
    `{"operation_id":"long","status":2,"account":"${big}","create_time":"${day} 10:00:00"}`,
    `{"operation_id":"types","status":{},"message":[],"amount":"ten","order_type":1.5,"create_time":"soon"}`,
  ];
  expect(await commit([page(0, noon, weird)])).toMatchObject({ inserted: 6, rejected: 0 });
  const rows = await ask(
    `select operation_id, message, amount, length(number::text) as digits, unread, raw_bytes is not null as has_bytes, slice_day
       from archive.orders where project_id = $1 order by operation_id`,
  );
  expect(rows).toMatchObject([
    { operation_id: 'big', amount: '9007199254740993', digits: 401 },
    { operation_id: 'huge', has_bytes: true, unread: ['number'] },
    { operation_id: 'lone', message: 'a\ufffdb', has_bytes: true },
    { operation_id: 'long', unread: ['account'] },
    { operation_id: 'nul', message: 'a\ufffdb', has_bytes: true },
    { operation_id: 'types', slice_day: day },
  ]);
  const unread = ['status', 'message', 'amount', 'order_type', 'create_time'];
  expect(rows.at(-1)?.['unread']).toEqual(expect.arrayContaining(unread));
});

test("P4: the service's own connections cannot delete anything archived", async () => {
  await commit([page(0, noon, [order({ id: 'a' })])]);
  expect(db.role).toBe('outlast_writer');
  for (const sql of [
    'delete from archive.orders',
    'truncate archive.orders',
    'drop table archive.orders',
    'alter table archive.orders drop column raw',
    'drop view analytics.orders',
    'delete from archive.order_versions',
    'update archive.order_versions set raw = null',
    'update archive.order_versions set observed_at = now(), status = 1',
    'delete from archive.nft_classes',
    'delete from sync.readings',
    'update sync.readings set lacks = 0',
    'delete from sync.books',
    'update sync.books set is_more = false',
  ]) {
    await expect(db.query(sql), sql).rejects.toMatchObject({ code: '42501' });
  }
});

function permutations<T>(items: T[]): T[][] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, i) =>
    permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [item, ...rest]),
  );
}

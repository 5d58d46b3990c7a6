// The commit of pages (P1, P2, P5): rows, versions, rejects, entries and checkpoint move together.
import { beforeEach, describe, expect, test } from 'vitest';
import { wholeList, type Instant } from '../../src/model.ts';
import { readPage } from '../../src/platform/pages.ts';
import { commitPages, commitPagesIn } from '../../src/store/commit.ts';
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
beforeEach(async () => {
  const projectId = `p${++projects}`;
  await enter(projectId, [day]);
  slice = await next(projectId);
});

/** Days of orders, due and not read. */
const enter = (projectId: string, days: string[]): Promise<number> =>
  withTx(db, (tx) =>
    addSlices(
      tx,
      days.map((one) => ({
        projectId,
        resource: 'orders',
        owner: '',
        day: one,
        dueAt: noon,
        deadlineAt: noon,
      })),
    ),
  );

async function next(projectId: string, except: Slice[] = []): Promise<Slice> {
  const found = await nextSlice(db, { projectId, dueBy: null, today: day, except });
  if (found === null) throw new Error('nothing is due');
  return found;
}

type Given = { id: string; status?: number; update?: string; message?: string };

function order(given: Given): string {
  const status = given.status ?? 2;
  return `{"operation_id":"${given.id}","status":${status},"message":"${given.message ?? ''}","account":"a","amount":"100","number":"1","create_time":"${day} 10:00:00","update_time":"${given.update ?? `${day} 10:00:05`}","order_type":1}`;
}

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

const commit = (pages: WalkedPage[], under: Slice = slice) =>
  commitPages(db, {
    slice: under,
    walk: 1,
    pages,
    checkpoint: null,
    writtenAt: noon + 3_600_000,
  });

async function archived(): Promise<{ rows: unknown[]; versions: unknown[] }> {
  const rows = await db.query(
    `select operation_id, status, message, observed_at, raw::text from archive.orders
      where project_id = $1 order by 1`,
    [slice.projectId],
  );
  const versions = await db.query(
    `select operation_id, observed_at, raw->>'message' as message from archive.order_versions
      where project_id = $1 order by 1, 2, 3`,
    [slice.projectId],
  );
  return { rows: rows.rows, versions: versions.rows };
}

test('a page becomes typed rows, its entry, its checkpoint', async () => {
  const effects = await commit([
    page(0, noon, [order({ id: 'b' }), order({ id: 'a', status: 1 })]),
  ]);
  expect(effects).toMatchObject({ inserted: 2, changed: 0, versions: 0, rejected: 0 });
  const { rows } = await db.query(
    `select operation_id, status, account, amount, number, created_at, updated_at, order_type, slice_day,
            first_seen_at, changed_at, unread
       from archive.orders where project_id = $1 order by 1`,
    [slice.projectId],
  );
  expect(rows[1]).toEqual({
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
  const entries = await db.query('select walk, page, ids from sync.pages where project_id = $1', [
    slice.projectId,
  ]);
  expect(entries.rows).toEqual([{ walk: 1, page: 0, ids: ['b', 'a'] }]);
});

test('P2: a page committed twice changes nothing', async () => {
  const one = page(0, noon, [order({ id: 'a' }), order({ id: 'b' })]);
  await commit([one]);
  const held = async (): Promise<unknown[]> => {
    const sql =
      'select ctid, xmin, * from archive.orders where project_id = $1 order by operation_id';
    return (await db.query(sql, [slice.projectId])).rows;
  };
  const before = await held();
  expect(await commit([one])).toMatchObject({ inserted: 0, changed: 0, versions: 0 });
  expect(await held()).toEqual(before);
});

test('P2: a page older than what its slice already holds is refused, and nothing of it is written', async () => {
  await commit([page(0, noon, [order({ id: 'a', message: 'new' })])]);
  await expect(
    commit([page(1, noon - 1, [order({ id: 'a', message: 'old' }), order({ id: 'z' })])]),
  ).rejects.toMatchObject({ code: 'older_pages' });
  const { rows, versions } = await archived();
  expect(rows).toHaveLength(1);
  expect(versions).toHaveLength(0);
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
  await db.query(`update sync.slices set last_error = 'before' where project_id = $1`, [
    slice.projectId,
  ]);
  const broken = page(0, noon, [order({ id: 'a' })]);
  const [record] = broken.page.records;
  if (record === undefined) throw new Error('no record');
  record.columns['status'] = 'no status';
  await expect(commit([broken])).rejects.toThrow();
  const left = await db.query(
    `select (select count(*)::int from archive.orders where project_id = $1) as rows,
            (select count(*)::int from sync.pages where project_id = $1) as pages,
            (select observed_at from sync.slices where project_id = $1) as observed`,
    [slice.projectId],
  );
  expect(left.rows).toEqual([{ rows: 0, pages: 0, observed: null }]);
});

test('P1: when whoever writes gives up, nothing of what was written stays', async () => {
  const givesUp = withTx(db, async (tx) => {
    await tx.query(`update sync.slices set last_error = 'halfway' where project_id = $1`, [
      slice.projectId,
    ]);
    throw new Error('no further');
  });
  await expect(givesUp).rejects.toThrow('no further');
  const { rows } = await db.query('select last_error from sync.slices where project_id = $1', [
    slice.projectId,
  ]);
  expect(rows).toEqual([{ last_error: null }]);
});

describe('P5: every content that a committed page carried is kept', () => {
  test('a changed order keeps what it said before', async () => {
    await commit([page(0, noon, [order({ id: 'a', status: 1, message: 'first' })])]);
    const effects = await commit([
      page(0, noon + 1000, [
        order({ id: 'a', status: 2, message: 'second', update: `${day} 11:00:00` }),
      ]),
    ]);
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
    await commit([
      page(0, noon, [
        order({ id: 'a', message: 'newer', update: `${day} 12:00:00` }),
        order({ id: 'a', message: 'older', update: `${day} 11:00:00` }),
        order({ id: 'b' }),
      ]),
    ]);
    const { rows, versions } = await archived();
    expect(rows).toMatchObject([{ operation_id: 'a', message: 'newer' }, { operation_id: 'b' }]);
    expect(versions).toMatchObject([{ operation_id: 'a', message: 'older' }]);
  });

  test('contents in between, all in one commit, are kept as well', async () => {
    const contents = ['one', 'two', 'three', 'four'];
    await commit(
      contents.map((message, i) =>
        page(i, noon + i, [order({ id: 'a', message, update: `${day} 11:00:0${i}` })]),
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
    const projectId = `p${++projects}`;
    await enter(projectId, [day]);
    slice = await next(projectId);
    await commit(shown.slice(0, 1));
    await commit(shown.slice(1));
    const together = await archived();
    expect(together.versions).toEqual(apart.versions);
    for (const { rows } of [apart, together]) {
      expect(rows).toMatchObject([{ message: 'one', observed_at: '2026-03-11T12:00:02Z' }]);
    }
  });

  test('a terminal order returns to pending only under a later update_time', async () => {
    await commit([page(0, noon, [order({ id: 'a', status: 2 })])]);
    const same = await commit([page(0, noon + 1000, [order({ id: 'a', status: 1 })])]);
    expect(same).toMatchObject({ changed: 0, versions: 1 });
    expect((await archived()).rows).toMatchObject([{ status: 2 }]);
    const later = await commit([
      page(0, noon + 2000, [order({ id: 'a', status: 1, update: `${day} 23:00:00` })]),
    ]);
    expect(later).toMatchObject({ changed: 1 });
    expect((await archived()).rows).toMatchObject([{ status: 1 }]);
  });

  test('the same stale content shown again and again becomes one version, not many', async () => {
    await commit([page(0, noon, [order({ id: 'a', status: 2 })])]);
    for (let i = 1; i <= 3; i++) {
      await commit([page(0, noon + i, [order({ id: 'a', status: 1 })])]);
    }
    expect((await archived()).versions).toHaveLength(1);
  });
});

test('P2: contents committed in every order, from different slices, end in the same archive', async () => {
  const contents = [
    { at: noon, given: { id: 'a', status: 1, update: `${day} 10:00:00`, message: 'A' } },
    { at: noon + 3, given: { id: 'a', status: 2, update: `${day} 10:00:00`, message: 'B' } },
    { at: noon + 1, given: { id: 'a', status: 2, update: `${day} 10:00:02`, message: 'C' } },
    { at: noon + 2, given: { id: 'a', status: 3, update: `${day} 10:00:02`, message: 'D' } },
  ];
  const results = new Set<string>();
  for (const sequence of permutations(contents)) {
    const projectId = `perm${++projects}`;
    await enter(projectId, ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04']);
    const slices: Slice[] = [];
    for (const content of sequence) {
      slice = await next(projectId, slices);
      slices.push(slice);
      await commit([page(0, content.at, [order(content.given)])]);
    }
    const { rows, versions } = await archived();
    expect(versions).toHaveLength(3);
    results.add(JSON.stringify(rows));
  }
  expect(results.size).toBe(1);
  expect([...results][0]).toContain('"message":"D"');
});

test('P2: pages of one slice in every order: the refused ones are read again, and the end is the same', async () => {
  const contents = ['first', 'second', 'third'];
  const results = new Set<string>();
  for (const sequence of permutations([0, 1, 2])) {
    const projectId = `seq${++projects}`;
    await enter(projectId, [day]);
    slice = await next(projectId);
    const asked = (i: number, at: number) =>
      page(i, at, [
        order({ id: 'same', message: contents[i] ?? '', update: `${day} 11:00:0${i}` }),
        order({ id: `own${i}` }),
      ]);
    let refused = 0;
    for (const i of sequence) {
      await commit([asked(i, noon + i)]).catch(async (error: unknown) => {
        expect(error).toMatchObject({ code: 'older_pages' });
        refused += 1;
        // Read again: the same content under a later moment.
        await commit([asked(i, noon + 10 + refused)]);
      });
    }
    expect(refused > 0).toBe(sequence.some((i, k) => sequence.slice(0, k).some((j) => j > i)));
    const { rows } = await db.query(
      'select operation_id, message from archive.orders where project_id = $1 order by 1',
      [projectId],
    );
    results.add(JSON.stringify(rows));
  }
  expect([...results]).toHaveLength(1);
  expect([...results][0]).toContain('third');
});

test('overlapping changes from several writers neither deadlock nor lose a content', async () => {
  const ids = Array.from({ length: 60 }, (_, i) => `o${i}`);
  const elements = (of: string[], message: string, update: string): string[] =>
    of.map((id) => order({ id, message, update: `${day} ${update}` }));
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
  const { rows } = await db.query(
    `select from archive.orders where project_id = $1
      union all select from archive.order_versions where project_id = $1`,
    [slice.projectId],
  );
  expect(rows).toHaveLength(ids.length * (1 + others.length * 8));
});

test('P2: two lists that show one record in the same group leave it under its own day', async () => {
  const { projectId } = slice;
  const before = { ...slice, day: '2026-03-09' };
  const after = { ...slice, day: '2026-03-11' };
  await enter(projectId, [before.day, after.day]);
  const show = (by: Db, of: Slice, walk: number, at: number) =>
    commitPages(by, {
      slice: of,
      walk,
      pages: [page(0, at, [order({ id: 'a' })])],
      checkpoint: null,
      writtenAt: at,
    });
  await show(db, before, 1, noon);
  const name = { holder: 'a', process: 'a' };
  const taken = await takeProject(db, projectId, name, 60_000, () => false);
  if (!('epoch' in taken)) throw new Error('it is held');
  const holder = db.asHolder(projectId, taken.epoch);
  await Promise.all([
    withTx(holder, (tx) => tx.query('select 1')),
    show(holder, slice, 2, noon + 1),
    show(holder, after, 2, noon + 2),
  ]);
  const { rows } = await db.query(
    'select slice_day as day from archive.orders where project_id = $1',
    [projectId],
  );
  expect(rows).toEqual([{ day }]);
});

test('a record stands under the day whose list shows it, until its own day’s list has; the journal says which', async () => {
  const under = async (of: string, at: number, id = 'a'): Promise<string | undefined> => {
    await withTx(db, (tx) =>
      commitPagesIn(
        tx,
        {
          slice: { ...slice, day: of },
          walk: 1,
          pages: [page(0, at, [id === 'zero' ? ofNoTime : order({ id })])],
          checkpoint: null,
          writtenAt: at,
        },
        false,
      ),
    );
    const { rows } = await db.query<{ day: string }>(
      `select slice_day as day from archive.orders where project_id = $1 and operation_id = $2`,
      [slice.projectId, id],
    );
    return rows[0]?.day;
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
  const { rows } = await db.query(
    `select day, body::jsonb -> 'moved' as moved from sync.journal
      where project_id = $1 and (body like '%"first"%' or body like '%"moved"%') order by no`,
    [slice.projectId],
  );
  expect(rows).toEqual([
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
  const { rows } = await db.query<{ bytes: Buffer; reason: string }>(
    'select bytes, reason from sync.rejects where project_id = $1',
    [slice.projectId],
  );
  expect(rows.map((row) => row.bytes.toString()).toSorted()).toEqual([
    '"text"',
    'null',
    '{"status":2}',
  ]);
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
  const { rows } = await db.query<Record<string, unknown>>(
    `select operation_id, message, amount, left(number, 4) as number, length(number) as digits, unread,
            raw_bytes is not null as has_bytes, slice_day
       from (select operation_id, message, amount, number::text, unread, raw_bytes, slice_day
               from archive.orders where project_id = $1) o order by 1`,
    [slice.projectId],
  );
  const byId = new Map(rows.map((row) => [row['operation_id'], row]));
  expect(byId.get('nul')).toMatchObject({ message: 'a\ufffdb', has_bytes: true });
  expect(byId.get('lone')).toMatchObject({ message: 'a\ufffdb', has_bytes: true });
  expect(byId.get('big')).toMatchObject({ amount: '9007199254740993', digits: 401 });
  expect(byId.get('huge')).toMatchObject({ has_bytes: true, unread: ['number'] });
  expect(byId.get('long')).toMatchObject({ unread: ['account'] });
  expect(byId.get('types')?.['unread']).toEqual(
    expect.arrayContaining(['status', 'message', 'amount', 'order_type', 'create_time']),
  );
  expect(byId.get('types')).toMatchObject({ slice_day: day });
});

test("P4: the service's own connections cannot delete anything archived", async () => {
  await commit([page(0, noon, [order({ id: 'a' })])]);
  expect(db.role).toBe('outlast_writer');
  for (const sql of [
    'delete from archive.orders',
    'truncate archive.orders',
    'drop table archive.orders',
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

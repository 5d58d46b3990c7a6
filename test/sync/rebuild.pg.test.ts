// Rebuild: typed columns follow from their records again, and nothing else is touched. What the columns must say is
// told by verify's own reading, and by fingerprints of the rows. One archive for all tests: each leaves every column as
// its record says.
import { describe, expect, test } from 'vitest';
import { addDays } from '../../src/day.ts';
import { isOutlastError } from '../../src/errors.ts';
import type { Day, ListedResource, Resource } from '../../src/model.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { withSnapshot } from '../../src/store/snapshot.ts';
import { archivedOf } from '../../src/store/record-tables.ts';
import { rebuild, type Rebuilt } from '../../src/sync/rebuild.ts';
import { checkRecords } from '../../src/verify/check-records.ts';
import { createBench, differences, type Bench } from '../support/archive.ts';
import { orderOf } from '../support/days.ts';
import { setUp } from '../support/fresh.ts';
import { observe, waitedFor } from '../support/observe.ts';
import { createUnlisted, type Unlisted } from '../support/unlisted.ts';

let bench: Bench;
let owner: Db;
setUp(async (keep) => {
  const world = { ordersPerDay: 20, classesPerDay: 10, pendingShare: 0.1, quietShare: 0 };
  const days = ['2026-03-01', '2026-04-04', '2026-04-05', '2026-04-06'];
  bench = await keep(createBench({ world: { ...world, since: '2026-04-04' }, days }));
  // Whoever owns the tables may do what the service cannot.
  const { connectionString } = bench;
  owner = await keep(openDb({ connectionString, role: null, log: bench.worker.log }));
  expect(await bench.run()).toMatchObject({ outcome: 'done', problem: null });
});

const rebuiltOf = (
  db: Db,
  of: Parameters<typeof rebuild>[1],
  more: Partial<Parameters<typeof rebuild>[2]> = {},
): Promise<Rebuilt> => {
  const { signal } = new AbortController();
  return rebuild(db, of, { signal, afresh: false, onProgress: () => undefined, ...more });
};

const rebuilt = (
  resource: ListedResource = 'orders',
  { db = bench.db, ...more }: { db?: Db } & Parameters<typeof rebuiltOf>[2] = {},
): Promise<Rebuilt> => rebuiltOf(db, { projectId: 'p', resource }, more);

/** What does not follow from the records held, as verify sees it. */
async function findings(resource: ListedResource = 'orders'): Promise<string[]> {
  const found: string[] = [];
  await withSnapshot(bench.db, (tx) =>
    checkRecords(
      tx,
      { projectId: 'p', resource },
      null,
      ({ kind, id, says }) => void found.push(`${kind} ${id}: ${says}`),
      { records: 0, versions: 0 },
      () => undefined,
    ),
  );
  return found;
}

type Fingerprint = Map<string, string>;

/** Everything that tells whether a row was written, by id: its place, its transaction. */
async function fingerprint(resource: ListedResource = 'orders'): Promise<Fingerprint> {
  const key = resource === 'orders' ? 'operation_id' : 'id';
  const { rows } = await bench.db.query<{ id: string; print: string }>(
    `select ${key} as id, concat(ctid, ' ', xmin, ' ', changed_at) as print from archive.${resource}`,
  );
  return new Map(rows.map((row) => [row.id, row.print]));
}

const moved = (before: Fingerprint, after: Fingerprint): string[] =>
  [...after]
    .filter(([id, print]) => before.get(id) !== print)
    .map(([id]) => id)
    .toSorted();

async function someIds(count: number, skip = 0): Promise<string[]> {
  const { rows } = await bench.db.query<{ id: string }>(
    `select operation_id as id from archive.orders where created_at is not null
      order by operation_id limit $1 offset $2`,
    [count, skip],
  );
  return rows.map((row) => row.id);
}

describe('typed columns altered by hand', () => {
  test('are what their records say again, counted by column; no other row is touched', async () => {
    const [first = '', second = '', third = ''] = await someIds(3, 10);
    await owner.query(
      `update archive.orders set status = 7, message = null where operation_id = $1`,
      [first],
    );
    await owner.query(`update archive.orders set status = null where operation_id = $1`, [second]);
    await owner.query(
      `update archive.orders set unread = '{amount}', amount = 17 where operation_id = $1`,
      [third],
    );
    const kept = `select operation_id, observed_at, first_seen_at, raw_sha256, raw, missing_since from archive.orders order by 1`;
    const contents = (await bench.db.query(kept)).rows;
    const before = await fingerprint();
    expect(await findings()).toHaveLength(3);
    const report = await rebuilt();
    expect(report).toMatchObject({
      done: true,
      resumed: false,
      rowsRead: before.size,
      rowsChanged: 3,
      changes: { status: 2, message: 1, unread: 1, amount: 1 },
      altered: [],
      returned: 0,
    });
    expect(await findings()).toEqual([]);
    expect(moved(before, await fingerprint())).toEqual([first, second, third]);
    expect((await bench.db.query(kept)).rows).toEqual(contents);
    expect(await differences(bench)).toEqual([]);
  });

  test('of versions, too, each content by itself; nothing else of them is touched', async () => {
    const shown = (nft_count: unknown): Record<string, unknown> => ({
      id: 'v',
      timestamp: '2026-04-05T10:00:00Z',
      nft_count,
    });
    bench.simulator.insert('nft_classes', {
      record: shown(1),
      at: Date.parse('2026-04-05T10:00:00Z'),
    });
    const again = { only: { days: { from: '2026-04-05', to: '2026-04-06' } } };
    for (const count of [1, 'many', 3]) {
      bench.simulator.mutate('nft_classes', 'v', () => shown(count));
      await bench.run(again);
      bench.simulator.advance(60_000);
    }
    const typed = `select nft_count, unread from archive.nft_class_versions where id = 'v' order by observed_at`;
    const before = [
      { nft_count: '1', unread: [] },
      { nft_count: null, unread: ['nft_count'] },
    ];
    expect((await bench.db.query(typed)).rows).toEqual(before);
    const untyped = `select id, observed_at, raw, raw_sha256 from archive.nft_class_versions order by 1, 2`;
    const contents = (await bench.db.query(untyped)).rows;
    // P5, sabotaged: verify names each of them.
    await owner.query(
      `update archive.nft_class_versions set nft_count = 7, owner = 'x', unread = '{}' where id = 'v'`,
    );
    expect(await findings('nft_classes')).toEqual([
      expect.stringMatching(
        /^column v: the version observed at .*: nft_count is "7" and the record says "1"; owner is "x"/,
      ),
      expect.stringMatching(
        /^column v: the version observed at .*; unread is "" and the record says "nft_count"$/,
      ),
    ]);
    expect(await rebuilt('nft_classes')).toMatchObject({
      rowsChanged: 2,
      changes: { nft_count: 2, owner: 2, unread: 1 },
    });
    expect(await findings('nft_classes')).toEqual([]);
    expect((await bench.db.query(typed)).rows).toEqual(before);
    expect((await bench.db.query(untyped)).rows).toEqual(contents);
  });

  test('say when they changed, never earlier than what a sync has written', async () => {
    const [id = ''] = await someIds(1);
    await owner.query(`update archive.orders set status = 7 where operation_id = $1`, [id]);
    // A platform that is ahead of this machine.
    await bench.db.query(`update sync.runs set ended_at = '2100-01-01'`);
    await rebuilt();
    const { rows } = await bench.db.query(
      `select operation_id, changed_at from archive.orders order by changed_at desc limit 1`,
    );
    expect(rows).toEqual([{ operation_id: id, changed_at: '2100-01-01T00:00:00Z' }]);
    await bench.db.query(`update sync.runs set ended_at = '2026-04-06T12:00:00Z'`);
  });
});

test('what its chain says of how many records are held is counted again', async () => {
  const total = async (): Promise<unknown> =>
    (
      await bench.db.query(
        `select records::int from analytics.record_totals where resource = 'orders'`,
      )
    ).rows;
  const before = await total();
  await owner.query(`update sync.chains set orders = orders + 7`);
  expect(await total()).not.toEqual(before);
  await rebuilt();
  expect(await total()).toEqual(before);
});

test('where everything follows no row is written, not even its system columns; sabotaged: one that writes on touch', async () => {
  const before = await fingerprint();
  expect(await rebuilt()).toMatchObject({ rowsChanged: 0, changes: {}, altered: [] });
  expect(moved(before, await fingerprint())).toEqual([]);
  await bench.db.query(`update archive.orders set status = status where slice_day = '2026-04-04'`);
  expect(moved(before, await fingerprint()).length).toBeGreaterThan(0);
});

test('a record whose time cannot be read keeps the day it was asked for; one with original bytes is derived from those', async () => {
  bench.simulator.insert('orders', {
    record: { operation_id: 'timeless', status: 2, create_time: 'some day' },
    at: Date.parse('2026-04-05T10:00:00Z'),
  });
  bench.simulator.insert('orders', {
    text: '{"operation_id":"with-nul","status":2,"create_time":"2026-04-05T10:00:00Z","message":"a\\u0000b"}',
  });
  await bench.run({
    only: { resource: 'orders', days: { from: '2026-04-05', to: '2026-04-06' } },
  });
  await owner.query(`update archive.orders set status = 3 where operation_id = 'timeless'`);
  await owner.query(`update archive.orders set message = 'x' where operation_id = 'with-nul'`);
  expect(await rebuilt()).toMatchObject({
    rowsChanged: 2,
    changes: { status: 1, message: 1 },
    altered: [],
  });
  expect(await findings()).toEqual([]);
  const { rows } = await bench.db.query(
    `select slice_day, created_at, unread from archive.orders where operation_id = 'timeless'`,
  );
  expect(rows).toEqual([{ slice_day: '2026-04-05', created_at: null, unread: ['create_time'] }]);
});

describe('rejects that have a usable id by now', () => {
  const seenAt = '2026-04-05T12:00:00.000Z';
  const reject = (text: string): Promise<unknown> =>
    owner.query(
      `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
       values ('p', 'orders', sha256($1), $1, 'an older release could not read it', '', '2026-04-05', $2)`,
      [Buffer.from(text), seenAt],
    );
  const count = async (): Promise<number> =>
    (await bench.db.query(`select from sync.rejects`)).rows.length;

  test('become records of the moment they were seen; the others stay', async () => {
    await reject('{"operation_id":"returned","status":1,"create_time":"2026-04-05T10:00:00Z"}');
    await reject('{"operation_id":"","status":1}');
    await reject('no JSON at all');
    expect(await rebuilt()).toMatchObject({ returned: 1, done: true });
    expect(await count()).toBe(2);
    const { rows } = await bench.db.query(
      `select status, slice_day, observed_at, first_seen_at from archive.orders where operation_id = 'returned'`,
    );
    const at = '2026-04-05T12:00:00Z';
    expect(rows).toEqual([
      { status: 1, slice_day: '2026-04-05', observed_at: at, first_seen_at: at },
    ]);
  });

  test('P2: never replace what is newer; what they said is kept as a version (P5)', async () => {
    bench.simulator.insert('orders', {
      record: {
        operation_id: 'held',
        status: 2,
        create_time: '2026-04-05T10:00:00Z',
        update_time: '2026-04-05T11:00:00Z',
      },
    });
    await bench.run({ only: { days: { from: '2026-04-05', to: '2026-04-06' } } });
    const before = await count();
    await reject(
      '{"operation_id":"held","status":1,"create_time":"2026-04-05T10:00:00Z","update_time":"2026-04-05T10:00:00Z"}',
    );
    expect(await rebuilt()).toMatchObject({ returned: 1 });
    expect(await count()).toBe(before);
    const { rows } = await bench.db.query(
      `select o.status, v.raw ->> 'status' as before
         from archive.orders o join archive.order_versions v using (project_id, operation_id)
        where operation_id = 'held'`,
    );
    expect(rows).toEqual([{ status: 2, before: '1' }]);
  });
});

describe('while others write', () => {
  /** The service's pool, on which something happens right after the first page of rows was read. */
  function withMeanwhile(db: Db, meanwhile: () => Promise<unknown>): Db {
    let isFirst = true;
    return {
      ...db,
      query: async (sql, parameters) => {
        const result = await db.query(sql, parameters);
        if (isFirst && sql.includes('limit $3')) {
          isFirst = false;
          await meanwhile();
        }
        return result as never;
      },
    };
  }

  test('what a sync commits in between is not lost, and follows from its own record', async () => {
    const { rows: pending } = await bench.db.query<{ id: string; day: Day }>(
      `select operation_id as id, slice_day as day from archive.orders where status = 1
        order by operation_id limit 1`,
    );
    const { id = '', day = '' } = pending[0] ?? {};
    await owner.query(`update archive.orders set message = 'altered' where operation_id = $1`, [
      id,
    ]);
    // It settles, and a sync brings the new record.
    const meanwhile = async (): Promise<unknown> => {
      const settled = { status: 3, update_time: '2026-04-06T11:59:00Z' };
      bench.simulator.mutate('orders', id, (order) => ({ ...order, ...settled }));
      return bench.run({ only: { days: { from: day, to: addDays(day, 1) } } });
    };
    const report = await rebuilt('orders', { db: withMeanwhile(bench.db, meanwhile) });
    // The version alone, which has taken over what was altered.
    expect(report).toMatchObject({
      done: true,
      rowsChanged: 1,
      changes: { message: 1 },
      altered: [],
    });
    const { rows } = await bench.db.query(
      `select status, raw ->> 'status' as says from archive.orders where operation_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ status: 3, says: '3' }]);
    expect(await findings()).toEqual([]);
  });

  test('a reject whose record a sync brings at that moment is taken back none the less', async () => {
    const text =
      '{"operation_id":"at once","status":2,"create_time":"2026-04-05T10:00:00Z","update_time":"2026-04-05T10:00:00Z"}';
    await owner.query(
      `insert into sync.rejects (project_id, resource, sha256, bytes, reason, owner, day, seen_at)
       values ('p', 'orders', sha256($1), $1, 'an older release could not read it', '', '2026-04-05', '2026-04-05T12:00:00Z')`,
      [Buffer.from(text)],
    );
    let ends: Promise<Rebuilt> | undefined;
    const list = { project: 'p', resource: 'orders', shownBy: '2026-04-05' } as const;
    await observe(bench.db, list, [text], '2026-04-06T12:00:00Z', async (tx) => {
      ends = rebuilt();
      await waitedFor(tx);
    });
    expect(await ends).toMatchObject({ returned: 1, done: true });
    expect(await findings()).toEqual([]);
  });

  test('of two rebuilds of the same list one goes on and the other is told to let it finish', async () => {
    await owner.query(`update archive.orders set status = 7`);
    const both = await Promise.allSettled([rebuilt(), rebuilt()]);
    const failed = both
      .filter((one) => one.status === 'rejected')
      .map((one) => one.reason as unknown);
    expect(failed.every((error) => isOutlastError(error, 'rebuild_overtaken'))).toBe(true);
    expect(failed.length).toBeLessThan(2);
    expect(await findings()).toEqual([]);
  });
});

test('P3: one that was cut off goes on behind the last page, with the figures of both; or begins again when told to', async () => {
  // There is more than one page of a thousand.
  for (let i = 0; i < 1_000; i++) {
    bench.simulator.insert('orders', orderOf('2026-04-05', i % 12, { operation_id: `more-${i}` }));
  }
  await bench.run({
    only: { resource: 'orders', days: { from: '2026-04-05', to: '2026-04-06' } },
  });
  /** Stops after the first page. */
  const cutOff = (): Promise<Rebuilt> => {
    const stop = new AbortController();
    return rebuilt('orders', { signal: stop.signal, onProgress: () => stop.abort() });
  };
  await owner.query(`update archive.orders set status = 7`);
  const { size } = await fingerprint();
  expect(await cutOff()).toMatchObject({ done: false, rowsRead: 1_000, rowsChanged: 1_000 });
  const before = await fingerprint();
  const counts = { rowsRead: size, rowsChanged: size, changes: { status: size } };
  expect(await rebuilt()).toMatchObject({ done: true, resumed: true, ...counts });
  expect(moved(before, await fingerprint())).toHaveLength(size - 1_000);
  expect(await rebuilt()).toMatchObject({ resumed: false, rowsRead: size, rowsChanged: 0 });

  // A reader that changed since reads all of them.
  await cutOff();
  const [first = ''] = await someIds(1);
  await owner.query(`update archive.orders set status = 7 where operation_id = $1`, [first]);
  const afresh = await rebuilt('orders', { afresh: true });
  expect(afresh).toMatchObject({ resumed: false, rowsChanged: 1 });
});

// The last: it leaves them altered.
test('an altered record is named and left alone: columns that follow from it would hide what was done', async () => {
  const [raw = '', key = ''] = await someIds(2);
  await owner.query(
    `update archive.orders set raw = raw || '{"status": 3, "message": "forged"}', status = 1 where operation_id = $1`,
    [raw],
  );
  await owner.query(
    `update archive.orders set operation_id = 'forged', status = 9 where operation_id = $1`,
    [key],
  );
  const before = await fingerprint();
  const report = await rebuilt();
  expect(report).toMatchObject({ rowsChanged: 0, alteredCount: 2 });
  expect(report.altered.toSorted()).toEqual(['forged', raw].toSorted());
  expect(moved(before, await fingerprint())).toEqual([]);
});

describe('of what no list shows', () => {
  let archive: Unlisted;
  setUp(async (keep) => void (archive = await keep(createUnlisted())));

  async function rebuiltAll(resource: Resource): Promise<Rebuilt[]> {
    const done: Rebuilt[] = [];
    for (const of of archivedOf('p', resource)) done.push(await rebuiltOf(archive.db, of));
    return done;
  }

  const unlistedFindings = async (): Promise<string[]> =>
    (await archive.verify({ resources: ['transactions', 'tokens'] })).findings.map(
      ({ kind, id, says }) => `${kind} ${id}: ${says}`,
    );

  // Of results each of its own lookup; a token keeps the height at which it was observed.
  test.each<[string, Resource, string]>([
    [
      'transactions',
      'transactions',
      `status = 7, nft = '{"x": 1}', mt = '[]', record = null, block_height = 1, confirmed_at = null, unread = '{}'`,
    ],
    [
      'tokens',
      'tokens',
      `scale = null, max_supply = 1, mintable = null, mint_fee_amount = 7, unread = '{}'`,
    ],
    ['transaction_versions', 'transactions', `status = 7, record = '[]', operation = null`],
    ['token_versions', 'tokens', `scale = null, mint_fee_amount = 7, unread = '{x}'`],
  ])('the typed columns of %s are what their records say again', async (table, resource, set) => {
    const columns = async (): Promise<unknown[]> =>
      (
        await archive.db.query(
          `select to_jsonb(t) - 'changed_at' as row from archive.${table} t order by (to_jsonb(t) - 'changed_at')::text`,
        )
      ).rows;
    const before = await columns();
    expect(before).not.toEqual([]);
    await archive.owner.query(`update archive.${table} set ${set}`);
    expect((await unlistedFindings()).length).toBeGreaterThanOrEqual(before.length);
    const changed = (await rebuiltAll(resource)).map(({ rowsChanged }) => rowsChanged);
    expect(changed.reduce((sum, one) => sum + one, 0)).toBe(before.length);
    expect(await unlistedFindings()).toEqual([]);
    expect(await columns()).toEqual(before);
  });

  test('a token that was set aside and can be read by now becomes one, as of the moment it was seen', async () => {
    const element = `{"type":"t","value":{"symbol":"late","name":"L","scale":3}}`;
    await archive.owner.query(
      `insert into sync.rejects (project_id, resource, owner, day, sha256, bytes, reason, seen_at)
       values ('p', 'tokens', '', '0001-01-01', sha256($1::bytea), $1::bytea, 'symbol is missing', '2026-04-05T00:00:00Z')`,
      [element],
    );
    expect(await rebuiltAll('tokens')).toMatchObject([{ returned: 1 }]);
    const { rows } = await archive.db.query(
      `select scale, issue_fee_amount, height, observed_at from archive.tokens where symbol = 'late'`,
    );
    expect(rows).toEqual([
      { scale: 3, issue_fee_amount: null, height: null, observed_at: '2026-04-05T00:00:00Z' },
    ]);
    // The one that still has no symbol stays.
    const left = await archive.db.query(`select from sync.rejects where resource = 'tokens'`);
    expect(left.rows).toHaveLength(1);
    expect(await unlistedFindings()).toEqual([]);
  });

  test('P3: one that was cut off goes on, each lookup for itself', async () => {
    await archive.owner.query('delete from sync.rebuilds');
    await archive.db.query(
      `insert into sync.rebuilds (project_id, resource, started_at, done_up_to, rows_read)
       values ('p', 'transactions.v3', now(), 'nul', 5)`,
    );
    const [v1beta1, v3] = await rebuiltAll('transactions');
    expect(v1beta1).toMatchObject({ resumed: false, rowsRead: 8 });
    // Behind it: plain.
    expect(v3).toMatchObject({ resumed: true, rowsRead: 6, done: true });
  });
});

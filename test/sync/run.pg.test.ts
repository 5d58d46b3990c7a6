// Runs against a platform that misbehaves, changes and repeats itself: the archive ends exact, and a run that finds
// nothing new costs next to nothing.
import { afterEach, describe, expect, test } from 'vitest';
import type { Faults } from '../../src/simulator/faults.ts';
import { untilToday } from '../../src/sync/enter-days.ts';
import { run } from '../../src/sync/run.ts';
import type { Worker } from '../../src/sync/worker.ts';
import { openDb } from '../../src/store/db.ts';
import { differences, fiveDays, type Bench } from '../support/archive.ts';
import { threeDaysOfRecords } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const oneOrTwo = { ordersPerDay: 2, classesPerDay: 0, quietShare: 0, pendingShare: 0 };
/** A page of each list a day. */
const lessADay = { ...fiveDays, world: { ...fiveDays.world, ordersPerDay: 12, classesPerDay: 4 } };
const ordersOnly = { scope: { classes: 'none' } } as const;
const minute = 60_000;
const hour = 60 * minute;

/** Everything that tells whether a row was written: its place, its transaction, its content. */
async function fingerprint(): Promise<unknown> {
  const { rows } = await bench.db.query(
    `select (select md5(string_agg(o.ctid::text || o.xmin::text || o.operation_id, ',' order by operation_id))
               from archive.orders o) as orders,
            (select md5(string_agg(c.ctid::text || c.xmin::text || c.id, ',' order by id))
               from archive.nft_classes c) as classes,
            (select count(*) from archive.order_versions) as order_versions,
            (select count(*) from archive.nft_class_versions) as class_versions`,
  );
  return rows[0];
}

test('a sync repeated writes no row of archive, and costs one request per resource; nor does walking every day again', async () => {
  bench = await createBench(fiveDays);
  await bench.run();
  const before = await fingerprint();
  // What is told of the time by slow answers may be half a second ahead: by then today is due again.
  bench.simulator.advance(5_000);
  const again = await bench.run();
  expect(await fingerprint()).toEqual(before);
  // The project is given back.
  const held = await bench.db.query('select from sync.holders where holder is not null');
  expect(held.rows).toEqual([]);
  expect(again).toMatchObject({ outcome: 'done', requests: 2, recordsNew: 0, recordsChanged: 0 });
  const walked = await bench.run({ only: { days: { from: '2026-04-02', to: '2026-04-07' } } });
  expect(walked).toMatchObject({ outcome: 'done', slicesDone: 2 * 5 });
  expect(await fingerprint()).toEqual(before);
});

test('sabotaged: a write on touch changes the fingerprint; a row altered, deleted or invented is a difference', async () => {
  bench = await createBench(lessADay);
  await bench.run();
  const before = await fingerprint();
  await bench.db.query(
    `update archive.orders set changed_at = changed_at where slice_day = '2026-04-03'`,
  );
  expect(await fingerprint()).not.toEqual(before);
  expect(await differences(bench)).toEqual([]);
  const owner = await openDb({
    connectionString: bench.connectionString,
    role: null,
    log: bench.worker.log,
  });
  await owner.query(
    `delete from archive.orders where operation_id = (select min(operation_id) from archive.orders)`,
  );
  await owner.query(
    `update archive.orders set raw = raw || '{"message": "altered"}'
      where operation_id = (select max(operation_id) from archive.orders)`,
  );
  await owner.query(
    `insert into archive.nft_classes select project_id, 'invented', name, symbol, nft_count, uri, owner, tx_hash,
            created_at, slice_day, raw, raw_bytes, raw_sha256, unread, observed_at, first_seen_at, changed_at
       from archive.nft_classes limit 1`,
  );
  await owner.close();
  expect(await differences(bench)).toHaveLength(3);
});

describe('faults end in an exact archive', () => {
  const faults: [string, Partial<Faults>][] = [
    [
      'errors: 429 with Retry-After, 500, 502 with HTML',
      {
        tooMany: { share: 0.05, retryAfter: 0 },
        serverError: { share: 0.05 },
        htmlPage: { share: 0.05, status: 502 },
      },
    ],
    [
      'answers of no use: 200 with HTML, text 404, truncated bodies',
      {
        htmlPage: { share: 0.05 },
        textNotFound: { share: 0.05 },
        truncated: { share: 0.05 },
      },
    ],
    ['connection reset', { reset: { share: 0.1 } }],
    [
      'a hang, and a wrong Date now and then',
      { hang: { next: 1 }, wrongDate: { next: 2, ms: 3_000 } },
    ],
    ['records shown twice', { duplicated: { share: 0.1 } }],
  ];
  test.each(faults)('%s', async (_name, given) => {
    bench = await createBench({ ...fiveDays, faults: given, timeoutMs: 1_000 });
    let report = await bench.run();
    // Whatever could not be done is due again later; "later" comes here at once.
    for (let i = 0; i < 6 && report.outcome !== 'done'; i++) {
      report = await bench.runLater(hour);
    }
    bench.simulator.setFaults({ duplicated: null });
    expect(report.outcome).toBe('done');
    // Every day is read whole once a day: what has changed meanwhile is seen.
    await bench.runLater(25 * hour);
    expect(await differences(bench)).toEqual([]);
  });

  test('records hidden while totals count them: no day is called proved that lacks one', async () => {
    bench = await createBench({
      ...fiveDays,
      faults: { dropped: { path: '/v3/orders' } },
    });
    await bench.seal();
    // From the other end other ones are hidden: those that both ends together showed lack in neither.
    expect(await falseSeals(bench)).toEqual([]);
    bench.simulator.setFaults({ dropped: null });
    await bench.runLater(7 * hour);
    expect(await differences(bench)).toEqual([]);
    await bench.runLater(2 * hour + minute);
    expect(await falseSeals(bench)).toEqual([]);
  });

  test('totals that lie: never proved, and said', async () => {
    bench = await createBench({ ...lessADay, faults: { lyingTotal: { by: 1 } } });
    await bench.seal();
    const { rows } = await bench.db.query(
      `select why, bool_or(proof <> 'none') as proved from sync.slices
        where resource = 'orders' and day between '2026-04-02' and '2026-04-05' group by why`,
    );
    expect(rows).toEqual([{ why: 'counts more', proved: false }]);
  });
});

describe('a platform that changes while it is read', () => {
  test('hours pass every second: orders arrive and settle, counts and owners change', async () => {
    bench = await createBench({ ...fiveDays, speed: 4 * 3600, dialect: { toleranceMs: 0 } });
    for (let i = 0; i < 3; i++) await bench.run();
    await standStill();
    expect(await differences(bench)).toEqual([]);
  });

  /** Stops the clock, lets pending orders and classes fall due, and syncs what is left. */
  async function standStill(): Promise<void> {
    bench.simulator.clock.setSpeed(0);
    for (let i = 0; i < 3; i++) {
      await bench.run({ only: { days: { from: '2026-04-01', to: untilToday } } });
    }
  }

  const days = ['2026-03-01', '2026-04-03', '2026-04-06'];

  test('an order that settles is seen, and what it said before is a version', async () => {
    bench = await createBench({
      days,
      records: {
        orders: [order('o1', '2026-04-03', 1), order('o2', '2026-04-03', 2)],
        classes: [],
      },
    });
    await bench.run();
    bench.simulator.mutate('orders', 'o1', (record) => ({
      ...record,
      status: 2,
      update_time: '2026-04-06T12:10:00Z',
    }));
    expect((await bench.runLater(2 * hour + minute)).outcome).toBe('done');
    expect(await differences(bench)).toEqual([]);
    const { rows } = await bench.db.query(
      `select operation_id, raw->>'status' as status from archive.order_versions`,
    );
    expect(rows).toEqual([{ operation_id: 'o1', status: '1' }]);
  });

  test('P4: a record that is no longer shown stays, marked since when, until it is shown again', async () => {
    bench = await createBench({
      days,
      records: { orders: ['a', 'b', 'c'].map((id) => order(id, '2026-04-03', 2)), classes: [] },
    });
    await bench.run();
    bench.simulator.hide('orders', 'b');
    const again = { only: { days: { from: '2026-04-03', to: '2026-04-04' } } };
    await bench.run(again);
    const missing = () =>
      bench.db.query('select operation_id from archive.orders where missing_since is not null');
    expect((await missing()).rows).toEqual([{ operation_id: 'b' }]);
    bench.simulator.insert('orders', order('b', '2026-04-03', 2));
    await bench.run(again);
    expect((await missing()).rows).toEqual([]);
  });

  function order(id: string, day: string, status: number) {
    return {
      text: JSON.stringify({
        operation_id: id,
        status,
        create_time: `${day}T10:00:00Z`,
        update_time: `${day}T10:00:00Z`,
      }),
    };
  }
});

describe('pending orders', () => {
  const pending = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      record: {
        operation_id: `p${i}`,
        status: i % 3 === 0 ? 1 : 2,
        create_time: `2026-04-0${1 + (i % 4)}T10:00:00Z`,
        update_time: '2026-04-05T10:00:00Z',
      },
    }));
  const withPending = ['2026-04-01', '2026-04-02', '2026-04-03', '2026-04-04', '2026-04-06'];
  const settled = (record: Record<string, unknown>) => ({
    ...record,
    status: 2,
    update_time: '2026-04-06T12:10:00Z',
  });

  test('today’s are looked for too, wherever in the day they stand', async () => {
    const today = Array.from({ length: 120 }, (_, i) => ({
      record: {
        operation_id: `t${i}`,
        status: i === 0 ? 1 : 2,
        create_time: `2026-04-06T10:${String(Math.floor(i / 2)).padStart(2, '0')}:00Z`,
        update_time: '2026-04-06T11:00:00Z',
      },
    }));
    bench = await createBench({ days: withPending, records: { orders: today, classes: [] } });
    await bench.run();
    bench.simulator.mutate('orders', 't0', settled);
    await bench.runLater(16 * minute);
    expect(await differences(bench)).toEqual([]);
  });

  test('are seen to settle where page keys expire, and their days are sealed', async () => {
    bench = await createBench({
      days: withPending,
      records: { orders: pending(360), classes: [] },
      dialect: { keyLifeRequests: 5, keyExpired: 'refuse' },
    });
    await bench.run();
    for (let i = 0; i < 360; i += 3) bench.simulator.mutate('orders', `p${i}`, settled);
    await bench.runLater(2 * hour + minute);
    expect(await differences(bench)).toEqual([]);
    const { rows } = await bench.db.query(
      `select 1 from sync.slices
        where resource = 'orders' and day = any ($1) and day < '2026-04-06' and state <> 'sealed'`,
      [withPending],
    );
    expect(rows).toEqual([]);
  });
});

describe('sealed days', () => {
  const day = 24 * hour;
  const states = async (): Promise<Record<string, number>> => {
    const { rows } = await bench.db.query<{ state: string; n: number }>(
      `select state, count(*)::int as n from sync.slices
        where resource = 'orders' and deadline_at < '9999-01-01' group by 1`,
    );
    return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
  };
  const record = (id: string, on: string, status = 2) => ({
    record: {
      operation_id: id,
      status,
      create_time: `${on}T10:00:00Z`,
      update_time: `${on}T10:00:00Z`,
    },
  });
  const threeDays = (): Promise<Bench> =>
    createBench({
      days: threeDaysOfRecords.days,
      records: {
        orders: ['2026-04-01', '2026-04-02', '2026-04-03'].map((on) => record(`o-${on}`, on)),
        classes: [],
      },
    });

  test('P6: every past day of an honest platform is sealed, and read once a day', async () => {
    bench = await threeDays();
    await bench.seal();
    // That a day shows nothing is believed a day later; the day before one with records shows those.
    expect(await states()).toEqual({ sealed: 4, walked: 2, open: 1 });
    // A reading a moment too early would confirm nothing, and the next one came much later.
    bench.simulator.advance(day);
    await bench.run();
    bench.simulator.advance(minute);
    await bench.run();
    expect(await states()).toEqual({ sealed: 6, walked: 1, open: 1 });
    bench.simulator.advance(day + minute);
    await bench.run();
    bench.simulator.advance(day + minute);
    const daily = await bench.run();
    // Ten days of orders and of classes, some of two requests, the books of both, the probe and the tails.
    expect(daily.requests).toBeLessThanOrEqual(3 * 20 + 40);
    expect(await states()).toMatchObject({ open: 1 });
  });

  test('an end date that is read otherwise from now on makes no seal false', async () => {
    bench = await threeDays();
    await bench.seal();
    bench.simulator.setDialect({ dayEnd: 'exclusive' });
    await bench.runLater(day);
    expect(await falseSeals(bench)).toEqual([]);
    for (let i = 0; i < 3; i++) await bench.runLater(day);
    expect(await differences(bench)).toEqual([]);
    expect(await falseSeals(bench)).toEqual([]);
    const { rows } = await bench.db.query(
      `select day from sync.slices
        where resource = 'orders' and day between '2026-04-01' and '2026-04-03' and state <> 'sealed'`,
    );
    expect(rows).toEqual([]);
  });
});

describe('the key and the source', () => {
  test('P11: a final 403 parks the project; a tick lets it rest, an explicit sync asks again', async () => {
    bench = await createBench({ days: ['2026-03-01', '2026-04-06'], world: oneOrTwo }, ordersOnly);
    await bench.run();
    bench.simulator.setFaults({ forbidden: {} });
    expect((await bench.run()).outcome).toBe('parked');
    const asked = bench.worker.platform.requests();
    expect(await bench.run()).toMatchObject({ outcome: 'parked', requests: 0 });
    expect(bench.worker.platform.requests()).toBe(asked);
    bench.simulator.setFaults({ forbidden: null });
    expect((await bench.run({ evenIfParked: true })).outcome).toBe('done');
    expect((await bench.run()).outcome).toBe('done');
  });

  test('a rotated key of the same project just works; another source is refused before anything is written', async () => {
    bench = await createBench({
      ...fiveDays,
      projects: [
        { apiKey: 'old-key', apiSecret: 'old-secret', name: 'one' },
        { apiKey: 'new-key', apiSecret: 'new-secret', name: 'one' },
      ],
    });
    await bench.run();
    const { signal } = new AbortController();
    const rotated = { ...bench.worker, source: { ...bench.worker.source, apiKey: 'new-key' } };
    expect(await run(rotated, { signal })).toMatchObject({ outcome: 'done' });
    const before = await fingerprint();
    const other = await createBench({ ...fiveDays, seed: 99 });
    try {
      const mixed: Worker = { ...other.worker, db: bench.db, holder: bench.worker.holder };
      await expect(run(mixed, { signal })).rejects.toMatchObject({
        code: 'source_changed',
        kind: 'settings',
        message: expect.stringMatching(
          /^The address or key of project .* has changed, .*--accept-new-source/,
        ) as string,
      });
      expect(await fingerprint()).toEqual(before);
    } finally {
      await other.close();
    }
  });
});

test('P7: days that passed while the service was off are accounted for, and what was overtaken is lost', async () => {
  bench = await createBench({ world: oneOrTwo }, ordersOnly);
  await bench.run();
  // Off from 6 April until 9 June: all of March and the rest of April have gone by then.
  bench.simulator.setNow(Date.parse('2026-06-09T12:00:00Z'));
  for (let i = 0; i < 3; i++) {
    await bench.run();
  }
  const { rows } = await bench.db.query<{ month: string; state: string; days: number }>(
    `select to_char(day, 'YYYY-MM') as month, replace(state, 'sealed', 'walked') as state,
            count(*)::int as days
       from sync.slices where resource = 'orders' group by 1, 2 order by 1, 2`,
  );
  expect(rows).toEqual([
    { month: '2026-03', state: 'final', days: 31 },
    { month: '2026-04', state: 'final', days: 5 },
    { month: '2026-04', state: 'lost', days: 25 },
    { month: '2026-05', state: 'walked', days: 31 },
    { month: '2026-06', state: 'open', days: 1 },
    { month: '2026-06', state: 'walked', days: 8 },
  ]);
});

test('P7: what was overtaken while the platform did nothing but fail, since the first start, is lost', async () => {
  bench = await createBench(
    { world: oneOrTwo, faults: { serverError: { status: 503 } } },
    ordersOnly,
  );
  expect((await bench.run()).outcome).toBe('left');
  bench.simulator.setFaults({ serverError: null });
  await bench.runLater(60 * 24 * hour);
  await bench.runLater(2 * hour + minute);
  const { rows } = await bench.db.query<{ first: string; state: string; days: number }>(
    `select min(day) as first, state, count(*)::int as days from sync.slices where resource = 'orders' group by state order by 1`,
  );
  expect(rows).toEqual([
    { first: '2026-03-01', state: 'lost', days: 61 },
    { first: '2026-05-01', state: 'sealed', days: 35 },
    { first: '2026-06-05', state: 'open', days: 1 },
  ]);
});

test('P7: a project that was refused while the clocks disagreed claims no day that was gone before', async () => {
  bench = await createBench({ world: oneOrTwo, faults: { forbidden: {} } }, ordersOnly);
  for (const aheadMs of [-366 * 24 * hour, 60 * 24 * hour]) {
    bench.machine.aheadMs = aheadMs;
    await bench.restart();
    expect((await bench.run({ evenIfParked: true })).outcome).toBe('parked');
  }
  bench.machine.aheadMs = 0;
  bench.simulator.setFaults({ forbidden: null });
  await bench.restart();
  await bench.run({
    evenIfParked: true,
    only: { days: { from: '2026-04-05', to: '2026-04-06' } },
  });
  const { rows } = await bench.db.query(
    'select min(day) as first, min(first_day) as said from sync.slices join sync.projects using (project_id)',
  );
  expect(rows).toEqual([{ first: '2026-03-01', said: '2026-03-01' }]);
});

test('a platform that stops filtering by date: nothing is lost, and no seal is false', async () => {
  bench = await createBench(lessADay);
  await bench.seal();
  bench.simulator.setDialect({ dates: 'ignored' });
  for (let i = 0; i < 2; i++) {
    await bench.runLater(24 * hour);
    expect(await falseSeals(bench)).toEqual([]);
  }
  expect(await differences(bench)).toEqual([]);
});

test('days outside the window are refused with what to do, and days that have not come', async () => {
  bench = await createBench(fiveDays);
  await expect(
    bench.run({ only: { days: { from: '2026-01-01', to: '2026-01-02' } } }),
  ).rejects.toMatchObject({
    code: 'outside_window',
    message: expect.stringContaining('from 2026-03-01 on') as string,
  });
  await expect(
    bench.run({ only: { days: { from: '2026-04-06', to: '2026-04-09' } } }),
  ).rejects.toMatchObject({ code: 'outside_window' });
});

// Runs against a platform that misbehaves, changes, moves away or is silent for weeks: the archive ends exact, and the
// ledger accounts for every day.
import { describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Faults } from '../../src/simulator/faults.ts';
import { run } from '../../src/sync/run.ts';
import type { Worker } from '../../src/sync/worker.ts';
import { differences, fiveDays, type Bench } from '../support/archive.ts';
import { queryAt } from '../support/client.ts';
import { copied } from '../support/tamperings.ts';
import { classOf, orderOf, statesOf, threeDays, threeDaysOfRecords } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;

const oneOrTwo = { ordersPerDay: 2, classesPerDay: 0, quietShare: 0, pendingShare: 0 };
/** A page of each list a day. */
const lessADay = { ...fiveDays, world: { ...fiveDays.world, ordersPerDay: 12, classesPerDay: 4 } };
const ordersOnly = { scope: { classes: 'none' } } as const;
const minute = 60_000;
const hour = 60 * minute;

test('sabotaged: a row altered, deleted or invented is a difference', async () => {
  bench = await createBench(lessADay);
  await bench.run();
  expect(await differences(bench)).toEqual([]);
  await queryAt(
    bench.connectionString,
    `delete from archive.orders where operation_id = (select min(operation_id) from archive.orders);
     update archive.orders set raw = raw || '{"message": "altered"}'
      where operation_id = (select max(operation_id) from archive.orders);
     ${copied('archive.nft_classes', 'limit 1', { id: `'invented'` })}`,
  );
  expect(await differences(bench)).toHaveLength(3);
});

describe('faults end in an exact archive', () => {
  const share = 0.05;
  const faults: [string, Partial<Faults>][] = [
    [
      'errors, answers of no use, connections that are reset',
      {
        tooMany: { share, retryAfter: 0 },
        serverError: { share },
        htmlPage: { share },
        textNotFound: { share },
        truncated: { share },
        reset: { share },
      },
    ],
    [
      'a hang, a wrong Date now and then, records shown twice',
      { hang: { next: 1 }, wrongDate: { next: 2, ms: 3_000 }, duplicated: { share: 0.1 } },
    ],
  ];
  test.each(faults)('%s', async (_name, given) => {
    bench = await createBench({ ...lessADay, faults: given, timeoutMs: 1_000 });
    let report = await bench.run();
    // Whatever could not be done is due again later; "later" comes here at once.
    for (let i = 0; i < 6 && report.outcome !== 'done'; i++) {
      report = await bench.runLater(hour);
    }
    expect(report.outcome).toBe('done');
    // The project is given back.
    const held = await bench.db.query('select from sync.holders where holder is not null');
    expect(held.rowCount).toBe(0);
    bench.simulator.setFaults({ duplicated: null });
    // Every day is read whole once a day: what has changed meanwhile is seen.
    await bench.runLater(25 * hour);
    expect(await differences(bench)).toEqual([]);
  });
});

/** Each of the three days of orders. */
async function expectSealed(): Promise<void> {
  const { orders = [] } = await statesOf(bench.db);
  expect(orders.map((state) => state.split(' ')[0])).toEqual(Array(3).fill('sealed'));
}

const settled = (record: Record<string, unknown>) => ({
  ...record,
  status: 2,
  update_time: '2026-04-06T12:10:00Z',
});

test('orders that settle are seen, also of today and where page keys expire; what they said is a version, and their days are sealed', async () => {
  const { days, dialect } = threeDaysOfRecords;
  const pending = [...threeDays, '2026-04-06'].map((on) => `o-${on}-7`);
  const orders = [...threeDays, '2026-04-06'].flatMap((on) =>
    Array.from({ length: 11 }, (_, i) =>
      orderOf(on, i, { status: i === 7 ? 1 : 2, update_time: `${on}T11:30:00Z` }),
    ),
  );
  bench = await createBench({
    days,
    records: { orders, classes: [] },
    dialect: { ...dialect, keyLifeRequests: 5, keyExpired: 'refuse' },
  });
  await bench.run();
  for (const id of pending) bench.simulator.mutate('orders', id, settled);
  // Today's are looked for too, and soon, wherever in the day they stand.
  await bench.runLater(16 * minute);
  expect((await differences(bench)).map(({ id }) => id)).not.toContain('o-2026-04-06-7');
  await bench.runLater(2 * hour);
  expect(await differences(bench)).toEqual([]);
  const { rows: versions } = await bench.db.query(
    `select operation_id as id from archive.order_versions where raw ->> 'status' = '1' order by 1`,
  );
  expect(versions.map(({ id }) => id)).toEqual(pending);
  await expectSealed();
});

test.each<Partial<Dialect>>([{ dayEnd: 'exclusive' }, { dates: 'ignored' }])(
  'a platform that reads dates otherwise from now on, %o: nothing is lost, and no seal is false',
  async (dialect) => {
    bench = await createBench({
      days: threeDaysOfRecords.days,
      records: { orders: threeDays.map((on) => orderOf(on, 1)), classes: [] },
    });
    await bench.seal();
    bench.simulator.setDialect(dialect);
    for (let i = 0; i < 4; i++) {
      // What is due in a day is due by then: the two clocks agree to some milliseconds only.
      await bench.runLater(24 * hour + minute);
      if (i % 3 === 0) expect(await falseSeals(bench)).toEqual([]);
    }
    expect(await differences(bench)).toEqual([]);
    await expectSealed();
  },
);

test('a rotated key of the same project just works; another source is refused before anything is written', async () => {
  bench = await createBench({
    ...lessADay,
    projects: [
      { apiKey: 'old-key', apiSecret: 'old-secret', name: 'one' },
      { apiKey: 'new-key', apiSecret: 'new-secret', name: 'one' },
    ],
  });
  await bench.run();
  const { signal } = new AbortController();
  const rotated = { ...bench.worker, source: { ...bench.worker.source, apiKey: 'new-key' } };
  expect(await run(rotated, { signal })).toMatchObject({ outcome: 'done' });
  const other = await createBench({ ...lessADay, seed: 99 });
  const mixed: Worker = { ...other.worker, db: bench.db, holder: bench.worker.holder };
  await expect(run(mixed, { signal })).rejects.toMatchObject({
    code: 'source_changed',
    kind: 'settings',
    message: expect.stringMatching(
      /^The address or key of project .* has changed, .*--accept-new-source/,
    ) as string,
  });
  expect(await differences(bench)).toEqual([]);
});

test('a rotated key works too where a long day was last read from its newer end', async () => {
  const [on] = threeDays;
  const orders = Array.from({ length: 20 }, (_, i) => orderOf(on, i));
  bench = await createBench(
    { days: [on], records: { orders, classes: [] }, dialect: { maxOrders: 5 } },
    ordersOnly,
  );
  await bench.seal();
  bench.worker.source = { ...bench.worker.source, apiKey: 'another-key' };
  expect(await bench.run()).toMatchObject({ problem: null });
});

// Classes are the whole platform's: whoever asks is shown the same.
test('a new key is not recognised by classes where orders are held, and none in the window; a new address is', async () => {
  const [on] = threeDays;
  const may = '2026-05-28';
  const classes = [classOf(may, 1), classOf(may, 2)];
  bench = await createBench({ days: [on], records: { orders: [orderOf(on, 1)], classes } });
  await bench.run();
  await bench.skipTo(Date.parse(`${may}T12:00:00Z`));
  await bench.run();
  await bench.skipTo(Date.parse('2026-06-02T12:00:00Z'));
  const { source } = bench.worker;
  bench.worker.source = { ...source, apiKey: 'of another account' };
  await expect(bench.run()).rejects.toMatchObject({ code: 'source_changed' });
  bench.worker.source = { ...source, baseUrl: 'http://127.0.0.1/moved' };
  expect(await bench.run()).toMatchObject({ outcome: 'done', problem: null });
});

test('a second project of the same address and key is asked about first, and nothing is written for it', async () => {
  bench = await createBench(lessADay, ordersOnly);
  await bench.run();
  const first = bench.worker.projectId;
  const { signal } = new AbortController();
  const mistyped: Worker = { ...bench.worker, projectId: 'p-again' };
  await expect(run(mistyped, { signal })).rejects.toMatchObject({
    code: 'source_held',
    kind: 'settings',
    message: expect.stringContaining(
      `Project "${first}" is archived from this address and key, `,
    ) as string,
  });
  const entered = 'select project_id from sync.projects order by 1';
  expect((await bench.db.query(entered)).rows).toEqual([{ project_id: first }]);
  expect(await run(mistyped, { signal, acceptNewSource: true })).toMatchObject({ outcome: 'done' });
  // From then on it is a project like others.
  expect(await run(mistyped, { signal })).toMatchObject({ problem: null });
});

test('P7: what was overtaken while the platform did nothing but fail, since the first start, is lost', async () => {
  bench = await createBench(
    { world: oneOrTwo, faults: { serverError: { status: 503 } } },
    ordersOnly,
  );
  expect((await bench.run()).outcome).toBe('left');
  bench.simulator.setFaults({ serverError: null });
  await bench.runLater(60 * 24 * hour);
  const { rows } = await bench.db.query<{ first: string; state: string; days: number }>(
    `select min(day) as first, state, count(*)::int as days from sync.slices where resource = 'orders' group by state order by 1`,
  );
  expect(rows).toEqual([
    { first: '2026-03-01', state: 'lost', days: 61 },
    { first: '2026-05-01', state: 'walked', days: 35 },
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

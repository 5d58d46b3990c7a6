// Manners: what the platform asks for is done by whoever works, and costs no other project anything (P9, P11).
import { expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-server.ts';
import { readArchiveState } from '../../src/query/metrics-state.ts';
import { unbounded, type Semaphore } from '../../src/semaphore.ts';
import { run } from '../../src/sync/run.ts';
import { createHolder } from '../../src/sync/holder.ts';
import { startSchedule } from '../../src/sync/schedule.ts';
import type { Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
/** Two days are read: how much there is to read does not matter here. */
const open = (options: SimulatorOptions & { timeoutMs?: number } = {}): Promise<Bench> =>
  createBench({ days: ['2026-03-01', '2026-04-06'], ...options });

test('P11: an hour of Retry-After ends the run at once, and the next one without a request', async () => {
  const bench = await open();
  bench.simulator.setFaults({ tooMany: { retryAfter: 3600 } });
  const first = await bench.run();
  expect(first).toMatchObject({ outcome: 'left', requests: 1 });
  bench.simulator.setFaults({ tooMany: null });
  // Also in another process.
  await bench.restart();
  const second = await bench.run();
  expect(second).toMatchObject({ outcome: 'left', requests: 0 });
  expect(second.problem).toMatch(/asked for quiet for another 3\d{3} s/);
});

test('P11: a key refused at first contact parks the project: no tick asks, whoever asks by hand or elsewhere does', async () => {
  const bench = await open();
  bench.simulator.setFaults({ forbidden: {} });
  // Each list is asked once: no clock explains it.
  expect(await bench.run()).toMatchObject({ outcome: 'parked', requests: 2 });
  expect(await bench.run()).toMatchObject({ outcome: 'parked', requests: 0 });
  bench.simulator.setFaults({ forbidden: null });
  expect(await bench.run()).toMatchObject({ outcome: 'parked', requests: 0 });
  // A corrected address is asked at once.
  const { source } = bench.worker;
  const corrected = { ...source, baseUrl: `${source.baseUrl}/corrected` };
  const { signal } = new AbortController();
  await bench.restart();
  expect(await run({ ...bench.worker, source: corrected }, { signal })).toMatchObject({
    outcome: 'done',
  });
  // And where it is refused later.
  bench.simulator.setFaults({ forbidden: {} });
  expect(await bench.run()).toMatchObject({ outcome: 'parked' });
  bench.simulator.setFaults({ forbidden: null });
  expect(await bench.run()).toMatchObject({ outcome: 'parked', requests: 0 });
  expect(await bench.run({ evenIfParked: true })).toMatchObject({ outcome: 'done' });
});

test('the clock of the database set back by hours holds up nothing', async () => {
  const bench = await open();
  await bench.run();
  await bench.db.query(`update sync.rate set not_before = now() + interval '5 hours'`);
  bench.simulator.advance(60_000);
  expect(await bench.run()).toMatchObject({ outcome: 'done' });
});

test('an address that knows no list is told as a wrong one; a platform that had lists is only out of order', async () => {
  const bench = await open();
  bench.simulator.setFaults({ textNotFound: {} });
  await expect(bench.run()).rejects.toMatchObject({
    kind: 'settings',
    code: 'base_url_wrong',
    message: expect.stringMatching(
      /knows no list of orders or classes: .* status 404\. Check the address and its path \(OUTLAST_BASE_URL/,
    ) as string,
  });
  bench.simulator.setFaults({ textNotFound: null });
  expect(await bench.run()).toMatchObject({ outcome: 'done' });
  bench.simulator.setFaults({ textNotFound: {} });
  bench.simulator.advance(7 * 3_600_000);
  expect(await bench.run()).toMatchObject({ outcome: 'left' });
});

test.each([
  [1, 1],
  // The sabotaged twin: it is this setting that bounds them.
  [64, 3],
])(
  'no more than OUTLAST_CONCURRENCY (%i) requests for days are under way, and at least %i',
  async (concurrency, least) => {
    const bench = await open();
    // First contact asks outside of the days.
    await bench.run();
    const { platform } = bench.worker;
    let underWay = 0;
    let most = 0;
    let begin = (): void => undefined;
    const enough = new Promise<void>((resolve) => (begin = resolve));
    const counted =
      (slots: Semaphore = unbounded): Semaphore =>
      (work) =>
        slots(async (leave) => {
          most = Math.max(most, ++underWay);
          if (most >= least) begin();
          let isUnderWay = true;
          const gone = (): void => {
            if (isUnderWay) underWay--;
            isUnderWay = false;
          };
          const left = (): void => (gone(), leave());
          await enough;
          return work(left).finally(gone);
        });
    bench.worker.platform = {
      ...platform,
      page: (query, signal, slots) => platform.page(query, signal, counted(slots)),
    };
    bench.worker.concurrency = concurrency;
    await bench.run({ only: { days: { from: '2026-03-28', to: '2026-04-07' } } });
    expect(most).toBeGreaterThanOrEqual(least);
    expect(most).toBeLessThanOrEqual(concurrency);
  },
);

test('while the platform is down no tick counts as a success, and no part of the work does', async () => {
  const bench = await open();
  await bench.run();
  const succeededAt = async () => (await readArchiveState(bench.db, ['p']))[0]?.succeededAt;
  const before = await succeededAt();
  expect(before).toBeTypeOf('number');
  bench.simulator.setFaults({ serverError: {} });
  for (let minute = 0; minute < 2; minute++) {
    bench.simulator.advance(60_000);
    const { outcome, problem } = await bench.run();
    expect(outcome).toBe('left');
    expect(problem).toContain('the platform gave no page of');
  }
  // One row for all of them.
  const left = await bench.db.query(`select from sync.runs where outcome = 'left'`);
  expect(left.rowCount).toBe(1);
  expect(await succeededAt()).toBe(before);
  bench.simulator.setFaults({ serverError: null });
  await bench.run();
  const recovered = (await succeededAt()) ?? Infinity;
  await bench.db.query(`update sync.slices set attempts = 0, due_at = null`);
  await bench.db.query(`update sync.slices set attempts = 9 where day = '2026-04-01'`);
  expect(await bench.run()).toMatchObject({ outcome: 'idle', problem: null });
  const days = { from: '2026-04-01', to: '2026-04-02' };
  expect(await bench.run({ only: { days } })).toMatchObject({ outcome: 'done' });
  expect(await succeededAt()).toBe(recovered);
  await bench.db.query(`update sync.slices set due_at = '2026-04-06' where day = '2026-04-06'`);
  bench.simulator.advance(3_600_000);
  expect(await bench.run()).toMatchObject({ outcome: 'done' });
  expect(await succeededAt()).toBeGreaterThan(recovered);
});

test('what a run could not give back, for its connection broke, the next run of the same process takes up', async () => {
  const bench = await open();
  await bench.run();
  // Nobody gives it back.
  await bench.worker.holder.take(bench.worker);
  bench.simulator.advance(60_000);
  expect(await bench.run()).toMatchObject({ outcome: 'done', slicesLeft: 0, problem: null });
});

test('P8: a run of a project that another holds waits, and does itself what the other did not live to do', async () => {
  const bench = await open();
  const { worker, db } = bench;
  const other = await createHolder(db, 60_000).take(worker);
  if (!('worker' in other)) throw new Error('the project is held');
  const stop = new AbortController();
  const stopped = run(worker, { signal: stop.signal });
  const asks = async () => (await db.query('select options from sync.asks')).rows;
  await expect.poll(asks).toHaveLength(1);
  stop.abort();
  expect(await stopped).toMatchObject({ outcome: 'stopped', requests: 0 });
  const waiting = bench.run({ evenIfParked: true });
  const { baseUrl } = worker.source;
  const lists = ['orders', 'nft_classes'].map((resource) => ({ resource, owner: '' }));
  await expect.poll(asks).toEqual([{ options: { baseUrl, lists, evenIfParked: true } }]);
  expect(bench.simulator.requests.total).toBe(0);
  await other.release();
  expect(await waiting).toMatchObject({ outcome: 'done' });
  expect(await asks()).toEqual([]);
});

test('a project whose platform hangs keeps no other waiting', async () => {
  const hanging = await open({ faults: { hang: {} }, timeoutMs: 20_000 });
  const other = await open();
  const stop = new AbortController();
  let runs = 0;
  const schedule = startSchedule(
    [hanging.worker, other.worker],
    '* * * * * *',
    stop.signal,
    silentLog(),
    () => (runs += 1),
  );
  await expect.poll(() => runs).toBeGreaterThan(2);
  stop.abort();
  await schedule.close();
});

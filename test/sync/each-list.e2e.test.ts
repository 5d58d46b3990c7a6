// Each list by itself: one that is not there, out of order, silent or refused holds up no other, and neither do results.
import { expect, test } from 'vitest';
import type { FaultName } from '../../src/simulator/faults.ts';
import type { ListedResource } from '../../src/model.ts';
import { readProject } from '../../src/store/projects.ts';
import { readContacts } from '../../src/store/facts.ts';
import { addOperations } from '../../src/store/operations/watched.ts';
import { readStatus } from '../../src/query/status.ts';
import type { Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;

const hour = 3_600_000;
const paths = { orders: '/v3/orders', nft_classes: '/v1beta1/nft/classes' } as const;
/** A few records of two days. */
const few = {
  world: { ordersPerDay: 3, classesPerDay: 2, quietShare: 0, since: '2026-04-04' },
  days: ['2026-03-01', '2026-04-03', '2026-04-04', '2026-04-05', '2026-04-06'],
};

/** Past days that were read whole, of each list. */
async function read(): Promise<Record<string, number>> {
  const { rows } = await bench.db.query<{ resource: string; n: number }>(
    `select resource, count(*)::int as n from sync.slices where state <> 'open' group by 1`,
  );
  return Object.fromEntries(rows.map(({ resource, n }) => [resource, n]));
}

const states = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await readContacts(bench.db, 'p')).map(({ resource, state }) => [resource, state]),
  );

// Which answers pass and which refuse the key is tested in test/platform/client.test.ts.
test.each<[string, ListedResource, FaultName, object]>([
  ['404', 'orders', 'textNotFound', {}],
  ['403', 'orders', 'forbidden', {}],
  ['401', 'nft_classes', 'forbidden', { status: 401 }],
  ['no answer', 'nft_classes', 'hang', {}],
])('%s of %s at the first start, and later', async (_, list, fault, details) => {
  // Else as patient as ever: any answer may take its time.
  bench = await createBench({ ...few, ...(fault === 'hang' && { timeoutMs: 300 }) });
  const other: ListedResource = list === 'orders' ? 'nft_classes' : 'orders';
  const isRefused = fault === 'forbidden';
  const rule = { ...details, path: paths[list] };
  bench.simulator.setFaults({ [fault]: rule });

  // A sync of the other list never asks it.
  const day = { from: '2026-04-04', to: '2026-04-05' };
  const only = { resource: other, days: day };
  expect(await bench.run({ only })).toMatchObject({ outcome: 'done' });
  expect(Object.keys(bench.simulator.requests.byPath)).toEqual([paths[other]]);

  const first = await bench.run();
  expect(first).toMatchObject({ outcome: 'left', refused: isRefused ? [list] : [] });
  expect(first.problem).toContain(`${list}: `);
  expect(first.problem).toContain(paths[list]);
  expect(await read()).toEqual({ [other]: few.days.length - 1 });
  expect(await states()).toEqual({ [list]: isRefused ? 'refused' : 'fails', [other]: 'answers' });
  const [status] = await readStatus(bench.db);
  expect(status?.parked_reason).toBeNull();
  expect(status?.unanswered).toMatchObject([
    { resource: list, since: expect.stringMatching(/^2026-04-06T12:00/) as string },
  ]);

  // What is refused rests for an hour, in the middle of ticks that go on with the other.
  bench.simulator.requests.clear();
  bench.simulator.advance(60_000);
  expect((await bench.run()).outcome).toBe('left');
  const { byPath } = bench.simulator.requests;
  expect(byPath[paths[list]] ?? 0).toBe(isRefused ? 0 : 5);
  expect(byPath[paths[other]] ?? 0).toBeGreaterThan(0);

  // It comes back: by itself within the next tick, a refusal within the hour.
  bench.simulator.setFaults({ [fault]: null });
  bench.simulator.advance(isRefused ? hour : 60_000);
  await bench.run();
  expect(await states()).toEqual({ orders: 'answers', nft_classes: 'answers' });
  expect((await read())[list]).toBe(few.days.length - 1);

  // A day later it is gone again, in the middle of the work: what is due of the other is counted all the same.
  bench.simulator.setFaults({ [fault]: rule });
  bench.simulator.advance(25 * hour);
  const later = await bench.run();
  expect(later.outcome).toBe('left');
  expect(later.problem).toContain(paths[list]);
  expect(await states()).toMatchObject({ [other]: 'answers' });
  const { rows } = await bench.db.query(
    `select 1 from sync.slices where resource = $1 and due_at <= $2 and attempts = 0 and day < '2026-04-07'`,
    [other, new Date(bench.simulator.clock.now()).toISOString()],
  );
  expect(rows).toEqual([]);
});

test('only what is refused everywhere parks the key: results that are shown keep it from that', async () => {
  bench = await createBench(few);
  await bench.run();
  await addOperations(bench.db, 'p', [{ operationId: 'not-there-yet' }]);
  const lists = [{ path: paths.orders }, { path: paths.nft_classes }];
  bench.simulator.setFaults({ forbidden: lists });
  bench.simulator.advance(60_000);
  const partly = await bench.run();
  expect(partly).toMatchObject({ outcome: 'left', operationsAsked: 1 });
  expect(partly.refused?.toSorted()).toEqual(['nft_classes', 'orders']);
  expect(await states()).toMatchObject({ transactions: 'answers' });

  bench.simulator.setFaults({ forbidden: {} });
  bench.simulator.advance(60_000);
  expect((await bench.run()).outcome).toBe('parked');
  expect(await states()).toMatchObject({ transactions: 'refused' });
  bench.simulator.advance(60_000);
  expect(await bench.run()).toMatchObject({ outcome: 'parked', requests: 0 });
  bench.simulator.setFaults({ forbidden: null });
  bench.simulator.advance(hour);
  expect((await bench.run()).outcome).toBe('done');
  const [status] = await readStatus(bench.db);
  expect(status?.parked_reason).toBeNull();
});

test('a changed key is asked with at once; where it is refused orders, classes go on, and nothing passes for recognised', async () => {
  bench = await createBench({
    ...few,
    projects: [
      { apiKey: 'old-key', apiSecret: 'secret', name: 'one' },
      { apiKey: 'new-key', apiSecret: 'secret', name: 'one' },
    ],
  });
  await bench.run();
  bench.simulator.setFaults({ forbidden: {} });
  bench.simulator.advance(60_000);
  expect((await bench.run()).outcome).toBe('parked');
  bench.worker.source = { ...bench.worker.source, apiKey: 'new-key' };
  await bench.restart();
  // Refused as a whole: at once, and told as such.
  expect(await bench.run()).toMatchObject({ outcome: 'parked', requests: 2 });
  await bench.restart();
  bench.simulator.setFaults({ forbidden: { path: paths.orders } });
  expect(await bench.run()).toMatchObject({ outcome: 'left', refused: ['orders'] });
  expect(await states()).toMatchObject({ orders: 'refused', nft_classes: 'answers' });
  const known = await readProject(bench.db, 'p', bench.worker.source);
  expect(known).toMatchObject({ sameKey: false, parkedReason: null });
  await bench.restart();
  bench.simulator.setFaults({ forbidden: null });
  expect(await bench.run()).toMatchObject({ outcome: 'done', refused: [] });
  expect(await readProject(bench.db, 'p', bench.worker.source)).toMatchObject({ sameKey: true });
});

test('results that are refused or silent hold up no list, and rest', async () => {
  bench = await createBench({ ...few, timeoutMs: 300 });
  await addOperations(bench.db, 'p', [{ operationId: 'one' }, { operationId: 'two' }]);
  const tx = [{ path: '/v3/native/tx' }, { path: '/v1beta1/tx' }];
  bench.simulator.setFaults({ forbidden: tx });
  expect(await bench.run()).toMatchObject({ outcome: 'left', slicesLeft: 0, refused: [] });
  expect(await states()).toMatchObject({ orders: 'answers', transactions: 'refused' });
  bench.simulator.requests.clear();
  bench.simulator.advance(60_000);
  expect((await bench.run()).outcome).toBe('left');
  expect(Object.keys(bench.simulator.requests.byPath).toSorted()).toEqual(
    Object.values(paths).toSorted(),
  );
  bench.simulator.setFaults({ forbidden: null, hang: tx });
  bench.simulator.advance(hour);
  expect(await bench.run()).toMatchObject({ outcome: 'left', slicesLeft: 0 });
  expect(await states()).toMatchObject({ nft_classes: 'answers', transactions: 'fails' });
});

test('"orders": "none" beside "classes": "none": neither is asked, and unread days are no longer accounted for', async () => {
  bench = await createBench(few);
  bench.simulator.setFaults({ textNotFound: { path: paths.orders } });
  await bench.run();
  bench.worker.scope = { orders: 'none', classes: 'all' };
  bench.simulator.requests.clear();
  expect(await bench.run()).toMatchObject({ outcome: 'done' });
  expect(Object.keys(bench.simulator.requests.byPath)).toEqual([paths.nft_classes]);
  const { rows } = await bench.db.query(`select 1 from sync.slices where resource = 'orders'`);
  expect(rows).toEqual([]);
  bench.worker.scope = { orders: 'none', classes: 'none' };
  bench.simulator.requests.clear();
  expect(await bench.run()).toMatchObject({ outcome: 'idle', problem: null, requests: 0 });
  expect(await states()).toEqual({ orders: 'unused', nft_classes: 'unused' });
});

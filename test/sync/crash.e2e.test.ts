// Real processes, really killed: SIGKILL at random instants, one frozen past its lease. The archive ends exact every
// time (P3, P8).
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createBench, differences, tenDays, type Bench } from '../support/archive.ts';
import { isOnCluster, withoutWorkers } from '../support/postgres.ts';
import { killSyncs, leaseMs, startSync, syncToTheEnd } from '../support/syncs.ts';

let bench: Bench;

/** Slow enough that every kill hits a walk, fast enough that the whole takes seconds. */
const open = async (more: Parameters<typeof createBench>[0] = tenDays): Promise<void> => {
  const dialect = { keyLifeRequests: 20, keyExpired: 'ignore' as const };
  // One lease for all: after so long a session that froze in a COPY is ended.
  bench = await createBench({ latencyMs: 8, dialect, leaseMs, ...more });
};
afterEach(async () => {
  await killSyncs();
  await bench.close();
});

async function committedPages(): Promise<number> {
  const { rows } = await bench.db.query<{ pages: number }>(
    'select count(*)::int as pages from sync.pages',
  );
  return rows[0]?.pages ?? 0;
}

/** The ledger never claims a row we do not hold (P1). */
async function expectEveryClaimedRow(): Promise<void> {
  const { rows } = await bench.db.query(
    `select id from sync.pages p, unnest(p.ids) id
      where (p.resource = 'orders' and not exists
              (select from archive.orders o where o.project_id = p.project_id and o.operation_id = id))
         or (p.resource = 'nft_classes' and not exists
              (select from archive.nft_classes c where c.project_id = p.project_id and c.id = id))`,
  );
  expect(rows).toEqual([]);
}

test('P3: killed at random instants, again and again, a sync ends exact and goes on from where it was', async () => {
  await open({ latencyMs: 4 });
  let random = 7;
  const next = (): number => (random = (random * 48_271) % 2_147_483_647) / 2_147_483_647;
  let kills = 0;
  let before = 0;
  for (let i = 0; i < 5; i++) {
    const { requests } = bench.simulator;
    const asked = requests.total;
    const { child, ended } = startSync(bench);
    // Whatever its start takes, it is at work: a first sync begins with the probe.
    while (requests.total < asked + 25 && child.exitCode === null) await sleep(5);
    await sleep(next() * 100);
    if (child.kill('SIGKILL')) kills += 1;
    await ended;
    await expectEveryClaimedRow();
    const pages = await committedPages();
    expect(pages).toBeGreaterThanOrEqual(before * 0.5);
    before = pages;
  }
  expect(kills).toBeGreaterThan(3);
  // Some of them in the middle of it.
  expect(before).toBeGreaterThan(0);
  expect(await syncToTheEnd(bench)).toBe('done');
  expect(await differences(bench)).toEqual([]);
});

test.skipIf(!isOnCluster)(
  'P3, TEST_CITUS_URL: a cluster that loses its workers in the middle ends exact',
  async () => {
    await open();
    let hits = 0;
    for (let i = 0; i < 3; i++) {
      const before = await committedPages();
      const { child, ended } = startSync(bench);
      while ((await committedPages()) < before + 2 && child.exitCode === null) await sleep(5);
      if (child.exitCode === null) hits += 1;
      await withoutWorkers(bench.connectionString, async () => {
        // It does not wait for them.
        expect((await ended).code).toBe(75);
      });
      await expectEveryClaimedRow();
    }
    expect(hits).toBeGreaterThan(0);
    expect(await syncToTheEnd(bench)).toBe('done');
    expect(await differences(bench)).toEqual([]);
  },
);

test('P1, sabotaged: a ledger entry without its rows is noticed', async () => {
  await open({ days: ['2026-04-05'] });
  await bench.run();
  await expectEveryClaimedRow();
  await bench.db.query(`update sync.pages set ids = ids || array['never-archived'] where page = 0`);
  await expect(expectEveryClaimedRow()).rejects.toThrow();
});

test('P8: a process frozen past its lease writes nothing more when it wakes', async () => {
  await open();
  const frozen = startSync(bench);
  // Ends: pages come within seconds, or the test's own time runs out.
  while ((await committedPages()) < 5) await sleep(20);
  frozen.child.kill('SIGSTOP');
  await sleep(3_200);
  expect(await syncToTheEnd(bench)).toBe('done');
  expect(await differences(bench)).toEqual([]);
  const before = await bench.db.query('select * from sync.slices order by resource, day');
  frozen.child.kill('SIGCONT');
  await frozen.ended;
  const after = await bench.db.query('select * from sync.slices order by resource, day');
  expect(after.rows).toEqual(before.rows);
  expect(await differences(bench)).toEqual([]);
});

test('SIGTERM ends a sync where nothing is lost, and says that something is left', async () => {
  await open();
  const running = startSync(bench);
  while ((await committedPages()) < 5) await sleep(20);
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(75);
  const { rows } = await bench.db.query('select 1 from sync.holders where holder is not null');
  expect(rows).toEqual([]);
  expect(await syncToTheEnd(bench)).toBe('done');
  expect(await differences(bench)).toEqual([]);
});

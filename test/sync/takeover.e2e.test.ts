// Real processes on one database take over from each other (P8): at once from one that was killed on this machine, by
// the lease from one of another machine, and from one that froze in the middle of a commit, which writes nothing when it
// wakes.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { createBench, differences, smallWorld, type Bench } from '../support/archive.ts';
import { runHere } from '../support/command-here.ts';
import { orderOf } from '../support/days.ts';
import { environmentOn, killSyncs, leaseMs, startSync, syncToTheEnd } from '../support/syncs.ts';

let bench: Bench;
const world = { ...smallWorld, since: '2026-03-29' };
/** Of the window, those that have records, and its first. */
const days = ['2026-03-01', ...daysIn({ from: '2026-03-29', to: '2026-04-07' })];
afterEach(async () => {
  await killSyncs();
  await bench.close();
});

const committed = async (): Promise<number> => {
  const { rows } = await bench.db.query<{ pages: number }>(
    'select count(*)::int as pages from sync.pages',
  );
  return rows[0]?.pages ?? 0;
};

/** A sync that is killed in the middle of its walks. */
async function killed(env: Record<string, string>): Promise<number> {
  const first = startSync(bench, [], env);
  // Ends: pages come within seconds, or the test's own time runs out.
  while ((await committed()) < 5) await sleep(5);
  first.child.kill('SIGKILL');
  await first.ended;
  return committed();
}

test('P3, P8: killed and started again on the same machine, it goes on at once', async () => {
  bench = await createBench({ world, days, latencyMs: 30 });
  const env = { OUTLAST_LEASE_SECONDS: '3600' };
  const before = await killed(env);
  const { rows } = await bench.db.query('select day from sync.slices where checkpoint is not null');
  expect(rows.length).toBeGreaterThan(0);
  const next = await startSync(bench, [], env).ended;
  expect(next.code, next.stderr).toBe(0);
  expect(await committed()).toBeGreaterThan(before);
  expect(await differences(bench)).toEqual([]);
});

test('P3, P8: one that was killed on another machine is waited for until its lease is over', async () => {
  bench = await createBench({ world, days, latencyMs: 30 });
  await killed({ OUTLAST_LEASE_SECONDS: '15' });
  await bench.db.query(
    `update sync.holders set holder = 'process 1 on elsewhere', process = 'elsewhere 1 1 1'`,
  );
  const next = await startSync(bench, [], { OUTLAST_LEASE_SECONDS: '15' }).ended;
  expect(next.code, next.stderr).toBe(0);
  expect(next.stderr).toMatch(
    /"holder":"process 1 on elsewhere","since":"2.*Another process holds the project/,
  );
  expect(await differences(bench)).toEqual([]);
});

test('P8: one that is frozen between two statements of a page’s commit writes nothing when it wakes', async () => {
  const day = '2026-04-02';
  bench = await createBench({
    records: { orders: Array.from({ length: 120 }, (_, i) => orderOf(day, i)), classes: [] },
    days: ['2026-03-01', day, '2026-04-06'],
  });
  const say = (message: string, at: string): void => {
    for (const i of [1, 60, 119]) {
      bench.simulator.mutate('orders', `o-${day}-${i}`, (one) => ({
        ...one,
        message,
        update_time: at,
      }));
    }
  };
  const theDay = ['--resource', 'orders', '--from', day, '--to', day];
  await syncToTheEnd(bench);

  const owner = await openDb({
    connectionString: bench.connectionString,
    role: null,
    log: bench.worker.log,
  });
  const blocker = await owner.pool.connect();
  try {
    say('first', '2026-04-06T11:00:00Z');
    // The commit's first statements hold the project and have moved the checkpoint; its next one waits for the pages.
    await blocker.query('begin; lock table sync.pages in share mode');
    const frozen = startSync(bench, theDay);
    const waiting = async (): Promise<boolean> => {
      const { rows } = await owner.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    };
    while (!(await waiting())) await sleep(5);
    frozen.child.kill('SIGSTOP');
    await blocker.query('rollback');
    await sleep(leaseMs + 200);

    say('second', '2026-04-06T11:30:00Z');
    const rival = await runHere(['sync', ...theDay], { env: environmentOn(bench) });
    expect(rival.code, rival.stderr).toBe(0);
    const before = await everythingOf(owner, day);
    frozen.child.kill('SIGCONT');
    expect((await frozen.ended).code).not.toBe(0);
    expect(await everythingOf(owner, day)).toEqual(before);
    expect(await differences(bench)).toEqual([]);
  } finally {
    blocker.release(true);
    await owner.close();
  }
});

/** The ledger's row of a day, its pages and its orders, with the transactions that wrote them. */
async function everythingOf(db: Db, day: string): Promise<unknown> {
  const { rows } = await db.query(
    `select (select to_jsonb(s) || jsonb_build_object('xmin', s.xmin) from sync.slices s where resource = 'orders' and day = $1) as slice,
            (select jsonb_agg(jsonb_build_array(p.xmin, walk, page, ids) order by walk, page) from sync.pages p where day = $1) as pages,
            (select jsonb_agg(jsonb_build_array(o.xmin, operation_id, raw) order by operation_id) from archive.orders o where slice_day = $1) as orders,
            (select count(*) from archive.order_versions) as versions`,
    [day],
  );
  return rows[0];
}

// Real processes on one database, really killed, frozen and stopped. What was committed is held (P1, P3), each project
// has one holder (P8), and one rate limit holds for all (P11).
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import type { Day } from '../../src/model.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { createBench, differences, noon, type Bench } from '../support/archive.ts';
import { runHere } from '../support/command-here.ts';
import { environmentOf, startCommand, type Running } from '../support/command.ts';
import { orderOf } from '../support/days.ts';
import { freshFolder } from '../support/fresh.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import { isOnCluster, withoutWorkers } from '../support/postgres.ts';

let bench: Bench;

/** With records since then. */
async function open(since: Day, more: Parameters<typeof createBench>[0] = {}): Promise<void> {
  bench = await createBench({
    world: { ordersPerDay: 60, classesPerDay: 10, quietShare: 0.2, since },
    days: ['2026-03-01', ...daysIn({ from: since, to: '2026-04-07' })],
    // One lease for all: after so long a session that froze in a COPY is ended.
    leaseMs,
    ...more,
  });
}
afterEach(async () => {
  await Promise.all([...alive].map((one) => one.stop('SIGKILL')));
  await bench.close();
});

const leaseMs = 3_000;
const shortLease = { OUTLAST_LEASE_SECONDS: String(leaseMs / 1000) };

// Where nobody waits for a lease, none ends: a process that waits for the machine loses its project to no other.
const environment = (): Record<string, string> => ({
  ...environmentOf(bench.simulator, bench.connectionString),
  ...stoppedAt(noon),
  OUTLAST_PROJECT: 'p',
  OUTLAST_LEASE_SECONDS: '3600',
});

const alive = new Set<Running>();

/** Killed at the end, if it lives until then. */
function start(args: string[], env: Record<string, string>): Running {
  const one = startCommand(args, { env, timeoutMs: 120_000 });
  alive.add(one);
  void one.ended.then(() => alive.delete(one));
  return one;
}

const startSync = (args: string[] = [], env = {}): Running =>
  start(['sync', '--json', ...args], { ...environment(), ...env });

async function committedPages(): Promise<number> {
  const { rows } = await bench.db.query<{ pages: number }>(
    'select count(*)::int as pages from sync.pages',
  );
  return rows[0]?.pages ?? 0;
}

/** A sync that has committed some pages more, and is in the middle of its walks. */
async function startedSync(env: Record<string, string> = {}): Promise<Running> {
  const before = await committedPages();
  const one = startSync([], env);
  // Ends: pages come within seconds, or the test's own time runs out.
  while ((await committedPages()) < before + 5 && one.child.exitCode === null) await sleep(5);
  return one;
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

test('P1, P3, P8: killed, stopped, and started again on the same machine, a sync goes on at once and ends exact', async () => {
  // No second page comes before the last sync: the others are in the middle of their walks for as long as they live.
  await open('2026-03-29', { faults: { hang: { path: '/v3/orders', with: 'page_key=' } } });
  const inTheMiddle = async () =>
    (await bench.db.query('select from sync.slices where checkpoint is not null')).rowCount;
  const killed = startSync();
  await expect.poll(inTheMiddle).toBeGreaterThan(0);
  killed.child.kill('SIGKILL');
  await killed.ended;
  await expectEveryClaimedRow();
  expect(await inTheMiddle()).toBeGreaterThan(0);

  bench.simulator.requests.clear();
  const stopped = startSync();
  const goesOn = (): boolean =>
    bench.simulator.requests.recent().some(({ query }) => query.includes('page_key='));
  await expect.poll(goesOn).toBe(true);
  stopped.child.kill('SIGTERM');
  expect((await stopped.ended).code).toBe(75);
  await expectEveryClaimedRow();
  const holders = await bench.db.query('select from sync.holders where holder is not null');
  expect(holders.rowCount).toBe(0);

  bench.simulator.setFaults({ hang: null });
  const pages = await committedPages();
  const last = await startSync().ended;
  expect(last.code, last.stderr).toBe(0);
  expect(await committedPages()).toBeGreaterThan(pages);
  expect(await differences(bench)).toEqual([]);
  // Sabotaged: an entry without its rows is noticed.
  await bench.db.query(`update sync.pages set ids = ids || array['never-archived'] where page = 0`);
  await expect(expectEveryClaimedRow()).rejects.toThrow();
});

test.skipIf(!isOnCluster)(
  'P3, TEST_CITUS_URL: a cluster that loses its workers in the middle ends exact',
  async () => {
    await open('2026-03-29', { latencyMs: 8 });
    for (let i = 0; i < 3; i++) {
      const { ended } = await startedSync();
      await withoutWorkers(bench.connectionString, async () => {
        // It does not wait for them.
        expect((await ended).code).toBe(75);
      });
      await expectEveryClaimedRow();
    }
    let { outcome } = await bench.run();
    for (let i = 0; i < 20 && outcome === 'left'; i++) ({ outcome } = await bench.run());
    expect(outcome).not.toBe('left');
    expect(await differences(bench)).toEqual([]);
  },
);

test('P8: one that is frozen between two statements of a page’s commit writes nothing when it wakes', async () => {
  const day = '2026-04-02';
  await open(day, {
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
  await bench.run();

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
    const frozen = startSync(theDay, shortLease);
    const waiting = async (): Promise<boolean> => {
      const { rows } = await owner.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    };
    await expect.poll(waiting).toBe(true);
    frozen.child.kill('SIGSTOP');
    await blocker.query('rollback');
    const leasesOver = async () =>
      (await owner.query('select from sync.holders where held_until < statement_timestamp()'))
        .rowCount;
    await expect.poll(leasesOver).toBe(1);

    say('second', '2026-04-06T11:30:00Z');
    const rival = await runHere(['sync', ...theDay], { env: { ...environment(), ...shortLease } });
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

/** The most requests that reached the platform in any second. */
function mostInASecond(times: number[]): number {
  return Math.max(
    ...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length),
  );
}

test('P11, P8: of three processes one works and the others wait, at one rate; no day is walked twice', async () => {
  // Until all three have begun.
  await open('2026-03-27', { faults: { slow: { ms: 5_000 } } });
  const perSecond = 15;
  const env = { OUTLAST_MAX_RPS: String(perSecond), OUTLAST_LOG_LEVEL: 'info' };
  const all = [1, 2, 3].map(() => startSync([], env));
  const waiting = () =>
    all.filter((one) =>
      /"holder":"process \d+ on .*"since":"\d{4}-.*Another process holds the project/.test(
        one.stderr(),
      ),
    );
  await expect.poll(waiting).toHaveLength(2);
  bench.simulator.setFaults({ slow: null });
  bench.simulator.requests.clear();
  const ended = await Promise.all(all.map((one) => one.ended));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(waiting()).toHaveLength(2);
  const times = bench.simulator.requests
    .recent()
    .map(({ receivedAt }) => receivedAt)
    .toSorted((a, b) => a - b);
  expect(times.length).toBeGreaterThan(40);
  // A bucket holds half a second's worth: with what a request's way may differ, twice the rate in a second at the very
  // most, and the rate over longer.
  expect(mostInASecond(times)).toBeLessThanOrEqual(2 * perSecond);
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  expect(times.length).toBeLessThanOrEqual(perSecond * (seconds + 1) + perSecond);
  expect(await differences(bench)).toEqual([]);
  const { rows } = await bench.db.query<{ twice: number }>(
    `select count(*)::int as twice from sync.slices where day < '2026-04-06' and whole_walk > 1`,
  );
  expect(rows).toEqual([{ twice: 0 }]);
});

test('two replicas: each project has one holder, and those of a dead one go to the other', async () => {
  const names = ['a', 'b', 'c', 'd'];
  await open('2026-04-05', {
    projects: names.map((name) => ({ name, apiKey: `key-${name}`, apiSecret: 'secret' })),
  });
  const { url: baseUrl } = bench.simulator;
  const projects = bench.simulator.projects.map(({ name, apiKey }) => {
    return { name, baseUrl, apiKey, apiSecretEnv: 'SECRET', classes: 'none' };
  });
  const ofOne = /^OUTLAST_(PROJECT|BASE_URL|API_KEY|API_SECRET|MAX_RPS)$/;
  const env = Object.fromEntries(
    Object.entries(environment()).filter(([name]) => !ofOne.test(name)),
  );
  const file = join(await freshFolder(), 'projects.json');
  await writeFile(file, JSON.stringify(projects));
  const each = { SECRET: 'secret', OUTLAST_PROJECTS_FILE: file, OUTLAST_SCHEDULE: '* * * * * *' };
  const startReplica = (): Running => start(['start'], { ...env, ...each });
  const holders = async (): Promise<Map<string, string[]>> => {
    const { rows } = await bench.db.query<{ holder: string; projects: string[] }>(
      `select holder, array_agg(project_id order by project_id) as projects from sync.holders
        where held_until > statement_timestamp() group by holder`,
    );
    return new Map(rows.map((row) => [row.holder, row.projects]));
  };
  const of = ({ child }: Running, held: Map<string, string[]>): string[] =>
    [...held].flatMap(([holder, ids]) => (holder.startsWith(`process ${child.pid} on`) ? ids : []));
  const replicas = [startReplica(), startReplica()] as const;
  await expect.poll(async () => [...(await holders()).values()].flat().length).toBe(names.length);
  const held = await holders();
  const [dead, other] =
    of(replicas[0], held).length > 0 ? replicas : ([replicas[1], replicas[0]] as const);
  const before = of(dead, held);
  expect([...before, ...of(other, held)].toSorted()).toEqual(names);
  dead.child.kill('SIGSTOP');
  // On another machine: nobody there sees that it has ended. Written before it has, or the other one does.
  await bench.db.query(
    `update sync.holders set process = 'elsewhere 1 1 1', held_until = statement_timestamp() + $2 * interval '1 ms'
      where project_id = any ($1)`,
    [before, leaseMs],
  );
  await dead.stop('SIGKILL');
  await expect.poll(async () => of(other, await holders())).toEqual(names);
  expect((await other.stop('SIGTERM')).code).toBe(0);
  expect(await holders()).toEqual(new Map());
});

test('a sync beside `start` has its days read there, shows what came of it, and ends', async () => {
  await open('2026-04-02');
  const fewer = { OUTLAST_CLASS_OWNERS: 'one' };
  const never = { OUTLAST_SCHEDULE: '0 0 1 1 *' };
  const service = start(['start'], { ...environment(), ...fewer, ...never });
  const done = async () =>
    (await bench.db.query(`select from sync.runs where outcome = 'done'`)).rowCount;
  await expect.poll(done).toBe(1);
  bench.simulator.requests.clear();
  // All at once: the service looks for what is asked every few seconds. What is wrong is told as ever.
  const syncs = [
    startSync(['--resource', 'orders', '--from', '2026-04-03', '--to', '2026-04-03']),
    startSync(['--from', '2020-01-01', '--to', '2020-01-02'], fewer),
    startSync([], { OUTLAST_BASE_URL: 'http://localhost:1' }),
    startSync(),
  ];
  const ended = await Promise.all(syncs.map((one) => one.ended));
  expect(ended.map(({ code }) => code)).toEqual([0, 2, 2, 2]);
  const [asked, early, elsewhere, wider] = ended.map(({ stderr }) => stderr);
  expect(asked).toContain(`"holder":"process ${service.child.pid} on `);
  expect(JSON.parse(ended[0]?.stdout ?? '')).toMatchObject({
    projects: [{ project_id: 'p', outcome: 'done', slices_done: 1, slices_left: 0 }],
  });
  expect(bench.simulator.requests.recent().some(({ query }) => query.includes('2026-04-03'))).toBe(
    true,
  );
  expect(early).toMatch(/outlast: 2020-01-01 lies before the window/);
  expect(elsewhere).toContain('outlast: The process that holds the project asks another address');
  expect(wider).toContain('outlast: The process that holds the project archives other lists');
  expect((await bench.db.query('select from sync.asks')).rows).toEqual([]);
});

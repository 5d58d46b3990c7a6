// Replicas as people run them: real processes on one database. Each project has one holder (P8), and one rate limit and
// one Retry-After hold for all (P11).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import type { Day } from '../../src/model.ts';
import { demoProject } from '../../src/simulator/server.ts';
import { createBench, differences, type Bench } from '../support/archive.ts';
import { startCommand, type Running } from '../support/command.ts';
import { environmentOn, killSyncs, leaseMs, startSync } from '../support/syncs.ts';

let bench: Bench;

/** With records since then. */
async function open(since: Day, projects = [demoProject]): Promise<void> {
  bench = await createBench({
    projects,
    world: { ordersPerDay: 30, classesPerDay: 6, quietShare: 0.2, since },
    days: ['2026-03-01', ...daysIn({ from: since, to: '2026-04-07' })],
  });
}
afterEach(async () => {
  await killSyncs();
  await bench.close();
});

const sync = (perSecond: number, level = 'error'): Running =>
  startSync(bench, [], { OUTLAST_MAX_RPS: String(perSecond), OUTLAST_LOG_LEVEL: level });

/** When each request reached the platform, in real time. */
const moments = (): number[] =>
  bench.simulator.requests
    .recent()
    .map(({ receivedAt }) => receivedAt)
    .toSorted((a, b) => a - b);

/** The most requests in any stretch of so many milliseconds. */
function mostWithin(times: number[], ms: number): number {
  return Math.max(
    ...times.map((from) => times.filter((at) => at >= from && at < from + ms).length),
  );
}

test('P11, P8: of three processes one works and the others wait, at one rate; no day is walked twice', async () => {
  await open('2026-03-14');
  const perSecond = 25;
  const all = [sync(perSecond, 'info'), sync(perSecond, 'info'), sync(perSecond, 'info')];
  const ended = await Promise.all(all.map((one) => one.ended));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  const waited = ended.filter(({ stderr }) =>
    /"holder":"process \d+ on .*"since":"\d{4}-.*Another process holds the project/.test(stderr),
  );
  expect(waited).toHaveLength(2);
  const times = moments();
  expect(times.length).toBeGreaterThan(60);
  // A bucket holds half a second's worth: with what a request's way may differ, twice the rate in a second at the very
  // most, and the rate over longer.
  expect(mostWithin(times, 1_000)).toBeLessThanOrEqual(2 * perSecond);
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000;
  expect(times.length).toBeLessThanOrEqual(perSecond * (seconds + 1) + perSecond);
  expect(await differences(bench)).toEqual([]);
  const { rows } = await bench.db.query<{ twice: number }>(
    `select count(*)::int as twice from sync.slices where day < '2026-04-06' and whole_walk > 1`,
  );
  expect(rows).toEqual([{ twice: 0 }]);
});

test('P11: a Retry-After that one of them is told holds for the next; sabotaged, a higher rate is noticed', async () => {
  await open('2026-03-30');
  bench.simulator.setFaults({ tooMany: { next: 1, retryAfter: 3 } });
  const told = sync(50);
  const refused = () => bench.simulator.requests.recent().find(({ status }) => status === 429);
  await expect.poll(refused).toBeDefined();
  await sleep(300);
  told.child.kill('SIGKILL');
  await told.ended;
  expect((await sync(50).ended).code).toBe(0);
  const asked = refused()?.receivedAt ?? Number.NaN;
  // What was on its way when the answer came may still arrive.
  const meanwhile = moments().filter((at) => at > asked + 200 && at < asked + 2_900);
  expect(meanwhile).toEqual([]);
  expect(moments().filter((at) => at >= asked + 2_900).length).toBeGreaterThan(20);
  // Sabotaged, the check above of a platform that was promised five a second: a busy machine asks no faster than it
  // can.
  expect(mostWithin(moments(), 1_000)).toBeGreaterThan(2 * 5);
});

test('two replicas: each project has one holder, and those of a dead one go to the other', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  await open(
    '2026-04-05',
    names.map((name) => ({ name, apiKey: `key-${name}`, apiSecret: 'secret' })),
  );
  const { url: baseUrl } = bench.simulator;
  const projects = bench.simulator.projects.map(({ name, apiKey }) => {
    return { name, baseUrl, apiKey, apiSecretEnv: 'SECRET', classes: 'none' };
  });
  const env = Object.fromEntries(
    Object.entries(environmentOn(bench)).filter(
      ([name]) =>
        ![
          'OUTLAST_PROJECT',
          'OUTLAST_BASE_URL',
          'OUTLAST_API_KEY',
          'OUTLAST_API_SECRET',
          'OUTLAST_MAX_RPS',
        ].includes(name),
    ),
  );
  const folder = await mkdtemp(join(tmpdir(), 'outlast-replicas-'));
  await writeFile(join(folder, 'projects.json'), JSON.stringify(projects));
  const start = (): Running =>
    startCommand(['start'], {
      env: {
        ...env,
        SECRET: 'secret',
        OUTLAST_PROJECTS_FILE: join(folder, 'projects.json'),
        OUTLAST_SCHEDULE: '* * * * * *',
      },
    });
  const holders = async (): Promise<Map<string, string[]>> => {
    const { rows } = await bench.db.query<{ holder: string; projects: string[] }>(
      `select holder, array_agg(project_id order by project_id) as projects from sync.holders
        where held_until > statement_timestamp() group by holder`,
    );
    return new Map(rows.map((row) => [row.holder, row.projects]));
  };
  const of = ({ child }: Running, held: Map<string, string[]>): string[] =>
    [...held].flatMap(([holder, ids]) => (holder.startsWith(`process ${child.pid} on`) ? ids : []));
  const replicas = [start(), start()] as const;
  try {
    await expect.poll(async () => [...(await holders()).values()].flat().length).toBe(names.length);
    const held = await holders();
    const [dead, other] =
      of(replicas[0], held).length > 0 ? replicas : ([replicas[1], replicas[0]] as const);
    const before = of(dead, held);
    expect([...before, ...of(other, held)].toSorted()).toEqual(names);
    dead.child.kill('SIGKILL');
    await dead.ended;
    // On another machine: nobody there sees that it has ended.
    await bench.db.query(
      `update sync.holders set process = 'elsewhere 1 1 1', held_until = statement_timestamp() + $2 * interval '1 ms'
        where project_id = any ($1)`,
      [before, leaseMs],
    );
    await expect.poll(async () => of(other, await holders())).toEqual(names);
    expect((await other.stop('SIGTERM')).code).toBe(0);
    expect(await holders()).toEqual(new Map());
  } finally {
    await Promise.all(replicas.map((one) => one.stop('SIGKILL')));
    await rm(folder, { recursive: true });
  }
});

test('a sync beside `start` has its days read there, shows what came of it, and ends', async () => {
  await open('2026-04-02');
  const service = startCommand(['start'], {
    env: { ...environmentOn(bench), OUTLAST_SCHEDULE: '0 0 1 1 *' },
  });
  try {
    await expect
      .poll(
        async () => (await bench.db.query(`select from sync.runs where outcome = 'done'`)).rowCount,
      )
      .toBe(1);
    bench.simulator.requests.clear();
    const day = ['--resource', 'orders', '--from', '2026-04-03', '--to', '2026-04-03'];
    const asked = await startSync(bench, day).ended;
    expect(asked.code, asked.stderr).toBe(0);
    expect(asked.stderr).toContain(`"holder":"process ${service.child.pid} on `);
    expect(JSON.parse(asked.stdout)).toMatchObject({
      projects: [{ projectId: 'p', outcome: 'done', slicesDone: 1, slicesLeft: 0 }],
    });
    expect(
      bench.simulator.requests.recent().some(({ query }) => query.includes('2026-04-03')),
    ).toBe(true);
    // What is wrong with it is told as ever.
    const wrong = await startSync(bench, ['--from', '2020-01-01', '--to', '2020-01-02']).ended;
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toMatch(/outlast: 2020-01-01 lies before the window/);
    const other = await startSync(bench, [], { OUTLAST_BASE_URL: 'http://localhost:1' }).ended;
    expect(other.code).toBe(2);
    expect(other.stderr).toContain(
      'outlast: The process that holds the project asks another address',
    );
    expect((await bench.db.query('select from sync.asks')).rows).toEqual([]);
  } finally {
    await service.stop('SIGKILL');
  }
  expect((await startSync(bench).ended).code).toBe(0);
  expect(await differences(bench)).toEqual([]);
});

// The commands that do the work, run as a person would: sync, start, status, probe, against a real simulator.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { realpathSync } from 'node:fs';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import { silentLog } from '../../src/log.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator-server.ts';
import { openEmbedded } from '../../src/store/embedded/embedded.ts';
import { migrate } from '../../src/store/migrate.ts';
import { noon, smallWorld } from '../support/archive.ts';
import { queryAt } from '../support/client.ts';
import { expectRefused, runHere, succeedHere } from '../support/command-here.ts';
import { fresh, makeFolder, setUp, removeFolder } from '../support/fresh.ts';
import { readOnly } from '../support/few-days.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import {
  environmentOf,
  mainFile,
  runCommand,
  startCommand,
  type Ended,
} from '../support/command.ts';
import { copyOf, createTestDatabase, type TestDatabase } from '../support/postgres.ts';

/** npm's own program, as it lies beside Node. */
const npmFile = realpathSync(join(dirname(process.execPath), 'npm'));

const world = { ...smallWorld, since: '2026-04-04' };
/** Of the window, those that have records, and two that have none. */
const days = ['2026-03-01', ...daysIn({ from: '2026-04-03', to: '2026-04-07' })];

let folder: string;
let simulator: Simulator;
/** As the first sync of it left it. */
let synced: TestDatabase;
let firstSync: Ended;
let database: TestDatabase;
const taken: TestDatabase[] = [];

setUp(async (keep) => {
  folder = await keep(makeFolder('outlast test ü '), removeFolder);
  simulator = await keep(createSimulator({ startAt: noon, speed: 0, world }));
  synced = await keep(takeUnread());
  taken.splice(0);
  // With something to log at every level.
  simulator.setFaults({ serverError: { next: 2 }, htmlPage: { next: 1 } });
  firstSync = await runCommand(['sync', '--json'], {
    env: settings({ OUTLAST_LOG_LEVEL: 'trace' }),
  });
});
afterEach(async () => {
  simulator.setFaults({
    serverError: null,
    htmlPage: null,
    forbidden: null,
    textNotFound: null,
    hang: null,
  });
  simulator.setDialect({ maxOrders: 50 });
  for (const one of taken.splice(0)) await one.drop();
});

/** An archive of the test's own that nothing was read for yet. */
async function takeUnread(): Promise<TestDatabase> {
  database = await createTestDatabase();
  taken.push(database);
  await readOnly(database.connectionString, simulator, days);
  return database;
}

/** One that holds all there is. */
async function takeSynced(): Promise<void> {
  database = await copyOf(synced);
  taken.push(database);
}

const settings = (more: Record<string, string> = {}): Record<string, string> => ({
  ...environmentOf(simulator, database.connectionString),
  ...stoppedAt(noon),
  ...more,
});

test('sync --json reports, status tells without a key what is held', async () => {
  await takeSynced();
  expect(firstSync.code, firstSync.stderr).toBe(0);
  const report = JSON.parse(firstSync.stdout) as { projects: Record<string, unknown>[] };
  expect(report.projects).toMatchObject([
    { project_id: 'default', outcome: 'done', slices_left: 0 },
  ]);
  const status = await succeedHere(['status', '--json'], {
    env: { DATABASE_URL: database.connectionString },
  });
  expect(JSON.parse(status.stdout)).toMatchObject({
    projects: [
      {
        project_id: 'default',
        parked_reason: null,
        lists: [{ resource: 'orders' }, { resource: 'nft_classes' }],
      },
    ],
  });
});

test('probe learns now what limits the platform has, and a change shows at once', async () => {
  await takeSynced();
  const first = await succeedHere(['status', '--probe', '--json'], { env: settings() });
  expect(JSON.parse(first.stdout)).toMatchObject({
    projects: [{ project_id: 'default', facts: { 'orders.limit': '50' } }],
  });
  simulator.setDialect({ maxOrders: 20 });
  const second = await runCommand(['status', '--probe'], { env: settings() });
  expect(second.stdout).toMatch(/orders\.limit +20/);
  expect(second.stderr).toContain('The platform behaves differently than before');
});

test('the exit code says what to do: 1 refused key, 75 later, 2 arguments and settings', async () => {
  await takeUnread();
  simulator.setFaults({ serverError: {} });
  const down = await runHere(['sync'], { env: settings() });
  expect(down.code).toBe(75);
  expect(down.stderr).toContain('the platform gave no page of /v3/orders in 5 attempts');
  // A gateway says 401 where the platform says 403.
  for (const status of [403, 401]) {
    await takeUnread();
    simulator.setFaults({ serverError: null, forbidden: { status } });
    const refused = await runHere(['sync'], { env: settings() });
    expect(refused.code).toBe(1);
    const checked = await runHere(['status', '--check'], { env: settings() });
    expect(checked.stdout).toContain('OUTLAST CRITICAL: default: The platform refused the key');
    expect(checked.code).toBe(2);
  }
  simulator.setFaults({ forbidden: null });
  for (const [args, sentence] of [
    [['--from', '2026-02-30'], '--from must be a UTC day'],
    [['--to', '2026-03-01'], '--from'],
    [['--from', '2026-04-02', '--to', '2026-04-01'], 'must not be after --to'],
    [['--from', '2026-01-01'], '2026-01-01 lies before the window'],
    [['--resource', 'tokens'], 'orders, nft_classes'],
    [['--project', 'other'], 'no project "other"'],
  ] as const) {
    expectRefused(await runHere(['sync', ...args], { env: settings() }), sentence);
  }
});

test('another source under the same name: exit code 2, and the way out', async () => {
  await takeSynced();
  const other = await fresh(
    createSimulator({
      startAt: noon,
      speed: 0,
      records: { orders: [], classes: [] },
    }),
  );
  const env = settings({ OUTLAST_BASE_URL: other.url });
  const refused = await runHere(['sync'], { env });
  expect(refused.stderr).toContain('--accept-new-source');
  expect(refused.code).toBe(2);
  await succeedHere(['sync', '--accept-new-source'], { env });
});

test.each([
  ['404', { textNotFound: { path: '/v3/orders' } }],
  ['500', { serverError: { path: '/v3/orders' } }],
  ['401', { forbidden: { status: 401, path: '/v3/orders' } }],
  ['no answer', { hang: { path: '/v3/orders' } }],
])(
  'while orders answer with %s, classes are read from the first start on, and all say which list it is',
  async (name, fault) => {
    await takeUnread();
    simulator.setFaults(fault);
    simulator.requests.clear();
    const env = settings({
      // Else as patient as ever: any answer may take its time.
      ...('hang' in fault && { OUTLAST_TIMEOUT_MS: '1000' }),
      OUTLAST_SCHEDULE: '* * * * * *',
      OUTLAST_LOG_LEVEL: 'debug',
    });
    await succeedHere(['sync', '--resource', 'nft_classes'], { env });
    expect(Object.keys(simulator.requests.byPath)).toEqual(['/v1beta1/nft/classes']);

    const both = await runHere(['sync', '--json'], { env });
    expect(both.code).toBe('forbidden' in fault ? 1 : 75);
    const { projects } = JSON.parse(both.stdout) as { projects: { problem: string }[] };
    expect(projects[0]?.problem).toMatch(/^orders: .*\/v3\/orders/);
    const status = await runHere(['status'], { env });
    expect(status.stdout).toMatch(/^ {2}(?:REFUSED|NO ANSWER) {2}orders, since .*\/v3\/orders/m);
    const doctor = await runHere(['doctor'], { env });
    expect(doctor.stdout).toMatch(/^ok +platform .* NFT classes$/m);
    expect(doctor.stdout).toMatch(/^fail +platform .*(?:\/v3\/orders|list of orders)/m);

    // A service goes on with the other list, and takes this one up when it is back.
    const service = startCommand(['start'], { env });
    simulator.insert('nft_classes', {
      record: { id: `new-${name}`, name: 'n', timestamp: '2026-04-06T11:59:59Z' },
    });
    await service.waitFor(/"recordsNew":[1-9]/);
    expect((await service.stop('SIGTERM')).code).toBe(0);
    simulator.setFaults({ textNotFound: null, serverError: null, forbidden: null, hang: null });
    await succeedHere(['sync'], { env });
  },
);

test('start works on schedule, serves what it holds, outlives its connections, and leaves cleanly on SIGTERM', async () => {
  await takeSynced();
  const client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  const service = startCommand(['start'], { env: settings({ OUTLAST_SCHEDULE: '* * * * * *' }) });
  const runs = (n: number): Promise<unknown> =>
    service.waitFor(new RegExp(`(?:A run brought records[^]*){${n}}`));
  const insert = (id: string): void =>
    simulator.insert('orders', {
      record: { operation_id: id, status: 2, create_time: '2026-04-06T11:59:59Z' },
    });
  insert('first');
  await runs(1);

  // The platform's own interface; a port that is taken is said at once.
  const [, url = ''] = await service.waitFor(/"url":"([^"]+)"/);
  const answer = await fetch(`${url}/v3/orders?limit=1&count_total=1`);
  const { data } = (await answer.json()) as { data: { total_count: number } };
  expect(data.total_count).toBe(simulator.oracle.count('orders'));
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  // As V8 has it the space of new objects grows to 16 MB and more, and one page in a hundred waits 10 ms for it.
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const newSpace = /^nodejs_heap_space_size_total_bytes\{space="new"\} (\d+)$/m.exec(metrics);
  expect(Number(newSpace?.[1])).toBeLessThan(4_000_000);
  const rival = await runHere(['start'], {
    env: settings({ OUTLAST_PORT: new URL(url).port }),
  });
  expect(rival.code).toBe(2);
  expect(rival.stderr).toContain('it is taken. Give another OUTLAST_HOST or OUTLAST_PORT');

  insert('late-one');
  await runs(2);
  // What is cut off is done at the next tick.
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'outlast' and datname = current_database()`,
  );
  insert('after-the-cut');
  const isHeld = `select from archive.orders where operation_id = 'after-the-cut'`;
  await expect.poll(async () => (await client.query(isHeld)).rowCount).toBe(1);
  expect((await service.stop('SIGTERM')).code).toBe(0);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  const { rows } = await client.query<{ held: number; late: number }>(
    `select (select count(*)::int from sync.holders where holder is not null) as held,
            (select count(*)::int from archive.orders where operation_id in ('late-one', 'after-the-cut')) as late`,
  );
  await client.end();
  expect(rows).toEqual([{ held: 0, late: 2 }]);
});

/** The clock on the wall: set back by five hours at the first SIGUSR2, stopped at the second, let go at the third. */
const wallClock = `
  const Real = Date;
  const steps = [(now) => now - 18e6, () => 1e12, (now) => now];
  let shown = (now) => now;
  process.on('SIGUSR2', () => (shown = steps.shift()));
  globalThis.Date = class extends Real {
    constructor(...given) { super(...(given.length > 0 ? given : [shown(new Real().getTime())])); }
  };`;

test('start goes on when the clock on the wall is set back; where it stands still, this is an alert and fails /healthz', async () => {
  await takeSynced();
  const env = settings({ OUTLAST_SCHEDULE: '* * * * * *' });
  env['NODE_OPTIONS'] += ` --import=data:text/javascript,${encodeURIComponent(wallClock)}`;
  const service = startCommand(['start'], { env });
  const [, url = ''] = await service.waitFor(/"url":"([^"]+)"/);
  const health = async (): Promise<number> => (await fetch(`${url}/healthz`)).status;
  const brings = async (id: string, runs: number): Promise<void> => {
    simulator.insert('orders', {
      record: { operation_id: id, status: 2, create_time: '2026-04-06T11:59:59Z' },
    });
    await service.waitFor(new RegExp(`(?:A run brought records[^]*){${runs}}`));
  };
  await brings('before', 1);
  service.child.kill('SIGUSR2');
  await brings('set back', 2);
  await expect.poll(health).toBe(200);
  service.child.kill('SIGUSR2');
  await expect.poll(health).toBe(503);
  await service.waitFor(/No run has begun for three times as long/);
  service.child.kill('SIGUSR2');
  await brings('let go', 3);
  await expect.poll(health).toBe(200);
  expect((await service.stop()).code).toBe(0);
});

test('start ends in order when npm gets SIGTERM, run as `npm run` or by `npx`', async () => {
  await takeSynced();
  const bin = join(folder, 'node_modules', '.bin');
  await mkdir(bin, { recursive: true });
  // As npm would link it, which makes it executable.
  await writeFile(join(bin, 'outlast'), `#!/bin/sh\nexec node '${mainFile}' "$@"\n`, {
    mode: 0o755,
  });
  const byNpm = async (args: string[], cwd: string): Promise<void> => {
    const npm = startCommand([...args, 'start'], { main: npmFile, env: settings(), cwd });
    await npm.waitFor(/Outlast is running/);
    // It has ended when nobody has its output open any more.
    expect((await npm.stop('SIGTERM')).stderr).toContain('Outlast has stopped');
  };
  await Promise.all([
    byNpm(['run', '-s', '--ignore-scripts', 'outlast', '--'], process.cwd()),
    byNpm(['exec', '--offline', 'outlast'], folder),
  ]);
});

test('without a terminal, as after nohup, SIGHUP ends nothing', async () => {
  await takeSynced();
  const service = startCommand(['start'], { env: settings() });
  const [, url = ''] = await service.waitFor(/"url":"([^"]+)"/);
  service.child.kill('SIGHUP');
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const ended = await service.stop('SIGTERM');
  expect(ended).toMatchObject({ code: 0, signal: null });
});

test('P11: start asks once with a key that is refused, also a changed one, and then lets it rest; P10: no output has a key; the embedded database is shared with status, and the last one out stops it', async () => {
  const dataDir = join(folder, 'archive');
  const log = silentLog();
  const embedded = await openEmbedded({ dataDir, log });
  await migrate(embedded.connectionString, log);
  await readOnly(embedded.connectionString, simulator, days);
  simulator.setFaults({ forbidden: {} });
  simulator.requests.clear();
  const service = startCommand(['start'], {
    env: settings({
      DATABASE_URL: '',
      OUTLAST_DATA_DIR: dataDir,
      OUTLAST_SCHEDULE: '* * * * * *',
      OUTLAST_API_KEY: 'another-key',
      OUTLAST_LOG_LEVEL: 'trace',
    }),
  });
  await service.waitFor(/The platform refused the key/);
  const asked = simulator.requests.total;
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(simulator.requests.total).toBe(asked);

  const status = await succeedHere(['status', '--all'], { env: { OUTLAST_DATA_DIR: dataDir } });
  expect(status.stdout).toContain('Project default');
  expect(status.stdout.match(/check the API key/g)).toHaveLength(1);
  const [address = ''] = /postgres:\/\/\S+/.exec(status.stdout) ?? [];
  const rows = await queryAt(address, 'select * from sync.projects');
  expect(await embedded.close()).toEqual({ stopped: false });
  const refused = await service.stop('SIGTERM');
  expect(refused.code).toBe(0);
  expect(refused.stderr).toContain('The embedded Postgres was stopped');

  // Neither key nor secret, at the loudest log level.
  const { apiKey = '', apiSecret = '' } = simulator.projects[0] ?? {};
  const secrets = [apiKey, apiSecret, 'another-key'];
  for (const { stdout, stderr } of [firstSync, refused]) {
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
  }
  for (const secret of secrets) expect(JSON.stringify(rows)).not.toContain(secret);
});

test('several projects at once: each has its own records and its own rate', async () => {
  await takeUnread();
  const other = await fresh(createSimulator({ startAt: noon, speed: 0, world, seed: 5 }));
  const file = join(folder, 'projects.json');
  const entries = [simulator, other].map((one, i) => ({
    name: `project_${i}`,
    baseUrl: one.url,
    apiKeyEnv: `KEY_${i}`,
    apiSecretEnv: `SECRET_${i}`,
  }));
  await writeFile(file, JSON.stringify({ projects: entries }));
  const env: Record<string, string> = {
    OUTLAST_PROJECTS_FILE: file,
    // Orders and classes are counted here.
    OUTLAST_TOKENS_HOURS: '0',
    OUTLAST_PORT: '0',
    OUTLAST_MAX_RPS: '100000',
    ...stoppedAt(noon),
    DATABASE_URL: database.connectionString,
  };
  [simulator, other].forEach((one, i) => {
    env[`KEY_${i}`] = one.projects[0]?.apiKey ?? '';
    env[`SECRET_${i}`] = one.projects[0]?.apiSecret ?? '';
  });
  for (const [i, one] of [simulator, other].entries()) {
    await readOnly(database.connectionString, one, days, `project_${i}`);
  }
  const both = await succeedHere(['sync', '--json'], { env });
  const { projects } = JSON.parse(both.stdout) as {
    projects: { project_id: string; records_new: number }[];
  };
  expect(projects.map((one) => one.project_id)).toEqual(['project_0', 'project_1']);
  const expected = [simulator, other].map(
    (one) => one.oracle.count('orders') + one.oracle.count('nft_classes'),
  );
  expect(projects.map((one) => one.records_new)).toEqual(expected);
  // Without the list there is nothing to do, which is not all that was asked for.
  await writeFile(
    file,
    JSON.stringify({ projects: entries.map((one) => ({ ...one, classes: 'none' })) }),
  );
  const none = await runHere(['sync', '--resource', 'nft_classes'], { env });
  expect(none.stderr).toContain('--resource nft_classes: no project that is meant archives');
  expect(none.code).toBe(2);
});

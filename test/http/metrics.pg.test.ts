// `/metrics`: what the process counts is what its runs report, what the archive's state is agrees with `status`, and
// nobody reads it who may not read the archive.
import { describe, expect, test } from 'vitest';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { startServing } from '../../src/cli/start-serving.ts';
import {
  addArchiveMetrics,
  createProcessMetrics,
  type ArchiveMetrics,
} from '../../src/http/metrics.ts';
import type { Served, ServerOptions } from '../../src/http/server.ts';
import { openArchive, type Archive } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';
import { requestOutcomes, type RequestOutcome } from '../../src/meter.ts';
import { listedResources, sliceStates } from '../../src/model.ts';
import { outcomeName } from '../../src/platform/request.ts';
import { readArchiveState } from '../../src/query/metrics-state.ts';
import { readStatus } from '../../src/query/status.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import type { RunReport } from '../../src/sync/worker.ts';
import { createBench, type Bench } from '../support/archive.ts';
import { setUp } from '../support/fresh.ts';
import { isOnCluster, createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { fileText } from '../support/repository.ts';
import { serveArchive } from '../support/served.ts';
import { bearerKey, bearing } from './ask.ts';

const metrics = createProcessMetrics(['p']);
let database: TestDatabase;
let bench: Bench;
let archive: Archive;
let served: Served;
/** On loopback, with another project and keys. */
let local: Served;
let owner: Db;
let first: RunReport;

setUp(async (keep) => {
  database = await keep(createTestDatabase());
  const { connectionString } = database;
  const db = await openDb({
    connectionString,
    max: 2,
    onTransaction: metrics.meter.transaction,
    log: silentLog(),
  });
  bench = await keep(
    createBench(
      {
        world: { ordersPerDay: 20, classesPerDay: 6, quietShare: 0, tokens: 2 },
        days: ['2026-03-01', '2026-04-05', '2026-04-06'],
      },
      { tokensEveryMs: 86_400_000, meter: metrics.meter.of('p') },
      async () => ({ connectionString, db, leave: () => db.close() }),
    ),
  );
  owner = await keep(openDb({ connectionString, role: null, max: 1, log: silentLog() }));
  archive = await keep(openArchive({ connectionString }));
  const pair = { OUTLAST_API_KEY: 'a-key-of-its-own', OUTLAST_API_SECRET: 'a-secret-of-its-own' };
  const of = { OUTLAST_PROJECT: 'p', OUTLAST_BASE_URL: bench.simulator.url, OUTLAST_PORT: '0' };
  const settings = readSettings({ needs: 'platform' }, { ...of, ...pair });
  const more = { metrics, workers: [bench.worker] };
  served = await keep(startServing(settings, connectionString, silentLog(), more));
  first = await bench.run();
  local = await keep(serveArchive(archive, withKeys()));
});

const bearer = 'long~random+key';
/** What serves another project as well, to whoever has a key. */
const withKeys = (): Partial<ServerOptions> => ({
  keys: [bearerKey(bearer, ['p'])],
  projects: ['p', 'other'].map((id) => ({ id, classesOf: id })),
  metrics: { ...createProcessMetrics(['p', 'other']), ...stateOf(['p', 'other']) },
});

type Samples = Map<string, number>;

/** By name and labels as they stand there. */
const samplesOf = (text: string): Samples =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );

async function scrape(of = served, headers: Record<string, string> = {}): Promise<Samples> {
  const answer = await fetch(`${of.url}/metrics`, { headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return samplesOf(await answer.text());
}

/** What the archive's state is this moment, of these projects. */
const stateOf = (projects: string[]): Omit<ArchiveMetrics, 'projects'> => ({
  read: () => readArchiveState(bench.db, projects),
  now: () => bench.simulator.clock.now(),
  freshMs: 0,
});

/** The same without a server. */
async function gauges(more: Partial<ArchiveMetrics> = {}): Promise<Samples> {
  const { projects = ['p'] } = more;
  const { registry } = createProcessMetrics(projects);
  const refresh = addArchiveMetrics(registry, { ...stateOf([...projects]), projects, ...more });
  await refresh();
  return samplesOf(await registry.metrics());
}

const sum = (samples: Samples, name: string, label = ''): number =>
  [...samples].reduce(
    (all, [key, value]) => (key.startsWith(`${name}{`) && key.includes(label) ? all + value : all),
    0,
  );
const requests = (samples: Samples, outcome: string): number =>
  sum(samples, 'outlast_platform_requests_total', `outcome="${outcome}"`);

describe('what this process counts', () => {
  test('is what its runs report', async () => {
    const now = await scrape();
    expect(sum(now, 'outlast_platform_requests_total')).toBe(first.requests);
    expect(requests(now, 'answered')).toBe(first.requests);
    expect(sum(now, 'outlast_platform_request_duration_seconds_count')).toBe(first.requests);
    const records = (label: string): number => sum(now, 'outlast_records_total', label);
    expect(records('outcome="new"')).toBe(first.recordsNew);
    expect(records('resource="tokens",outcome="new"')).toBe(2);
    const newAndOld = records('outcome="new"') + records('outcome="unchanged"');
    expect(newAndOld).toBe(first.recordsShown);
    expect(now.get('outlast_runs_total{project="p",outcome="done"}')).toBe(1);
    expect(sum(now, 'outlast_rate_limit_wait_seconds_total')).toBeGreaterThan(0);
    const transactions = 'outlast_database_transaction_duration_seconds_count';
    expect(sum(now, transactions, 'committed')).toBeGreaterThan(10);
    expect(now.get(`${transactions}{outcome="failed"}`)).toBe(0);
    expect(now.get('outlast_last_successful_run_age_seconds{project="p"}')).toBeLessThan(60);
    expect(now.get('process_cpu_seconds_total')).toBeGreaterThan(0);
  });

  // A cluster takes no triggers.
  test.skipIf(isOnCluster)(
    'moves with each: faults, rejects, and a project that another took',
    async () => {
      const before = await scrape();
      const late = 'create_time":"2026-04-06T11:59:00Z","status":2';
      bench.simulator.insert('orders', `{"operation_id":"","${late}}`);
      bench.simulator.insert('orders', `{"operation_id":"late","${late}}`);
      bench.simulator.setFaults({
        serverError: { next: 1, path: '/v3' },
        tooMany: { next: 1, path: '/v1beta1/nft' },
      });
      bench.simulator.advance(3_600_000);
      await bench.run();
      // Whoever opens a run finds the project taken by the next statement.
      await owner.query(
        `create function public.take() returns trigger language plpgsql as $$ begin
         update sync.holders set epoch = epoch + 1 where project_id = new.project_id;
         return new; end $$;
       create trigger taken after insert on sync.runs for each row execute function public.take()`,
      );
      await bench.run();
      const after = await scrape();
      const moved = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
      expect(moved('outlast_platform_requests_total{project="p",outcome="failed"}')).toBe(1);
      expect(moved('outlast_platform_requests_total{project="p",outcome="throttled"}')).toBe(1);
      const orders = 'outlast_records_total{project="p",resource="orders",outcome=';
      expect(moved(`${orders}"rejected"}`)).toBe(1);
      expect(moved(`${orders}"new"}`)).toBeGreaterThan(0);
      expect(moved(`${orders}"unchanged"}`)).toBeGreaterThan(0);
      expect(moved('outlast_leases_lost_total{project="p"}')).toBe(1);
      expect(moved('outlast_runs_total{project="p",outcome="left"}')).toBe(1);
    },
  );

  test('never fails the work: what is no number, or no label, is left out', async () => {
    const { meter, registry } = createProcessMetrics(['p']);
    const of = meter.of('p');
    of.waited(Number.NaN);
    of.request('answered', Number.NaN);
    of.records('orders', { shown: Number.NaN, inserted: 0, changed: 0, rejected: 0 });
    of.run(Symbol('none') as never);
    meter.transaction(true, undefined as never);
    const told = samplesOf(await registry.metrics());
    const ours = [...told].filter(([key]) => key.startsWith('outlast_'));
    expect(ours.filter(([, value]) => Number.isNaN(value))).toEqual([]);
    // Not for nothing: the same throws where nobody looks after it.
    const waited = registry.getSingleMetric('outlast_rate_limit_wait_seconds_total');
    const labels = { unknown: 'label' };
    expect(() => (waited as unknown as { inc(of: object): void }).inc(labels)).toThrow();
  });

  test('every fault has its outcome', () => {
    const fault = { code: '', text: '', retryAfterMs: null, final: false };
    const outcomes: [Parameters<typeof outcomeName>[0], RequestOutcome][] = [
      [{ value: null }, 'answered'],
      [{ ...fault, status: null }, 'unreachable'],
      [{ ...fault, status: 429 }, 'throttled'],
      [{ ...fault, status: 503 }, 'failed'],
      [{ ...fault, status: 404 }, 'failed'],
      [{ ...fault, status: 200 }, 'unusable'],
      [{ ...fault, status: 403 }, 'refused'],
    ];
    for (const [outcome, name] of outcomes) expect(outcomeName(outcome)).toBe(name);
    expect(new Set([...outcomes.map(([, name]) => name), 'stopped'])).toEqual(
      new Set(requestOutcomes),
    );
  });
});

describe('the state of the archive', () => {
  test('is what `status` says', async () => {
    const now = await gauges();
    const [status] = await readStatus(bench.db, 'p');
    for (const resource of listedResources) {
      const months = status?.lists.find((one) => one.resource === resource)?.months ?? [];
      for (const state of sliceStates) {
        expect(now.get(`outlast_slices{project="p",resource="${resource}",state="${state}"}`)).toBe(
          months.reduce((all, month) => all + month[state], 0),
        );
      }
    }
    expect(now.get('outlast_database_up')).toBe(1);
    const known = new Map<string, number>();
    for (const { kind, level } of status?.problems ?? []) {
      const key = `outlast_problems{project="p",kind="${kind}",level="${level}"}`;
      known.set(key, (known.get(key) ?? 0) + 1);
    }
    expect(new Map([...now].filter(([key]) => key.startsWith('outlast_problems')))).toEqual(known);
  });

  test('moves with the ledger, the runs and what a process reports', async () => {
    const of = (day: string) => `project_id = 'p' and resource = 'orders' and day = '${day}'`;
    await bench.db.query(
      `update sync.slices set state = 'lost', proof = 'none' where ${of('2026-03-01')};
       update sync.projects set parked_at = now(), parked_reason = '403';
       update sync.runs set ended_at = (ended_at at time zone 'UTC' - interval '5 hours') at time zone 'UTC';
       insert into sync.reported_problems (project_id, kind, subject, numbers, reported_at)
       values ('p', 'export_failed', '', '{"trouble": "late"}', now())`,
    );
    const now = await gauges();
    expect(now.get('outlast_slices{project="p",resource="orders",state="lost"}')).toBe(1);
    const problems = (kind: string, level: string): number | undefined =>
      now.get(`outlast_problems{project="p",kind="${kind}",level="${level}"}`);
    expect(problems('day_lost', 'critical')).toBe(1);
    expect(problems('parked', 'critical')).toBe(1);
    expect(problems('export_failed', 'warning')).toBe(1);
    const age = now.get('outlast_last_successful_run_age_seconds{project="p"}') ?? 0;
    expect(age).toBeGreaterThan(5 * 3600 - 60);
  });

  test('of a project that is not in the archive yet counts from the start on, problems included', async () => {
    await bench.db.query(
      `insert into sync.reported_problems (project_id, kind, subject, numbers, reported_at)
       values ('new', 'run_failed', '', '{"trouble": "never", "runs": 3}', now())`,
    );
    const now = await gauges({ projects: ['new'] });
    expect(now.get('outlast_last_successful_run_age_seconds{project="new"}')).toBe(0);
    expect(now.get('outlast_slices{project="new",resource="orders",state="open"}')).toBe(0);
    expect(now.get('outlast_problems{project="new",kind="run_failed",level="critical"}')).toBe(1);
  });

  test('is read once for all who ask within a while', async () => {
    let reads = 0;
    const read = async () => {
      reads += 1;
      return readArchiveState(bench.db, ['p']);
    };
    const of = { ...stateOf(['p']), projects: ['p'], read, freshMs: 60_000 };
    const refresh = addArchiveMetrics(new Registry(), of);
    await Promise.all([refresh(), refresh(), refresh()]);
    await refresh();
    expect(reads).toBe(1);
  });

  test('is left out while the database says nothing, and what this process counts is told all the same', async () => {
    for (const read of [
      () => Promise.reject(new Error('gone')),
      () => new Promise<never>(() => undefined),
    ]) {
      const now = await gauges({ read, patienceMs: 50 });
      expect(now.get('outlast_database_up')).toBe(0);
      expect(requests(now, 'answered')).toBe(0);
      expect([...now.keys()].filter((key) => key.startsWith('outlast_slices'))).toEqual([]);
    }
  });
});

describe('who may read it', () => {
  let remote: Served;
  setUp(async (keep) => {
    remote = await keep(serveArchive(archive, { host: '0.0.0.0', ...withKeys() }));
  });
  const ask = (of: Served, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${of.url}/metrics`, { headers });

  test('everybody on loopback, with all projects', async () => {
    const text = await (await ask(local)).text();
    expect(text).toContain('project="p"');
    expect(text).toContain('project="other"');
    expect((await ask(local, { 'x-forwarded-for': '10.0.0.1' })).status).toBe(401);
  });

  test('beyond it whoever has a bearer key, of the projects that the key opens', async () => {
    const none = await ask(remote);
    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toBe('Bearer realm="outlast"');
    expect(none.headers.get('content-type')).toMatch(/^application\/json/);
    for (const server of [remote, local]) {
      const wrong = await ask(server, bearing('wrong'));
      expect(wrong.status).toBe(403);
      expect(await wrong.text()).not.toContain('outlast_');
    }
    const now = await scrape(remote, bearing(bearer));
    expect(now.get('outlast_database_up')).toBe(1);
    expect([...now.keys()].some((key) => key.includes('project="p"'))).toBe(true);
    expect([...now.keys()].filter((key) => key.includes('"other"'))).toEqual([]);
  });

  test('and nobody learns a secret or an address (P10)', async () => {
    const text = await (await ask(served)).text();
    expect(text).not.toMatch(/a-key-of|a-secret-of|postgres|127\.0\.0\.1/);
    const methods = await fetch(`${served.url}/metrics`, { method: 'POST' });
    expect(methods.status).toBe(405);
  });
});

describe('what can be read about them', () => {
  test('is every metric with its labels, in docs/monitoring.md', async () => {
    const text = await (await fetch(`${served.url}/metrics`)).text();
    const page = fileText('docs/monitoring.md');
    const told = new Map(
      [...page.matchAll(/^\| `(outlast_\w+)` +\| (.*?) +\|/gm)].map(
        ([, name = '', labels = '']) => [name, labels === '' ? [] : labels.split(', ')],
      ),
    );
    const named = [...text.matchAll(/^# HELP (outlast_\w+) \S.*\.$/gm)].map(
      ([, name = '']) => name,
    );
    expect([...told.keys()].toSorted()).toEqual(named.toSorted());
    for (const [key] of samplesOf(text)) {
      const [, name = '', labels = ''] =
        /^(outlast_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})?$/.exec(key) ?? [];
      if (name === '') continue;
      const given = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label);
      expect([name, told.get(name)]).toEqual([name, given.filter((label) => label !== 'le')]);
    }
  });

  /** Names of ours in a text, without what a histogram adds to its own. */
  const namesIn = (text: string): Set<string> =>
    new Set(
      [...text.matchAll(/\boutlast_\w+/g)].map(([name]) =>
        name.replace(/_(bucket|sum|count)$/, ''),
      ),
    );

  test('is what the alert rules and the dashboard ask for; and each rule has its test', async () => {
    const rules = fileText('deploy/prometheus/outlast.rules.yml');
    const tests = fileText('deploy/prometheus/outlast.rules.test.yml');
    const dashboard = fileText('deploy/grafana/outlast.json');
    const here = namesIn(await (await fetch(`${served.url}/metrics`)).text());
    for (const [file, names] of [
      ['rules', namesIn(rules)],
      ['rules’ tests', namesIn(tests)],
      ['dashboard', namesIn(dashboard)],
    ] as const) {
      expect(names.size).toBeGreaterThan(4);
      expect([file, [...names].filter((name) => !here.has(name))]).toEqual([file, []]);
    }
    // Everything that is told is shown somewhere.
    const shown = new Set([...namesIn(rules), ...namesIn(dashboard)]);
    expect([...here].filter((name) => !shown.has(name))).toEqual([]);
    const text = expect.any(String) as string;
    const sentence = expect.stringMatching(/\.$/) as string;
    const { groups } = parse(rules) as { groups: { rules: { alert: string }[] }[] };
    expect(groups.length).toBeGreaterThan(0);
    for (const rule of groups.flatMap((group) => group.rules)) {
      expect(rule).toEqual({
        alert: expect.stringMatching(/^Outlast/) as string,
        expr: text,
        for: text,
        labels: {
          severity: expect.stringMatching(
            /^(critical|warning|\{\{ \$labels\.level \}\})$/,
          ) as string,
        },
        annotations: { summary: sentence, description: sentence },
      });
      expect(tests).toContain(`alertname="${rule.alert}"`);
    }
  });
});

test('/readyz says so where the schema is another release’s, and where the database is gone', async () => {
  const ready = async (): Promise<[number, string]> => {
    const answer = await fetch(`${served.url}/readyz`);
    return [answer.status, await answer.text()];
  };
  expect(await ready()).toEqual([200, '{"status":"ready"}']);
  await owner.query('update sync.migrations set hash = reverse(hash)');
  expect((await ready())[0]).toBe(503);
  await owner.query('update sync.migrations set hash = reverse(hash)');
  expect((await ready())[0]).toBe(200);
  await database.drop();
  expect((await ready())[0]).toBe(503);
  expect((await scrape(local)).get('outlast_database_up')).toBe(0);
});

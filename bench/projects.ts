// Many small projects in one settings file, and several replicas of it: what a first sync and a tick of all of them
// cost, how evenly replicas share the work, what they wait for, and whether any project was asked too fast.
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { silentLog } from '../src/log.ts';
import { openEmbedded } from '../src/store/embedded/embedded.ts';
import { peakMbOf, runCommand, simulate, startCommand, type Simulated } from './children.ts';
import type { Table } from './tables.ts';
import { load, processorSeconds } from './timing.ts';

export type Filled = {
  replicas: number;
  orders: number;
  seconds: number;
  /** Of all replicas, and of Postgres. */
  processSeconds: number;
  postgresSeconds: number;
  /** The greatest of the replicas. */
  peakMb: number;
  connections: number;
  requests: number;
  /** Of the requests, the smallest share of a replica and the greatest, against an even one. */
  shares: { least: number; most: number };
  /** Of the sessions at work that were looked at, those that waited for a lock. */
  lockWaits: number;
  /** The most that any project was asked within a second. */
  mostInASecond: number;
  loadBefore: number;
};

export type Ticked = {
  replicas: number;
  /** From a tick's first request to its last, seconds; of all replicas. */
  lastsSeconds: number;
  requests: number;
  /** Milliseconds of processor time for each project. */
  processMs: number;
  postgresMs: number;
  walBytes: number;
  lockWaits: number;
  loadBefore: number;
};

export type Projects = { projects: number; filled: Filled[]; ticked: Ticked[]; postgres: string };

/** The interface's own default. */
const perSecond = 5;
/** Ticks that are measured; one before them settles what the filling left. */
const ticks = 2;

export async function measureProjects(
  projects: number,
  replicas: number[],
  signal: AbortSignal,
): Promise<Projects> {
  const folder = await mkdtemp(join(tmpdir(), 'outlast-bench-'));
  // Run by root, the server has another user, who must be able to pass through.
  await chmod(folder, 0o755);
  const closers: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const platform = await simulate(1_000, 0, { isNow: true, projects });
    closers.push(() => platform.close());
    const embedded = await openEmbedded({
      dataDir: join(folder, 'data'),
      log: silentLog(),
      // Each replica opens up to 45.
      settings: { max_connections: '250' },
    });
    closers.push(() => embedded.close());
    const postmaster = Number(
      readFileSync(join(embedded.dataDir, 'pgdata', 'postmaster.pid'), 'utf8').split('\n')[0],
    );
    const server = new pg.Client({ connectionString: embedded.connectionString });
    await server.connect();
    closers.push(() => server.end());
    const { rows } = await server.query<{ version: string }>(
      `select current_setting('server_version') as version`,
    );
    const filled: Filled[] = [];
    const ticked: Ticked[] = [];
    for (const many of replicas) {
      const name = `projects_${many}`;
      await server.query(`create database ${name}`);
      const address = new URL(embedded.connectionString);
      address.pathname = `/${name}`;
      const env = { ...(await settingsOf(platform, folder)), DATABASE_URL: address.href };
      await runCommand(['migrate'], env, signal);
      const world = { env, many, projects, platform, server, name, postmaster, signal };
      const fleet = startFleet(world);
      closers.push(() => fleet.forEach((one) => one.close()));
      filled.push(await fill(world, fleet));
      ticked.push(await tick(world, fleet));
      fleet.forEach((one) => one.close());
      await pause(5_000, signal);
    }
    return { projects, filled, ticked, postgres: rows[0]?.version ?? 'unknown' };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

type World = {
  env: NodeJS.ProcessEnv & { DATABASE_URL: string };
  many: number;
  projects: number;
  platform: Simulated;
  server: pg.Client;
  name: string;
  /** The process of Postgres that all its others are below. */
  postmaster: number;
  signal: AbortSignal;
};

type Replica = { pid: number; port: number; close(): void };

/** The projects of the platform in a file, at the rate of the default. */
async function settingsOf(platform: Simulated, folder: string): Promise<NodeJS.ProcessEnv> {
  const { OUTLAST_BASE_URL: baseUrl } = platform.env;
  const secrets = platform.keys.map(({ apiSecret }, i) => [`SECRET_${i}`, apiSecret] as const);
  const file = join(folder, 'projects.json');
  const listed = platform.keys.map(({ name, apiKey }, i) => ({
    name,
    baseUrl,
    apiKey,
    apiSecretEnv: `SECRET_${i}`,
    classes: 'none',
    maxRps: perSecond,
  }));
  await writeFile(file, JSON.stringify({ projects: listed }));
  return { ...Object.fromEntries(secrets), OUTLAST_PROJECTS_FILE: file };
}

const firstPort = 28_411;

const startFleet = ({ env, many }: World): Replica[] =>
  Array.from({ length: many }, (_, i) => {
    const port = firstPort + i;
    return { ...startCommand(['start'], { ...env, OUTLAST_PORT: String(port) }), port };
  });

/** From the start to the moment when every day has been read. */
async function fill(world: World, fleet: Replica[]): Promise<Filled> {
  const { many, platform, signal, env } = world;
  const loadBefore = load();
  const begun = performance.now();
  const [before, requestsBefore] = [used(world, fleet), await platform.requested()];
  const watch = watching(world);
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  let orders = 0;
  try {
    // Ends with the filling, or with the bench.
    for (;;) {
      await pause(1_000, signal);
      await watch.look();
      const { rows } = await client.query<{ slices: number; left: number }>(
        `select count(*)::int as slices, (count(*) filter (where whole_walk = 0))::int as left from sync.slices`,
      );
      const { slices = 0, left = 1 } = rows[0] ?? {};
      process.stderr.write(`\r${many} replicas: ${left} of ${slices} slices are left   `);
      if (slices >= world.projects * 28 && left === 0) break;
    }
    const seconds = (performance.now() - begun) / 1000;
    const after = used(world, fleet);
    const held = await client.query<{ n: number }>('select count(*)::int as n from archive.orders');
    orders = held.rows[0]?.n ?? 0;
    const asked = await Promise.all(fleet.map(askedBy));
    const even = asked.reduce((sum, one) => sum + one, 0) / many;
    const requests = (await platform.requested()) - requestsBefore;
    return {
      replicas: many,
      orders,
      seconds,
      processSeconds: after.process - before.process,
      postgresSeconds: after.postgres - before.postgres,
      peakMb: Math.max(...fleet.map(({ pid }) => peakMbOf(pid))),
      connections: watch.connections(),
      requests,
      shares: { least: Math.min(...asked) / even, most: Math.max(...asked) / even },
      lockWaits: watch.lockWaits(),
      mostInASecond: watch.mostInASecond(),
      loadBefore,
    };
  } finally {
    await client.end();
  }
}

async function tick(world: World, fleet: Replica[]): Promise<Ticked> {
  const { many, platform, projects, server, signal } = world;
  const wal = async (): Promise<number> => {
    const { rows } = await server.query<{ at: string }>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as at`,
    );
    return Number(rows[0]?.at);
  };
  // Up to a tick's begin, and the one before it settles what was left.
  await pause(60_000 + 55_000 - (Date.now() % 60_000), signal);
  const loadBefore = load();
  const watch = watching(world);
  const before = { ...used(world, fleet), wal: await wal(), asked: await platform.requested() };
  const lasts: number[] = [];
  for (let round = 0; round < ticks; round++) {
    const from = Date.now();
    while (Date.now() - from < 60_000) {
      await pause(1_000, signal);
      await watch.look();
    }
    const times = (await platform.requests())
      .map((one) => one.receivedAt)
      .filter((at) => at >= from);
    lasts.push((Math.max(...times) - Math.min(...times)) / 1000);
  }
  const after = { ...used(world, fleet), wal: await wal(), asked: await platform.requested() };
  const each = projects * ticks;
  return {
    replicas: many,
    lastsSeconds: Math.max(...lasts),
    requests: (after.asked - before.asked) / each,
    processMs: ((after.process - before.process) * 1000) / each,
    postgresMs: ((after.postgres - before.postgres) * 1000) / each,
    walBytes: (after.wal - before.wal) / each,
    lockWaits: watch.lockWaits(),
    loadBefore,
  };
}

type Used = { process: number; postgres: number };

/** Processor seconds until now: of all replicas, and of Postgres, sessions that ended included. */
function used({ postmaster }: World, fleet: Replica[]): Used {
  const process = fleet.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
  return { process, postgres: processorSeconds(postmaster) };
}

/** How many requests a replica has sent, by its own count. */
async function askedBy({ port }: Replica): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const counts = text.matchAll(/^outlast_platform_requests_total\{[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Looks now and then at what the sessions of the database wait for, and how fast each project was asked. */
function watching({ server, name, platform }: World) {
  let [connections, working, waiting, most] = [0, 0, 0, 0];
  const seen = new Map<string, number[]>();
  let newest = 0;
  return {
    async look(): Promise<void> {
      const { rows } = await server.query<{ all: number; working: number; waiting: number }>(
        `select count(*)::int as all, (count(*) filter (where state = 'active'))::int as working,
                (count(*) filter (where state = 'active' and wait_event_type = 'Lock'))::int as waiting
           from pg_stat_activity where datname = $1`,
        [name],
      );
      const [row = { all: 0, working: 0, waiting: 0 }] = rows;
      connections = Math.max(connections, row.all);
      working += row.working;
      waiting += row.waiting;
      for (const { receivedAt, project } of await platform.requests()) {
        // Tokens are asked for without a key.
        if (project === undefined || receivedAt <= newest) continue;
        seen.set(project, [...(seen.get(project) ?? []), receivedAt]);
      }
      newest = Math.max(newest, ...[...seen.values()].map((times) => times.at(-1) ?? 0));
      for (const [project, times] of seen) {
        const last = times.at(-1) ?? 0;
        for (const to of times)
          most = Math.max(most, times.filter((at) => at > to - 1000 && at <= to).length);
        seen.set(
          project,
          times.filter((at) => at > last - 1000),
        );
      }
    },
    connections: () => connections,
    lockWaits: () => (working === 0 ? 0 : waiting / working),
    mostInASecond: () => most,
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await sleep(ms, undefined, { signal });
}

const round = (number: number, digits = 0): number => Number(number.toFixed(digits));
const percent = (share: number): string => `${round(share * 100, 1)} %`;

export const projectTables = (measured: Projects[]): Table[] => [
  {
    name: 'projects',
    head: [
      'projects',
      'replicas',
      'orders',
      's',
      'processor s',
      'Postgres s',
      'peak MB',
      'connections',
      'requests',
      'shares of replicas',
      'waiting for locks',
      'most requests in 1 s',
      'load before',
    ],
    rows: measured.flatMap(({ projects, filled }) =>
      filled.map((one) => [
        projects,
        one.replicas,
        one.orders,
        round(one.seconds),
        round(one.processSeconds),
        round(one.postgresSeconds),
        round(one.peakMb),
        one.connections,
        one.requests,
        `${percent(one.shares.least / one.replicas)} to ${percent(one.shares.most / one.replicas)}`,
        percent(one.lockWaits),
        one.mostInASecond,
        round(one.loadBefore, 1),
      ]),
    ),
    notes: [],
  },
  {
    name: 'ticks',
    head: [
      'projects',
      'replicas',
      'lasts s',
      'requests a project',
      'processor ms a project',
      'Postgres ms a project',
      'WAL, bytes a project',
      'waiting for locks',
      'load before',
    ],
    rows: measured.flatMap(({ projects, ticked }) =>
      ticked.map((one) => [
        projects,
        one.replicas,
        round(one.lastsSeconds, 1),
        round(one.requests, 2),
        round(one.processMs, 1),
        round(one.postgresMs, 1),
        round(one.walBytes),
        percent(one.lockWaits),
        round(one.loadBefore, 1),
      ]),
    ),
    notes: [],
  },
];

// Many small projects in one settings file, and several replicas of it: what a first sync and a tick of all of them
// cost, and how evenly replicas share the work.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { peakMbOf, runCommand, simulate, startCommand, type Simulated } from './children.ts';
import { ask, withServer, type BenchServer } from './server.ts';
import { round, type Table } from './tables.ts';
import { load, processorSeconds } from './timing.ts';

type Filled = {
  orders: number;
  seconds: number;
  /** Of all replicas, and of Postgres. */
  processSeconds: number;
  postgresSeconds: number;
  /** The greatest of the replicas. */
  peakMb: number;
  connections: number;
  requests: number;
  /** Of the requests, the smallest share of a replica and the greatest. */
  shares: { least: number; most: number };
};

type Ticked = {
  /** From a tick's first request to its last, seconds; of all replicas. */
  lastsSeconds: number;
  /** Of each project; milliseconds are of processor time. */
  requests: number;
  processMs: number;
  postgresMs: number;
};

type Measured = {
  projects: number;
  replicas: number;
  loadBefore: number;
  filled: Filled;
  ticked: Ticked;
};

export type Projects = { measured: Measured[]; postgres: string };

/** The interface's own default. */
const perSecond = 5;
/** Ticks that are measured; one before them settles what the filling left. */
const ticks = 2;

export const measureProjects = (
  projects: number,
  replicas: number[],
  signal: AbortSignal,
): Promise<Projects> =>
  withServer(
    async (server) => {
      const platform = await simulate(1_000, 0, { isNow: true, projects });
      server.atEnd(() => platform.close());
      const measured: Measured[] = [];
      for (const many of replicas) {
        const name = `projects_${many}`;
        const env = {
          ...(await settingsOf(platform, server.folder)),
          DATABASE_URL: await server.database(name),
        };
        await runCommand(['migrate'], env, signal);
        const world = { env, many, projects, platform, server, name, signal };
        const fleet = startFleet(world);
        server.atEnd(() => fleet.forEach((one) => one.close()));
        const loadBefore = load();
        const filled = await fill(world, fleet);
        const ticked = await tick(world, fleet);
        measured.push({ projects, replicas: many, loadBefore, filled, ticked });
        fleet.forEach((one) => one.close());
        await pause(5_000, signal);
      }
      return { measured, postgres: server.version };
    },
    // Each replica opens up to 45.
    { max_connections: '250' },
  );

type World = {
  env: NodeJS.ProcessEnv & { DATABASE_URL: string };
  many: number;
  projects: number;
  platform: Simulated;
  server: BenchServer;
  name: string;
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
  const begun = performance.now();
  const [before, requestsBefore] = [used(world, fleet), await platform.requested()];
  const { DATABASE_URL: address } = env;
  let connections = 0;
  // Ends with the filling, or with the bench.
  for (;;) {
    await pause(1_000, signal);
    connections = Math.max(connections, await connectionsTo(world));
    const [row] = await ask<{ slices: number; left: number }>(
      address,
      `select count(*)::int as slices, (count(*) filter (where whole_walk = 0))::int as left from sync.slices`,
    );
    const { slices = 0, left = 1 } = row ?? {};
    process.stderr.write(`\r${many} replicas: ${left} of ${slices} slices are left   `);
    if (slices >= world.projects * 28 && left === 0) break;
  }
  const seconds = (performance.now() - begun) / 1000;
  const after = used(world, fleet);
  const [held] = await ask<{ n: number }>(address, 'select count(*)::int as n from archive.orders');
  const asked = await Promise.all(fleet.map(askedBy));
  const all = asked.reduce((sum, one) => sum + one, 0);
  return {
    orders: held?.n ?? 0,
    seconds,
    processSeconds: after.process - before.process,
    postgresSeconds: after.postgres - before.postgres,
    peakMb: Math.max(...fleet.map(({ pid }) => peakMbOf(pid))),
    connections,
    requests: (await platform.requested()) - requestsBefore,
    shares: { least: Math.min(...asked) / all, most: Math.max(...asked) / all },
  };
}

async function tick(world: World, fleet: Replica[]): Promise<Ticked> {
  const { platform, projects, signal } = world;
  // Up to a tick's begin, and the one before it settles what was left.
  await pause(60_000 + 55_000 - (Date.now() % 60_000), signal);
  const before = { ...used(world, fleet), asked: await platform.requested() };
  const lasts: number[] = [];
  for (let round = 0; round < ticks; round++) {
    const from = Date.now();
    await pause(60_000, signal);
    const times = (await platform.requests())
      .map((one) => one.receivedAt)
      .filter((at) => at >= from);
    lasts.push((Math.max(...times) - Math.min(...times)) / 1000);
  }
  const after = { ...used(world, fleet), asked: await platform.requested() };
  const each = projects * ticks;
  return {
    lastsSeconds: Math.max(...lasts),
    requests: (after.asked - before.asked) / each,
    processMs: ((after.process - before.process) * 1000) / each,
    postgresMs: ((after.postgres - before.postgres) * 1000) / each,
  };
}

type Used = { process: number; postgres: number };

/** Processor seconds until now: of all replicas, and of Postgres, sessions that ended included. */
function used({ server }: World, fleet: Replica[]): Used {
  const process = fleet.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
  return { process, postgres: processorSeconds(server.pid) };
}

/** How many requests a replica has sent, by its own count. */
async function askedBy({ port }: Replica): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const counts = text.matchAll(/^outlast_platform_requests_total\{[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function connectionsTo({ server, name }: World): Promise<number> {
  const [row] = await ask<{ all: number }>(
    server.connectionString,
    'select count(*)::int as all from pg_stat_activity where datname = $1',
    [name],
  );
  return row?.all ?? 0;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await sleep(ms, undefined, { signal });
}

const percent = (share: number): string => `${round(share * 100, 1)} %`;

export const projectTables = (measured: Measured[]): Table[] => [
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
      'a tick, s',
      'requests a project',
      'processor ms',
      'Postgres ms',
      'load before',
    ],
    rows: measured.map(({ projects, replicas, loadBefore, filled, ticked }) => [
      projects,
      replicas,
      filled.orders,
      round(filled.seconds),
      round(filled.processSeconds),
      round(filled.postgresSeconds),
      round(filled.peakMb),
      filled.connections,
      filled.requests,
      `${percent(filled.shares.least)} to ${percent(filled.shares.most)}`,
      round(ticked.lastsSeconds, 1),
      round(ticked.requests, 2),
      round(ticked.processMs, 1),
      round(ticked.postgresMs, 1),
      round(loadBefore, 1),
    ]),
    notes: [],
  },
];

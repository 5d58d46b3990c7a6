// Many small projects in one settings file, and several replicas of it: what a first sync and a tick of all of them
// cost, and how evenly replicas share the work.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryAt } from '../test/support/client.ts';
import { peakMbOf, runCommand, simulate, startCommand, type Simulated } from './children.ts';
import { withServer, type BenchServer } from './server.ts';
import { round, tableOf, type Column, type Measured } from './tables.ts';
import { used } from './timing.ts';

/** The interface's own default. */
const perSecond = 5;
/** Ticks that are measured; one before them settles what the filling left. */
const ticks = 2;
const firstPort = 28_411;

/** `asked`: `500,100:1:4` are five hundred projects read by one replica, and a hundred by one and by four. */
export async function measureProjects(asked: string, signal: AbortSignal): Promise<Measured> {
  const measured: Lived[] = [];
  for (const one of asked.split(',')) {
    const [projects = 0, ...replicas] = one.split(':').map(Number);
    await withServer(
      async (server) => {
        const platform = await simulate(server, 1_000, 0, { isNow: true, projects });
        for (const many of replicas.length > 0 ? replicas : [1]) {
          measured.push(await live({ server, platform, projects, replicas: many, signal }));
        }
      },
      // Each replica opens up to 45.
      { max_connections: '250' },
    );
  }
  return { results: measured, tables: [tableOf('projects', measured, columns)] };
}

type World = {
  server: BenchServer;
  platform: Simulated;
  projects: number;
  replicas: number;
  signal: AbortSignal;
};

type Replica = { pid: number; port: number; close(): void };
type Fleet = { address: string; replicas: Replica[] };
type Lived = Awaited<ReturnType<typeof live>>;

/** An archive of its own, from its first sync to a tick with nothing to do. */
async function live(world: World) {
  const { server, projects, replicas, signal } = world;
  const address = await server.database(`projects_${replicas}`);
  const env = { ...(await settingsOf(world)), DATABASE_URL: address };
  await runCommand(['migrate'], env, signal);
  const fleet: Fleet = {
    address,
    replicas: Array.from({ length: replicas }, (_, i) => {
      const port = firstPort + i;
      return { ...startCommand(['start'], { ...env, OUTLAST_PORT: String(port) }), port };
    }),
  };
  const close = (): void => fleet.replicas.forEach((one) => one.close());
  server.atEnd(close);
  const filled = await fill(world, fleet);
  const ticked = await tick(world, fleet);
  close();
  await sleep(5_000, undefined, { signal });
  return { projects, replicas, filled, ticked };
}

/** The projects of the platform in a file, at the rate of the default. */
async function settingsOf({ platform, server }: World): Promise<NodeJS.ProcessEnv> {
  const { OUTLAST_BASE_URL: baseUrl } = platform.env;
  const secrets = platform.keys.map(({ apiSecret }, i) => [`SECRET_${i}`, apiSecret] as const);
  const file = join(server.folder, 'projects.json');
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

/** What was done, the requests that it took, and processor seconds of all replicas and of Postgres. */
async function cost<Of>({ platform, server }: World, fleet: Fleet, work: () => Promise<Of>) {
  const before = await platform.requested();
  const apart = [server.pid, ...fleet.replicas.map(({ pid }) => pid)];
  const { of, apart: seconds, loadBefore } = await used(work, apart);
  const requests = (await platform.requested()) - before;
  const [postgres = Number.NaN, ...processes] = seconds;
  return { of, requests, postgres, process: processes.reduce((a, b) => a + b, 0), loadBefore };
}

/** From the start to the moment when every day has been read. */
async function fill(world: World, fleet: Fleet) {
  const { projects, replicas, signal } = world;
  let connections = 0;
  const untilRead = async (): Promise<number> => {
    const begun = performance.now();
    // Ends with the filling, or with the bench.
    for (;;) {
      await sleep(1_000, undefined, { signal });
      const [now = { open: 0, slices: 0, left: 1 }] = await queryAt<Record<string, number>>(
        fleet.address,
        `select count(*)::int as slices, (count(*) filter (where whole_walk = 0))::int as left,
                (select count(*)::int from pg_stat_activity where datname = current_database()) - 1 as open
           from sync.slices`,
      );
      const { open = 0, slices = 0, left = 1 } = now;
      connections = Math.max(connections, open);
      process.stderr.write(`\r${replicas} replicas: ${left} of ${slices} slices are left   `);
      if (slices >= projects * 28 && left === 0) return (performance.now() - begun) / 1000;
    }
  };
  const { of: seconds, ...rest } = await cost(world, fleet, untilRead);
  const [held = { orders: 0 }] = await queryAt<{ orders: number }>(
    fleet.address,
    'select count(*)::int as orders from archive.orders',
  );
  const asked = await Promise.all(fleet.replicas.map(askedBy));
  const all = asked.reduce((sum, one) => sum + one, 0);
  return {
    ...held,
    seconds,
    ...rest,
    /** The greatest of the replicas. */
    peakMb: Math.max(...fleet.replicas.map(({ pid }) => peakMbOf(pid))),
    connections,
    /** Of the requests, the smallest share of a replica and the greatest. */
    shares: { least: Math.min(...asked) / all, most: Math.max(...asked) / all },
  };
}

/** What a tick costs for each project; `lastsSeconds`: from its minute to its last request, of all replicas. */
async function tick(world: World, fleet: Fleet) {
  const { platform, projects, signal } = world;
  // Up to a tick's begin, and the one before it settles what was left.
  await sleep(60_000 + 55_000 - (Date.now() % 60_000), undefined, { signal });
  const { of, requests, process, postgres } = await cost(world, fleet, async () => {
    const lasts: number[] = [];
    for (let n = 0; n < ticks; n++) {
      const from = Date.now();
      const minute = from - (from % 60_000) + 60_000;
      await sleep(60_000, undefined, { signal });
      const times = (await platform.requests()).map((one) => one.receivedAt);
      lasts.push((Math.max(...times) - minute) / 1000);
    }
    return Math.max(...lasts);
  });
  const each = projects * ticks;
  return {
    lastsSeconds: of,
    requests: requests / each,
    processMs: (process * 1000) / each,
    postgresMs: (postgres * 1000) / each,
  };
}

/** How many requests a replica has sent, by its own count. */
async function askedBy({ port }: Replica): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const counts = text.matchAll(/^outlast_platform_requests_total\{[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

const percent = (share: number): string => `${round(share * 100, 1)} %`;

const columns: Column<Lived>[] = [
  ['projects', (one) => one.projects],
  ['replicas', (one) => one.replicas],
  ['orders', ({ filled }) => filled.orders],
  ['s', ({ filled }) => round(filled.seconds)],
  ['processor s', ({ filled }) => round(filled.process)],
  ['Postgres s', ({ filled }) => round(filled.postgres)],
  ['peak MB', ({ filled }) => round(filled.peakMb)],
  ['connections', ({ filled }) => filled.connections],
  ['requests', ({ filled }) => filled.requests],
  [
    'shares of replicas',
    ({ filled: { shares } }) => `${percent(shares.least)} to ${percent(shares.most)}`,
  ],
  ['a tick, s', ({ ticked }) => round(ticked.lastsSeconds, 1)],
  ['requests a project', ({ ticked }) => round(ticked.requests, 2)],
  ['processor ms', ({ ticked }) => round(ticked.processMs, 1)],
  ['Postgres ms', ({ ticked }) => round(ticked.postgresMs, 1)],
  ['load before', ({ filled }) => round(filled.loadBefore, 1)],
];

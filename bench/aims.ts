// The aims that one figure answers: how soon a command starts and answers, whether it keeps a slow platform busy, what it
// costs to walk again where nothing changed, and what a tick with nothing to do costs. Each in a process of its own beside a
// simulated platform in another, and an embedded Postgres in a third. What they mean: docs/benchmarks.md.
import { run, runCommand, simulate, startCommand, type Simulated } from './children.ts';
import { peerFile } from './peers.ts';
import { ask, withServer, type BenchServer } from './server.ts';
import { said, spread, type Spread, type Table } from './tables.ts';
import { load, processorSeconds } from './timing.ts';

export type Aim = {
  what: string;
  unit: string;
  figure: Spread;
  /** Null: none was set. */
  aim: number | null;
  /** Whether the aim is the least or the most. */
  isLeast: boolean;
  loadBefore: number;
};

export type Aims = { aims: Aim[]; postgres: string };

type World = {
  /** A database of its own with the tables in it, and how to reach the platform. */
  open(platform: Simulated): Promise<NodeJS.ProcessEnv & { DATABASE_URL: string }>;
  /** A platform in the present, closed with the world. */
  platform(orders: number, latencyMs?: number): Promise<Simulated>;
  /** Processor seconds of the commands that have ended. */
  used(platform: Simulated): number;
  serverPid: number;
  signal: AbortSignal;
};

const latencyMs = 50;

export const measureAims = (runs: number, signal: AbortSignal): Promise<Aims> =>
  withServer(async (server) => {
    const world = worldOf(server, signal);
    const aims = [
      await measured('outlast --version', 's', 0.15, () => version(world), runs),
      await measured('from start to the first request', 's', 1, () => firstRequest(world), runs),
    ];
    const nothing = 'processor time of a first sync of two lists with nothing in them';
    aims.push(await measured(nothing, 's', 0.5, () => syncOfNothing(world), runs));
    for (const requests of [1, 4, 8]) aims.push(...(await paces(world, requests, runs)));
    aims.push(...(await walksAgain(world, runs)), ...(await quietTicks(world, runs)));
    aims.push(...(await answers(world, runs)));
    return { aims, postgres: server.version };
  });

function worldOf(server: BenchServer, signal: AbortSignal): World {
  let databases = 0;
  return {
    signal,
    used: (platform) => processorSeconds(process.pid, [server.pid, platform.pid]),
    serverPid: server.pid,
    async platform(orders, latency = 0) {
      const one = await simulate(orders, 0, { isNow: true, latencyMs: latency });
      server.atEnd(() => one.close());
      return one;
    },
    async open(platform) {
      const env = { ...platform.env, DATABASE_URL: await server.database(`aims_${++databases}`) };
      await runCommand(['migrate'], env, signal);
      return env;
    },
  };
}

/** A figure that should not be greater than its aim. */
const atMost = (
  what: string,
  unit: string,
  aim: number | null,
  figure: Spread,
  loadBefore: number,
): Aim => ({ what, unit, aim, figure, loadBefore, isLeast: false });

async function measured(
  what: string,
  unit: string,
  aim: number,
  measure: () => Promise<number>,
  runs: number,
): Promise<Aim> {
  const loadBefore = load();
  const figures: number[] = [];
  for (let round = 0; round < runs; round++) figures.push(await measure());
  return atMost(what, unit, aim, spread(figures, 3), loadBefore);
}

async function version({ signal }: World): Promise<number> {
  return (await runCommand(['--version'], {}, signal)).seconds;
}

async function firstRequest(world: World): Promise<number> {
  const platform = await world.platform(1_000);
  const env = await world.open(platform);
  const begun = Date.now();
  await runCommand(syncOrders, env, world.signal);
  const [first] = await platform.requests();
  platform.close();
  return ((first?.receivedAt ?? Number.NaN) - begun) / 1000;
}

/** Seconds of it and of Postgres beside it. */
async function syncOfNothing(world: World): Promise<number> {
  const platform = await world.platform(0);
  const env = await world.open(platform);
  const used = (): number => world.used(platform) + processorSeconds(world.serverPid);
  const before = used();
  await runCommand(['sync', '--json'], env, world.signal);
  const after = used();
  platform.close();
  return after - before;
}

const syncOrders = ['sync', '--json', '--resource', 'orders'];

/** So many days at a time, as a sync does. */
const readAlone = (env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<unknown> =>
  run([peerFile('read-pages.mjs'), env['OUTLAST_CONCURRENCY'] ?? '1'], env, signal);
const syncAll = (env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<unknown> =>
  runCommand(syncOrders, env, signal);

/** In turns: what reading alone reaches is as far as anybody comes on this machine. */
async function paces(world: World, requests: number, runs: number): Promise<Aim[]> {
  const unit = `of ${requests} × 50 orders / ${latencyMs} ms`;
  const what = `pace at ${latencyMs} ms a request, ${requests} at a time`;
  const alike = { unit, isLeast: true, loadBefore: load() };
  const alone: number[] = [];
  const sync: number[] = [];
  for (let round = 0; round < runs; round++) {
    alone.push(await pace(world, requests, readAlone));
    sync.push(await pace(world, requests, syncAll));
  }
  return [
    { ...alike, what: `${what}, reading alone`, figure: spread(alone, 3), aim: null },
    { ...alike, what, figure: spread(sync, 3), aim: 0.95 },
  ];
}

/**
 * Orders a second while so many requests can be under way, as a share of what the platform could give then: the middle
 * eight tenths of the requests, after the first days have shown how the platform pages and before the last ones leave
 * lanes idle.
 */
async function pace(world: World, requests: number, read: typeof syncAll): Promise<number> {
  // A page of 50 for each request, about 300 for each that can be under way: the simulator remembers 5,000.
  const platform = await world.platform(requests * 15_000, latencyMs);
  const env = await world.open(platform);
  await read({ ...env, OUTLAST_CONCURRENCY: String(requests) }, world.signal);
  const times = (await platform.requests()).map(({ receivedAt }) => receivedAt);
  platform.close();
  const middle = times.slice(Math.floor(times.length / 10), Math.ceil(times.length * 0.9));
  const spanMs = (middle.at(-1) ?? 0) - (middle[0] ?? 0);
  return ((middle.length - 1) * latencyMs) / (spanMs * requests);
}

type Written = { rows: number; wal: string };

/** Every day is walked again, and nothing has changed. */
async function walksAgain(world: World, runs: number): Promise<Aim[]> {
  const platform = await world.platform(50_000);
  const env = await world.open(platform);
  await runCommand(syncOrders, env, world.signal);
  const [held] = await ask<{ orders: number; days: string[] }>(
    env.DATABASE_URL,
    `select count(*)::int as orders, array[min(slice_day), max(slice_day) - 1]::text[] as days from archive.orders`,
  );
  const { orders = 0, days: [from = '', to = ''] = [] } = held ?? {};
  const written = async (): Promise<Written> => {
    const [row] = await ask<Written>(
      env.DATABASE_URL,
      `select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as rows, pg_current_wal_insert_lsn()::text as wal
         from pg_stat_user_tables where schemaname = 'archive'`,
    );
    if (row === undefined) throw new Error('what was written cannot be counted');
    return row;
  };
  const rows: number[] = [];
  const walBytes: number[] = [];
  const timesReading: number[] = [];
  const loadBefore = load();
  for (let round = 0; round < runs; round++) {
    const alone = await run([peerFile('read-pages.mjs')], env, world.signal);
    const before = await written();
    const again = await runCommand([...syncOrders, '--from', from, '--to', to], env, world.signal);
    const after = await written();
    const [wal] = await ask<{ bytes: number }>(
      env.DATABASE_URL,
      `select pg_wal_lsn_diff('${after.wal}', '${before.wal}')::int as bytes`,
    );
    rows.push(after.rows - before.rows);
    walBytes.push((wal?.bytes ?? Number.NaN) / orders);
    timesReading.push(again.seconds / alone.seconds);
  }
  platform.close();
  return [
    atMost('rows of the archive written by a second walk', 'rows', 0, spread(rows), loadBefore),
    atMost('WAL of a second walk', 'bytes an order', null, spread(walBytes, 1), loadBefore),
    atMost(
      'a second walk, as long as reading alone',
      'times',
      1.5,
      spread(timesReading, 2),
      loadBefore,
    ),
  ];
}

const ticks = 20;

/** After so many Node has compiled what a tick runs: the first thirty take up to twice as much. */
const warmUpTicks = 45;

/** `outlast start` that has nothing to do, a tick a second. */
async function quietTicks(world: World, runs: number): Promise<Aim[]> {
  const platform = await world.platform(10_000);
  const env = await world.open(platform);
  await runCommand(['sync', '--json'], env, world.signal);
  const server = startCommand(['start'], {
    ...env,
    OUTLAST_SCHEDULE: '* * * * * *',
    OUTLAST_PORT: '0',
  });
  const requests: number[] = [];
  const milliseconds: number[] = [];
  const loadBefore = load();
  try {
    await seconds(warmUpTicks, world.signal);
    for (let round = 0; round < runs; round++) {
      const askedBefore = await platform.requested();
      const before = processorSeconds(server.pid);
      await seconds(ticks, world.signal);
      milliseconds.push(((processorSeconds(server.pid) - before) * 1000) / ticks);
      requests.push(((await platform.requested()) - askedBefore) / ticks / 2);
    }
  } finally {
    server.close();
    platform.close();
  }
  const perTick = 'processor time of a quiet tick, one a second';
  return [
    atMost('requests of a quiet tick', 'a resource', 1, spread(requests, 1), loadBefore),
    atMost(perTick, 'ms', 50, spread(milliseconds), loadBefore),
  ];
}

const firstPort = 28_421;

/** What people wait for on an archive that is there: `status`, and `start` until it is ready. */
async function answers(world: World, runs: number): Promise<Aim[]> {
  const platform = await world.platform(10_000);
  const env = await world.open(platform);
  await runCommand(['sync', '--json'], env, world.signal);
  const processor: number[] = [];
  const ready: number[] = [];
  const loadBefore = load();
  for (let round = 0; round < runs; round++) {
    // What this process does beside is to wait.
    const before = world.used(platform);
    await runCommand(['status'], env, world.signal);
    processor.push(world.used(platform) - before);
    const port = firstPort + round;
    const begun = performance.now();
    const server = startCommand(['start'], { ...env, OUTLAST_PORT: String(port) });
    await untilReady(`http://127.0.0.1:${port}/readyz`, world.signal);
    ready.push((performance.now() - begun) / 1000);
    server.close();
  }
  platform.close();
  return [
    atMost('processor time of status', 's', 0.5, spread(processor, 2), loadBefore),
    atMost('from start until ready', 's', 1, spread(ready, 2), loadBefore),
  ];
}

async function untilReady(address: string, signal: AbortSignal): Promise<void> {
  // Ends when it answers, or with the bench.
  for (;;) {
    signal.throwIfAborted();
    if (
      await fetch(address).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function seconds(many: number, signal: AbortSignal): Promise<void> {
  for (let second = 0; second < many; second++) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

const isMet = ({ figure, aim, isLeast }: Aim): string => {
  if (aim === null) return '';
  return (isLeast ? figure.median >= aim : figure.median <= aim) ? 'met' : 'missed';
};

export const aimTables = ({ aims }: Aims): Table[] => [
  {
    name: 'aims',
    head: ['', 'median (min–max)', 'unit', 'aim', '', 'load before'],
    rows: aims.map((one) => [
      one.what,
      said(one.figure),
      one.unit,
      one.aim === null ? '' : `${one.isLeast ? '≥' : '≤'} ${one.aim}`,
      isMet(one),
      Number(one.loadBefore.toFixed(1)),
    ]),
    notes: [],
  },
];

// The aims that one figure answers: how soon a command starts and answers, whether it keeps a slow platform busy, what it
// costs to walk again where nothing changed, and what a tick with nothing to do costs. Each in a process of its own beside a
// simulated platform in another, and an embedded Postgres in a third. What they mean: docs/benchmarks.md.
import { setTimeout as sleep } from 'node:timers/promises';
import { queryAt } from '../test/support/client.ts';
import { run, runCommand, simulate, startCommand, type Simulated } from './children.ts';
import { peerFile } from './peers.ts';
import { withServer, type BenchServer } from './server.ts';
import { round, spread, tableOf, type Measured, type Spread } from './tables.ts';
import { load, processorSeconds, used } from './timing.ts';

/** `aim`: null: none was set. It is the most, or the least. `digits`: of the figure. */
type Wanted = { what: string; unit: string; aim: number | null; isLeast?: true; digits: number };
type Aim = Wanted & { figure: Spread; loadBefore: number };

type World = {
  runs: number;
  signal: AbortSignal;
  server: BenchServer;
  /** A platform in the present, and what a command is told of it and of a database of its own with the tables in it. */
  open(orders: number, latencyMs?: number): Promise<Opened>;
};
type Opened = { platform: Simulated; env: NodeJS.ProcessEnv & { DATABASE_URL: string } };

export const measureAims = (runs: number, signal: AbortSignal): Promise<Measured> =>
  withServer(async (server) => {
    let databases = 0;
    const open = async (orders: number, latency = 0): Promise<Opened> => {
      const platform = await simulate(server, orders, 0, { isNow: true, latencyMs: latency });
      const env = { ...platform.env, DATABASE_URL: await server.database(`aims_${++databases}`) };
      await runCommand(['migrate'], env, signal);
      return { platform, env };
    };
    const world = { runs, signal, server, open };
    const aims: Aim[] = [];
    for (const measure of [starts, paces, walksAgain, quietTicks, answers]) {
      aims.push(...(await measure(world)));
    }
    const table = tableOf('aims', aims, [
      ['', (one) => one.what],
      ['median (min–max)', (one) => one.figure],
      ['unit', (one) => one.unit],
      ['aim', ({ aim, isLeast }) => (aim === null ? '' : `${isLeast === true ? '≥' : '≤'} ${aim}`)],
      ['', isMet],
      ['load before', (one) => round(one.loadBefore, 1)],
    ]);
    return { results: aims, tables: [table] };
  });

const isMet = ({ figure: { median }, aim, isLeast }: Aim): string => {
  if (aim === null) return '';
  return (isLeast === true ? median >= aim : median <= aim) ? 'met' : 'missed';
};

/** Each time one figure of each that is wanted. */
async function measured(
  { runs }: World,
  wanted: readonly Wanted[],
  once: (time: number) => Promise<number[]>,
): Promise<Aim[]> {
  const loadBefore = load();
  const found: number[][] = [];
  for (let time = 0; time < runs; time++) found.push(await once(time));
  return wanted.map((one, i) => ({
    ...one,
    figure: spread(
      found.map((figures) => figures[i] ?? Number.NaN),
      one.digits,
    ),
    loadBefore,
  }));
}

const inSeconds = (what: string, aim: number, digits = 3): Wanted => ({
  what,
  unit: 's',
  aim,
  digits,
});

const syncOrders = ['sync', '--json', '--resource', 'orders'];

async function starts(world: World): Promise<Aim[]> {
  const { signal, server } = world;
  const first = async (): Promise<number[]> => {
    const { platform, env } = await world.open(1_000);
    const begun = Date.now();
    await runCommand(syncOrders, env, signal);
    const [request] = await platform.requests();
    return [((request?.receivedAt ?? Number.NaN) - begun) / 1000];
  };
  const ofNothing = async (): Promise<number[]> => {
    const { platform, env } = await world.open(0);
    const { own, apart } = await used(
      () => runCommand(['sync', '--json'], env, signal),
      [server.pid, platform.pid],
    );
    return [own + (apart[0] ?? Number.NaN)];
  };
  const nothing = 'processor time of a first sync of two lists with nothing in them';
  return [
    ...(await measured(world, [inSeconds('outlast --version', 0.15)], async () => [
      (await runCommand(['--version'], {}, signal)).seconds,
    ])),
    ...(await measured(world, [inSeconds('from start to the first request', 1)], first)),
    ...(await measured(world, [inSeconds(nothing, 0.5)], ofNothing)),
  ];
}

const latencyMs = 50;

/** In turns: what reading alone reaches, so many days at a time as a sync does, is as far as anybody comes here. */
async function paces(world: World): Promise<Aim[]> {
  const { signal } = world;
  const aims: Aim[] = [];
  for (const requests of [1, 4, 8]) {
    const alike = {
      unit: `of ${requests} × 50 orders / ${latencyMs} ms`,
      isLeast: true,
      digits: 3,
    } as const;
    const what = `pace at ${latencyMs} ms a request, ${requests} at a time`;
    const wanted = [
      { ...alike, what: `${what}, reading alone`, aim: null },
      { ...alike, what, aim: 0.95 },
    ];
    const alone = [peerFile('read-pages.mjs'), String(requests)];
    aims.push(
      ...(await measured(world, wanted, async () => [
        await pace(world, requests, (env) => run(alone, env, signal)),
        await pace(world, requests, (env) => runCommand(syncOrders, env, signal)),
      ])),
    );
  }
  return aims;
}

/**
 * Orders a second while so many requests can be under way, as a share of what the platform could give then: the middle
 * eight tenths of the requests, after the first days have shown how the platform pages and before the last ones leave
 * lanes idle.
 */
async function pace(
  world: World,
  requests: number,
  read: (env: NodeJS.ProcessEnv) => Promise<unknown>,
): Promise<number> {
  // A page of 50 for each request, about 300 for each that can be under way: the simulator remembers 5,000.
  const { platform, env } = await world.open(requests * 15_000, latencyMs);
  await read({ ...env, OUTLAST_CONCURRENCY: String(requests) });
  const times = (await platform.requests()).map(({ receivedAt }) => receivedAt);
  platform.close();
  const middle = times.slice(Math.floor(times.length / 10), Math.ceil(times.length * 0.9));
  const spanMs = (middle.at(-1) ?? 0) - (middle[0] ?? 0);
  return ((middle.length - 1) * latencyMs) / (spanMs * requests);
}

/** Every day is walked again, and nothing has changed. */
async function walksAgain(world: World): Promise<Aim[]> {
  const { signal } = world;
  const { env } = await world.open(50_000);
  const one = async <Row extends Record<string, unknown>>(sql: string): Promise<Row> => {
    const [row] = await queryAt<Row>(env.DATABASE_URL, sql);
    if (row === undefined) throw new Error('nothing can be counted');
    return row;
  };
  await runCommand(syncOrders, env, signal);
  const { orders, from, to } = await one<{ orders: number; from: string; to: string }>(
    `select count(*)::int as orders, min(slice_day)::text as from, (max(slice_day) - 1)::text as to from archive.orders`,
  );
  const written = () =>
    one<{ rows: number; wal: number }>(
      `select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as rows,
              pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal
         from pg_stat_user_tables where schemaname = 'archive'`,
    );
  const wanted: Wanted[] = [
    { what: 'rows of the archive written by a second walk', unit: 'rows', aim: 0, digits: 0 },
    { what: 'WAL of a second walk', unit: 'bytes an order', aim: null, digits: 1 },
    { what: 'a second walk, as long as reading alone', unit: 'times', aim: 1.5, digits: 2 },
    { what: 'reading alone again, as long as before', unit: 'times', aim: null, digits: 2 },
  ];
  return measured(world, wanted, async () => {
    const readAlone = () => run([peerFile('read-pages.mjs')], env, signal);
    const alone = await readAlone();
    const before = await written();
    const again = await runCommand([...syncOrders, '--from', from, '--to', to], env, signal);
    const after = await written();
    return [
      after.rows - before.rows,
      (after.wal - before.wal) / orders,
      again.seconds / alone.seconds,
      (await readAlone()).seconds / alone.seconds,
    ];
  });
}

const ticks = 20;

/** After so many Node has compiled what a tick runs: the first thirty take up to twice as much. */
const warmUpTicks = 45;

/** `outlast start` that has nothing to do, a tick a second. */
async function quietTicks(world: World): Promise<Aim[]> {
  const { signal } = world;
  const { platform, env } = await world.open(10_000);
  await runCommand(['sync', '--json'], env, signal);
  const service = startCommand(['start'], {
    ...env,
    OUTLAST_SCHEDULE: '* * * * * *',
    OUTLAST_PORT: '0',
  });
  const perTick = 'processor time of a quiet tick, one a second';
  const wanted: Wanted[] = [
    { what: 'requests of a quiet tick', unit: 'a resource', aim: 1, digits: 1 },
    { what: perTick, unit: 'ms', aim: 50, digits: 0 },
  ];
  try {
    await sleep(warmUpTicks * 1000, undefined, { signal });
    return await measured(world, wanted, async () => {
      const askedBefore = await platform.requested();
      const before = processorSeconds(service.pid);
      await sleep(ticks * 1000, undefined, { signal });
      const seconds = processorSeconds(service.pid) - before;
      return [((await platform.requested()) - askedBefore) / ticks / 2, (seconds * 1000) / ticks];
    });
  } finally {
    service.close();
  }
}

const firstPort = 28_421;

/** What people wait for on an archive that is there: `status`, and `start` until it is ready. */
async function answers(world: World): Promise<Aim[]> {
  const { signal, server } = world;
  const { platform, env } = await world.open(10_000);
  await runCommand(['sync', '--json'], env, signal);
  const wanted = [
    inSeconds('processor time of status', 0.5, 2),
    inSeconds('from start until ready', 1, 2),
  ];
  return measured(world, wanted, async (time) => {
    // What this process does beside is to wait.
    const status = await used(
      () => runCommand(['status'], env, signal),
      [server.pid, platform.pid],
    );
    const port = firstPort + time;
    const begun = performance.now();
    const service = startCommand(['start'], { ...env, OUTLAST_PORT: String(port) });
    await untilReady(`http://127.0.0.1:${port}/readyz`, signal);
    const ready = (performance.now() - begun) / 1000;
    service.close();
    return [status.own, ready];
  });
}

async function untilReady(address: string, signal: AbortSignal): Promise<void> {
  // Ends when it answers, or with the bench.
  while ((await fetch(address).catch(() => null))?.ok !== true) {
    await sleep(10, undefined, { signal });
  }
}

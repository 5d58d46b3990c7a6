// How fast others load the same orders, in turns with us: the same simulated platform, the same Postgres, a database of
// its own for each run, counted in it afterwards. They do the plain load; `outlast sync` also proves, keeps history and
// journals. Two bounds: reading the platform's pages and doing nothing, and bare COPY of the same rows. What is not
// installed is left out with a line: bench/peers/install.sh.
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, runCommand, simulate, type Ended } from './children.ts';
import { copyAgain } from './filling.ts';
import { ask, withServer } from './server.ts';
import { said, spread, type Spread, type Table } from './tables.ts';
import { load, processorSeconds } from './timing.ts';

const folder = fileURLToPath(new URL('../../bench/peers', import.meta.url));
const installed = join(folder, '.installed');

export const peerFile = (name: string): string => join(folder, name);

type Env = NodeJS.ProcessEnv & { DATABASE_URL: string; PEER_FOLDER: string };

type Peer = {
  name: string;
  /** Absent: always there. */
  needs?: string;
  /** Before the clock starts. */
  prepare?: (env: Env, signal: AbortSignal) => Promise<unknown>;
  load: (env: Env, signal: AbortSignal) => Promise<Ended>;
  /** Where its orders are; null: it keeps none. */
  table: string | null;
};

const outlast = (name: string): Peer => ({
  name,
  prepare: (env, signal) => runCommand(['migrate'], env, signal),
  load: (env, signal) => runCommand(['sync', '--json'], env, signal),
  table: 'archive.orders',
});

const python = (venv: string): string => join(installed, venv, 'bin', 'python');
const stripeEngine = join(
  installed,
  'stripe/node_modules/@supabase/stripe-sync-engine/dist/index.js',
);

const peers: readonly Peer[] = [
  {
    name: 'reading alone',
    load: (env, signal) => run([peerFile('read-pages.mjs')], env, signal),
    table: null,
  },
  outlast('outlast'),
  {
    name: 'dlt',
    needs: python('dlt'),
    load: (env, signal) => run([peerFile('dlt_orders.py')], env, signal, python('dlt')),
    table: 'peer.orders',
  },
  outlast('outlast again'),
  {
    name: 'Singer pair',
    needs: python('singer'),
    prepare: ({ DATABASE_URL, PEER_FOLDER }) =>
      writeFile(
        join(PEER_FOLDER, 'target.json'),
        JSON.stringify({
          sqlalchemy_url: DATABASE_URL.replace('postgres:', 'postgresql:'),
          default_target_schema: 'peer',
        }),
      ),
    load: (env, signal) =>
      run(
        [
          '-c',
          'set -o pipefail; "$1" "$2" 2>/dev/null | "$3" --config "$4" >/dev/null 2>&1',
          'bash',
          python('singer'),
          peerFile('singer_orders.py'),
          join(installed, 'singer/bin/target-postgres'),
          join(env.PEER_FOLDER, 'target.json'),
        ],
        env,
        signal,
        'bash',
      ),
    table: 'peer.orders',
  },
  {
    name: "sync-engine's writer",
    needs: stripeEngine,
    load: (env, signal) =>
      run([peerFile('stripe-orders.mjs')], { ...env, STRIPE_ENGINE: stripeEngine }, signal),
    table: 'peer.orders',
  },
];

export type PeerRun = {
  name: string;
  rows: number;
  seconds: number;
  /** Of the program with all below it; NaN: it is Postgres alone. */
  peakMb: number;
  /** Processor seconds of the program with all below it, and of Postgres meanwhile. */
  ownCpu: number;
  postgresCpu: number;
  loadBefore: number;
};

export type PeerFigures = {
  name: string;
  rows: number;
  seconds: Spread;
  rowsPerSecond: Spread;
  /** Microseconds of processor time a row. */
  ownCpuUs: Spread;
  postgresCpuUs: Spread;
  peakMb: Spread;
  /** How many times as long as `outlast sync` in the same round. */
  timesAsLong: Spread;
  loadBefore: Spread;
};

export type Compared = { figures: PeerFigures[]; left: string[]; postgres: string };

export async function measurePeers(
  orders: number,
  rounds: number,
  signal: AbortSignal,
): Promise<Compared> {
  const there = peers.filter(({ needs }) => needs === undefined || existsSync(needs));
  const left = peers.filter((one) => !there.includes(one)).map(({ name }) => name);
  return withServer(async (server) => {
    const platform = await simulate(orders, 0, { isNow: true });
    server.atEnd(() => platform.close());
    const runs: PeerRun[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const one of there) {
        const env: Env = {
          ...platform.env,
          DATABASE_URL: await server.database('peer'),
          PEER_FOLDER: await mkdtemp(join(server.folder, 'peer-')),
        };
        await one.prepare?.(env, signal);
        const loadBefore = load();
        const cpu = (): [own: number, postgres: number] => [
          processorSeconds(process.pid, [server.pid, platform.pid]),
          processorSeconds(server.pid),
        ];
        const shownBefore = await platform.shown();
        const before = cpu();
        const { seconds, peakMb } = await one.load(env, signal);
        const after = cpu();
        const rows = one.table === null ? 0 : await countIn(env.DATABASE_URL, one.table);
        const shown = await platform.shown();
        // New orders come while it loads: all those from before are there, and none that nobody showed.
        if (one.table !== null && (rows < shownBefore || rows > shown))
          throw new Error(`${one.name} loaded ${rows} of ${shownBefore} to ${shown} orders`);
        runs.push({
          name: one.name,
          rows,
          seconds,
          peakMb,
          ownCpu: after[0] - before[0],
          postgresCpu: after[1] - before[1],
          loadBefore,
        });
        if (one.name !== 'outlast') continue;
        const begun = processorSeconds(server.pid);
        runs.push({
          name: 'bare COPY',
          rows,
          seconds: await copyAgain(env.DATABASE_URL, 'orders', env.PEER_FOLDER),
          peakMb: Number.NaN,
          ownCpu: 0,
          postgresCpu: processorSeconds(server.pid) - begun,
          loadBefore,
        });
      }
    }
    const rows = Math.max(...runs.map((one) => one.rows));
    const names = [...new Set(runs.map(({ name }) => name))];
    const figures = names.map((name) => figuresOf(name, runs, rows));
    return { figures, left, postgres: server.version };
  });
}

async function countIn(address: string, table: string): Promise<number> {
  const [id] = await ask<{ name: string }>(
    address,
    `select attname as name from pg_attribute
      where attrelid = '${table}'::regclass and attname in ('id', 'operation_id')`,
  );
  const [{ all, distinct } = { all: 0, distinct: -1 }] = await ask<{
    all: number;
    distinct: number;
  }>(
    address,
    `select count(*)::int as all, count(distinct ${id?.name})::int as distinct from ${table}`,
  );
  if (all !== distinct) throw new Error(`${table} holds ${all} rows of ${distinct} orders`);
  return all;
}

function figuresOf(name: string, runs: readonly PeerRun[], rows: number): PeerFigures {
  const own = runs.filter((one) => one.name === name);
  const ours = runs.filter((one) => one.name === 'outlast');
  // New orders come while others load: each is measured by what it has loaded.
  const rowsOf = (one: PeerRun): number => one.rows || rows;
  const us = (seconds: number, one: PeerRun): number => (seconds * 1e6) / rowsOf(one);
  const of = (figure: (one: PeerRun, round: number) => number, digits = 0): Spread =>
    spread(own.map(figure), digits);
  return {
    name,
    rows: Math.max(...own.map(rowsOf)),
    seconds: of(({ seconds }) => seconds, 2),
    rowsPerSecond: of((one) => rowsOf(one) / one.seconds),
    ownCpuUs: of((one) => us(one.ownCpu, one), 1),
    postgresCpuUs: of((one) => us(one.postgresCpu, one), 1),
    peakMb: of(({ peakMb }) => peakMb),
    timesAsLong: of((one, round) => {
      const us = ours[round];
      return us === undefined ? Number.NaN : one.seconds / rowsOf(one) / (us.seconds / us.rows);
    }, 2),
    loadBefore: of(({ loadBefore }) => loadBefore, 1),
  };
}

export const peerTables = ({ figures, left }: Compared): Table[] => [
  {
    name: 'peers',
    head: [
      '',
      'orders',
      'seconds',
      'orders/s',
      'times as long',
      'CPU µs an order',
      'Postgres µs',
      'peak MB',
      'load before',
    ],
    rows: figures.map((one) => [
      one.name,
      one.rows,
      said(one.seconds),
      said(one.rowsPerSecond),
      said(one.timesAsLong),
      said(one.ownCpuUs),
      said(one.postgresCpuUs),
      Number.isNaN(one.peakMb.median) ? '' : said(one.peakMb),
      said(one.loadBefore),
    ]),
    notes: left.map((name) => `${name} is left out: run bench/peers/install.sh.`),
  },
];

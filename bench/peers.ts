// How fast others load the same orders, in turns with us: the same simulated platform, the same Postgres, a database of
// its own for each run, counted in it afterwards. They do the plain load; `outlast sync` also proves, keeps history and
// journals. Two bounds: reading the platform's pages and doing nothing, and bare COPY of the same rows. What is not
// installed is left out with a line: bench/peers/install.sh.
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { queryAt } from '../test/support/client.ts';
import { run, runCommand, simulate, type Ended } from './children.ts';
import { copyAgain } from './filling.ts';
import { withServer } from './server.ts';
import { spread, tableOf, type Column, type Measured, type Spread } from './tables.ts';
import { used } from './timing.ts';

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

/** One load, and what was used meanwhile: processor seconds of the program with all below it, and of Postgres. */
type PeerRun = {
  name: string;
  rows: number;
  seconds: number;
  /** Of the program with all below it; NaN: it is Postgres alone. */
  peakMb: number;
  ownCpu: number;
  postgresCpu: number;
  loadBefore: number;
};

export async function measurePeers(
  orders: number,
  rounds: number,
  signal: AbortSignal,
): Promise<Measured> {
  const there = peers.filter(({ needs }) => needs === undefined || existsSync(needs));
  const left = peers.filter((one) => !there.includes(one));
  return withServer(async (server) => {
    const platform = await simulate(server, orders, 0, { isNow: true });
    const runs: PeerRun[] = [];
    const measure = async (
      name: string,
      work: () => Promise<Ended>,
      rowsNow: () => Promise<number> | number,
    ): Promise<void> => {
      const { of, own, apart, loadBefore } = await used(work, [server.pid, platform.pid]);
      const [postgresCpu = Number.NaN] = apart;
      runs.push({ name, rows: await rowsNow(), ...of, ownCpu: own, postgresCpu, loadBefore });
    };
    for (let round = 0; round < rounds; round++) {
      for (const { name, table, prepare, load } of there) {
        const env: Env = {
          ...platform.env,
          DATABASE_URL: await server.database('peer'),
          PEER_FOLDER: await mkdtemp(join(server.folder, 'peer-')),
        };
        await prepare?.(env, signal);
        const shownBefore = await platform.shown();
        await measure(
          name,
          () => load(env, signal),
          async () => {
            if (table === null) return 0;
            const rows = await countIn(env.DATABASE_URL, table);
            const shown = await platform.shown();
            // New orders come while it loads: all those from before are there, and none that nobody showed.
            if (rows >= shownBefore && rows <= shown) return rows;
            throw new Error(`${name} loaded ${rows} of ${shownBefore} to ${shown} orders`);
          },
        );
        if (name !== 'outlast') continue;
        const { rows = 0 } = runs.at(-1) ?? {};
        const copy = async (): Promise<Ended> => ({
          seconds: await copyAgain(env.DATABASE_URL, 'orders', env.PEER_FOLDER),
          peakMb: Number.NaN,
        });
        await measure('bare COPY', copy, () => rows);
      }
    }
    const rows = Math.max(...runs.map((one) => one.rows));
    const names = [...new Set(runs.map(({ name }) => name))];
    const figures = names.map((name) => figuresOf(name, runs, rows));
    const notes = left.map(({ name }) => `${name} is left out: run bench/peers/install.sh.`);
    const tables = [tableOf('peers', figures, columns, notes)];
    return { results: figures, tables };
  });
}

async function countIn(address: string, table: string): Promise<number> {
  const [id] = await queryAt<{ name: string }>(
    address,
    `select attname as name from pg_attribute
      where attrelid = '${table}'::regclass and attname in ('id', 'operation_id')`,
  );
  const [{ all, distinct } = { all: 0, distinct: -1 }] = await queryAt<{
    all: number;
    distinct: number;
  }>(
    address,
    `select count(*)::int as all, count(distinct ${id?.name})::int as distinct from ${table}`,
  );
  if (all !== distinct) throw new Error(`${table} holds ${all} rows of ${distinct} orders`);
  return all;
}

type PeerFigures = ReturnType<typeof figuresOf>;

function figuresOf(name: string, runs: readonly PeerRun[], rows: number) {
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
    /** How many times as long as `outlast sync` in the same round. */
    timesAsLong: of((one, round) => {
      const us = ours[round];
      return us === undefined ? Number.NaN : one.seconds / rowsOf(one) / (us.seconds / us.rows);
    }, 2),
    /** Microseconds of processor time a row. */
    ownCpuUs: of((one) => us(one.ownCpu, one), 1),
    postgresCpuUs: of((one) => us(one.postgresCpu, one), 1),
    peakMb: of(({ peakMb }) => peakMb),
    loadBefore: of(({ loadBefore }) => loadBefore, 1),
  };
}

const columns: Column<PeerFigures>[] = [
  ['', (one) => one.name],
  ['orders', (one) => one.rows],
  ['seconds', (one) => one.seconds],
  ['orders/s', (one) => one.rowsPerSecond],
  ['times as long', (one) => one.timesAsLong],
  ['CPU µs an order', (one) => one.ownCpuUs],
  ['Postgres µs', (one) => one.postgresCpuUs],
  ['peak MB', ({ peakMb }) => (Number.isNaN(peakMb.median) ? '' : peakMb)],
  ['load before', (one) => one.loadBefore],
];

// The torture's own Postgres server, made of the lower pieces of the embedded one: so that it can be stopped, killed,
// filled up and brought back without asking anybody. It knows nothing of Outlast's tables.
import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { silentLog } from '../../src/log.ts';
import { findPackage, prepareBinaries } from '../../src/store/embedded/binaries.ts';
import { ensureCluster } from '../../src/store/embedded/cluster.ts';
import { openHome } from '../../src/store/embedded/home.ts';
import { withHomeLock } from '../../src/store/embedded/lock.ts';
import { addressOf } from '../../src/store/embedded/password.ts';
import { findRunning, isAlive, readPidFile } from '../../src/store/embedded/postmaster.ts';
import { startServer, stopServer } from '../../src/store/embedded/server.ts';
import { mountSmallDisk, type SmallDisk } from './disk.ts';

/**
 * `fast` ends sessions in order, `immediate` is Postgres' own emergency stop, `killed` is SIGKILL to its first process.
 */
export type Down = 'fast' | 'immediate' | 'killed';

export type Cluster = {
  /** Everything it wrote, its logs included. */
  folder: string;
  /** What OUTLAST_DATA_DIR names where Outlast starts and stops this server itself. */
  dataDir: string;
  /** Where it listens, once it has ever been up. */
  port: () => number;
  /** Of a database, past the wires. */
  address(database: string): Promise<string>;
  goDown(how: Down): Promise<void>;
  /** Up and taking connections, whatever state it was in. Throws when that does not come about. */
  bringUp(): Promise<void>;
  /** To one of the server's processes; SIGKILL makes Postgres end all sessions and recover. */
  signal(pid: number, signal: NodeJS.Signals): void;
  /** In words why there is none, where a disk of its own cannot be had. */
  disk: SmallDisk | string;
  /** Removes everything, unless a finding is to be looked at. */
  close(keep: boolean): Promise<void>;
};

export const maxConnections = 40;
const readyWithinMs = 60_000;

export async function createCluster(): Promise<Cluster> {
  const log = silentLog();
  const folder = await mkdtemp(join(tmpdir(), 'outlast-torture-'));
  // As root the server runs as another user, who must be able to pass through.
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'disk'));
  const disk = await mountSmallDisk(join(folder, 'disk'));
  const home = await openHome(join(folder, 'disk', 'home'), join(folder, 'elsewhere'), log);
  const binaries = await prepareBinaries(home, await findPackage(), log);
  await ensureCluster(home, binaries, log);
  let port = 0;
  /** One change of state at a time. */
  let changing: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const turn = changing.then(change, change);
    changing = turn;
    return turn;
  };

  const address = (database: string): Promise<string> => addressOf(home, port, database);

  const start = async (): Promise<void> => {
    const running = await findRunning(home, log);
    const settings = {
      max_connections: String(maxConnections),
      // The disk is small, and a recovery should take no longer than a moment.
      max_wal_size: '64MB',
      min_wal_size: '32MB',
      checkpoint_timeout: '30s',
    };
    // Under the home's lock, for Outlast's own processes may be starting it as well.
    ({ port } =
      running ??
      (await withHomeLock(
        home,
        log,
        async () => (await findRunning(home, log)) ?? startServer(home, binaries, settings, log),
      )));
    await takesConnections(await address('postgres'));
  };

  const bringUp = async (): Promise<void> => {
    const began = performance.now();
    // Ends: up, or after a time that no recovery of so little takes.
    for (;;) {
      try {
        await start();
        return;
      } catch (error) {
        if (performance.now() - began > readyWithinMs) throw error;
        await sleep(100);
      }
    }
  };

  const goDown = async (how: Down): Promise<void> => {
    const running = await readPidFile(home);
    if (running === null || !isServerProcess(home.pgdata, running.pid)) return;
    if (how === 'fast') {
      await withHomeLock(home, log, () => stopServer(home, binaries, log));
      return;
    }
    process.kill(running.pid, how === 'killed' ? 'SIGKILL' : 'SIGQUIT');
    // Ends: nobody survives SIGKILL, and Postgres itself kills what outlives SIGQUIT for five seconds.
    while (isServerProcess(home.pgdata, running.pid)) await sleep(10);
  };

  // Whatever ends the run, an uncaught error included.
  const endNow = (): void => {
    const text = readFileSync(join(home.pgdata, 'postmaster.pid'), { encoding: 'utf8' });
    const pid = Number(text.split('\n')[0]);
    if (isServerProcess(home.pgdata, pid)) process.kill(pid, 'SIGQUIT');
  };
  await inTurn(bringUp);
  process.once('exit', endNow);
  return {
    folder,
    dataDir: home.folder,
    port: () => port,
    address,
    goDown: (how) => inTurn(() => goDown(how)),
    bringUp: () => inTurn(bringUp),
    signal: (pid, signal) => {
      if (isServerProcess(home.pgdata, pid)) process.kill(pid, signal);
    },
    disk,
    close: async (keep) => {
      await inTurn(() => goDown('immediate'));
      process.off('exit', endNow);
      if (keep) {
        if (typeof disk !== 'string') disk.keep();
        return;
      }
      if (typeof disk !== 'string') await disk.unmount();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A pid that was this server's a moment ago may be anybody's by now: every process of Postgres lives in its data
 * folder.
 */
function isServerProcess(pgdata: string, pid: number): boolean {
  if (process.platform !== 'linux') return isAlive(pid);
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(pgdata);
  } catch {
    return false;
  }
}

async function takesConnections(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select');
  } finally {
    await client.end().catch(() => undefined);
  }
}

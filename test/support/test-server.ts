// Finds or starts the Postgres that a test run uses. Durability is off: nothing here outlives the run.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { silentLog } from '../../src/log.ts';
import { queryAt, withClient } from './client.ts';
import { openWithSettings } from './embedded.ts';

const run = promisify(execFile);

export type TestServer = {
  /** As a superuser, or at least as one who may create databases and roles. */
  connectionString: string;
  /** All databases of this run begin with it. */
  prefix: string;
  /** The workers of a Citus cluster of which that is the coordinator; none: a server of its own. */
  workers: string[];
  stop(): Promise<void>;
};

const maxConnections = 200;

export async function startTestServer(): Promise<TestServer> {
  const prefix = `outlast_test_${randomBytes(4).toString('hex')}`;
  const cluster = process.env['TEST_CITUS_URL'];
  if (cluster !== undefined && cluster !== '') {
    const workers = await workersOf(cluster);
    return {
      connectionString: cluster,
      prefix,
      workers,
      stop: async () => {
        for (const node of [cluster, ...workers]) await dropDatabases(node, prefix);
      },
    };
  }
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') {
    return {
      connectionString: given,
      prefix,
      workers: [],
      stop: () => dropDatabases(given, prefix),
    };
  }
  const started = (await inContainer()) ?? (await fromBinaries());
  return { prefix, workers: [], ...started };
}

type Started = Omit<TestServer, 'prefix' | 'workers'>;

/** Null where Docker does not answer within two seconds, or cannot get the image. */
async function inContainer(): Promise<Started | null> {
  try {
    await run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 2000 });
    const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
    const container = await new PostgreSqlContainer('postgres:17-alpine')
      .withCommand(['postgres', '-c', 'fsync=off', '-c', `max_connections=${maxConnections}`])
      .start();
    return {
      connectionString: container.getConnectionUri(),
      stop: async () => void (await container.stop()),
    };
  } catch {
    return null;
  }
}

/** In memory where there is room: a disk's own work for so many small files costs a tenth of the run. */
async function scratchFolder(): Promise<string> {
  const inMemory = '/dev/shm';
  const space = await statfs(inMemory).catch(() => null);
  return space !== null && space.bavail * space.bsize > 8 * 1024 ** 3 ? inMemory : tmpdir();
}

async function fromBinaries(): Promise<Started> {
  const folder = await mkdtemp(join(await scratchFolder(), 'outlast-test-pg-'));
  try {
    // As root the server runs as another user, who must be able to pass through.
    await chmod(folder, 0o755);
    const server = await openWithSettings(
      {
        dataDir: join(folder, 'home'),
        elsewhere: join(folder, 'elsewhere'),
        log: silentLog(),
      },
      {
        fsync: 'off',
        full_page_writes: 'off',
        synchronous_commit: 'off',
        max_connections: String(maxConnections),
      },
    );
    return {
      connectionString: server.connectionString,
      stop: async () => {
        await server.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(
      `These tests need Postgres, and none could be started here. Type these two lines:
  docker run -d --name outlast-test -p 5499:5432 -e POSTGRES_PASSWORD=test postgres:17-alpine
  TEST_DATABASE_URL=postgres://postgres:test@127.0.0.1:5499/postgres npm test
The attempt failed with: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

/** The same login's addresses on the workers that the database of this address knows. */
async function workersOf(coordinator: string): Promise<string[]> {
  const nodes = await queryAt<{ nodename: string; nodeport: number }>(
    coordinator,
    'select nodename, nodeport from pg_dist_node where groupid > 0 order by nodeid',
  );
  return nodes.map(({ nodename, nodeport }) => {
    const address = new URL(coordinator);
    address.hostname = nodename;
    address.port = String(nodeport);
    return address.href;
  });
}

const dropDatabases = (connectionString: string, prefix: string): Promise<void> =>
  withClient(connectionString, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [prefix],
    );
    for (const { datname } of rows) await client.query(`drop database "${datname}" with (force)`);
  });

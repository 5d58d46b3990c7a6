// Databases for tests: `createTestDatabase` clones one that is already migrated, `createEmptyDatabase`
// gives a bare one. Each test file takes its own and drops it.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { viewComments } from '../../src/query/dictionary.ts';
import { migrate } from '../../src/store/migrate.ts';
import { queryAt } from './client.ts';
import type { Answer } from './global-setup.ts';

/** Whether the tests run on a Citus cluster. */
export const isOnCluster = (process.env['TEST_CITUS_URL'] ?? '') !== '';

export type TestDatabase = {
  connectionString: string;
  name: string;
  /** Ends all connections to it and removes it. */
  drop(): Promise<void>;
};

/**
 * A database with this release's schema and roles, made in about 30 ms: its files are copied. To log every page of
 * them, as is the standard, costs the server 140 ms of processor time.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await askForServer();
  const template = `${server.prefix}_template`;
  return withAdmin(server, async (admins) => {
    await ensureTemplate(admins, server, template);
    return createDatabase(admins, server, `template "${template}" strategy file_copy`);
  });
}

/** A database with all that this one holds; nobody may be connected to it. */
export async function copyOf({ name }: TestDatabase): Promise<TestDatabase> {
  const server = await askForServer();
  return withAdmin(server, async (admins) => {
    await letGo(admins, name);
    const copied = await createDatabase(admins, server, `template "${name}" strategy file_copy`);
    await onEach(admins, (each) => each.query(`alter database "${name}" allow_connections true`));
    return copied;
  });
}

/** A database with nothing in it, for tests of the migrations. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const server = await askForServer();
  return withAdmin(server, ([coordinator]) => createDatabase([coordinator], server, ''));
}

/** Databases of one name, a cluster with nothing in it. */
export async function createEmptyCluster(): Promise<TestDatabase> {
  const server = await askForServer();
  return withAdmin(server, async (admins) => {
    const database = await createDatabase(admins, server, '');
    await joinCluster(server, database.name);
    return database;
  });
}

/** The workers of the cluster that the tests run on, each as the same login in this database; none: no cluster. */
export async function workersOf({ name }: TestDatabase): Promise<string[]> {
  const { workers } = await askForServer();
  return workers.map((node) => addressOf(node, name));
}

/** The server's own address, for tests that need more than a database: roles, other clusters' doings. */
export async function adminConnectionString(): Promise<string> {
  return (await askForServer()).connectionString;
}

type Server = { connectionString: string; prefix: string; workers: string[] };
/** Of the server itself, and of the workers beside it. */
type Admins = [pg.Client, ...pg.Client[]];

async function askForServer(): Promise<Server> {
  const answer = (await (await fetch(inject('testDoor'))).json()) as Answer;
  if ('problem' in answer) throw new Error(answer.problem);
  return answer;
}

async function withAdmin<T>(
  { connectionString, workers }: Server,
  work: (admins: Admins) => Promise<T>,
): Promise<T> {
  const admins: Admins = [
    new pg.Client({ connectionString }),
    ...workers.map((node) => new pg.Client({ connectionString: node })),
  ];
  await onEach(admins, (admin) => admin.connect());
  try {
    return await work(admins);
  } finally {
    await onEach(admins, (admin) => admin.end());
  }
}

const onEach = async (
  admins: Admins,
  work: (admin: pg.Client) => Promise<unknown>,
): Promise<void> => void (await Promise.all(admins.map(work)));

// Several test files ask for the template at once; one makes it, the others wait.
const templateLock = 730_112_004;

async function ensureTemplate(admins: Admins, server: Server, template: string): Promise<void> {
  const [admin] = admins;
  await admin.query('select pg_advisory_lock($1)', [templateLock]);
  try {
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [
      template,
    ]);
    if (rowCount === 1) return;
    // Under another name until it is whole: a failed migration must not pass for a template.
    const draft = `${template}_draft`;
    await onEach(admins, async (each) => {
      await each.query(`drop database if exists "${draft}" with (force)`);
      await each.query(`create database "${draft}"`);
    });
    const distributed = server.workers.length > 0;
    if (distributed) await joinCluster(server, draft);
    await migrate(addressOf(server.connectionString, draft), silentLog(), {
      distributed,
      comments: viewComments(),
    });
    await letGo(admins, draft);
    await onEach(admins, (each) =>
      retryWhileInUse(() => each.query(`alter database "${draft}" rename to "${template}"`)),
    );
  } finally {
    await admin.query('select pg_advisory_unlock($1)', [templateLock]);
  }
}

/** Makes databases of one name a cluster; few shards, for each costs every migration of the template. */
async function joinCluster({ connectionString, workers }: Server, name: string): Promise<void> {
  const inDatabase = (node: string, statements: string): Promise<unknown> =>
    queryAt(addressOf(node, name), statements);
  for (const node of workers) await inDatabase(node, 'create extension citus');
  const nodeOf = (node: string): string => {
    const { hostname, port } = new URL(node);
    return `'${hostname}', ${port || 5432}`;
  };
  await inDatabase(
    connectionString,
    `create extension citus;
     alter database "${name}" set citus.shard_count = 4;
     select citus_set_coordinator_host(${nodeOf(connectionString)});
     ${workers.map((node) => `select citus_add_node(${nodeOf(node)});`).join('\n')}`,
  );
}

/** Of a database that is to be copied: Citus' own worker stays connected to each, and comes back as long as it may. */
async function letGo(admins: Admins, name: string): Promise<void> {
  if (admins.length > 1) await onEach(admins, (each) => shutOut(each, name));
}

async function shutOut(admin: pg.Client, name: string): Promise<void> {
  await admin.query(`alter database "${name}" allow_connections false`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
    name,
  ]);
}

/** Meanwhile the workers of the cluster have ended all sessions in a database, and let nobody in. */
export async function withoutWorkers(
  connectionString: string,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const name = new URL(connectionString).pathname.slice(1);
  await withAdmin(await askForServer(), async ([, ...workers]) => {
    await Promise.all(workers.map((worker) => shutOut(worker, name)));
    try {
      await meanwhile();
    } finally {
      const admit = `alter database "${name}" allow_connections true`;
      await Promise.all(workers.map((worker) => worker.query(admit)));
    }
    // What Citus does of itself once a minute: until then a commit in doubt keeps its locks.
    await queryAt(connectionString, 'select recover_prepared_transactions()');
  });
}

async function createDatabase(
  admins: Admins,
  server: Server,
  options: string,
): Promise<TestDatabase> {
  const name = `${server.prefix}_${randomBytes(4).toString('hex')}`;
  await onEach(admins, (each) =>
    retryWhileInUse(() => each.query(`create database "${name}" ${options}`)),
  );
  return {
    name,
    connectionString: addressOf(server.connectionString, name),
    drop: () =>
      withAdmin(server, (all) =>
        onEach(all, (each) =>
          retryWhileInUse(() => each.query(`drop database if exists "${name}" with (force)`)),
        ),
      ),
  };
}

/** A connection that was just closed lives on in the server for some milliseconds (55006). */
async function retryWhileInUse(statement: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await statement();
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== '55006' || tries === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function addressOf(server: string, database: string): string {
  const address = new URL(server);
  address.pathname = `/${database}`;
  return address.href;
}

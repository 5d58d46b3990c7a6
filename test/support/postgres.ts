// Databases for tests: `createTestDatabase` clones one that is already migrated, `createEmptyDatabase`
// gives a bare one. Each test file takes its own and drops it.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { migrate } from '../../src/store/migrate.ts';
import type { Answer } from './global-setup.ts';

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
  return withAdmin(server, async (admin) => {
    await ensureTemplate(admin, server, template);
    return createDatabase(admin, server, `template "${template}" strategy file_copy`);
  });
}

/** A database with all that this one holds; nobody may be connected to it. */
export async function copyOf({ name }: TestDatabase): Promise<TestDatabase> {
  const server = await askForServer();
  return withAdmin(server, (admin) =>
    createDatabase(admin, server, `template "${name}" strategy file_copy`),
  );
}

/** A database with nothing in it, for tests of the migrations. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const server = await askForServer();
  return withAdmin(server, (admin) => createDatabase(admin, server, ''));
}

/** The server's own address, for tests that need more than a database: roles, other clusters' doings. */
export async function adminConnectionString(): Promise<string> {
  return (await askForServer()).connectionString;
}

type Server = { connectionString: string; prefix: string };

async function askForServer(): Promise<Server> {
  const answer = (await (await fetch(inject('testDoor'))).json()) as Answer;
  if ('problem' in answer) throw new Error(answer.problem);
  return answer;
}

async function withAdmin<T>(server: Server, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: server.connectionString });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

// Several test files ask for the template at once; one makes it, the others wait.
const templateLock = 730_112_004;

async function ensureTemplate(admin: pg.Client, server: Server, template: string): Promise<void> {
  await admin.query('select pg_advisory_lock($1)', [templateLock]);
  try {
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [
      template,
    ]);
    if (rowCount === 1) return;
    // Under another name until it is whole: a failed migration must not pass for a template.
    const draft = `${template}_draft`;
    await admin.query(`drop database if exists "${draft}" with (force)`);
    await admin.query(`create database "${draft}"`);
    await migrate(addressOf(server, draft), silentLog());
    await retryWhileInUse(() => admin.query(`alter database "${draft}" rename to "${template}"`));
  } finally {
    await admin.query('select pg_advisory_unlock($1)', [templateLock]);
  }
}

async function createDatabase(
  admin: pg.Client,
  server: Server,
  options: string,
): Promise<TestDatabase> {
  const name = `${server.prefix}_${randomBytes(4).toString('hex')}`;
  await retryWhileInUse(() => admin.query(`create database "${name}" ${options}`));
  return {
    name,
    connectionString: addressOf(server, name),
    drop: () =>
      withAdmin(server, async (client) => {
        await client.query(`drop database if exists "${name}" with (force)`);
      }),
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

function addressOf(server: Server, database: string): string {
  const address = new URL(server.connectionString);
  address.pathname = `/${database}`;
  return address.href;
}

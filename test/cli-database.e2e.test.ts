// What a database can do to a command at work: one clear sentence, the right exit code, and nothing lost (P3, P12).
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSimulator, type Simulator } from '../src/simulator/server.ts';
import { noon, smallWorld } from './support/archive.ts';
import { runCommand, startCommand, type Ended } from './support/command.ts';
import { createTestDatabase, type TestDatabase } from './support/postgres.ts';

let simulator: Simulator;
let database: TestDatabase;
let person: pg.Client;
beforeEach(async () => {
  simulator = await createSimulator({
    startAt: noon,
    speed: 0,
    world: smallWorld,
    latencyMs: 100,
  });
  database = await createTestDatabase();
  person = new pg.Client({ connectionString: database.connectionString });
  await person.connect();
});
afterEach(async () => {
  await person.end();
  await database.drop();
  await simulator.close();
});

const settings = (): Record<string, string> => ({
  OUTLAST_BASE_URL: simulator.url,
  OUTLAST_API_KEY: simulator.projects[0]?.apiKey ?? '',
  OUTLAST_API_SECRET: simulator.projects[0]?.apiSecret ?? '',
  OUTLAST_MAX_RPS: '100000',
  OUTLAST_LEASE_SECONDS: '3',
  OUTLAST_LOG_LEVEL: 'error',
  DATABASE_URL: database.connectionString,
});

/** The last line: before it a report may stand. */
const lastWords = ({ stderr }: Ended): string => stderr.trimEnd().split('\n').at(-1) ?? '';

const heldOrders = async (): Promise<number> => {
  const { rows } = await person.query<{ held: number }>(
    'select count(*)::int as held from archive.orders',
  );
  return rows[0]?.held ?? 0;
};

test('a table that somebody has locked: 75, and what to look at', async () => {
  await person.query('begin; lock table archive.orders');
  const locked = await runCommand(['sync'], { env: settings() });
  expect(lastWords(locked)).toMatch(
    /^outlast: The database kept Outlast waiting .*pg_stat_activity/,
  );
  expect(locked.code).toBe(75);
  // No table without a row: the run has nothing to report.
  expect(locked.stdout).toBe('');
  await person.query('rollback');
  const after = await runCommand(['sync'], { env: settings() });
  expect(after.code, after.stderr).toBe(0);
  expect(await heldOrders()).toBe(simulator.oracle.count('orders'));
});

test('connections ended in the middle of a sync: 75 and one sentence; the next sync completes it', async () => {
  const cut = startCommand(['sync'], { env: settings() });
  await expect.poll(heldOrders, { timeout: 20_000, interval: 20 }).toBeGreaterThan(0);
  // Again and again: a connection that is cut while it idles is replaced without a word.
  while (cut.child.exitCode === null) {
    await person.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'outlast' and datname = current_database()`,
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const ended = await cut.ended;
  expect(lastWords(ended)).toMatch(/^outlast: The database cannot be reached/);
  expect(ended.code).toBe(75);
  expect(await heldOrders()).toBeLessThan(simulator.oracle.count('orders'));
  // What it held is free again when its leases have run out.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const after = await runCommand(['sync'], { env: settings() });
  expect(after.code, after.stderr).toBe(0);
  expect(await heldOrders()).toBe(simulator.oracle.count('orders'));
});

test('a standby, or a database set to read only: 2, and where to point instead', async () => {
  await person.query(`alter database "${database.name}" set default_transaction_read_only = on`);
  const { code, stdout, stderr } = await runCommand(['sync'], { env: settings() });
  expect(stderr).toBe(
    'outlast: The database takes no writing: it is a standby, or set to read only. Point DATABASE_URL at the primary.\n',
  );
  expect(stdout).toBe('');
  expect(code).toBe(2);
});

test('a sentence and its cause are joined by a colon alone', async () => {
  const env = { ...settings(), DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c' };
  const { stderr } = await runCommand(['status'], { env });
  expect(stderr).toContain('the right host and port: connect ECONNREFUSED');
});

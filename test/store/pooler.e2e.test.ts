// A transaction leaves its session as the server gave it (P4). So behind PgBouncer, where that is installed, every command
// does its work, none waits for ever, and another client of the pool finds nothing of ours in its connections.
import { join } from 'node:path';
import pg from 'pg';
import { beforeEach, expect, test, vi } from 'vitest';
import { daysIn } from '../../src/day.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator-server.ts';
import { silentLog } from '../../src/log.ts';
import { openDb, withTx } from '../../src/store/db.ts';
import { noon } from '../support/archive.ts';
import { queryAt } from '../support/client.ts';
import { environmentOf, runCommand, type Ended } from '../support/command.ts';
import { runHere, succeedHere } from '../support/command-here.ts';
import { readOnly } from '../support/few-days.ts';
import { fresh, freshFolder } from '../support/fresh.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/postgres.ts';

// What counts here is who uses a connection after whom, not how much.
const world = { ordersPerDay: 10, classesPerDay: 5, quietShare: 0, since: '2026-04-04' };
const days = ['2026-03-01', ...daysIn({ from: '2026-04-04', to: '2026-04-07' })];

let simulator: Simulator;
let database: TestDatabase;
beforeEach(async () => {
  simulator = await fresh(createSimulator({ startAt: noon, speed: 0, world }));
  database = await fresh(createEmptyDatabase());
});

type Pool = { connectionString: string; close(): Promise<void> };

/** What a client that sets nothing must find, whoever used the connection before it. */
const untouched = `select current_user = session_user as is_itself, current_setting('role') as role,
  current_setting('TimeZone') as zone, current_setting('search_path') as path,
  current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
  current_setting('default_transaction_read_only') as read_only, current_setting('jit') as jit,
  (select count(*)::int from pg_locks where pid = pg_backend_pid() and locktype = 'advisory') as locks`;

test('P4: whatever is asked in a transaction, its session is left as it was given', async () => {
  const { connectionString } = await fresh(createTestDatabase());
  const db = await fresh(openDb({ connectionString, max: 1, log: silentLog() }));
  await withTx(db, (tx) => tx.query('select pg_advisory_xact_lock(1)'));
  await db.query('select 1');
  const { rows } = await db.pool.query(untouched);
  expect(rows).toEqual(await queryAt(connectionString, untouched));
});

/** Another client of the same pool, asking again and again; every different answer once. */
function watchPool(connectionString: string): { end(): Promise<unknown[]> } {
  const client = new pg.Client({ connectionString });
  const answers = new Map<string, unknown>();
  const over = new AbortController();
  const watching = (async () => {
    await client.connect();
    // Ends: with the test. Asks once at least.
    do {
      const [row] = (await client.query<Record<string, unknown>>(untouched)).rows;
      answers.set(JSON.stringify(row), row);
      await new Promise((resolve) => setTimeout(resolve, 10));
    } while (!over.signal.aborted);
    await client.end();
  })();
  return {
    end: async () => {
      over.abort();
      await watching;
      return [...answers.values()];
    },
  };
}

/** What every command does behind the pooler, and what another client of it was answered meanwhile. */
async function workThrough(pool: Pool): Promise<unknown[]> {
  const env = {
    ...environmentOf(simulator, pool.connectionString),
    OUTLAST_LOG_LEVEL: 'error',
    ...stoppedAt(noon),
  };
  const stranger = watchPool(pool.connectionString);
  /** Two that start at once, each in a process of its own: this one and another. */
  const two = (command: string): Promise<Ended[]> =>
    Promise.all([runCommand([command], { env }), runHere([command], { env })]);
  // One migrates.
  for (const { code, stderr } of await two('migrate')) expect(code, stderr).toBe(0);
  await readOnly(database.connectionString, simulator, days);
  // 75: the other held a slice at the end.
  for (const { code, stderr } of await two('sync')) expect([0, 75], stderr).toContain(code);
  await succeedHere(['sync'], { env });
  const ended = await Promise.all([
    runCommand(['verify'], { env }),
    runHere(['status'], { env }),
    runHere(['query', 'orders', '--limit', '3'], { env }),
    runHere(['export', join(await freshFolder(), 'export')], { env }),
  ]);
  for (const { code, stdout, stderr } of ended) expect(code, `${stdout}${stderr}`).toBe(0);
  const answers = await stranger.end();
  await pool.close();
  return answers;
}

/** Asked of the server itself. */
const asGiven = async (): Promise<unknown> =>
  (await queryAt(database.connectionString, untouched))[0];

const held = (): Promise<unknown[]> =>
  queryAt(database.connectionString, 'select count(*)::int as held from archive.orders');

/** In front of the test's database. */
async function throughPgBouncer(settings: string): Promise<Pool> {
  const server = new URL(database.connectionString);
  const pool = await startPgBouncer(
    await freshFolder(),
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${decodeURIComponent(server.password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = 6432
auth_type = any
${settings}
`,
  );
  const through = new URL(server);
  through.hostname = '127.0.0.1';
  through.port = String(pool.port);
  return { ...pool, connectionString: through.href };
}

const notInstalled = 'PgBouncer is not installed (apt-get install pgbouncer)';

test('with one connection for all: nothing waits for ever, and nothing of ours stays in it (P4)', async ({
  skip,
}) => {
  skip(!hasPgBouncer, notInstalled);
  const pool = await throughPgBouncer('pool_mode = transaction\ndefault_pool_size = 1');
  expect(await workThrough(pool)).toEqual([await asGiven()]);
  expect(await held()).toEqual([{ held: simulator.oracle.count('orders') }]);
});

test('where PgBouncer lends fewer sessions than asked for, those are waited for, and given back', async ({
  skip,
}) => {
  skip(!hasPgBouncer, notInstalled);
  const pool = await fresh(throughPgBouncer('pool_mode = session\ndefault_pool_size = 2'));
  const { connectionString } = pool;
  const log = { warn: vi.fn() };
  const db = await fresh(openDb({ connectionString, role: null, max: 8, waitsInLine: true, log }));
  const asked = Array.from({ length: 16 }, () => db.query('select pg_sleep(0.02)'));
  await expect(Promise.all(asked)).resolves.toHaveLength(16);
  expect([db.pool.totalCount, log.warn.mock.calls]).toEqual([2, []]);
  // Another command finds one free as soon as these have been idle for a moment.
  const beside = await openDb({ connectionString, role: null, max: 1, log });
  await beside.close();
});

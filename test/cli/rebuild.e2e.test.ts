// `outlast rebuild` as a real process: killed in the middle it goes on, and what it says and how it ends.
import { expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { onlyRow, openDb, type Db } from '../../src/store/db.ts';
import { startCommand, type Ended } from '../support/command.ts';
import { expectRefused, runHere } from '../support/command-here.ts';
import { eachOnDatabase } from '../support/opened.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { writeProjects } from '../support/rows.ts';

let database: TestDatabase;
let db: Db;
eachOnDatabase((given) => ({ database, db } = given));

const env = (): { env: Record<string, string> } => ({
  env: { DATABASE_URL: database.connectionString },
});
const outlast = (...args: string[]): Promise<Ended> => runHere(['rebuild', ...args], env());

/** Orders whose records say 2 and whose column says 7, as an older release might have read them. */
async function enterMisread(orders: number): Promise<void> {
  await writeProjects(db, ['p']);
  await db.query(
    `insert into archive.orders (project_id, operation_id, status, created_at, slice_day, raw, raw_sha256,
                                 observed_at, first_seen_at, changed_at)
     select 'p', 'op_' || n, 7, '2026-03-10T10:00:00Z', '2026-03-10', text::jsonb, sha256(text::bytea),
            '2026-03-11T00:00:00Z', '2026-03-11T00:00:00Z', '2026-03-11T00:00:00Z'
       from generate_series(1, $1::int) n,
            -- Canonical: its keys in order, no spaces.
            format('{"create_time":"2026-03-10T10:00:00Z","operation_id":"op_%s","status":2}', n) text`,
    [orders],
  );
  // As the server does by itself within a minute or so; without it every page would cost a look at the whole table.
  const { connectionString } = database;
  const owner = await openDb({ connectionString, role: null, log: silentLog() });
  await owner.query('analyze archive.orders');
  await owner.close();
}

/** How many it has read, and how many are left to it: both of one moment. */
async function sofar(): Promise<{ read: number; left: number }> {
  const { rows } = await db.query<{ read: number; left: number }>(
    `select coalesce((select rows_read from sync.rebuilds where ended_at is null), 0)::int as read,
            (select count(*)::int from archive.orders where status = 7) as left`,
  );
  return onlyRow({ rows });
}

/** Ends one that has committed its first page of a thousand and waits for a row of the second. */
async function endedInTheMiddle(signal: NodeJS.Signals, ...args: string[]): Promise<Ended> {
  const blocker = await db.pool.connect();
  await blocker.query(
    `begin; select from archive.orders
      where operation_id = (select operation_id from archive.orders order by 1 offset 1500 limit 1) for update`,
  );
  const running = startCommand(['rebuild', ...args], env());
  await expect.poll(async () => (await sofar()).read).toBe(1_000);
  const ended = running.stop(signal);
  await blocker.query('rollback');
  blocker.release();
  return ended;
}

test('P3: killed in the middle it goes on behind its last page, and every row is right in the end', async () => {
  const orders = 4_000;
  await enterMisread(orders);
  await endedInTheMiddle('SIGKILL');
  // What it sent last is still carried out.
  const atWork = `select from pg_stat_activity
    where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`;
  await expect.poll(async () => (await db.pool.query(atWork)).rowCount).toBe(0);
  const { read, left } = await sofar();
  expect(left).toBe(orders - read);
  expect(left).toBeGreaterThan(0);
  const { code, stdout } = await outlast('--resource', 'orders');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^p +orders +4,000 +4,000 +0 +0$/m);
  expect(stdout).toContain('p, orders: went on with the rebuild begun at ');
  expect(stdout).toContain('p, orders: changed status 4,000.');
  expect((await sofar()).left).toBe(0);
});

test('stopped in the middle it says so, ends with 75, and goes on', async () => {
  await enterMisread(4_000);
  const { code, stdout } = await endedInTheMiddle('SIGTERM', '--json');
  expect(code).toBe(75);
  expect(JSON.parse(stdout)).toMatchObject({
    lists: [
      { project_id: 'p', resource: 'orders', done: false },
      { resource: 'nft_classes' },
      { resource: 'transactions', api_version: 'v1beta1' },
      { resource: 'transactions', api_version: 'v3' },
      { resource: 'tokens' },
    ],
  });
  expect((await outlast()).code).toBe(0);
  expect((await sofar()).left).toBe(0);
});

test('records that do not match their digests are named, left alone, and the exit code is 1', async () => {
  await enterMisread(10);
  await db.query(
    `update archive.orders set raw_sha256 = '\\x00' where operation_id in ('op_3', 'op_4')`,
  );
  const { code, stdout } = await outlast();
  expect(code).toBe(1);
  expect(stdout).toContain(
    'p, orders: 2 records do not match their digests and were left as they are (op_3, op_4): outlast verify says more.',
  );
  expect((await sofar()).left).toBe(2);
});

test('P12: an unknown project or resource ends with 2 and one sentence', async () => {
  const project = await outlast('--project', 'other');
  expectRefused(project, 'outlast: Nothing is archived for a project "other" here.\n');
  expect((await outlast('--resource', 'slices')).code).toBe(2);
});

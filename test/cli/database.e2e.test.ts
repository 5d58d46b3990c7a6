// What a database can do to a command at work: one clear sentence, the right exit code, and nothing lost (P3, P12).
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import { silentLog } from '../../src/log.ts';
import type { Simulator } from '../../src/simulator/simulator-server.ts';
import { openDb } from '../../src/store/db.ts';
import { openEmbedded, type Embedded } from '../../src/store/embedded/embedded.ts';
import { smallWorld } from '../support/archive.ts';
import { runCommand, startCommand, type Ended } from '../support/command.ts';
import { runHere, succeedHere } from '../support/command-here.ts';
import { queryAt } from '../support/client.ts';
import { fresh, freshFolder } from '../support/fresh.ts';
import { readOnly } from '../support/few-days.ts';
import { listenHere } from '../support/loopback.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { practise } from '../support/practise.ts';

const world = { ...smallWorld, since: '2026-04-02' };
/** Of the window, those that have records, and two that have none. */
const days = ['2026-03-01', ...daysIn({ from: '2026-04-01', to: '2026-04-07' })];

let simulator: Simulator;
let database: TestDatabase;
let env: () => Record<string, string>;
let person: pg.Client;
beforeEach(async () => {
  ({ simulator, database, env } = await practise({ world }));
  person = new pg.Client({ connectionString: database.connectionString });
  await person.connect();
});
afterEach(() => person.end());

const settings = (): Record<string, string> => ({
  ...env(),
  OUTLAST_LEASE_SECONDS: '3',
  OUTLAST_LOG_LEVEL: 'error',
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
  await readOnly(database.connectionString, simulator, days);
  await person.query('begin; lock table archive.orders in share mode');
  const locked = await runHere(['sync'], { env: settings() });
  expect(lastWords(locked)).toMatch(
    /^outlast: The database kept Outlast waiting .*pg_stat_activity/,
  );
  expect(locked.code).toBe(75);
  // No table without a row: the run has nothing to report.
  expect(locked.stdout).toBe('');
  await person.query('rollback');
  await succeedHere(['sync'], { env: settings() });
  expect(await heldOrders()).toBe(simulator.oracle.count('orders'));
});

test('connections ended in the middle of a sync: 75 and one sentence; the next sync completes it', async () => {
  await readOnly(database.connectionString, simulator, days);
  const oneDay = ['--from', '2026-04-02', '--to', '2026-04-02'];
  await succeedHere(['sync', ...oneDay], { env: settings() });
  // Its days are in the ledger. One is kept from the next sync, which is in its middle when it waits for that.
  await person.query(`begin; select from sync.slices where day = '2026-04-05' for update`);
  const cut = startCommand(['sync'], { env: settings() });
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await queryAt(database.connectionString, waiting)).length).toBe(1);
  expect(await heldOrders()).toBeGreaterThan(0);
  // Again and again: a connection that is cut while it idles is replaced without a word.
  while (cut.child.exitCode === null) {
    await queryAt(
      database.connectionString,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'outlast' and datname = current_database()`,
    );
  }
  const ended = await cut.ended;
  expect(lastWords(ended)).toMatch(/^outlast: The database ended the connection/);
  expect(ended.code).toBe(75);
  expect(await heldOrders()).toBeLessThan(simulator.oracle.count('orders'));
  await person.query('rollback');
  await succeedHere(['sync'], { env: settings() });
  expect(await heldOrders()).toBe(simulator.oracle.count('orders'));
});

test('a password changed under `start`: its file is read again; from elsewhere the sentence says to restart', async () => {
  const folder = await freshFolder();
  const empty = await fresh(createEmptyDatabase());
  const login = `${empty.name}_login`;
  const address = new URL(empty.connectionString);
  const rotate = async (password: string): Promise<void> => {
    await writeFile(join(folder, 'password'), `${password}\n`);
    address.password = password;
    await writeFile(join(folder, 'address'), address.href);
    await person.query(`alter role ${login} password '${password}'`);
    await person.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${login}'`,
    );
  };
  await person.query(`create role ${login} login createrole;
    grant all on database "${empty.name}" to ${login}`);
  address.username = login;
  const countRuns = async (): Promise<number> => {
    const rows = await queryAt<{ runs: number }>(
      empty.connectionString,
      'select count(*)::int as runs from sync.runs',
    );
    return rows[0]?.runs ?? 0;
  };
  await rotate('one');
  const bare = new URL(address);
  bare.password = '';
  const ways = {
    password: { DATABASE_URL: bare.href, DATABASE_PASSWORD_FILE: join(folder, 'password') },
    address: { DATABASE_URL: '', DATABASE_URL_FILE: join(folder, 'address') },
    environment: { DATABASE_URL: address.href },
  };
  const env = { ...settings(), OUTLAST_LOG_LEVEL: 'info', OUTLAST_SCHEDULE: '* * * * * *' };
  for (const [way, given] of Object.entries(ways)) {
    await rotate('one');
    const started = startCommand(['start'], { env: { ...env, ...given }, cwd: folder });
    const [url] = await started.waitFor(/http:\/\/[\d.:]+(?=","msg":"Outlast is running)/);
    await rotate('two');
    if (way === 'environment') {
      await started.waitFor(
        /refused the login\. .* may have been changed \(a pooler .*\)\. .* from anywhere else it needs a restart/,
      );
      expect((await fetch(`${url}/readyz`)).status).toBe(503);
    } else {
      const before = await countRuns();
      await expect.poll(countRuns).toBeGreaterThan(before);
      // A connection that was told to end may still be at it.
      await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
    }
    await started.stop();
  }
  await empty.drop();
  await person.query(`drop role ${login}`);
});

/** Whether a pool whose host led to a standby for a moment writes again once it leads to the primary. */
async function goesOnAfterFailover(
  standby: string,
  promoted: { dataDir: string; elsewhere: string },
): Promise<void> {
  const primary = await openEmbedded({ ...promoted, log: silentLog() });
  let target = primary.connectionString;
  const way = createServer((socket) => {
    const server = connect(Number(new URL(target).port), '127.0.0.1');
    pipeline(socket, server, socket, () => undefined);
  });
  const { port, close } = await listenHere(way);
  const address = Object.assign(new URL(target), { port });
  const db = await openDb({ connectionString: address.href, max: 1, log: silentLog() });
  const write = (): Promise<unknown> =>
    db.query(`insert into sync.rate (project_id, per_second) values ('p', 1)`);
  // As when the primary dies, and its name leads to what repeats it until the look-ups catch up.
  await db.pool.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
  target = standby;
  await expect(write()).rejects.toMatchObject({ code: 'database_read_only' });
  target = primary.connectionString;
  await write();
  await db.close();
  await close();
  await primary.close();
}

test('a standby: 2, and where to point instead; commands that only read take it as a replica', async () => {
  const folder = await freshFolder();
  const options = { dataDir: join(folder, 'home'), elsewhere: join(folder, 'elsewhere') };
  const open = (): Promise<Embedded> => openEmbedded({ ...options, log: silentLog() });
  const primary = await open();
  const rows = await queryAt<{ place: string }>(
    primary.connectionString,
    `select current_setting('data_directory') as place`,
  );
  const archived = { ...settings(), DATABASE_URL: primary.connectionString };
  await succeedHere(['migrate'], { env: archived });
  await primary.close();
  const promoted = join(folder, 'promoted');
  // With its owners.
  await promisify(execFile)('cp', ['-a', options.dataDir, promoted]);
  await writeFile(join(rows[0]?.place ?? '', 'standby.signal'), '');
  const standby = await open();
  await goesOnAfterFailover(standby.connectionString, { ...options, dataDir: promoted });
  const env = { ...settings(), DATABASE_URL: standby.connectionString };
  const { code, stdout, stderr } = await runHere(['sync'], { env });
  const readers = { ...settings(), OUTLAST_READ_DATABASE_URL: standby.connectionString };
  const status = await runHere(['status'], { env: readers });
  const verified = await runHere(['verify', '--json'], { env: readers });
  const queried = await runHere(['query', 'orders'], { env: readers });
  await standby.close();
  const gone = await runHere(['status'], { env: readers });
  expect(stderr).toBe(
    'outlast: The database takes no writing: it is a standby, or set to read only. Point DATABASE_URL at the primary.\n',
  );
  expect(stdout).toBe('');
  expect(code).toBe(2);
  expect(status.stdout).toContain('Read from a replica that has taken no change from its primary');
  expect(status.code).toBe(0);
  expect(verified.code, verified.stderr).toBe(0);
  expect(queried.stderr).toBe('outlast: Nothing is archived yet. Run `outlast sync` first.\n');
  expect(gone.stderr).toMatch(
    /^outlast: The database cannot be reached.* OUTLAST_READ_DATABASE_URL /,
  );
  expect(gone.code).toBe(75);
});

const reading = [
  ['status'],
  ['status', '--plan'],
  ['query', 'alerts'],
  ['verify'],
  ['export', 'anywhere'],
  ['query', 'orders'],
  ['query', 'dictionary'],
];

test('a command that only reads makes no archive and migrates none: 2, and what to do', async () => {
  const folder = await freshFolder();
  const empty = await fresh(createEmptyDatabase());
  for (const command of reading) {
    const none = await runHere(command, { env: { OUTLAST_DATA_DIR: join(folder, 'none') } });
    expect(none.stderr).toMatch(
      /^outlast: There is nothing to read: DATABASE_URL is not set, and .*none holds no/,
    );
    expect(none.code).toBe(2);
    const bare = await runHere(command, { env: { DATABASE_URL: empty.connectionString } });
    expect(bare.stderr).toMatch(/^outlast: This database holds no Outlast archive\./);
    expect(bare.code).toBe(2);
  }
  expect(await readdir(folder)).toEqual([]);
  const rows = await queryAt(
    empty.connectionString,
    `select from pg_namespace where nspname in ('sync', 'archive')`,
  );
  expect(rows).toEqual([]);
});

// As `alter database … set` takes them. Each changes what a statement means, may do, or how long it may take.
const strangeDefaults = {
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
  statement_timeout: '500ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '1ms',
  search_path: 'nowhere',
  row_security: 'off',
  timezone: 'Asia/Kathmandu',
  datestyle: 'German, DMY',
  intervalstyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  quote_all_identifiers: 'on',
  client_encoding: 'LATIN1',
  client_min_messages: 'debug1',
  synchronous_commit: 'off',
  plan_cache_mode: 'force_generic_plan',
};

test('whatever an administrator sets as defaults: everything is read, held and verified', async () => {
  const empty = await fresh(createEmptyDatabase());
  const defaults = Object.entries(strangeDefaults).map(
    ([name, value]) =>
      `alter database "${empty.name}" set ${name} = ${name === 'datestyle' ? value : `'${value}'`}`,
  );
  for (const sql of defaults) await person.query(sql);
  // Whoever names nothing writes nothing there.
  const careless = queryAt(empty.connectionString, 'create table public.t ()');
  await expect(careless).rejects.toMatchObject({ code: '25006' });
  const env = { ...settings(), DATABASE_URL: empty.connectionString };
  await succeedHere(['migrate'], { env });
  await readOnly(empty.connectionString, simulator, days);
  // Under `serializable` one of two would fail of the other again and again.
  const syncs = await Promise.all([runCommand(['sync'], { env }), runHere(['sync'], { env })]);
  // 75: the other held a slice at the end.
  for (const { code, stderr } of syncs) expect([0, 75], stderr).toContain(code);
  for (const command of [['sync'], ['status'], ['query', 'orders', '--limit', '3'], ['verify']]) {
    const { code, stdout, stderr } = await runHere(command, { env });
    expect(code, `${command.join(' ')}: ${stdout}${stderr}`).toBe(0);
  }
  const rows = await queryAt<{ held: number }>(
    empty.connectionString,
    'select count(*)::int as held from archive.orders',
  );
  expect(rows[0]?.held).toBe(simulator.oracle.count('orders'));
});

test.each(['LATIN1', 'SQL_ASCII'])(
  'a database in %s: 2, before anything is written',
  async (encoding) => {
    const name = `${database.name}_${encoding.toLowerCase()}`;
    await person.query(
      `create database "${name}" encoding '${encoding}' locale 'C' template template0`,
    );
    const address = new URL(database.connectionString);
    address.pathname = `/${name}`;
    const env = { ...settings(), DATABASE_URL: address.href };
    const { code, stderr } = await runHere(['sync'], { env });
    const rows = await queryAt(address.href, `select from pg_namespace where nspname = 'sync'`);
    await person.query(`drop database "${name}" with (force)`);
    expect(stderr).toMatch(
      new RegExp(`^outlast: The database's encoding is ${encoding}, .*create database`),
    );
    expect([code, rows]).toEqual([2, []]);
  },
);

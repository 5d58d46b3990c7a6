// A connection that is cut, at whatever statement and on whichever side of it, is a passing fault with a name: the
// process lives, the pool replaces the connection, and trying again helps.
import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { exportArchive } from '../../src/export/write-export.ts';
import { silentLog } from '../../src/log.ts';
import type { OutlastError } from '../../src/errors.ts';
import { databaseError } from '../../src/store/db-errors.ts';
import { analyzeNew, openDb, noStatementTimeout, withTx, type Db } from '../../src/store/db.ts';
import { countRows } from '../../src/store/read-held.ts';
import { migrate } from '../../src/store/migrate.ts';
import { inspectConnection } from '../../src/store/pg-client.ts';
import { setUp } from '../support/fresh.ts';
import { listenHere } from '../support/loopback.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { createWireTo, type Wire } from '../torture/wire.ts';

const log = silentLog();
let database: TestDatabase;
let wire: Wire;
let address: string;
let db: Db | null = null;

setUp(async (keep) => void (database = await keep(createTestDatabase())));
beforeEach(async () => {
  ({ wire, address } = await createWireTo(database.connectionString));
});
afterEach(async () => {
  await db?.close();
  db = null;
  await wire.close();
});

const ways = [
  ['before', 'reset'],
  ['before', 'end'],
  ['after', 'reset'],
  ['after', 'end'],
] as const;

/** What a person is told of it, where it is not told already. */
async function told(work: Promise<unknown>): Promise<OutlastError | null> {
  return work.then(
    () => null,
    (error: unknown) => databaseError(error),
  );
}

const unreachable = { kind: 'transient', code: 'database_unreachable' };

describe.each(ways)('cut %s the statement arrives, by %s', (when, how) => {
  const cutAt = (text: string): void =>
    wire.arm({ text, skip: 0, when, how, spring: () => undefined });

  test.each(['server_version_num', 'user\0'])('opening, at "%s"', async (text) => {
    cutAt(text);
    expect(await told(openDb({ connectionString: address, log }))).toMatchObject(unreachable);
  });

  test.each(['server_version_num', 'to_regclass', 'pg_roles'])(
    'migrating, at "%s"',
    async (text) => {
      cutAt(text);
      expect(await told(migrate(address, log))).toMatchObject(unreachable);
    },
  );

  test.each(['begin isolation', 'select 1', 'commit\0'])('a transaction, at "%s"', async (text) => {
    db = await openDb({ connectionString: address, log });
    const { pool } = db;
    cutAt(text);
    const work = withTx(db, (tx) => tx.query('select 1'));
    expect(await told(work)).toMatchObject(unreachable);
    expect((await withTx(db, (tx) => tx.query('select 1 as one'))).rows).toEqual([{ one: 1 }]);
    expect(pool.totalCount).toBe(1);
  });
});

test('every connection asks whether the other side is still there', async () => {
  db = await openDb({ connectionString: address, log });
  await db.query('select');
  expect(db.pool.options).toMatchObject({ keepAlive: true, keepAliveInitialDelayMillis: 10_000 });
});

// A proxy or a balancer that has lost the server goes on answering for it: keep-alive tells nothing then.
test.each([
  ['a statement', (one: Db) => one.query('select 1')],
  ['a transaction', (one: Db) => withTx(one, (tx) => tx.query('select 1'))],
])('%s whose answer never comes is given up', async (_, ask) => {
  db = await openDb({ connectionString: address, log });
  await ask(db);
  const release = wire.hold();
  quickenSilence(1000);
  expect(await told(ask(db))).toMatchObject(unreachable);
  vi.restoreAllMocks();
  release();
  expect((await ask(db)).rowCount).toBe(1);
});

test('a server that lets in and answers nothing is given up', async () => {
  fakeTimers();
  // AuthenticationOk and ReadyForQuery.
  const letIn = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I');
  const silent = createServer((socket) => {
    socket.once('data', () => socket.write(letIn));
    socket.on('error', () => undefined);
  });
  const { port, close } = await listenHere(silent);
  onTestFinished(close);
  const opening = told(openDb({ connectionString: `postgres://a:b@127.0.0.1:${port}/c`, log }));
  const [socket] = (await once(silent, 'connection')) as [Socket];
  // The second is the first question.
  for (const _ of [1, 2]) await once(socket, 'data');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await opening).toMatchObject(unreachable);
});

test('what may take as long as it takes is not given up: an export, statistics, a count of all', async () => {
  const one = await openDb({ connectionString: address, log });
  db = one;
  // A connection for each is made before the silence begins.
  await Promise.all([1, 2, 3].map(() => one.query('select')));
  quickenSilence(10_000);
  const release = wire.hold();
  const works = Promise.allSettled([
    exportArchive({
      db: one,
      to: join(tmpdir(), 'outlast-never-written'),
      format: 'csv',
      projects: [],
      now: 0,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    }),
    withTx(one, analyzeNew, noStatementTimeout),
    countRows(one, { projectId: 'p', resource: 'orders' }),
  ]);
  // Half as long again as the most patient of the others, of 20 minutes and a half.
  await new Promise((resolve) => setTimeout(resolve, 185));
  release();
  expect(await works).toMatchObject([
    { reason: { code: 'nothing_archived' } },
    { status: 'fulfilled' },
    { value: 0 },
  ]);
});

test('the server itself ends a statement of a sync before its connection is given up; a migration’s it never ends', async () => {
  const longest = async (role?: null): Promise<unknown> => {
    const one = await openDb({
      connectionString: address,
      log,
      ...(role === null ? { role } : {}),
    });
    const { rows } = await one.query('show statement_timeout');
    await one.close();
    return rows[0]?.['statement_timeout'];
  };
  expect([await longest(), await longest(null)]).toEqual(['15min', '0']);
});

function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Patience is counted in minutes. */
function quickenSilence(by: number): void {
  const setForReal = Reflect.get(Socket.prototype, 'setTimeout');
  vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function (
    this: Socket,
    ms: number,
    onSilence?: () => void,
  ) {
    return setForReal.call(this, ms / by, onSilence);
  });
  onTestFinished(() => void vi.restoreAllMocks());
}

test('whoever waits in line for a connection of a busy pool is served', async () => {
  fakeTimers();
  const opened = (waitsInLine: boolean): Promise<Db> =>
    openDb({ connectionString: address, max: 1, waitsInLine, log });
  const hurried = await opened(false);
  db = await opened(true);
  for (const [one, expected] of [
    [hurried, 'database_unreachable'],
    [db, undefined],
  ] as const) {
    const held = await one.pool.connect();
    const waiting = told(one.query('select 1'));
    await vi.advanceTimersByTimeAsync(60_000);
    held.release(true);
    expect((await waiting)?.code).toBe(expected);
  }
  await hurried.close();
});

test('where the server gives fewer connections than asked for, those are waited for', async () => {
  const admin = await openDb({ connectionString: database.connectionString, role: null, log });
  const login = `few_${database.name}`;
  const allow = (limit: number): Promise<unknown> =>
    admin.query(`alter role "${login}" connection limit ${limit}`);
  await admin.query(`create role "${login}" login password 'few'`);
  await allow(2);
  const way = Object.assign(new URL(address), { username: login, password: 'few' });
  fakeTimers();
  db = await openDb({ connectionString: way.href, role: null, max: 8, waitsInLine: true, log });
  const busy = db;
  const asked = Array.from({ length: 16 }, () => busy.query('select pg_sleep(0.02)'));
  await expect(Promise.all(asked)).resolves.toHaveLength(16);
  expect(busy.pool.totalCount).toBe(2);
  // What looks at two at once says that it gets one, and keeps none.
  await allow(1);
  const alone = await openDb({ connectionString: way.href, role: null, log }).catch(databaseError);
  expect(alone).toMatchObject({ code: 'database_crowded' });
  // A sync keeps none of so few until its next tick: others find them free.
  await vi.advanceTimersByTimeAsync(10_000);
  expect(busy.pool.totalCount).toBe(0);
  vi.useRealTimers();
  await db.close();
  // The server's processes end after their connections.
  const left = `select from pg_stat_activity where usename = '${login}'`;
  await expect.poll(async () => (await admin.query(left)).rowCount).toBe(0);
  db = await openDb({ connectionString: way.href, role: null, log });
  const looked = await told(inspectConnection(db.pool));
  expect(looked).toMatchObject({ code: 'database_crowded' });
  await db.close();
  db = null;
  await admin.query(`drop role "${login}"`);
  await admin.close();
});

test('idle connections that an administrator’s rule ends are no news, and made anew', async () => {
  const warn = vi.fn();
  db = await openDb({ connectionString: address, role: null, log: { warn } });
  const { pool } = db;
  await pool.query(`set idle_session_timeout = '100ms'`);
  await expect.poll(() => pool.totalCount).toBe(0);
  await expect(db.query('select')).resolves.toMatchObject({ rowCount: 1 });
  expect(warn).not.toHaveBeenCalled();
});

test('a connection that the server ends between two statements: in the words it gave', async () => {
  db = await openDb({ connectionString: address, log });
  const { pool } = db;
  const work = withTx(db, async (tx) => {
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    const ofIt = [rows[0]?.pid];
    await pool.query('select pg_terminate_backend($1::int)', ofIt);
    const isThere = async () =>
      (await pool.query('select from pg_stat_activity where pid = $1', ofIt)).rowCount;
    await expect.poll(isThere).toBe(0);
    await tx.query('select 1');
  });
  const error = await told(work);
  expect(error).toMatchObject(unreachable);
  expect(error?.message).toContain('(57P01)');
});

// What a database's error means to a person: a sentence, and an exit code that says whether trying again helps (P12).
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { causeChain, exitCodeOf, fatal } from '../../src/errors.ts';
import { silentLog } from '../../src/log.ts';
import { databaseError } from '../../src/store/db-errors.ts';
import { openDb, withTx, type Db } from '../../src/store/db.ts';
import { drizzleOn } from '../../src/store/drizzle-statements.ts';
import { concernsAll, unforeseenText } from '../../src/sync/unforeseen-errors.ts';
import { fileOnDatabase } from '../support/opened.ts';
import { createTestDatabase } from '../support/postgres.ts';

let db: Db;
fileOnDatabase((given) => ({ db } = given), {
  role: null,
  settings: { work_mem: '64kB', temp_file_limit: '64kB' },
});

/** The code and the exit code that this failure stands for. */
const told = async (work: Promise<unknown>): Promise<[string | undefined, number]> => {
  const error: unknown = await work.catch((failure: unknown) => databaseError(failure));
  return [databaseError(error)?.code, exitCodeOf(error)];
};

test('a statement that may not have the temporary files it needs: 2, on both ways to run one', async () => {
  const sql = 'select n from generate_series(1, 100000) n order by -n';
  expect(await told(db.query(sql))).toEqual(['database_limit', 2]);
  expect(await told(withTx(db, (tx) => tx.query(sql)))).toEqual(['database_limit', 2]);
  // In a sync it may be one slice's statement: the others go on, and the slice says what to do.
  const error: unknown = await db.query(sql).catch((failure: unknown) => failure);
  expect(concernsAll(error)).toBe(false);
  const source = { baseUrl: 'https://platform.example', apiKey: 'a-key' };
  expect(unforeseenText(error, { source })).toContain('alter role … set temp_file_limit');
  // The connection is as good as before.
  expect((await db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('a database that is dropped under a connection: 75, and 2 for whoever opens it next', async () => {
  const other = await createTestDatabase();
  const { connectionString } = other;
  const onOther = await openDb({ connectionString, log: silentLog() });
  const sleeping = told(onOther.query('select pg_sleep(60)'));
  await expect
    .poll(async () => {
      const { rows } = await db.query(
        `select from pg_stat_activity where datname = $1 and query like '%pg_sleep%'`,
        [other.name],
      );
      return rows.length;
    })
    .toBe(1);
  await other.drop();
  expect(await sleeping).toEqual(['database_unreachable', 75]);
  expect(await told(onOther.query('select 1'))).toEqual(['database_missing', 2]);
  await onOther.close();
});

test.each([
  ['53100', 'database_full', 1],
  ['53200', 'database_out_of_memory', 75],
  ['53300', 'database_crowded', 75],
  ['57P01', 'database_unreachable', 75],
  ['57P04', 'database_missing', 2],
  ['3D000', 'database_missing', 2],
  ['25006', 'database_read_only', 2],
  ['0A000', 'database_unsuitable', 2],
  ['08P01', 'database_unreachable', 75],
  ['25P04', 'database_busy', 75],
  ['40001', 'database_conflict', 75],
  ['58030', 'database_damaged', 1],
  ['XX000', 'database_failing', 75],
  ['XX001', 'database_damaged', 1],
])('SQLSTATE %s', async (sqlState, code, exitCode) => {
  const raised = Object.assign(new Error('as Postgres says it'), { code: sqlState });
  expect(await told(Promise.reject(raised))).toEqual([code, exitCode]);
});

// As PgBouncer 1.18 says them under 08P01, Supabase's Supavisor and Neon's proxy under XX000.
test.each([
  ['SASL authentication failed', 'database_login_refused', 2],
  ['password authentication failed for user "outlast"', 'database_login_refused', 2],
  ['no such database: outlast', 'database_missing', 2],
  ['database "outlast" does not exist', 'database_missing', 2],
  ['no more connections allowed (max_client_conn)', 'database_crowded', 75],
  ['query_wait_timeout', 'database_crowded', 75],
  [
    'server login has been failing, try again later (server_login_retry)',
    'database_unreachable',
    75,
  ],
  ['SSL required', 'database_tls_wanted', 2],
  ['unsupported startup parameter: options', 'database_address', 2],
  ['Tenant or user not found', 'database_login_refused', 2],
  ['(ENOIDENTIFIER) no tenant identifier provided', 'database_login_refused', 2],
  ['Endpoint ID is not specified. Either please upgrade', 'database_login_refused', 2],
  ['MaxClientsInSessionMode: max clients reached', 'database_crowded', 75],
  ['Max client connections reached', 'database_crowded', 75],
  ['Too many connections to this endpoint', 'database_crowded', 75],
  ['(ESSLREQUIRED) SSL connection is required for user: postgres', 'database_tls_wanted', 2],
  ['Couldn’t connect to compute node', 'database_unreachable', 75],
])('a pooler’s %s', async (words, code, exitCode) => {
  for (const sqlState of ['08P01', 'XX000']) {
    const raised = Object.assign(new Error(words), { code: sqlState });
    expect(await told(Promise.reject(raised))).toEqual([code, exitCode]);
  }
});

test.each([
  // Behind a pooler that answers, it is Postgres to look after.
  [
    '08P01',
    'client_login_timeout (server down)',
    /^The pooler in front of the database gets no connection to it\. Start Postgres/,
  ],
  // Neither the database is missing nor the login: what Postgres misses is within itself.
  ['XX000', 'type 16409 does not exist', /^The database failed within itself/],
  ['XX000', 'could not write init file', /Its own log says why: look for a full disk first/],
  // The address is right, for there was a connection.
  ['EPIPE', 'write EPIPE', /^The database ended the connection \(EPIPE\)/],
])('%s, %s: what a person is told', (code, words, sentence) => {
  expect(databaseError(Object.assign(new Error(words), { code }))?.message).toMatch(sentence);
});

test('a reading that a standby ended: where to change what', async () => {
  const raise = `do $$ begin raise sqlstate '40001' using message = 'conflict with recovery'; end $$`;
  const error: unknown = await db.query(raise).catch((failure: unknown) => failure);
  expect(databaseError(error)?.message).toMatch(
    /^The standby ended the reading, .* Set hot_standby_feedback = on there/,
  );
});

test('what drizzle wraps is told without the statement and its values (P10), on one line', async () => {
  const raise = sql`do $$ begin raise sqlstate '57P01' using message = 'terminating'; end $$`;
  const error: unknown = await drizzleOn(db)
    .execute(raise)
    .catch((failure: unknown) => failure);
  expect(String(error)).toContain('Failed query: do $$');
  expect(causeChain(databaseError(error))).toMatch(
    /^The database ended the connection \(57P01\): .* starts the embedded one: terminating$/,
  );
});

test('a mistake of ours is none of the database’s', () => {
  expect(databaseError(Object.assign(new Error('syntax'), { code: '42601' }))).toBeNull();
  expect(databaseError(fatal('ours', 'a sentence'))?.code).toBe('ours');
  const wrapped = new Error('Failed query: select 1', { cause: fatal('ours', 'a sentence') });
  expect(databaseError(wrapped)?.code).toBe('ours');
});

test('P1: behind a begin that failed nothing runs', async () => {
  const spoilt = { ...db, begin: 'begin isolation level nonsense' };
  const write = `insert into sync.rate (project_id, per_second) values ('p', 1)`;
  await expect(withTx(spoilt, (tx) => tx.query(write))).rejects.toMatchObject({ code: '42601' });
  expect((await db.query('select from sync.rate')).rows).toEqual([]);
});

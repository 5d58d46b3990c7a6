// Opening an archive: it cannot write, and says plainly what is wrong with a database (P12).
import { describe, expect, test, vi } from 'vitest';
import { answerOf } from '../../src/http/http-answers.ts';
import { openArchive } from '../../src/index.ts';
import { silentLog } from '../../src/log.ts';
import { openReader, type Reader } from '../../src/query/reader.ts';
import { openDb, withTx, type Db } from '../../src/store/db.ts';
import { queryAt } from '../support/client.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { writeOrder } from '../support/rows.ts';

let database: TestDatabase;
let owner: Db;
let reader: Reader;

setUp(async (keep) => {
  database = await keep(createTestDatabase());
  const { connectionString } = database;
  owner = await keep(openDb({ connectionString, role: null, log: silentLog() }));
  reader = await keep(openReader({ connectionString, max: 2, statementTimeoutMs: 30_000 }));
  await writeOrder(owner, { project: 'p', id: 'op' });
});

/** Opens a database as another user of this server. */
function loginOf(connectionString: string, user: string): string {
  const address = new URL(connectionString);
  address.username = user;
  address.password = 'test';
  return address.href;
}

describe('the connections of an archive', () => {
  const writes = [
    `insert into archive.tokens select * from archive.tokens`,
    `update archive.orders set status = 1`,
    `delete from archive.orders`,
    `create table public.mine ()`,
  ];

  test('run as outlast_reader, in UTC, and refuse to write', async () => {
    expect(reader.role).toBe('outlast_reader');
    const { rows } = await reader.query(
      `select current_user, current_setting('timezone') as zone,
              current_setting('transaction_read_only') as read_only`,
    );
    expect(rows).toEqual([{ current_user: 'outlast_reader', zone: 'UTC', read_only: 'on' }]);
    for (const sql of writes) await expect(reader.query(sql)).rejects.toThrow();
    await expect(reader.query('select * from sync.projects')).rejects.toMatchObject({
      code: 'database_forbidden',
    });
  });

  test('have no right to write even in a transaction that says it may', async () => {
    const begin = 'begin read write';
    for (const sql of writes) {
      await expect(reader.query(`${begin}; ${sql}; commit`)).rejects.toMatchObject({
        code: 'database_forbidden',
      });
      // The broken transaction stays on its connection otherwise.
      await reader.query('rollback');
      await reader.query('rollback');
    }
  });

  test('refuse to write also where there is no such role to run as', async () => {
    const given = { role: null, isReadOnly: true, log: silentLog() };
    const { connectionString } = database;
    const session = await fresh(openDb({ connectionString, ...given }));
    for (const sql of writes) {
      await expect(session.query(sql)).rejects.toMatchObject({ code: '25006' });
    }
  });

  test('sabotaged, without role and setting, they do write', async () => {
    for (const sql of writes) {
      const client = await owner.pool.connect();
      await client.query('begin');
      await client.query(sql);
      await client.query('rollback');
      client.release();
    }
  });

  test('end a statement that takes too long, with a sentence that carries no argument', async () => {
    const { connectionString } = database;
    const settings = { connectionString, statementTimeoutMs: 500 };
    // What a busy machine takes longer for is opened again.
    const hasty = await fresh(vi.waitFor(() => openArchive(settings), 60_000));
    const secret = 'a-very-private-account';
    const query = { project: 'slow', account: secret, status: [1, 2, 3] } as const;
    // Nobody reads an order meanwhile: a statement that asks for one takes too long on any machine.
    const error: unknown = await withTx(owner, async (tx) => {
      await tx.query('lock table archive.orders in access exclusive mode');
      return hasty.orders.list(query).catch((e: unknown) => e);
    });
    expect(error).toMatchObject({ kind: 'transient', code: 'query_timed_out' });
    expect(String((error as Error).stack)).not.toContain(secret);
  });

  test.each([
    ['40001', 'database_conflict'],
    ['53200', 'database_out_of_memory'],
  ])(
    'end with a sentence where the server ends them with %s, and HTTP says 503',
    async (sqlstate, code) => {
      // As a standby does when the primary removes what is read, or a server whose memory is used up.
      const ended = `do $$ begin raise exception 'ended' using errcode = '${sqlstate}'; end $$`;
      const error: unknown = await reader.query(ended).catch((e: unknown) => e);
      expect(error).toMatchObject({ kind: 'transient', code });
      const { status, headers } = answerOf(error, silentLog());
      expect([status, headers?.['retry-after']]).toEqual([503, '10']);
    },
  );

  test('may be lost and are made anew', async () => {
    const warned: string[] = [];
    const { connectionString } = database;
    const log = { warn: (_fields: object, sentence: string) => void warned.push(sentence) };
    const archive = await fresh(openArchive({ connectionString, max: 1, log }));
    await archive.orders.get('p', 'op');
    await owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'outlast reader' and datname = current_database() and state = 'idle'`,
    );
    await expect.poll(() => warned).toContain('An idle database connection broke');
    expect(await archive.orders.get('p', 'op')).not.toBeNull();
  });
});

test('a closed archive says so, and may be closed again', async () => {
  const archive = await openArchive({ connectionString: database.connectionString });
  await archive.close();
  await archive.close();
  const closed = { kind: 'settings', code: 'archive_closed' };
  await expect(archive.orders.list({ project: 'p' })).rejects.toMatchObject(closed);
  await expect(archive.summary()).rejects.toMatchObject(closed);
});

describe('refused with a sentence is', () => {
  const refusal = (options: unknown): Promise<unknown> =>
    openArchive(options as never).then(
      () => 'opened',
      (error: unknown) => error,
    );

  test.each([undefined, {}, { connectionString: '' }, { connectionString: undefined }])(
    'an address that is not given, naming where it usually stands: %j',
    async (options) => {
      const said = options === undefined ? 'openArchive: ' : 'process.env.DATABASE_URL';
      const message = expect.stringContaining(said) as string;
      const error = { kind: 'settings', code: 'argument_invalid', message };
      expect(await refusal(options)).toMatchObject(error);
    },
  );

  test('a number of connections that is none, and a server that is not there', async () => {
    const { connectionString } = database;
    expect(await refusal({ connectionString, max: 0 })).toMatchObject({
      message: 'openArchive: max must be a whole number from 1 to 100',
    });
    const nowhere = await refusal({ connectionString: 'postgres://u:p@127.0.0.1:1/none' });
    expect(nowhere).toMatchObject({ kind: 'transient', code: 'database_unreachable' });
  });

  test('a database without an archive', async () => {
    const empty = await fresh(createEmptyDatabase());
    const error = await refusal({ connectionString: empty.connectionString });
    expect(error).toMatchObject({ kind: 'settings', code: 'schema_missing' });
  });

  test('an archive of a newer, an older or another release', async () => {
    const { connectionString } = await fresh(createTestDatabase());
    await queryAt(connectionString, `insert into sync.migrations (hash) values ('later')`);
    const newer = await refusal({ connectionString });
    expect(newer).toMatchObject({ kind: 'settings', code: 'schema_newer' });
    await queryAt(
      connectionString,
      'delete from sync.migrations where id > (select max(id) - 2 from sync.migrations)',
    );
    const older = await refusal({ connectionString });
    expect(older).toMatchObject({ kind: 'settings', code: 'schema_older' });
    // As many as these, and one of them says something else; then none says anything.
    await queryAt(connectionString, `insert into sync.migrations (hash) values ('edited')`);
    const edited = { kind: 'fatal', code: 'schema_other' };
    expect(await refusal({ connectionString })).toMatchObject(edited);
    await queryAt(connectionString, 'drop view analytics.schema_version');
    expect(await refusal({ connectionString })).toMatchObject(edited);
  });

  test('a user without the right to read, and a member of outlast_reader is enough', async () => {
    const user = `reader_${database.name}`;
    await owner.query(`create role "${user}" login password 'test'`);
    const connectionString = loginOf(database.connectionString, user);
    const stranger = await refusal({ connectionString });
    expect(stranger).toMatchObject({ kind: 'settings', code: 'database_forbidden' });
    await owner.query(`grant outlast_reader to "${user}"`);
    const archive = await openArchive({ connectionString });
    expect(await archive.orders.get('p', 'op')).not.toBeNull();
    expect(await archive.summary()).toEqual([]);
    await archive.close();
    await owner.query(`drop role "${user}"`);
  });
});

// Migrations: safe when many start at once, never backwards, and clear about what a database cannot promise.
import { beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { migrate } from '../../src/store/migrate.ts';
import { queryAt } from '../support/client.ts';
import { runHere } from '../support/command-here.ts';
import { fresh } from '../support/fresh.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { createWireTo } from '../torture/wire.ts';

let database: TestDatabase;
beforeEach(async () => void (database = await fresh(createEmptyDatabase())));

const log = silentLog();

test('ten that start at once on an empty database: one migrates, all end well', async () => {
  const results = await Promise.all(
    Array.from({ length: 10 }, () => migrate(database.connectionString, log)),
  );
  const applied = results.map(({ from, to }) => to - from);
  expect(applied.filter((count) => count > 0)).toHaveLength(1);
  expect(new Set(results.map(({ to }) => to)).size).toBe(1);
  expect(results.flatMap(({ notes }) => notes)).toEqual([]);
});

test('two databases of one cluster migrated at once do not fall over each other’s roles', async () => {
  const other = await fresh(createEmptyDatabase());
  await Promise.all(
    [database, other].flatMap(({ connectionString }) =>
      [1, 2, 3].map(() => migrate(connectionString, log)),
    ),
  );
});

const madeByAnother = {
  kind: 'fatal',
  code: 'schema_other',
  message: expect.stringMatching(/^This database .* export it .* or begin anew .*\.$/) as string,
};
test.each([
  [
    'of a newer release',
    `insert into sync.migrations (hash, created_at) values ('later', 9999999999999)`,
    {
      kind: 'settings',
      code: 'schema_newer',
      message: expect.stringContaining('was written by a newer release of Outlast') as string,
    },
  ],
  ['of other migrations', `update sync.migrations set hash = 'edited' where id = 3`, madeByAnother],
  [
    'of fewer and other ones',
    `delete from sync.migrations where id > 1; update sync.migrations set hash = 'edited'`,
    madeByAnother,
  ],
])(
  'a database %s is refused with what to do, by who writes and who reads',
  async (_, sql, told) => {
    await migrate(database.connectionString, log);
    await queryAt(database.connectionString, sql);
    await expect(migrate(database.connectionString, log)).rejects.toMatchObject(told);
    const env = { DATABASE_URL: database.connectionString };
    const commands = [
      'migrate',
      'follow',
      'status',
      'verify',
      'query dictionary',
      'query alerts',
      'doctor',
    ];
    for (const command of commands) {
      const { code, stdout, stderr } = await runHere(command.split(' '), { env });
      expect(code, command).not.toBe(0);
      expect(stdout + stderr, command).toMatch(
        /This database was made by another Outlast, whose tables|written by a newer release/,
      );
    }
  },
);

test.each([
  // The statement it is cut at, how many of the kind pass before, and whether the migrations are there afterwards.
  ['at its beginning', 'create table if not exists sync.migrations', 0, 'before', false],
  ['between two', 'insert into sync.migrations', 3, 'after', false],
  ['before the grants', 'grant usage on schema archive', 0, 'before', false],
  ['before its end', 'commit\0', 1, 'before', false],
  ['at its very end', 'commit\0', 1, 'after', true],
] as const)(
  'migrations cut %s: all or nothing of them stays, and the next start goes on',
  async (_where, text, skip, when, stays) => {
    const { wire, address } = await createWireTo(database.connectionString);
    wire.arm({ text, skip, when, how: 'reset', spring: () => undefined });
    await expect(migrate(address, log)).rejects.toMatchObject({
      code: 'database_unreachable',
    });
    await wire.close();
    const { from, to } = await migrate(database.connectionString, log);
    expect([from > 0, to > 0]).toEqual([stays, true]);
    expect(await ungranted()).toEqual([]);
  },
);

test('grants that are missing are given by the next start', async () => {
  await migrate(database.connectionString, log);
  const revoke = 'revoke all on sync.facts, archive.tokens from outlast_writer';
  await queryAt(database.connectionString, revoke);
  expect(await ungranted()).toEqual(['archive.tokens', 'sync.facts']);
  await migrate(database.connectionString, log);
  expect(await ungranted()).toEqual([]);
});

/** Tables that the writer may not read. */
async function ungranted(): Promise<string[]> {
  const rows = await queryAt<{ name: string }>(
    database.connectionString,
    `select format('%s.%s', schemaname, tablename) as name from pg_tables
      where schemaname in ('archive', 'sync')
        and not has_table_privilege('outlast_writer', format('%I.%I', schemaname, tablename), 'select')
      order by 1`,
  );
  return rows.map(({ name }) => name);
}

test('wrong password, unknown database, closed port: each in one sentence without the password', async () => {
  const wrong = (change: (url: URL) => void): string => {
    const url = new URL(database.connectionString);
    change(url);
    return url.href;
  };
  const cases: [string, string][] = [
    [wrong((url) => (url.username = 'no_such_user')), 'database_login_refused'],
    [wrong((url) => (url.pathname = '/no-such-database')), 'database_missing'],
    [wrong((url) => (url.port = '1')), 'database_unreachable'],
    [wrong((url) => (url.hostname = 'no-such-host.invalid')), 'database_host_unknown'],
  ];
  for (const [address, code] of cases) {
    const error: unknown = await migrate(address, log).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code });
    expect((error as Error).message).not.toContain('not-the-password');
  }
});

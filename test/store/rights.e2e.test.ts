// What logins of every kind may do, on a server of their own of the release that the tests have: the roles are the
// server's. Each works at once, or is told SQL that, run as it stands there, makes it work.
import { access, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator-server.ts';
import { openEmbedded, type Embedded } from '../../src/store/embedded/embedded.ts';
import { noon } from '../support/archive.ts';
import { queryAt, withClient } from '../support/client.ts';
import { environmentOf, type Ended } from '../support/command.ts';
import { runHere } from '../support/command-here.ts';
import { readOnly } from '../support/few-days.ts';
import { makeFolder, removeFolder, setUp } from '../support/fresh.ts';
import { stoppedAt } from '../support/machine-clock.ts';
import { adminConnectionString } from '../support/postgres.ts';
import { blocksIn, fileText } from '../support/repository.ts';

const days = ['2026-04-05', '2026-04-06', '2026-04-07'];

let folder: string;
let server: Embedded;
let simulator: Simulator;
let version: number;

setUp(async (keep) => {
  const world = { ordersPerDay: 6, classesPerDay: 3, since: '2026-04-05' };
  simulator = await keep(createSimulator({ startAt: noon, speed: 0, world }));
  folder = await keep(makeFolder(), removeFolder);
  const programs = await programsOf(await adminConnectionString());
  server = await keep(
    openEmbedded({
      dataDir: join(folder, 'home'),
      elsewhere: join(folder, 'elsewhere'),
      ...(programs === null ? {} : { programs }),
      log: silentLog(),
    }),
  );
  version = await one<number>(`current_setting('server_version_num')::int`);
});

/** Those of the tests' own server, laid out as the package of the embedded one; null where they are elsewhere. */
async function programsOf(address: string): Promise<string | null> {
  const from = await one<string>(`(select setting from pg_config where name = 'BINDIR')`, address);
  try {
    await access(join(from, 'initdb'));
  } catch {
    return null;
  }
  const bin = join(folder, 'programs', 'native', 'bin');
  await mkdir(bin, { recursive: true });
  for (const name of ['postgres', 'pg_ctl']) await symlink(join(from, name), join(bin, name));
  // Before 17 there is no locale provider of its own to ask for.
  const isBuiltin =
    (await one<number>(`current_setting('server_version_num')::int`, address)) >= 170_000;
  const initdb = `#!/bin/sh
    for one; do shift; case $one in *builtin*) ${isBuiltin ? 'set -- "$@" "$one"' : ''} ;; *) set -- "$@" "$one" ;; esac; done
    exec ${from}/initdb "$@"`;
  await writeFile(join(bin, 'initdb'), initdb, { mode: 0o755 });
  return join(folder, 'programs');
}

beforeEach(async () => {
  await admin(`create database archive`);
});
afterEach(async () => {
  const named = await rowsOf(`select datname as name from pg_database where datname ~ '^archive'`);
  for (const name of named) await admin(`drop database ${name} with (force)`);
  const roles =
    await rowsOf(`select rolname as name from pg_roles where rolname ~ '^(outlast|test)_'
                               order by rolname ~ '^test_'`);
  for (const name of roles) await admin(`drop role ${name}`);
});

const addressOf = (user: string, database = 'archive'): string => {
  const address = new URL(server.connectionString);
  address.pathname = `/${database}`;
  [address.username, address.password] = [user, 'x'];
  return address.href;
};

/** Statements by somebody; as a superuser unless a login is named. */
const sql = (text: string, connectionString: string): Promise<void> =>
  withClient(connectionString, async (client) => {
    // One by one: `create database` takes no company.
    for (const statement of text.split(';')) await client.query(statement);
  });
const admin = (text: string, database?: string): Promise<void> => {
  const address = new URL(server.connectionString);
  if (database !== undefined) address.pathname = `/${database}`;
  return sql(text, address.href);
};

/** A login that may create roles, and owns the database. */
const createOwner = (login = 'test_app'): Promise<void> =>
  admin(
    `create role ${login} login createrole password 'x'; alter database archive owner to ${login}`,
  );

async function one<T>(expression: string, address = server.connectionString): Promise<T> {
  const [row] = await queryAt<{ it: T }>(address, `select ${expression} as it`);
  return (row as { it: T }).it;
}

async function rowsOf(select: string, address = server.connectionString): Promise<string[]> {
  return (await queryAt<{ name: string }>(address, select)).map(({ name }) => name);
}

const outlast = (address: string, ...args: string[]): Promise<Ended> =>
  runHere(args, { env: { ...environmentOf(simulator, address), ...stoppedAt(noon) } });

/** The SQL in a sentence. */
const printedIn = (text: string): string => /`((?:create|grant) [^`]*)`/.exec(text)?.[1] ?? '';

/** Whether a sync would run as the writer, as doctor says, which finds nothing that keeps it from working. */
async function isProtected(address: string): Promise<boolean> {
  const { code, stdout } = await outlast(address, 'doctor');
  expect(code, stdout).toBe(0);
  return /^ok +rights +a sync runs as outlast_writer/m.test(stdout);
}

/** A database is migrated and synced by this login, and doctor agrees. Returns what migrate noted. */
async function works(address: string, { as }: { as: 'the writer' | 'itself' }): Promise<string> {
  const migrated = await outlast(address, 'migrate');
  expect([migrated.code, migrated.stderr]).toEqual([0, '']);
  await readOnly(address, simulator, days);
  const synced = await outlast(address, 'sync');
  expect(synced.code, synced.stderr).toBe(0);
  expect(await isProtected(address)).toBe(as === 'the writer');
  expect(migrated.stdout.includes('Note:')).toBe(as === 'itself');
  return migrated.stdout;
}

/** All that a reader is given works: commands, views and functions. */
async function reads(address: string): Promise<void> {
  const orders = await outlast(address, 'query', 'orders', '--format', 'ndjson');
  const followed = await outlast(address, 'follow', '--once');
  const linesOf = ({ code, stdout, stderr }: Ended): unknown => [
    code,
    stderr,
    stdout.trim().split('\n').length,
  ];
  expect(linesOf(orders)).toEqual([0, '', simulator.oracle.count('orders')]);
  expect(linesOf(followed)).toEqual([0, '', expect.any(Number)]);
  expect(followed.stdout).toContain('"resource":"nft_classes"');
}

async function readsEveryView(address: string): Promise<void> {
  const views = await rowsOf(
    `select oid::regclass::text as name from pg_class
      where relnamespace = any (array['archive', 'analytics']::regnamespace[]) and relkind in ('r', 'v')`,
    address,
  );
  expect(views.length).toBeGreaterThan(30);
  for (const view of views)
    await sql(`select count(*) from (select * from ${view} offset 0) v`, address);
  for (const name of ['orders', 'nft_classes']) {
    await sql(`select from analytics.${name}_as_of('default', now())`, address);
  }
}

/** A block of SQL of docs/operations.md, with names and passwords of this test, a statement at a time. */
function pageSql(nth: number): string {
  const block = blocksIn(fileText('docs/operations.md'), 'sql')[nth] ?? '';
  return block
    .replaceAll("'choose-one'", "'x'")
    .replaceAll('database outlast', 'database archive')
    .replaceAll(
      /\b(outlast|reports)\b(?=[ ;])/g,
      (name) => `test_${name === 'outlast' ? 'app' : name}`,
    );
}

const isFrom16 = (): boolean => version >= 160_000;

describe('a login that syncs', () => {
  test('a superuser: at once', async () => {
    await admin(`create role test_app login superuser password 'x'`);
    await works(addressOf('test_app'), { as: 'the writer' });
  });

  test('one that docs/operations.md makes: at once, also over what an earlier migration left', async () => {
    await admin(
      `drop database archive; create role test_admin login createrole createdb password 'x'`,
    );
    await sql(pageSql(0), addressOf('test_admin', 'postgres'));
    const app = addressOf('test_app');
    // As PostgreSQL 16 and newer leave it to who created them.
    if (isFrom16()) await sql('create role outlast_writer; create role outlast_reader', app);
    await works(app, { as: 'the writer' });
    await sql(pageSql(1), app);
    await reads(addressOf('test_reports'));
    await readsEveryView(addressOf('test_reports'));
  });

  test('an owner who may create roles where another login made ours: at once, and protected by the SQL that is printed', async () => {
    await createOwner();
    await admin(`create role test_first login createrole password 'x'`);
    const first = addressOf('test_first', 'archive_first');
    await admin('create database archive_first owner test_first');
    expect((await outlast(first, 'migrate')).stdout).not.toContain('Note:');
    const as = isFrom16() ? 'itself' : 'the writer';
    const note = await works(addressOf('test_app'), { as });
    if (isFrom16()) await sql(printedIn(note), first);
    expect(await isProtected(addressOf('test_app'))).toBe(true);
  });

  test.each(['a superuser', 'a login that may create roles'])(
    'an owner who may create none: at once, and protected by the SQL that is printed, run by %s',
    async (who) => {
      await admin(
        `create role test_app login password 'x'; alter database archive owner to test_app`,
      );
      const printed = printedIn(await works(addressOf('test_app'), { as: 'itself' }));
      const status = await outlast(addressOf('test_app'), 'status');
      expect(status.stdout).toMatch(
        /^UNPROTECTED {2}Nothing keeps this database user from deleting/,
      );
      await admin(`create role test_admin login createrole password 'x'`);
      await (who === 'a superuser' ? admin(printed) : sql(printed, addressOf('test_admin')));
      // The roles are there by now, and have no rights yet.
      await works(addressOf('test_app'), { as: 'the writer' });
    },
  );

  test('one who is a member of ours and may not become them: the SQL that is printed', async () => {
    await admin(`create role outlast_writer; create role outlast_reader; create role outlast_intake; create role test_app login noinherit password 'x';
                 alter database archive owner to test_app`);
    const grant = 'grant outlast_writer, outlast_reader to test_app';
    await admin(isFrom16() ? `${grant} with set false` : grant);
    const as = isFrom16() ? 'itself' : 'the writer';
    const note = await works(addressOf('test_app'), { as });
    if (isFrom16()) await admin(printedIn(note));
    expect(await isProtected(addressOf('test_app'))).toBe(true);
  });

  test('a member of the writer alone of an archive that another login made: at once, and protected', async () => {
    await createOwner('test_first');
    await admin(`create role test_app login password 'x'`);
    expect((await outlast(addressOf('test_first'), 'migrate')).code).toBe(0);
    await admin('grant outlast_writer to test_app');
    await works(addressOf('test_app'), { as: 'the writer' });
    await reads(addressOf('test_app'));
  });

  test('a member of roles without rights, as after a restore by another login: its owner’s migrate, and it works', async () => {
    await createOwner('test_first');
    expect((await outlast(addressOf('test_first'), 'migrate')).code).toBe(0);
    await admin(`create role test_app login password 'x';
                 grant outlast_writer, outlast_reader to test_app`);
    const schemas = 'archive, analytics, sync';
    const roles = 'outlast_writer, outlast_reader';
    await sql(
      `revoke all on all tables in schema ${schemas} from ${roles}; revoke all on schema ${schemas} from ${roles}`,
      addressOf('test_first'),
    );
    for (const command of [['sync'], ['query', 'orders']]) {
      const refused = await outlast(addressOf('test_app'), ...command);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('let its owner, test_first, run `outlast migrate`');
    }
    expect((await outlast(addressOf('test_first'), 'migrate')).code).toBe(0);
    await works(addressOf('test_app'), { as: 'the writer' });
    await reads(addressOf('test_app'));
  });

  test('one who may create no schema, and one who owns no archive: refused with SQL, which makes each work', async () => {
    await admin(
      `create role test_app login password 'x'; create role test_other login password 'x';
       create role test_lent login password 'x' in role test_app;
       alter role test_lent set role = 'test_app'`,
    );
    const refused = async (login: string): Promise<string> => {
      const doctor = await outlast(addressOf(login), 'doctor');
      const synced = await outlast(addressOf(login), 'sync');
      expect([doctor.code, synced.code]).toEqual([1, 2]);
      const printed = printedIn(synced.stderr);
      expect(doctor.stdout).toContain(printed);
      return printed;
    };
    const creates = await refused('test_app');
    expect(creates).toBe('grant create on database archive to test_app;');
    // The right is that of the role as which a login is told to run.
    expect(await refused('test_lent')).toBe(creates);
    await admin(creates);
    await admin(printedIn(await works(addressOf('test_app'), { as: 'itself' })));
    expect((await outlast(addressOf('test_app'), 'migrate')).code).toBe(0);
    await admin(await refused('test_other'));
    await works(addressOf('test_other'), { as: 'the writer' });
  });
});

test('a login that reads: refused with SQL that makes it work; a member reads, however it is one', async () => {
  await createOwner();
  await works(addressOf('test_app'), { as: 'the writer' });
  await admin(
    `create role test_stranger login password 'x'; create role test_member login noinherit password 'x' in role outlast_reader`,
  );
  const refused = await outlast(addressOf('test_stranger'), 'query', 'orders');
  expect(refused.code).toBe(2);
  await sql(printedIn(refused.stderr), addressOf('test_app'));
  await reads(addressOf('test_stranger'));
  await reads(addressOf('test_member'));
  if (!isFrom16()) return;
  await admin(`create role test_heir login password 'x'; create role test_none login password 'x';
               grant outlast_reader to test_heir with set false;
               grant outlast_reader to test_none with inherit false, set false`);
  await reads(addressOf('test_heir'));
  await readsEveryView(addressOf('test_heir'));
  const none = await outlast(addressOf('test_none'), 'follow', '--once');
  expect(none.code).toBe(2);
  await admin(printedIn(none.stderr));
  await reads(addressOf('test_none'));
});

test('a database that keeps from everybody what it can: at once, and every view is read', async () => {
  await createOwner();
  await admin('revoke connect, temporary on database archive from public');
  const app = addressOf('test_app');
  await sql(
    `alter default privileges revoke execute on functions from public;
     alter default privileges revoke usage on types from public`,
    app,
  );
  await admin('revoke usage on schema public from public; drop schema public', 'archive');
  await works(app, { as: 'the writer' });
  await sql(
    `create role test_reports login password 'x' in role outlast_reader;
     grant connect on database archive to test_reports`,
    app,
  );
  await reads(addressOf('test_reports'));
  await readsEveryView(addressOf('test_reports'));
  // Whoever hardens it later takes nothing that our roles need.
  await sql('revoke all on all functions in schema sync, analytics from public', app);
  await works(app, { as: 'the writer' });
  await reads(addressOf('test_reports'));
});

test('a right that is missing is named by doctor, and given back by whoever may; doctor leaves nothing behind', async () => {
  await createOwner();
  await admin(`create role test_member login password 'x'`);
  const app = addressOf('test_app');
  expect(await isProtected(app)).toBe(true);
  const left =
    `(select count(*)::int from pg_namespace where nspname in ('sync', 'archive'))` +
    ` + (select count(*)::int from pg_roles where rolname ~ '^outlast_')`;
  expect(await one<number>(left, app)).toBe(0);
  await works(app, { as: 'the writer' });
  await sql('grant outlast_writer, outlast_reader to test_member', app);
  const member = addressOf('test_member');
  for (const revoked of ['insert on archive.orders', 'delete on sync.pages']) {
    await sql(`revoke ${revoked} from outlast_writer, public`, app);
    const doctor = await outlast(member, 'doctor');
    expect(doctor.code, revoked).toBe(1);
    const [told] = /^fail [^]*?\n(?=\S)/m.exec(doctor.stdout) ?? [];
    expect(told?.replaceAll(/\s+/g, ' ')).toContain(
      `lacks a right that Outlast needs: ${revoked}.`,
    );
    // The next start of the owner's gives it back.
    expect(await isProtected(app)).toBe(true);
    expect((await outlast(app, 'migrate')).code).toBe(0);
    expect(await isProtected(member)).toBe(true);
  }
  expect(await one<number>(`(select count(*)::int from sync.projects)`, app)).toBe(1);
});

test('row-level security that is turned on hides no row in silence: refused with SQL that makes all work again', async () => {
  await createOwner();
  const app = addressOf('test_app');
  await works(app, { as: 'the writer' });
  await sql('alter table archive.orders enable row level security', app);
  const off = 'alter table archive.orders disable row level security;';
  for (const args of [['doctor'], ['query', 'orders'], ['verify'], ['sync']]) {
    const { code, stdout, stderr } = await outlast(app, ...args);
    expect(code, args[0]).toBe(args[0] === 'doctor' ? 1 : 2);
    const said = `${stdout}${stderr}`.replaceAll(/\s+/g, ' ');
    expect(said, args[0]).toContain(
      ['doctor', 'query'].includes(args[0] ?? '') ? off : '`outlast migrate`',
    );
  }
  expect((await outlast(app, 'migrate')).stdout).toContain(`\`${off}\``);
  await sql(off.slice(0, -1), app);
  await works(app, { as: 'the writer' });
});

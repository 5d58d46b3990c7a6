// `outlast migrate` as a database's owner runs it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryAt } from '../support/client.ts';
import { runCommand, startCommand, type Ended } from '../support/command.ts';
import { runHere } from '../support/command-here.ts';
import { fresh, freshFolder } from '../support/fresh.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { createWireTo } from '../torture/wire.ts';

describe('outlast migrate', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createEmptyDatabase();
  });
  afterAll(() => database.drop());

  const migrate = (args: string[], env: Record<string, string>): Promise<Ended> =>
    runHere(['migrate', ...args], { env });

  it('brings an empty database up to date, also when started three times at once, and then has nothing to do', async () => {
    const env = { DATABASE_URL: database.connectionString };
    const quietly = { env: { ...env, OUTLAST_LOG_LEVEL: 'error' } };
    const results = await Promise.all([
      migrate(['--json'], env),
      ...[2, 3].map(() => runCommand(['migrate', '--json'], quietly)),
    ]);
    const done = results.map(({ code, stdout, stderr }) => {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout) as { from: number; to: number };
    });
    const newest = done[0]?.to ?? 0;
    expect(newest).toBeGreaterThan(0);
    expect(done.map(({ from, to }) => to - from).reduce((a, b) => a + b)).toBe(newest);
    expect((await migrate([], env)).stdout).toContain('The database is up to date.');
  });

  it('killed in the middle leaves nothing of it, and the next start does all of it', async () => {
    const empty = await fresh(createEmptyDatabase());
    const { wire, address } = await createWireTo(empty.connectionString);
    const env = { OUTLAST_LOG_LEVEL: 'error', DATABASE_URL: address };
    const running = startCommand(['migrate'], { env });
    const spring = (): void => void running.child.kill('SIGKILL');
    wire.arm({
      text: 'grant usage on schema archive',
      skip: 0,
      when: 'after',
      how: 'reset',
      spring,
    });
    expect((await running.ended).signal).toBe('SIGKILL');
    await wire.close();
    const next = await migrate(['--json'], { DATABASE_URL: empty.connectionString });
    expect(next.code, next.stderr).toBe(0);
    expect(JSON.parse(next.stdout)).toMatchObject({ from: 0 });
    // What views mean comes from the catalogue, which the store does not know.
    const silent = await queryAt(
      empty.connectionString,
      `select relname from pg_class where relnamespace = 'analytics'::regnamespace and relkind = 'v'
          and coalesce(obj_description(oid, 'pg_class'), '') = ''`,
    );
    expect(silent).toEqual([]);
  });

  it('takes the password from a file, and needs no key of a platform', async () => {
    const folder = await freshFolder();
    const address = new URL(database.connectionString);
    // A server that trusts everyone has no password to give; it accepts any.
    await writeFile(join(folder, 'password'), `${decodeURIComponent(address.password) || 'any'}\n`);
    address.password = '';
    const { code, stdout, stderr } = await migrate([], {
      DATABASE_URL: address.href,
      DATABASE_PASSWORD_FILE: join(folder, 'password'),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('up to date');
  });

  it('says what to do about a database that is not there', async () => {
    const address = new URL(database.connectionString);
    address.pathname = '/nowhere_at_all';
    const { code, stdout, stderr } = await migrate([], { DATABASE_URL: address.href });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'outlast: The database named in DATABASE_URL does not exist. Create it first, or correct the name.\n',
    );
  });
});

// `outlast migrate` as a database's owner runs it.
import { describe, expect, it } from 'vitest';
import { queryAt } from '../support/client.ts';
import { runCommand, type Ended } from '../support/command.ts';
import { runHere } from '../support/command-here.ts';
import { setUp } from '../support/fresh.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';

describe('outlast migrate', () => {
  let database: TestDatabase;
  setUp(async (keep) => void (database = await keep(createEmptyDatabase())));

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
    // What views mean comes from the catalogue, which the store does not know.
    const silent = await queryAt(
      database.connectionString,
      `select relname from pg_class where relnamespace = 'analytics'::regnamespace and relkind = 'v'
          and coalesce(obj_description(oid, 'pg_class'), '') = ''`,
    );
    expect(silent).toEqual([]);
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

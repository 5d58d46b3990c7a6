// `outlast query dictionary`, the real command, for whoever may only read.
import { expect, test } from 'vitest';
import { withClient } from '../support/client.ts';
import { expectRefused, runHere } from '../support/command-here.ts';
import { setUp } from '../support/fresh.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let env: { DATABASE_URL: string };
setUp(async (keep) => {
  database = await keep(createTestDatabase());
  env = { DATABASE_URL: database.connectionString };
});

test('lists what there is, and shows one view column by column', async () => {
  const all = await runHere(['query', 'dictionary'], { env });
  expect(all.code).toBe(0);
  expect(all.stdout).toMatch(
    /^analytics\.orders_by_month +Orders and money of each calendar month/m,
  );
  const one = await runHere(['query', 'dictionary', 'orders_by_month'], { env });
  expect(one.stdout).toMatch(/^spent_units +numeric +The same in whole currency units$/m);
  expect(one.stdout).not.toMatch(/coverage_by_day/);
});

test('prints a page and JSON', async () => {
  const page = await runHere(['query', 'dictionary', '--markdown'], { env });
  expect(page.stdout).toMatch(
    /^### `analytics.orders_as_of\(project text, at timestamp with time zone\)`$/m,
  );
  const json = await runHere(['query', 'dictionary', 'archive.orders', '--json'], { env });
  const { dictionary } = JSON.parse(json.stdout) as {
    dictionary: { name: string; kind: string }[];
  };
  expect(dictionary.map(({ name, kind }) => [name, kind])).toEqual([['archive.orders', 'table']]);
});

// P12
test('a name that is none, and a database that holds no archive, get one sentence', async () => {
  const unknown = await runHere(['query', 'dictionary', 'ordres'], { env });
  expectRefused(unknown, 'There is no "ordres" to read here.');
  const other = new URL(database.connectionString);
  other.pathname = '/postgres';
  const empty = await runHere(['query', 'dictionary'], { env: { DATABASE_URL: other.href } });
  expectRefused(empty, 'outlast migrate');
});

test('a login in outlast_reader is enough, and is told which commands it is not enough for', async () => {
  const name = `${database.name}_reads`;
  const url = Object.assign(new URL(database.connectionString), { username: name, password: 'x' });
  const reads = { env: { DATABASE_URL: url.href } };
  await withClient(database.connectionString, async (owner) => {
    await owner.query(`create role "${name}" login password 'x' in role outlast_reader`);
    const { code, stdout } = await runHere(['query', 'dictionary', 'runs'], reads);
    expect(code).toBe(0);
    expect(stdout).toContain('analytics.runs');
    const status = await runHere(['status'], reads);
    expect(status.code).toBe(2);
    expect(status.stderr).toContain('use the login that the sync uses');
    await owner.query(`drop role "${name}"`);
  });
});

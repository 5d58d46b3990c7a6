// The dbt package in dbt/ names views and columns of ours: every model and every test of it is run here as plain SQL,
// so that it cannot fall behind. dbt itself is not needed.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBench, tenDays, type Bench } from '../support/archive.ts';

const folder = fileURLToPath(new URL('../../dbt', import.meta.url));
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.sql'))
  .map((path) => ({
    path,
    name: basename(path, '.sql'),
    text: readFileSync(join(folder, path), 'utf8'),
  }));
const models = files.filter(({ path }) => path.startsWith('models'));
const tests = files.filter(({ path }) => path.startsWith('tests'));

/** A model as dbt would compile it without its variable: references become subqueries. */
const compiled = (text: string): string =>
  text
    .replaceAll(/\{% if [\s\S]*?%\}[\s\S]*?\{% endif %\}/g, '')
    .replaceAll(/\{\{ config\([^}]*\}\}/g, '')
    .replaceAll(
      /\{\{ source\('(\w+)', '(\w+)'\) \}\}/g,
      (_, _source, table: string) => `analytics.${table}`,
    )
    .replaceAll(/\{\{ ref\('(\w+)'\) \}\}( \w+)?/g, (_, name: string, next = '') => {
      const model = models.find((one) => one.name === name);
      if (model === undefined) throw new Error(`there is no model ${name}`);
      // Before PostgreSQL 16 a subquery needs a name.
      return `(${compiled(model.text)}) ${next === '' ? name : next}`;
    });

let bench: Bench;
let reader: pg.Client;
beforeAll(async () => {
  bench = await createBench(tenDays);
  await bench.run();
  reader = new pg.Client({ connectionString: bench.connectionString });
  await reader.connect();
  await reader.query('set role outlast_reader');
});
afterAll(async () => {
  await reader.end();
  await bench.close();
});

test.each(models)('the model $name gives rows', async ({ text }) => {
  expect((await reader.query(compiled(text))).rows).not.toEqual([]);
});

test.each(tests)('the test $name finds nothing', async ({ text }) => {
  expect((await reader.query(compiled(text))).rows).toEqual([]);
});

test('every source is a view of analytics with a time to tell its freshness by', async () => {
  const sources = readFileSync(join(folder, 'models', 'sources.yml'), 'utf8');
  const tables = [...sources.matchAll(/^ {6}- name: (\w+)/gm)].map(([, name]) => name);
  expect(tables.length).toBeGreaterThan(5);
  for (const table of tables) await reader.query(`select from analytics.${table} limit 1`);
  const { rows } = await reader.query(
    'select max(started_at) is not null as fresh from analytics.runs',
  );
  expect(rows).toEqual([{ fresh: true }]);
});

// The dbt package in dbt/ names views and columns of ours: every model and every test of it is run here as plain SQL,
// so that it cannot fall behind. dbt itself is not needed.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { createBench, tenDays, type Bench } from '../support/archive.ts';
import { connectReader } from '../support/client.ts';
import { orderOf } from '../support/days.ts';
import { setUp } from '../support/fresh.ts';
import { enterOrders, writeOrders, writeProjects } from '../support/rows.ts';

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

/** What a build is told: the project it is for, '' for all; and the table that an incremental model adds to, if any. */
type Build = { project: string; table: string | null };
const firstBuild: Build = { project: '', table: null };

/** A model as dbt would compile it: references become subqueries. */
const compiled = (text: string, { project, table }: Build = firstBuild): string =>
  text
    .replaceAll(
      /\{% if (.+?) %\}([\s\S]*?)(?:\{% else %\}([\s\S]*?))?\{% endif %\}/g,
      (_, condition: string, then: string, otherwise = '') => {
        if (condition === 'is_incremental()') return table === null ? otherwise : then;
        if (condition === `var('outlast_project')`) return project === '' ? otherwise : then;
        throw new Error(`nobody told the test what ${condition} is`);
      },
    )
    .replaceAll(/\{\{ config\([^}]*\}\}/g, '')
    .replaceAll(`{{ var('outlast_project') }}`, project)
    .replaceAll('{{ this }}', table ?? '')
    .replaceAll(
      /\{\{ source\('(\w+)', '(\w+)'\) \}\}/g,
      (_, _source, source: string) => `analytics.${source}`,
    )
    .replaceAll(/\{\{ ref\('(\w+)'\) \}\}( \w+)?/g, (_, name: string, next = '') => {
      // Before PostgreSQL 16 a subquery needs a name.
      return `(${compiled(modelOf(name), { project, table: null })}) ${next === '' ? name : next}`;
    });

function modelOf(name: string): string {
  const model = models.find((one) => one.name === name);
  if (model === undefined) throw new Error(`there is no model ${name}`);
  return model.text;
}

let bench: Bench;
let reader: pg.Client;
setUp(async (keep) => {
  bench = await keep(createBench(tenDays));
  await bench.seal();
  reader = await keep(connectReader(bench.connectionString), (one) => one.end());
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

/** As dbt-postgres builds an incremental model; how many rows were renewed. */
async function build(project: string): Promise<number> {
  const table = 'pg_temp.orders_in_step';
  const text = modelOf('orders_in_step');
  const { rows } = await reader.query<{ is: boolean }>('select to_regclass($1) is not null as is', [
    table,
  ]);
  if (rows[0]?.is !== true) {
    const made = `create table ${table} as ${compiled(text, { project, table: null })}`;
    return (await reader.query(made)).rowCount ?? 0;
  }
  await reader.query(`create temp table renewed as ${compiled(text, { project, table })}`);
  await reader.query(
    `delete from ${table} t using renewed r
      where t.project_id = r.project_id and t.operation_id = r.operation_id`,
  );
  const { rowCount } = await reader.query(`insert into ${table} select * from renewed`);
  await reader.query('drop table renewed');
  return rowCount ?? 0;
}

/** What the archive says and the table does not, and the other way round. */
async function outOfStep(): Promise<unknown[]> {
  const inTable =
    'select project_id, operation_id, day, status_name, account, amount_fen, is_missing from pg_temp.orders_in_step';
  const held = `select project_id, operation_id, day, status_name, account, amount_fen,
                       missing_since is not null as is_missing
                  from analytics.orders`;
  const { rows } = await reader.query(
    `(${held} except all ${inTable}) union all (${inTable} except all ${held})`,
  );
  return rows;
}

test('orders_in_step holds what the archive holds after every build, also of a project left out before', async () => {
  const { simulator, db } = bench;
  await writeProjects(db, ['q'], { firstDay: '2026-04-01' });
  await writeOrders(db, { project: 'q', count: 5, from: '2026-04-01', perDay: 5 });
  await enterOrders(db, 'q');

  const shown = [...simulator.oracle.shown('orders')];
  const [changed = '', gone = ''] = shown.slice(-2).map(({ id }) => id);
  simulator.insert('orders', orderOf('2026-04-06', 1, { operation_id: 'late' }));
  await bench.runLater(3_600_000);
  // Of p alone: its entries are younger than those of q.
  expect(await build('p')).toBe(shown.length + 1);

  simulator.mutate('orders', changed, (was) => ({ ...was, amount: '777', message: 'another' }));
  simulator.hide('orders', gone);
  await bench.runLater(25 * 3_600_000);
  const { rows: marked } = await reader.query(
    'select operation_id as id from analytics.orders where missing_since is not null',
  );
  expect(marked).toEqual([{ id: gone }]);
  const renewed = await build('');
  expect([renewed > 7, await outOfStep()]).toEqual([true, []]);
  expect([await build(''), await outOfStep()]).toEqual([0, []]);

  simulator.insert('orders', orderOf('2026-04-06', 2, { operation_id: gone }));
  await bench.runLater(3_600_000);
  expect([(await build('')) > 0, await outOfStep()]).toEqual([true, []]);
});

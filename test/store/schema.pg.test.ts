// src/store/schema.ts and migrations/ say the same: what drizzle makes of the one is what the other makes. And each
// index, and each column of the lists, has a reason in docs/benchmarks.md.
import { readFileSync } from 'node:fs';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import pg from 'pg';
import { expect, test } from 'vitest';
import config from '../../drizzle.config.ts';
import * as schema from '../../src/store/schema.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/postgres.ts';

/** What drizzle has no word for, or what is none of its business. */
const leftOut = [
  // The list of what was applied is the migrator's own.
  'sync.migrations',
  // Indexes with columns beside the key (`include`).
  'orders_figures',
  'nft_classes_figures',
];

test('the tables that drizzle knows are those of the migrations', async () => {
  const statements = await generateMigration(generateDrizzleJson({}), generateDrizzleJson(schema));
  const said = await catalogOf(await createEmptyDatabase(), statements);
  const made = await catalogOf(await createTestDatabase(), []);
  expect(said).toEqual(made);
  expect(made).toContain('archive.orders: slice_day date not null');
});

/** Columns, constraints and indexes, a line each. */
async function catalogOf(database: TestDatabase, statements: string[]): Promise<string[]> {
  const client = new pg.Client(database.connectionString);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
    const { rows } = await client.query<{ line: string }>(
      `with tables as (
         select oid, format('%s.%s', relnamespace::regnamespace, relname) as name
           from pg_class
          where relnamespace::regnamespace::text = any ($3) and relkind = 'r'
       ), lines as (
         select t.name, concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
                                  case when a.attcollation = '"C"'::regcollation then 'collate "C"' end,
                                  case when a.attnotnull then 'not null' end,
                                  'default ' || pg_get_expr(d.adbin, d.adrelid)) as says
           from tables t
           join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
           left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
         union all
         select t.name, concat_ws(' ', c.conname, pg_get_constraintdef(c.oid))
           from tables t join pg_constraint c on c.conrelid = t.oid
         union all
         select t.name, pg_get_indexdef(i.indexrelid)
           from tables t join pg_index i on i.indrelid = t.oid
          where i.indexrelid::regclass::text !~ $2
       )
       select format('%s: %s', name, says) as line from lines where name <> all ($1) order by 1`,
      [leftOut, leftOut.join('|'), config.schemaFilter],
    );
    return rows.map(({ line }) => line);
  } finally {
    await client.end();
    await database.drop();
  }
}

const page = readFileSync(new URL('../../docs/benchmarks.md', import.meta.url), 'utf8');

/** What the page's tables about `what` give a reason for, by name: their first cells may name several. */
const reasonsOf = (what: 'index' | 'column'): string[] =>
  [...page.matchAll(/^\|[^\n]*\|\n\| -(?:.*\n)+?(?!\|)/gm)]
    .map(([table]) => table.split('\n').map((line) => line.split('|').map((cell) => cell.trim())))
    .filter(([head]) => head?.[1]?.startsWith(`${what} of `))
    .flatMap(([, , ...rows]) => rows)
    .filter((cells) => !['', 'NOTHING'].includes(cells.at(-2) ?? ''))
    .flatMap(([, names = '']) => names.split(', '))
    .toSorted();

const indexesSql = `
  select indexname as name from pg_indexes
   where schemaname in ('archive', 'sync') and schemaname || '.' || tablename <> all ($1)`;
const columnsSql = `
  select distinct attname as name from pg_attribute
   where attrelid in ('archive.orders'::regclass, 'archive.nft_classes'::regclass)
     and attnum > 0 and not attisdropped and attname <> all ($1)`;

test('each index and each column of the lists has a reason in docs/benchmarks.md; sabotaged, one without is noticed', async () => {
  const database = await createTestDatabase();
  const client = new pg.Client(database.connectionString);
  await client.connect();
  const made = async (sql: string): Promise<string[]> => {
    const { rows } = await client.query<{ name: string }>(sql, [leftOut]);
    return rows.map(({ name }) => name).toSorted();
  };
  try {
    expect(reasonsOf('index')).toEqual(await made(indexesSql));
    expect(reasonsOf('column')).toEqual(await made(columnsSql));
    await client.query('create index runs_outcome on sync.runs (project_id, outcome)');
    await client.query('alter table archive.orders add column note text');
    expect(reasonsOf('index')).not.toEqual(await made(indexesSql));
    expect(reasonsOf('column')).not.toEqual(await made(columnsSql));
  } finally {
    await client.end();
    await database.drop();
  }
});

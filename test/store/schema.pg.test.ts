// The tables of migrations/ are what drizzle-kit makes of src/store/schema.ts. And each index, and each column of the
// lists, has a reason in docs/benchmarks.md.
import { readdirSync, readFileSync } from 'node:fs';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { expect, test } from 'vitest';
import { knownMigrations } from '../../src/store/migrate.ts';
import * as schema from '../../src/store/schema.ts';
import { queryAt } from '../support/client.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { fileText } from '../support/repository.ts';

const folder = new URL('../../migrations/', import.meta.url);
const migrations = readdirSync(folder).filter((name) => name.endsWith('.sql'));

test('the migrations make the tables of schema.ts, and no hand made one: else `npx drizzle-kit generate` has something to write', async () => {
  const snapshots = readdirSync(new URL('meta/', folder)).filter(
    (name) => name !== '_journal.json',
  );
  const newest = readFileSync(new URL(`meta/${snapshots.toSorted().at(-1)}`, folder), 'utf8');
  const made = JSON.parse(newest) as ReturnType<typeof generateDrizzleJson>;
  expect(await generateMigration(made, generateDrizzleJson(schema))).toEqual([]);

  const without = { ...schema, facts: undefined };
  expect(await generateMigration(made, generateDrizzleJson(without))).not.toEqual([]);
  const written = snapshots.map((name) => name.slice(0, 4));
  for (const name of migrations.filter((one) => !written.includes(one.slice(0, 4)))) {
    expect(readFileSync(new URL(name, folder), 'utf8'), name).not.toMatch(/create table/i);
  }
  if (snapshots.length > 1) return;
  // The first release has one file of tables: nobody touched it.
  const plain = (sql: string): string => sql.replaceAll(/--> statement-breakpoint|\s+/g, '');
  const all = await generateMigration(generateDrizzleJson({}), made);
  expect(plain(readFileSync(new URL('0000_tables.sql', folder), 'utf8'))).toBe(plain(all.join('')));
});

test('each migration is newer than the one before: an older release refuses the exports of a newer one by that', () => {
  const moments = knownMigrations().map(({ folderMillis }) => folderMillis);
  expect(moments).toEqual([...new Set(moments)].toSorted((a, b) => a - b));
});

test('no index depends on the locales of the system, which its updates change', async () => {
  const database = await createTestDatabase();
  const sql = `
    select indexrelid::regclass, collname
      from pg_index, unnest(indcollation::oid[]) as used join pg_collation c on c.oid = used
     where collname <> 'C' and indrelid in (
       select oid from pg_class where relnamespace in ('archive'::regnamespace, 'sync'::regnamespace))`;
  expect(await queryAt(database.connectionString, sql)).toEqual([]);
  await database.drop();
});

const page = fileText('docs/benchmarks.md');

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
   where schemaname in ('archive', 'sync') and tablename <> 'migrations'`;
const columnsSql = `
  select distinct attname as name from pg_attribute
   where attrelid in ('archive.orders'::regclass, 'archive.nft_classes'::regclass)
     and attnum > 0 and not attisdropped`;

test('each index and each column of the lists has a reason in docs/benchmarks.md; sabotaged, one without is noticed', async () => {
  const database = await createTestDatabase();
  const ask = (sql: string) => queryAt<{ name: string }>(database.connectionString, sql);
  const made = async (sql: string): Promise<string[]> =>
    (await ask(sql)).map(({ name }) => name).toSorted();
  try {
    expect(reasonsOf('index')).toEqual(await made(indexesSql));
    expect(reasonsOf('column')).toEqual(await made(columnsSql));
    await ask('create index runs_outcome on sync.runs (project_id, outcome)');
    await ask('alter table archive.orders add column note text');
    expect(reasonsOf('index')).not.toEqual(await made(indexesSql));
    expect(reasonsOf('column')).not.toEqual(await made(columnsSql));
  } finally {
    await database.drop();
  }
});

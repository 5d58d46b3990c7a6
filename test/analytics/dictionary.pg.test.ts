// The data dictionary says what everything means, docs/dictionary.md is what it prints, and the reader may do what it
// says and no more (P4).
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { dictionaryPage } from '../../src/cli/dictionary-command.ts';
import { silentLog } from '../../src/log.ts';
import { readDictionary } from '../../src/query/dictionary.ts';
import {
  columnsOf,
  inView,
  nftClass,
  order,
  token,
  transaction,
  type Fields,
  snake,
} from '../../src/resources.ts';
import { openDb, type Db, type Queryable } from '../../src/store/db.ts';
import { setUp } from '../support/fresh.ts';
import { isOnCluster, createTestDatabase } from '../support/postgres.ts';
import { fileText } from '../support/repository.ts';

let reader: Db;
let owner: pg.Client;
setUp(async (keep) => {
  const { connectionString } = await keep(createTestDatabase());
  reader = await keep(openDb({ connectionString, role: 'outlast_reader', log: silentLog() }));
  owner = new pg.Client({ connectionString });
  await keep(owner.connect(), () => owner.end());
});

describe('the dictionary', () => {
  test('says of every view, table, column and function what it means', async () => {
    const entries = await readDictionary(reader);
    const silent = entries.flatMap(({ name, kind, meaning, columns }) => [
      ...(meaning === '' ? [name] : []),
      ...(kind === 'function' ? [] : columns)
        .filter((column) => column.meaning === '')
        .map((column) => `${name}.${column.name}`),
    ]);
    expect(silent).toEqual([]);
    expect(entries.length).toBeGreaterThan(30);
  });

  test('names the unit of every sum of money in the column itself', async () => {
    const views = (await readDictionary(reader)).filter(({ kind }) => kind === 'view');
    const money = views.flatMap(({ columns }) => columns.map(({ name }) => name));
    const named = money.filter((name) => /spent|amount|pending_|credited/.test(name));
    expect(named.length).toBeGreaterThan(20);
    const withoutUnit = named.filter((name) => !/_(fen|units|ugas)(_|$)/.test(name));
    // What a node takes for a token has its unit beside it, in …_denom.
    const besides = ['issue_fee_amount', 'mint_fee_amount'];
    expect(new Set(withoutUnit)).toEqual(
      new Set(['without_amount', 'amounts_changed', ...besides]),
    );
  });

  test('is docs/dictionary.md; when not: npm run -s outlast -- query dictionary --markdown > docs/dictionary.md', async () => {
    const page = fileText('docs/dictionary.md');
    expect(dictionaryPage(await readDictionary(reader))).toBe(page);
  });

  test('sabotaged, a column that changed its meaning makes the page stale', async () => {
    const page = dictionaryPage(await readDictionary(reader));
    await owner.query(
      `begin; comment on column analytics.orders_by_day.orders is 'Something else'`,
    );
    const changed = dictionaryPage(await readDictionary(owner));
    await owner.query('rollback');
    expect(changed).not.toBe(page);
  });
});

describe('the columns of records', () => {
  const described: [Fields, string[]][] = [
    [order, ['archive.orders', 'archive.order_versions', 'analytics.order_history']],
    [
      nftClass,
      ['archive.nft_classes', 'archive.nft_class_versions', 'analytics.nft_class_history'],
    ],
    [
      transaction,
      ['archive.transactions', 'archive.transaction_versions', 'analytics.transaction_history'],
    ],
    [token, ['archive.tokens', 'archive.token_versions', 'analytics.token_history']],
  ];

  /** Every column that resources.ts describes and a relation has not, or says something else of. */
  async function disagreements(db: Queryable): Promise<string[]> {
    const entries = new Map((await readDictionary(db)).map((entry) => [entry.name, entry]));
    return described.flatMap(([fields, [table = '', versions = '', history = '']]) =>
      columnsOf(fields).flatMap((column) => {
        const isOfContents = ['key', 'record'].includes(column.part);
        const places: [string, string][] = [
          [table, column.column],
          ...(isOfContents || column.part === 'content'
            ? ([[versions, column.column]] as [string, string][])
            : []),
          ...(isOfContents ? ([[history, inView(column)]] as [string, string][]) : []),
        ];
        return places.flatMap(([relation, name]) => {
          const found = entries.get(relation)?.columns.find((one) => one.name === name);
          return found?.meaning === column.meaning
            ? []
            : [`${relation}.${name}: ${found?.meaning ?? 'none'}`];
        });
      }),
    );
  }

  test('mean what src/resources.ts says of them, in tables, versions and histories', async () => {
    expect(await disagreements(reader)).toEqual([]);
  });

  test('sabotaged, a comment that says something else is named', async () => {
    await owner.query(`begin; comment on column archive.orders.order_type is 'Something else'`);
    const found = await disagreements(owner);
    await owner.query('rollback');
    expect(found).toEqual(['archive.orders.order_type: Something else']);
  });

  test('have the names in histories that JSON and CSV have', () => {
    for (const [fields] of described) {
      for (const [name, field] of Object.entries(fields)) {
        if ('column' in field) expect(snake(name)).toBe(inView(field));
      }
    }
  });
});

describe('what roles may do', () => {
  /** What a role may do to the relations of a schema: `orders: SELECT`. */
  const rights = async (role: string, schema: string): Promise<string[]> => {
    const { rows } = await owner.query<{ right: string }>(
      `select c.relname || ': ' || string_agg(p, ' ' order by p) as right
         from pg_class c join pg_namespace n on n.oid = c.relnamespace,
              unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,TRIGGER,REFERENCES}'::text[]) p
        where n.nspname = $2 and c.relkind in ('r', 'v') and has_table_privilege($1, c.oid, p)
        group by c.relname order by 1`,
      [role, schema],
    );
    return rows.map(({ right }) => right);
  };

  // On a cluster it sees what docs/scale.md says.
  test.skipIf(isOnCluster)(
    'the reader sees archive and analytics, and of sync the journal with what belongs to it, for auditors',
    async () => {
      for (const schema of ['archive', 'analytics']) {
        const all = (await readDictionary(owner as never)).filter(
          ({ name, kind }) => kind !== 'function' && name.startsWith(`${schema}.`),
        );
        expect(await rights('outlast_reader', schema)).toEqual(
          all.map(({ name }) => `${name.slice(schema.length + 1)}: SELECT`).toSorted(),
        );
      }
      expect(await rights('outlast_reader', 'sync')).toEqual([
        'books: SELECT',
        'chains: SELECT',
        'journal: SELECT',
        'readings: SELECT',
      ]);
      await expect(reader.query('select from sync.projects')).rejects.toMatchObject({
        code: '42501',
      });
    },
  );

  // P4
  test.each([
    'delete from archive.orders',
    'update archive.orders set status = 2',
    'truncate archive.orders',
    'insert into archive.tokens (project_id) values (1)',
    'create table analytics.mine ()',
    'create or replace view analytics.orders as select 1 as project_id',
    'drop view analytics.orders',
    // On a cluster it may read the columns that views show.
    ...(isOnCluster ? [] : ['select from sync.rejects']),
  ])('the reader may not: %s', async (sql) => {
    await expect(reader.query(sql)).rejects.toMatchObject({ code: '42501' });
  });
});

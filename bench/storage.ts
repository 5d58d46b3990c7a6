// Where an order's bytes are: each column, and each index with what reads by it. Read from an archive that is filled.
import type pg from 'pg';
import type { Table } from './tables.ts';

/** Bytes an order, seldom whole. */
type Part = { name: string; bytes: number };

export type Storage = { columns: Part[]; indexes: Part[]; tables: Part[] };

/** What would be slow without it, or wrong. An index that is not here has no reason to be. */
const readers: Readonly<Record<string, string>> = {
  orders_pkey: 'an order by its id, and every write: whether the order is held',
  orders_listed: 'every list, in pages: its order is that of the list',
  orders_figures: 'reports and totals, from the index alone',
  orders_account: 'the orders and the spend of an account',
  orders_pending: 'what is still pending (holds pending orders only)',
  orders_missing: 'what the platform shows no more (holds those only)',
  orders_ahead: 'reads of an earlier moment (holds the few dated after they were seen)',
};

const perOrder = (bytes: string): string => `(${bytes})::float8 / greatest(count(*), 1)`;

export async function measureStorage(client: pg.Client): Promise<Storage> {
  const ask = async <R extends pg.QueryResultRow>(sql: string): Promise<R[]> =>
    (await client.query<R>(sql)).rows;
  const names = await ask<{ name: string }>(
    `select attname as name from pg_attribute
      where attrelid = 'archive.orders'::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  const sums = names.map(({ name }) => `${perOrder(`sum(pg_column_size(${name}))`)} as ${name}`);
  const [sizes = {}] = await ask<Record<string, number>>(
    `select ${sums.join(', ')} from archive.orders`,
  );
  const [all] = await ask<{ orders: number }>('select count(*)::int as orders from archive.orders');
  const orders = all?.orders ?? 1;
  const relations = (kind: string, where: string, size: string): Promise<Part[]> =>
    ask<Part>(
      `select oid::regclass::text as name, ${size}(oid)::float8 / ${orders} as bytes
         from pg_class where relkind = '${kind}' and ${where}
        order by 2 desc, 1`,
    );
  const ours = `relnamespace in ('archive'::regnamespace, 'sync'::regnamespace)`;
  const indexes = await relations(
    'i',
    `oid in (select indexrelid from pg_index where indrelid = 'archive.orders'::regclass)`,
    'pg_relation_size',
  );
  return {
    columns: names.map(({ name }) => ({ name, bytes: sizes[name] ?? 0 })),
    indexes: indexes.map(({ name, bytes }) => ({ name: name.replace('archive.', ''), bytes })),
    tables: (await relations('r', ours, 'pg_table_size')).filter(({ bytes }) => bytes >= 1),
  };
}

const round = (number: number, digits = 1): number => Number(number.toFixed(digits));

export const storageTables = ({ columns, indexes, tables }: Storage): Table[] => [
  {
    name: 'indexes',
    head: ['index of archive.orders', 'bytes an order', 'what reads by it'],
    rows: indexes.map(({ name, bytes }) => [name, round(bytes), readers[name] ?? 'NOTHING']),
    notes: [
      `Tables, bytes an order: ${tables.map(({ name, bytes }) => `${name} ${round(bytes, 0)}`).join(', ')}.`,
      `Columns of archive.orders: ${columns
        .filter(({ bytes }) => bytes >= 0.1)
        .map(({ name, bytes }) => `${name} ${round(bytes, 0)}`)
        .join(', ')}.`,
    ],
  },
];

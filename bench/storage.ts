// Where an order's bytes are: each column, each index with what reads by it, and what `raw` would take in other forms.
// Read from an archive that is filled; it makes copies in `public` and drops them again.
import type pg from 'pg';
import type { Table } from './tables.ts';

/** Bytes an order, seldom whole. */
type Part = { name: string; bytes: number };

export type Form = {
  form: string;
  bytes: number;
  /** To read one field of every order's raw, microseconds an order. */
  fieldUs: number;
  /** To copy raw of every order into an empty table, microseconds an order. */
  writeUs: number;
};

export type Storage = { columns: Part[]; indexes: Part[]; tables: Part[]; forms: Form[] };

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
    forms: await forms(client, orders),
  };
}

/** Each in a table of its own, written and then read whole. */
async function forms(client: pg.Client, orders: number): Promise<Form[]> {
  const tried = [
    { form: 'jsonb', column: 'raw jsonb', of: 'raw::jsonb', field: `raw ->> 'status'` },
    { form: 'json', column: 'raw json', of: 'raw::json', field: `raw ->> 'status'` },
    { form: 'text', column: 'raw text', of: 'raw', field: `raw::json ->> 'status'` },
  ];
  // As text, from which each is made.
  await client.query('create table public.written as select raw::text from archive.orders');
  const found: Form[] = [];
  for (const { form, column, of, field } of tried) {
    await client.query(`create table public.form (${column})`);
    const write = await seconds(client, `insert into public.form select ${of} from public.written`);
    await client.query('vacuum analyze public.form');
    const read = await seconds(client, `select count(${field}) from public.form`);
    const { rows } = await client.query<{ bytes: number }>(
      `select pg_table_size('public.form')::float8 / ${orders} as bytes`,
    );
    await client.query('drop table public.form');
    found.push({
      form,
      bytes: rows[0]?.bytes ?? Number.NaN,
      fieldUs: (read * 1e6) / orders,
      writeUs: (write * 1e6) / orders,
    });
  }
  await client.query('drop table public.written');
  return found;
}

async function seconds(client: pg.Client, sql: string): Promise<number> {
  const begun = performance.now();
  // One process: parallel workers would hide what it costs.
  await client.query(`set max_parallel_workers_per_gather = 0; ${sql}`);
  return (performance.now() - begun) / 1000;
}

const round = (number: number, digits = 1): number => Number(number.toFixed(digits));

export const storageTables = ({ columns, indexes, tables, forms: tried }: Storage): Table[] => [
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
  {
    name: 'raw',
    head: ['raw as', 'bytes an order', 'to write, µs', 'to read a field, µs'],
    rows: tried.map(({ form, bytes, fieldUs, writeUs }) => [
      form,
      round(bytes),
      round(writeUs, 2),
      round(fieldUs, 2),
    ]),
    notes: [],
  },
];

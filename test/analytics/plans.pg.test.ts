// Views at size: a question about a month, a day, an account or a record reads what it is about and not the whole
// archive. What is checked are the plan and the blocks it reads, which say the same on every machine; times are in
// docs/performance.md.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

const ordersHeld = 200_000;
const daysHeld = 730;

let database: TestDatabase;
let owner: Db;
let reader: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  const { connectionString } = database;
  owner = await openDb({ connectionString, role: null, log: silentLog() });
  reader = await openDb({ connectionString, role: 'outlast_reader', log: silentLog() });
  // As an archive grows: day after day.
  await owner.query(
    `insert into archive.orders (project_id, operation_id, status, account, amount, number, created_at, updated_at, order_type,
                                 slice_day, raw, raw_sha256, observed_at, first_seen_at, changed_at)
     select 'p', 'op_' || md5(n::text), case when n % 5000 = 0 then 1 else 2 end, 'account_' || n % 1000, n % 1000, n % 700,
            t, t + interval '1 minute', 1 + n % 2, (t at time zone 'UTC')::date,
            -- As long as an order is.
            jsonb_build_object('operation_id', 'op_' || md5(n::text), 'filling', repeat('x', 250)), '\\xab', t, t, t
       from generate_series(0, $1::int - 1) n,
            lateral (select '2024-01-01T00:00:00Z'::timestamptz + n * ($2::int * interval '1 day' / $1::int) as t) at`,
    [ordersHeld, daysHeld],
  );
  await owner.query(
    `insert into sync.slices (project_id, resource, day, state, proof, proved_at, deadline_at)
     select 'p', 'orders', '2024-01-01'::date + n, 'final', 'walk', '2030-01-01', '2030-01-01'
       from generate_series(0, $1::int - 1) n`,
    [daysHeld],
  );
  await owner.pool.query('vacuum (analyze) archive.orders');
  await owner.pool.query('vacuum (analyze) sync.slices');
});
afterAll(async () => {
  await reader.close();
  await owner.close();
  await database.drop();
});

type Node = {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Node[];
};

type Read = { scans: string[]; blocks: number };

/** How the orders are reached, and how many blocks are read in all. */
async function readsOf(db: Db, sql: string): Promise<Read> {
  const { rows } = await db.query<{ 'QUERY PLAN': { Plan: Node }[] }>(
    `explain (analyze, buffers, format json) ${sql}`,
  );
  const root = rows[0]?.['QUERY PLAN'][0]?.Plan;
  if (root === undefined) throw new Error('no plan');
  const scans: string[] = [];
  const visit = (node: Node): void => {
    if (node['Index Name'] !== undefined) scans.push(`${node['Node Type']} ${node['Index Name']}`);
    else if (node['Relation Name'] === 'orders') scans.push(`${node['Node Type']} orders`);
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(root);
  return {
    scans: scans.filter((scan) => scan.includes('orders')),
    blocks: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
  };
}

const month = `select * from analytics.orders_by_month where project_id = 'p' and month = '2025-03-01'`;

/** Blocks of the table alone: what a question without an index would read. */
async function tableBlocks(): Promise<number> {
  const { rows } = await owner.query<{ blocks: number }>(
    `select (pg_relation_size('archive.orders') / 8192)::int as blocks`,
  );
  return rows[0]?.blocks ?? 0;
}

test('a month is read from its index alone', async () => {
  const { scans, blocks } = await readsOf(reader, month);
  expect(scans).toEqual([expect.stringMatching(/Index Only Scan orders_figures/)]);
  expect(blocks).toBeLessThan((await tableBlocks()) / 20);
});

test.each([
  [
    'months of a range',
    `select * from analytics.orders_by_month where project_id = 'p' and month >= '2025-02-01' and month < '2025-04-01'`,
  ],
  ['a day', `select * from analytics.orders_by_day where project_id = 'p' and day = '2025-03-14'`],
  [
    'a month of days',
    `select * from analytics.orders_by_day where project_id = 'p' and month = '2025-03-01'`,
  ],
  [
    'accounts of a month',
    `select * from analytics.spend_by_account where project_id = 'p' and month = '2025-03-01'`,
  ],
  [
    'an account',
    `select * from analytics.spend_by_account where project_id = 'p' and account = 'account_7'`,
  ],
  [
    'lead times of a month',
    `select * from analytics.order_lead_times_by_month where project_id = 'p' and month = '2025-03-01'`,
  ],
  ['what is pending', `select * from analytics.unresolved_orders where project_id = 'p'`],
  ['what is missing', `select * from analytics.missing_records where project_id = 'p'`],
  [
    'the history of an order',
    `select * from analytics.order_history where project_id = 'p' and operation_id = 'op_' || md5('7')`,
  ],
  [
    'what changed in a month',
    `select * from analytics.order_changes where project_id = 'p' and month = '2025-03-01'`,
  ],
  [
    'a day as it was',
    `select * from analytics.orders_as_of('p', '2025-03-15') where day = '2025-03-14'`,
  ],
])('%s is found by an index', async (_, sql) => {
  const { scans, blocks } = await readsOf(reader, sql);
  expect(scans.filter((scan) => /^Seq Scan|^Parallel Seq Scan/.test(scan))).toEqual([]);
  expect(scans.length).toBeGreaterThan(0);
  expect(blocks).toBeLessThan((await tableBlocks()) / 5);
});

test('sabotaged, without its index a month reads much more', async () => {
  await owner.query('drop index archive.orders_figures');
  const { scans, blocks } = await readsOf(reader, month);
  expect(scans.join()).not.toMatch(/orders_figures/);
  expect(blocks).toBeGreaterThan((await tableBlocks()) / 20);
});

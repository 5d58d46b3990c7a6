// Reads as of an instant, figures and views at size: the statements that are really sent, explained on 100,000 orders
// of two years. What is checked are the plan and the blocks it reads, which say the same on every machine; times are in
// docs/benchmarks.md.
import { beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { createOrders, createTransactions } from '../../src/query/record-methods.ts';
import { openReader, type Reader } from '../../src/query/reader.ts';
import { createStatistics } from '../../src/query/statistics.ts';
import { createLists } from '../../src/query/ask-question.ts';
import { readDayReport } from '../../src/query/day-report.ts';
import { readProgress } from '../../src/query/activity.ts';
import { openDb, type Db } from '../../src/store/db.ts';
import { otherContents } from '../../src/verify/check-journal-contents.ts';
import { blocksOf, explain, nodesIn, watched, type Statement } from '../support/explain.ts';
import { fresh, setUp } from '../support/fresh.ts';
import { pagesOf } from '../support/paged.ts';
import { isOnCluster, createTestDatabase } from '../support/postgres.ts';
import { writeProjects } from '../support/rows.ts';

const project = 'p';
const count = 100_000;
let connectionString: string;
let owner: Db;
let opened: Reader;
let reader: Reader;
let sent: Statement[] = [];

setUp(async (keep) => {
  ({ connectionString } = await keep(createTestDatabase()));
  owner = await keep(openDb({ connectionString, role: null, log: silentLog() }));
  // As an archive grows, day after day. Every third order was seen pending first, every tenth changed a month later.
  await owner.query(
    `insert into archive.orders (project_id, operation_id, status, account, amount, number, created_at, updated_at, order_type,
                                 slice_day, raw, raw_sha256, first_seen_at, observed_at, changed_at)
     select 'p', 'op_' || md5(n::text), case when n % 5000 = 0 then 1 else 2 end, 'account_' || n % 1000, n % 1000, n % 700,
            t, t + interval '1 minute', 1 + n % 2, (t at time zone 'UTC')::date,
            -- As long as an order is.
            jsonb_build_object('operation_id', 'op_' || md5(n::text), 'status', 2, 'filling', repeat('x', 250)),
            '\\xab', t + interval '1 minute',
            t + case when n % 10 = 0 then interval '30 days' when n % 3 = 0 then interval '2 minutes' else interval '1 minute' end, t
       from generate_series(0, $1::int - 1) n,
            lateral (select '2024-01-01T00:00:00Z'::timestamptz + n * (730 * interval '1 day' / $1::int) as t) at`,
    [count],
  );
  await owner.query(
    `insert into sync.slices (project_id, resource, day, state, proof, proved_at, deadline_at, whole_walk)
     select 'p', 'orders', '2024-01-01'::date + n, 'final', 'books', '2030-01-01', '2030-01-01', 1 from generate_series(0, 729) n`,
  );
  // What the journal tells of those of the days.
  await owner.query(
    `insert into sync.chains (project_id, head, orders) select 'p', '\\xab', count(*) from archive.orders`,
  );
  await owner.pool.query('vacuum (analyze) archive.orders, sync.slices');
  opened = await keep(openReader({ connectionString, max: 1, statementTimeoutMs: 30_000 }));
  reader = logged(opened);
});

/** The same reader, remembering every statement it sends. */
const logged = (given: Reader): Reader => watched(given, (statement) => void sent.push(statement));

const ofOrders = / (orders|order_|transaction|watched|runs)/;

/** What a call reads: the nodes of its plans that touch a table, and how many blocks in all. */
async function readsOf(
  call: () => Promise<unknown>,
  tables = ofOrders,
  by = opened,
): Promise<{ nodes: string[]; blocks: number }> {
  sent = [];
  await call();
  const nodes: string[] = [];
  let blocks = 0;
  for (const statement of sent) {
    const plan = await explain(by, statement);
    const names = nodesIn(plan).map(
      (node) => `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name'] ?? ''}`,
    );
    nodes.push(...names.filter((node) => tables.test(node)));
    blocks += blocksOf(plan);
  }
  return { nodes, blocks };
}

const seqScans = (nodes: string[]): string[] => nodes.filter((node) => node.startsWith('Seq Scan'));

/** Blocks of the orders' table alone: what a question without an index would read. */
async function tableBlocks(): Promise<number> {
  const { rows } = await owner.query<{ blocks: number }>(
    `select (pg_relation_size('archive.orders') / 8192)::int as blocks`,
  );
  return rows[0]?.blocks ?? 0;
}

// A cluster's plans are those of its workers.
test.skipIf(isOnCluster)(
  'the total of all is known without a look at the orders; where no journal tells it, they are counted',
  async () => {
    const orders = createOrders(reader);
    let total = 0;
    const counting = async (): Promise<void> => void (total = await orders.count({ project }));
    const told = await readsOf(counting);
    expect(total).toBe(count);
    expect(told.blocks).toBeLessThan(50);
    await owner.query(`update sync.chains set project_id = 'other'`);
    const counted = await readsOf(counting);
    await owner.query(`update sync.chains set project_id = 'p'`);
    expect(total).toBe(count);
    expect(counted.blocks).toBeGreaterThan(count / 200);
  },
);

const viewOfMonth = `select * from analytics.orders_by_month where project_id = 'p' and month = '2025-03-01'`;
/** How a view reaches the orders, and how many blocks are read in all. */
const readsOfView = (sql: string): Promise<{ nodes: string[]; blocks: number }> =>
  readsOf(() => reader.query(sql), / orders/);

describe.skipIf(isOnCluster)('a view', () => {
  test('of a month is read from its index alone', async () => {
    const { nodes, blocks } = await readsOfView(viewOfMonth);
    expect(nodes).toEqual([expect.stringMatching(/Index Only Scan orders_figures/)]);
    expect(blocks).toBeLessThan((await tableBlocks()) / 20);
  });

  test.each([
    ['months of a range', 'orders_by_month', `month >= '2025-02-01' and month < '2025-04-01'`],
    ['a day', 'orders_by_day', `day = '2025-03-14'`],
    ['a month of days', 'orders_by_day', `month = '2025-03-01'`],
    ['accounts of a month', 'spend_by_account', `month = '2025-03-01'`],
    ['an account', 'spend_by_account', `account = 'account_7'`],
    ['lead times of a month', 'order_lead_times_by_month', `month = '2025-03-01'`],
    ['what is pending', 'unresolved_orders', 'true'],
    ['what is missing', 'missing_records', 'true'],
    ['the history of an order', 'order_history', `operation_id = 'op_' || md5('7')`],
    ['what changed in a month', 'order_changes', `month = '2025-03-01'`],
    ['a day as it was', `orders_as_of('p', '2025-03-15')`, `day = '2025-03-14'`],
  ])('of %s is found by an index', async (_, view, condition) => {
    const { nodes, blocks } = await readsOfView(
      `select * from analytics.${view} where project_id = 'p' and ${condition}`,
    );
    expect(nodes.filter((node) => /^Seq Scan|^Parallel Seq Scan/.test(node))).toEqual([]);
    expect(nodes.length).toBeGreaterThan(0);
    expect(blocks).toBeLessThan((await tableBlocks()) / 5);
  });
});

/** The same archive, and what else a life of two years leaves. */
describe.skipIf(isOnCluster)('with earlier contents', () => {
  beforeAll(async () => {
    await owner.query(
      `insert into archive.order_versions (project_id, operation_id, status, created_at, observed_at, raw_sha256, raw)
     select project_id, operation_id, 1, created_at, first_seen_at, '\\xcd', raw || '{"status": 1}'
       from archive.orders where observed_at <> first_seen_at`,
    );
    await owner.query(
      `insert into archive.transactions (project_id, api_version, operation_id, status, module, raw, raw_sha256, observed_at, first_seen_at, changed_at)
     select 'p', version, 'op_' || md5(n::text), 1, 'nft', '{"status": 1}', '\\xab', now(), now(), now()
       from unnest(array['v1beta1', 'v3']) version, generate_series(1, 20000) n`,
    );
    await owner.query(
      `insert into sync.pages (project_id, resource, owner, day, walk, page, ids, rejects, asked_at)
     select 'p', 'orders', '', '2024-01-01'::date + n, 1, page, array_fill('an id of some length'::text, '{50}'), '{}', now()
       from generate_series(0, 729) n, generate_series(0, 5) page`,
    );
    await owner.query(
      `insert into sync.journal (project_id, no, resource, owner, day, entered_at, kind, body, head)
     select 'p', n * 30 + k, 'orders', '', '2024-01-01'::date + n, now(), 'ledger', '{"state": "open"}', '\\xab'
       from generate_series(0, 729) n, generate_series(1, 30) k`,
    );
    await writeProjects(owner, ['p'], { firstDay: '2024-01-01' });
    await owner.query(
      `insert into sync.watched_operations (project_id, operation_id, state)
     select 'p', 'op_' || md5(n::text), 'done' from generate_series(1, 20000) n`,
    );
    await owner.query(
      `insert into sync.runs (project_id, run_id, outcome, started_at)
     select 'p', n::text, 'done', '2024-01-01T00:00:00Z'::timestamptz + n * interval '1 minute' from generate_series(1, 20000) n`,
    );
    await owner.pool.query(
      `vacuum (analyze) archive.order_versions, archive.transactions, sync.watched_operations, sync.runs, sync.pages, sync.journal`,
    );
  });

  const dayAt = (at: string): string =>
    `select * from analytics.orders_as_of('p', '${at}') where day = '2025-03-14'`;

  test.each(['2025-03-15', '2025-06-01T12:00:00Z', '2026-06-01'])(
    'a day as it was at %s is found by that day',
    async (at) => {
      const { nodes, blocks } = await readsOf(() => reader.query(dayAt(at)));
      expect(nodes.filter((node) => node.includes('Seq Scan'))).toEqual([]);
      expect(nodes).toContain('Index Scan order_versions_day');
      expect(blocks).toBeLessThan((await tableBlocks()) / 5);
    },
  );

  test('what changed in a month reads a few blocks for each order of the month', async () => {
    const { blocks } = await readsOf(() =>
      reader.query(
        `select * from analytics.order_changes where project_id = 'p' and month = '2025-03-01'`,
      ),
    );
    // Joined the other way round, by every version that there is, it was 28.
    expect(blocks).toBeLessThan(5 * 31 * (count / 730));
  });

  test('sabotaged, a day as it was that must be looked for among all versions is noticed', async () => {
    const { rows } = await owner.query<{ sql: string }>(
      `select pg_get_indexdef('archive.order_versions_day'::regclass) as sql`,
    );
    await owner.query('drop index archive.order_versions_day');
    const { blocks } = await readsOf(() => reader.query(dayAt('2025-03-15')));
    await owner.query(rows[0]?.sql ?? '');
    expect(blocks).toBeGreaterThan((await tableBlocks()) / 5);
  });

  describe('a page as of an instant', () => {
    const page = async (
      query: { asOf: string; from?: string; status?: 1 | 2; account?: string },
      order: 'asc' | 'desc' = 'asc',
    ): Promise<{ blocks: number; items: number }> => {
      const orders = createOrders(reader);
      let items = 0;
      const { nodes, blocks } = await readsOf(async () => {
        items = (await orders.list({ project, limit: 100, order, ...query })).items.length;
      });
      expect(seqScans(nodes)).toEqual([]);
      return { blocks, items };
    };

    test('costs the same at any depth, at any instant, both ways', async () => {
      for (const asOf of ['2024-02-01T00:00:00Z', '2025-06-01T12:00:00Z', '2026-06-01T00:00:00Z']) {
        for (const order of ['asc', 'desc'] as const) {
          const { blocks, items } = await page({ asOf }, order);
          expect(items).toBe(100);
          // A few for each record and its earlier contents, of which every second has one.
          expect(blocks).toBeLessThan(10_000);
        }
      }
      const deep = await page({ asOf: '2025-06-01T12:00:00Z', from: '2025-05-20' });
      expect(deep.items).toBe(100);
      expect(deep.blocks).toBeLessThan(10_000);
    });

    test('by a cursor, too', async () => {
      const orders = createOrders(reader);
      for (const order of ['asc', 'desc'] as const) {
        const query = { project, asOf: '2025-06-01T12:00:00Z', order, limit: 4000 };
        let page = await orders.list(query);
        for (let i = 0; i < 4; i++) page = await orders.list({ ...query, cursor: page.next ?? '' });
        const cursor = page.next ?? '';
        const { nodes, blocks } = await readsOf(() =>
          orders.list({ ...query, cursor, limit: 100 }),
        );
        expect(seqScans(nodes)).toEqual([]);
        expect(blocks).toBeLessThan(10_000);
      }
    });

    test('ends with the days of then, however much was archived since', async () => {
      const orders = createOrders(reader);
      const query = { project, asOf: '2024-01-05T00:00:00Z' };
      const pages = await pagesOf((paging) => orders.list({ ...query, limit: 1000, ...paging }));
      expect(pages.length).toBeLessThan(4);
      // What lies beyond those days is asked for in the index of those that moved there, and nowhere else.
      const { nodes } = await readsOf(() => orders.list({ ...query, limit: 1000 }));
      expect(nodes.join()).toMatch(/Index[\w ]*Scan orders_ahead/);
    });

    test('stays small where nothing matches', async () => {
      const { blocks, items } = await page({ asOf: '2025-06-01T12:00:00Z', account: 'nobody' });
      expect(items).toBe(0);
      // So many rows are looked at for a page, and no more (P9).
      expect(blocks).toBeLessThan(40_000);
    });
  });

  test('on tables that were never analysed a page of then reads by key, too', async () => {
    const { connectionString: other } = await fresh(createTestDatabase());
    const alike = { connectionString: other, role: null, log: silentLog() };
    const writer = await fresh(openDb(alike));
    const given = { connectionString: other, max: 1, statementTimeoutMs: 30_000 };
    const unanalysed = await fresh(openReader(given));
    for (const table of ['orders', 'order_versions']) {
      await writer.query(`alter table archive.${table} set (autovacuum_enabled = off)`);
    }
    await writer.query(
      `insert into archive.orders (project_id, operation_id, created_at, slice_day, raw, raw_sha256, first_seen_at, observed_at, changed_at)
       select 'p', n::text, t, t::date, '{}', '\\xab', t, t + interval '1 day', t
         from generate_series(1, 20000) n, lateral (select '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 minute' as t) at`,
    );
    await writer.query(
      `insert into archive.order_versions (project_id, operation_id, observed_at, raw_sha256, raw)
       select project_id, operation_id, first_seen_at, '\\xcd', '{}' from archive.orders`,
    );
    const orders = createOrders(logged(unanalysed));
    const query = { project: 'p', asOf: '2026-01-10T00:00:00Z', limit: 1000 };
    const { blocks, nodes } = await readsOf(() => orders.list(query), ofOrders, unanalysed);
    expect(nodes.join()).toMatch(/Scan orders_ahead/);
    // A join of the 1,000 with each other read a thousand times as much.
    expect(blocks).toBeLessThan(50_000);
  });

  test('a history and a record of then are found by their keys', async () => {
    const orders = createOrders(reader);
    const { items } = await orders.list({ project, limit: 1 });
    const id = items[0]?.operationId ?? '';
    for (const call of [
      () => orders.history(project, id),
      () => orders.get(project, id, { asOf: '2024-01-01T00:01:30Z' }),
    ]) {
      const { nodes, blocks } = await readsOf(call);
      expect(seqScans(nodes)).toEqual([]);
      expect(blocks).toBeLessThan(30);
    }
  });

  test('a page of results is found by its index, the first and a deep one', async () => {
    const transactions = createTransactions(reader);
    let page = await transactions.list({ project, limit: 10_000 });
    const deep = page.next ?? '';
    page = await transactions.list({ project, limit: 10_000, cursor: deep });
    for (const call of [
      () => transactions.list({ project, limit: 100 }),
      () => transactions.list({ project, limit: 100, cursor: page.next ?? '' }),
      () => transactions.get(project, 'op_x'),
    ]) {
      const { nodes, blocks } = await readsOf(call);
      expect(seqScans(nodes)).toEqual([]);
      expect(blocks).toBeLessThan(3000);
    }
  });

  test('of results in which little matches some are looked through for a page, and not all', async () => {
    const transactions = createTransactions(reader);
    const given = { project, status: [9], limit: 1 };
    const { nodes, blocks } = await readsOf(() => transactions.list(given));
    expect(seqScans(nodes)).toEqual([]);
    expect(blocks).toBeLessThan(3000);
    const pages = await pagesOf((paging) => transactions.list({ ...given, ...paging }));
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flatMap(({ items }) => items)).toEqual([]);
  });

  test('operations watched and runs are read a page at a time, results for the page alone', async () => {
    const { watchedOperations, runs } = createLists(reader);
    for (const list of [watchedOperations, runs]) {
      const { next } = await list({ project, limit: 10_000 });
      for (const cursor of [{}, { cursor: next ?? '' }]) {
        const { nodes, blocks } = await readsOf(() => list({ project, limit: 100, ...cursor }));
        expect(seqScans(nodes)).toEqual([]);
        expect(blocks).toBeLessThan(2000);
      }
    }
  });

  test('a day is read with what it rests on and no other', async () => {
    const all = / (orders|order_|pages|journal|slices)/;
    const query = { project, resource: 'orders', day: '2025-03-14' } as const;
    const { nodes, blocks } = await readsOf(() => readDayReport(reader, query), all);
    expect(nodes.length).toBeGreaterThan(8);
    // The ledger of two years is so small that PostgreSQL 15 reads it whole.
    expect(seqScans(nodes).filter((node) => !node.endsWith(' slices'))).toEqual([]);
    // A few for each of its 274 orders and their earlier contents.
    expect(blocks).toBeLessThan(274 * 15);
    const { blocks: ofProgress } = await readsOf(() => readProgress(reader, { project }));
    // What is final is not looked at.
    expect(ofProgress).toBeLessThan(100);
  });

  describe('figures', () => {
    const march = { project, from: '2025-03-01', to: '2025-03-31' } as const;
    test.each([
      ['a month', { ...march, by: 'month' as const }],
      ['days of a month', { ...march, by: 'day' as const }],
      ['outcomes of a month', { ...march, by: 'month' as const, groupBy: ['status'] as const }],
    ])('of %s are read from their index alone', async (_, query) => {
      const statistics = createStatistics(reader);
      const { nodes, blocks } = await readsOf(() => statistics.orders(query));
      expect(nodes).toEqual(['Index Only Scan orders_figures']);
      expect(blocks).toBeLessThan((await tableBlocks()) / 10);
    });

    test.each([
      ['accounts', { ...march, by: 'month' as const, groupBy: ['account'] as const }],
      ['an instant', { ...march, by: 'month' as const, asOf: '2025-03-31T23:59:59Z' }],
    ])('of %s read their month and no other', async (_, query) => {
      const statistics = createStatistics(reader);
      const { nodes, blocks } = await readsOf(() => statistics.orders(query));
      expect(seqScans(nodes)).toEqual([]);
      expect(nodes.length).toBeGreaterThan(0);
      // A few for each order of the month: its row, and its earlier contents.
      expect(blocks).toBeLessThan((4 * count) / 24);
    });

    test('sabotaged, without their index they read more, and so does the view', async () => {
      const statistics = createStatistics(reader);
      const ask = () => readsOf(() => statistics.orders({ ...march, by: 'month' }));
      const { blocks: withIndex } = await ask();
      await owner.query('drop index archive.orders_figures');
      const { nodes, blocks } = await ask();
      expect(nodes.join()).not.toMatch(/orders_figures/);
      expect(blocks).toBeGreaterThan(withIndex * 3);
      const view = await readsOfView(viewOfMonth);
      expect(view.nodes.join()).not.toMatch(/orders_figures/);
      expect(view.blocks).toBeGreaterThan((await tableBlocks()) / 20);
    });
  });
});

describe('with little memory', () => {
  let small: Db;
  setUp(async (keep) => {
    // So little memory that what is kept aside goes to files; both sides are sorted, as those of a large archive are.
    const settings = { work_mem: '64kB', enable_hashjoin: 'off' };
    small = await keep(openDb({ connectionString, role: null, settings, log: silentLog() }));
  });

  /** What the comparison keeps aside, in blocks of 8 KB. */
  async function keptAside(change: (sql: string) => string): Promise<number> {
    const compared = change(otherContents({ projectId: 'told', resource: 'orders' }));
    const plan = await explain(small, { sql: compared, parameters: ['told'] });
    return plan['Temp Written Blocks'];
  }

  // A cluster's plans are those of its workers.
  test.skipIf(isOnCluster)('verify carries no whole entries of the journal along', async () => {
    await owner.query(
      `insert into sync.journal (project_id, no, resource, owner, day, entered_at, kind, body, ids, shas, head)
       select 'told', n, 'orders', '', '2024-01-01'::date + n, now(), 'pages', '{"first":200,"observed":[["2024-01-01",200]]}',
              array(select 'op_' || n || '_' || k from generate_series(1, 200) k),
              decode(repeat('ab', 6400), 'hex'), '\\xab'
         from generate_series(0, 9) n`,
    );
    const kept = await keptAside((sql) => sql);
    expect(kept).toBeGreaterThan(0);
    // 2,000 contents of less than a quarter of a kilobyte each; before PostgreSQL 18 of less than half of one.
    const { rows } = await owner.query<{ is_old: boolean }>(
      `select current_setting('server_version_num')::int < 180000 as is_old`,
    );
    const times = rows[0]?.is_old === true ? 2 : 1;
    expect(kept).toBeLessThan((2000 / 32) * times);
    // Sabotaged: with each digest cut out after the comparison.
    const late = (sql: string): string => sql.replace(/offset 0(?=\),\s+held as)/, '');
    expect(await keptAside(late)).toBeGreaterThan((kept * 10) / times);
  });
});

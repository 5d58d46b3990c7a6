// The figures of schema analytics against a plain recount of what is held, and the coverage beside them (P7): no hole,
// no doubt and no record left out goes unshown.
import { isOnCluster } from '../support/postgres.ts';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { createBench, type Bench } from '../support/archive.ts';
import { connectReader } from '../support/client.ts';
import { setUp } from '../support/fresh.ts';
import { enterReject } from '../support/rows.ts';

let bench: Bench;
/** As a BI tool connects. */
let reader: pg.Client;

type Row = Record<string, unknown>;
const ask = async <R = Row>(sql: string, parameters: unknown[] = []): Promise<R[]> =>
  (await reader.query(sql, parameters)).rows as R[];

type Held = {
  day: string;
  status: number | null;
  account: string | null;
  order_type: number | null;
  amount: string | null;
  number: string | null;
  lead: number | null;
};

/** Every order as it is held, added up here and not in SQL. */
const heldOrders = (): Promise<Held[]> =>
  ask<Held>(
    `select slice_day::text as day, status, account, order_type, amount, number,
            extract(epoch from updated_at - created_at)::float8 as lead
       from archive.orders where project_id = 'p'`,
  );

const sum = (orders: Held[], of: 'amount' | 'number', status: number, type?: number): bigint =>
  orders
    .filter((one) => one.status === status && (type === undefined || one.order_type === type))
    .reduce((total, one) => total + BigInt(one[of] ?? 0), 0n);

const recount = (orders: Held[]): Row => ({
  orders: orders.length,
  succeeded: orders.filter(({ status }) => status === 2).length,
  failed: orders.filter(({ status }) => status === 3).length,
  pending: orders.filter(({ status }) => status === 1).length,
  spent_fen: sum(orders, 'amount', 2),
  spent_on_gas_fen: sum(orders, 'amount', 2, 1),
  spent_on_fees_fen: sum(orders, 'amount', 2, 2),
  pending_fen: sum(orders, 'amount', 1),
  credited_gas_ugas: sum(orders, 'number', 2, 1),
  credited_fees_fen: sum(orders, 'number', 2, 2),
  without_amount: orders.filter(({ amount }) => amount === null).length,
});

const figures = Object.keys(recount([]));
const counts = ['orders', 'succeeded', 'failed', 'pending', 'without_amount'];
const read = (row: Row, names: string[]): Row =>
  Object.fromEntries(
    names.map((name) => [name, (counts.includes(name) ? Number : BigInt)(String(row[name]))]),
  );

function grouped(orders: Held[], keyOf: (one: Held) => string): Map<string, Held[]> {
  const groups = new Map<string, Held[]>();
  for (const one of orders) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

setUp(async (keep) => {
  bench = await keep(createBench());
  await bench.seal();
  // Whatever zone a tool speaks, days are those of UTC.
  const connecting = connectReader(bench.connectionString, 'Pacific/Kiritimati');
  reader = await keep(connecting, (one) => one.end());
});

describe('the figures equal a plain recount', () => {
  test.each([
    ['orders_by_day', 'day', (one: Held) => one.day],
    ['orders_by_month', 'month', (one: Held) => `${one.day.slice(0, 7)}-01`],
  ])('%s', async (view, key, keyOf) => {
    const held = grouped(await heldOrders(), keyOf);
    const rows = await ask(`select *, ${key}::text as at from analytics.${view} order by 1`);
    expect(held.size).toBeGreaterThan(1);
    for (const row of rows) {
      expect({ at: row['at'], ...read(row, figures) }).toEqual({
        at: row['at'],
        ...recount(held.get(String(row['at'])) ?? []),
      });
      held.delete(String(row['at']));
    }
    // None left out.
    expect([...held.keys()]).toEqual([]);
  });

  test('spend_by_account', async () => {
    const names = ['orders', 'succeeded', 'failed', 'pending', 'spent_fen', 'pending_fen'];
    const keyOf = (one: Held) => `${one.day.slice(0, 7)}-01 ${one.account ?? '(none)'}`;
    const held = grouped(await heldOrders(), keyOf);
    const rows = await ask(
      `select *, month || ' ' || coalesce(account, '(none)') as at from analytics.spend_by_account`,
    );
    expect(rows).toHaveLength(held.size);
    for (const row of rows) {
      expect(recount(held.get(String(row['at'])) ?? [])).toMatchObject(read(row, names));
    }
  });

  test('whole units are a hundredth of fen, exactly', async () => {
    const [row] = await ask(
      `select count(*)::int as months, bool_and(spent_units * 100 = spent_fen
              and spent_units = spent_on_gas_units + spent_on_fees_units
              and pending_units * 100 = pending_fen and credited_fees_units * 100 = credited_fees_fen) as exact,
              bool_or(spent_units > 0) as any
         from analytics.orders_by_month`,
    );
    expect(row).toEqual({ months: 2, exact: true, any: true });
  });

  test('order_lead_times_by_month', async () => {
    const held = (await heldOrders()).filter((one) => one.day < '2026-04-01' && one.status === 2);
    const leads = held
      .flatMap(({ lead }) => (lead === null ? [] : [lead]))
      .toSorted((a, b) => a - b);
    const at = (share: number): number => {
      const place = share * (leads.length - 1);
      const [low = 0, high = 0] = [leads[Math.floor(place)], leads[Math.ceil(place)]];
      return low + (high - low) * (place - Math.floor(place));
    };
    const [row] = await ask(
      `select * from analytics.order_lead_times_by_month where month = '2026-03-01' and status = 2`,
    );
    expect(Number(row?.['settled'])).toBe(leads.length);
    expect(row?.['lead_seconds_p50']).toBeCloseTo(at(0.5));
    expect(row?.['lead_seconds_p90']).toBeCloseTo(at(0.9));
    expect(row?.['lead_seconds_max']).toBe(leads.at(-1));
  });

  test('classes, their NFTs and their owners', async () => {
    const rows = await ask<{ month: string; owner: string; nfts: number }>(
      `select date_trunc('month', slice_day::timestamp)::date::text as month, owner, nft_count::int as nfts
         from archive.nft_classes`,
    );
    for (const by of ['month', 'owner'] as const) {
      const expected = new Map<string, { classes: number; nfts: number }>();
      for (const row of rows) {
        const { classes, nfts } = expected.get(row[by]) ?? { classes: 0, nfts: 0 };
        expected.set(row[by], { classes: classes + 1, nfts: nfts + row.nfts });
      }
      const view = by === 'month' ? 'nft_classes_by_month' : 'nft_owners';
      const shown = await ask<{ at: string; classes: number; nfts: number }>(
        `select ${by}::text as at, classes::int, nfts::int from analytics.${view}`,
      );
      expect(new Map(shown.map(({ at, ...figure }) => [at, figure]))).toEqual(expected);
    }
  });
});

// A cluster lets nobody else read what a transaction wrote.
describe.skipIf(isOnCluster)('coverage stands beside the figures', () => {
  const march = `select * from analytics.orders_by_month where month = '2026-03-01'`;
  /** Changes the archive for one look at it. */
  async function having<T>(change: string, look: () => Promise<T>): Promise<T> {
    await reader.query(`reset role; begin; ${change}; set local role outlast_reader`);
    try {
      return await look();
    } finally {
      await reader.query('rollback; set role outlast_reader');
    }
  }
  const clean = `update sync.slices set state = 'sealed', proof = 'books', why = null, unresolved = 0 where day < '2026-04-01'`;
  const slice = `where resource = 'orders' and day = '2026-03-14'`;

  test('a month is held and settled when every day of it is', async () => {
    const [row] = await having(clean, () => ask(march));
    const days = { days_in_month: 31, days_accounted: 31, days_held: 31, days_settled: 31 };
    const sure = { reservations: [], is_held: true, is_settled: true };
    expect(row).toMatchObject({ ...days, days_sealed: 31, ...sure });
  });

  const spoilt: [string, string, Row][] = [
    [
      'a lost day',
      `update sync.slices set state = 'lost', proof = 'none' ${slice}`,
      { days_lost: 1, reservations: ['lost'] },
    ],
    ['an open day', `update sync.slices set state = 'open' ${slice}`, { days_open: 1 }],
    [
      'a day read once',
      `update sync.slices set state = 'walked', proof = 'none' ${slice}`,
      { days_sealed: 30 },
    ],
    [
      'a day without proof',
      `update sync.slices set state = 'final', proof = 'none' ${slice}`,
      { days_final: 1, reservations: ['no_proof'] },
    ],
    ['a reject', enterReject('2026-03-14'), { rejected: '1' }],
    ['a day nobody accounts for', `delete from sync.slices ${slice}`, { days_accounted: 30 }],
  ];

  test('a day proved by two readings alone is marked as the weaker claim', async () => {
    const weaker = `update sync.slices set proof = 'readings' ${slice}`;
    const [row] = await having(`${clean}; ${weaker}`, () => ask(march));
    expect(row).toMatchObject({ days_by_readings: 1, days_settled: 31, is_settled: true });
  });

  test('a pending order keeps its month from being settled, and not from being held', async () => {
    const pending = `update sync.slices set state = 'final', unresolved = 1 ${slice}`;
    const [row] = await having(`${clean}; ${pending}`, () => ask(march));
    const said = { days_held: 31, is_held: true, days_settled: 30, is_settled: false };
    expect(row).toMatchObject({ ...said, reservations: ['unresolved_orders'] });
    const incomplete = `select day from analytics.incomplete_days where day < '2026-04-01'`;
    expect(await having(`${clean}; ${pending}`, () => ask(incomplete))).toEqual([]);
  });

  // P7
  test.each(spoilt)('%s is shown, and the month is not held', async (_, change, expected) => {
    const [row] = await having(`${clean}; ${change}`, () => ask(march));
    const less = { days_held: 30, is_held: false, days_settled: 30, is_settled: false };
    expect(row).toMatchObject({ ...less, ...expected });
    const [total] = await ask(`select count(*) from archive.orders where slice_day < '2026-04-01'`);
    // The figures themselves do not depend on it.
    expect(row?.['orders']).toBe(total?.['count']);
  });

  test.each([
    ['orders_by_day', 'day'],
    ['order_lead_times_by_day', 'day'],
    ['orders_by_month', 'month'],
    ['spend_by_account', 'month'],
    ['order_lead_times_by_month', 'month'],
    ['coverage_by_month', 'month'],
  ])('every row of %s that a lost day touches says so', async (view, key) => {
    const at = key === 'day' ? '2026-03-14' : '2026-03-01';
    const rows = await having(`${clean}; ${spoilt[0]?.[1]}`, () =>
      ask(
        `select is_held, reservations from analytics.${view} where ${key} = $1
           ${view === 'coverage_by_month' ? `and resource = 'orders'` : ''}`,
        [at],
      ),
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row).toEqual({ is_held: false, reservations: ['lost'] });
  });

  // P7
  test('sabotaged, a calendar that hides lost days is noticed', async () => {
    const hide = `do $$ begin execute 'create or replace view analytics.coverage_by_day as '
      || replace(pg_get_viewdef('analytics.coverage_by_day'), '''lost''', '''gone'''); end $$`;
    const [row] = await having(`${clean}; ${hide}; ${spoilt[0]?.[1]}`, () => ask(march));
    expect(row).toMatchObject({ days_lost: 0 });
  });

  test('days without orders are there, and days that only orders know of', async () => {
    const [elsewhere] = await having(
      `update archive.orders set slice_day = '2020-01-05'
        where operation_id = (select min(operation_id) from archive.orders)`,
      () =>
        ask(`select orders, state, is_held from analytics.orders_by_day where day = '2020-01-05'`),
    );
    expect(elsewhere).toEqual({ orders: '1', state: null, is_held: false });
    const [quiet] = await ask<{ count: number }>(
      `select count(*)::int from analytics.orders_by_day where orders = 0 and state <> 'open'`,
    );
    expect(quiet?.count).toBeGreaterThan(0);
  });

  test('of several owners the weakest list decides', async () => {
    const [row] = await having(
      `${clean}; update sync.slices set owner = 'a' where resource = 'nft_classes' and day = '2026-03-14';
       insert into sync.slices (project_id, resource, owner, day, state, deadline_at)
       values ('p', 'nft_classes', 'b', '2026-03-14', 'lost', '2026-04-30')`,
      () =>
        ask(`select state, proof, lists, is_whole_list, reservations, is_held
               from analytics.coverage_by_day where resource = 'nft_classes' and day = '2026-03-14'`),
    );
    const lost = { state: 'lost', proof: 'none', reservations: ['lost'], is_held: false };
    expect(row).toEqual({ ...lost, lists: 2, is_whole_list: false });
  });
});

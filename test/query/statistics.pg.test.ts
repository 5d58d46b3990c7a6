// Statistics from code: the figures of the views, in parts and as of an instant, with the coverage beside each (P7).
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { daysIn } from '../../src/day.ts';
import { openArchive, type Archive, type OrderFigures } from '../../src/index.ts';
import { snake } from '../../src/resources.ts';
import type { Row } from '../../src/store/db.ts';
import { createBench, tenDays, type Bench } from '../support/archive.ts';
import { setUp } from '../support/fresh.ts';
import { observe } from '../support/observe.ts';
import { writeOrder } from '../support/rows.ts';

const project = 'p';
let bench: Bench;
let archive: Archive;
setUp(async (keep) => {
  const days = [...daysIn({ from: '2026-03-01', to: '2026-03-13' }), ...tenDays.days.slice(-6)];
  bench = await keep(createBench({ days }));
  await bench.seal();
  const { connectionString } = bench;
  archive = await keep(openArchive({ connectionString }));
  // A hole, and one that is open; and a day of which nothing but coverage is known.
  await bench.db.query(
    `update sync.slices set state = 'lost' where project_id = 'p' and day = '2026-03-11'`,
  );
  await bench.db.query(
    `insert into sync.slices (project_id, resource, day, state, proof, deadline_at)
     select 'p', resource, '2026-01-31', 'lost', 'none', '2026-02-28' from unnest(array['orders', 'nft_classes']) resource`,
  );
});

const ask = async (sql: string, parameters: unknown[] = []): Promise<Row[]> =>
  (await bench.db.query(sql, parameters)).rows;

/** What rows say under these names, spelt as columns are: a library's numbers are texts of a view. */
const said = (rows: object[], names: string): Row[] =>
  rows.map((row) => {
    const columns = Object.fromEntries(
      Object.entries(row).map(([name, value]: [string, unknown]) => [snake(name), value]),
    );
    return Object.fromEntries(
      names.split(' ').map((name) => {
        const value = columns[name];
        if (value === undefined) throw new Error(`there is no ${name}`);
        if (name.endsWith('_units')) return [name, Number(value)];
        return [name, typeof value === 'number' ? String(value) : value];
      }),
    );
  });

const march = { from: '2026-03-01', to: '2026-03-31' } as const;
const counts =
  'period orders succeeded failed pending of_other_status spent_fen spent_units pending_fen credited_gas_ugas ' +
  'credited_fees_fen without_amount reservations rejected is_held is_settled';
const countsOfDays =
  'days days_accounted days_open days_held days_settled days_sealed days_final days_lost days_by_readings';

test.each<[what: string, read: () => Promise<object[]>, names: string, sql: string]>([
  [
    'orders by day',
    () => archive.statistics.orders({ project, by: 'day' }),
    counts,
    `*, day as period from analytics.orders_by_day where project_id = 'p' order by day`,
  ],
  [
    'orders by month',
    () => archive.statistics.orders({ project, by: 'month' }),
    `${counts} ${countsOfDays}`,
    `*, month as period, days_in_month as days
       from analytics.orders_by_month where project_id = 'p' order by month`,
  ],
  [
    'accounts in a month',
    async () => {
      const query = { project, by: 'month', groupBy: ['account'] } as const;
      return (await archive.statistics.orders(query)).filter(({ orders }) => orders > 0);
    },
    'period account orders spent_fen',
    `*, month as period from analytics.spend_by_account where project_id = 'p' order by month, account`,
  ],
  [
    'accounts by what they spent',
    () => archive.statistics.accounts({ project, ...march, limit: 10_000 }),
    'account orders succeeded spent_fen spent_units without_amount',
    `* from analytics.spend_by_account
      where project_id = 'p' and month = '2026-03-01' order by spent_fen desc, account`,
  ],
  [
    'classes by month',
    () => archive.statistics.nftClasses({ project, by: 'month' }),
    'period classes nfts classes_without_count is_whole_list days_lost is_held is_settled',
    `*, month as period from analytics.nft_classes_by_month where project_id = 'p' order by month`,
  ],
  [
    'owners',
    () => archive.statistics.owners({ project, limit: 1 }),
    'classes',
    `max(classes) as classes from analytics.nft_owners where project_id = 'p'`,
  ],
])('%s are what the view says', async (_, read, names, view) => {
  const rows = await read();
  expect(rows.length).toBeGreaterThan(0);
  expect(said(rows, names)).toEqual(said(await ask(`select ${view}`), names));
});

describe('orders', () => {
  test('of groups add up to the whole, and no period is left out', async () => {
    const whole = await archive.statistics.orders({ project, by: 'day' });
    const all = ['account', 'status', 'order_type'] as const;
    for (const groupBy of [['status'], ['order_type', 'status'], all] as const) {
      const rows = await archive.statistics.orders({ project, by: 'day', groupBy });
      const sums = whole.map(({ period, ...row }) => {
        const parts = rows.filter((one) => one.period === period);
        expect(parts.every((one) => one.isSettled === row.isSettled)).toBe(true);
        const total = (name: 'amountFen' | 'spentFen' | 'numberUgas'): bigint =>
          parts.reduce((sum, one) => sum + BigInt(one[name]), 0n);
        return {
          period,
          orders: parts.reduce((sum, one) => sum + one.orders, 0),
          amountFen: String(total('amountFen')),
          spentFen: String(total('spentFen')),
          numberUgas: String(total('numberUgas')),
        };
      });
      expect(whole).toMatchObject(sums);
    }
  });

  test('of a cut month count the part that was asked for', async () => {
    const query = { project, from: '2026-03-05', to: '2026-03-19', by: 'month' } as const;
    const [part, ...others] = await archive.statistics.orders(query);
    expect(others).toEqual([]);
    const days = await archive.statistics.orders({ ...query, by: 'day' });
    expect(part).toMatchObject({ period: '2026-03-01', days: 15, daysLost: 1, isHeld: false });
    expect(part?.orders).toBe(days.reduce((sum, day) => sum + day.orders, 0));
    const clean = days.find((day) => day.isSettled)?.period ?? '';
    expect(
      await archive.statistics.orders({ project, by: 'month', from: clean, to: clean }),
    ).toMatchObject([{ days: 1, daysHeld: 1, isHeld: true, daysSettled: 1, isSettled: true }]);
  });

  test('a hole shows where no order is, whatever they are grouped by', async () => {
    for (const groupBy of [[], ['account']] as const) {
      const query = { project, by: 'month', to: '2026-01-31', groupBy } as const;
      const none = { period: '2026-01-01', orders: 0, spentFen: '0' };
      const days = { days: 31, daysAccounted: 1, daysLost: 1 };
      expect(await archive.statistics.orders(query)).toMatchObject([
        { ...none, ...days, reservations: ['lost'], isHeld: false },
      ]);
    }
  });
});

describe('as of an instant', () => {
  const when = (i: number): string => new Date(Date.UTC(2026, 2, 6, 0, i)).toISOString();
  const figuresOf = async (of: string, moment: { asOf?: string }): Promise<unknown[]> => {
    const query = { project: of, ...moment } as const;
    const late = { ...query, by: 'month', from: '2026-03-05' } as const;
    return [
      await archive.statistics.orders({ ...query, by: 'day' }),
      await archive.statistics.orders({ ...query, by: 'month', groupBy: ['account', 'status'] }),
      await archive.statistics.orders({ ...late, groupBy: ['order_type'] }),
      await archive.statistics.nftClasses({ ...query, by: 'day', groupBy: ['owner'] }),
      await archive.statistics.nftClasses({ ...query, by: 'month' }),
      await archive.statistics.nftGrowth({ ...query, by: 'day' }),
    ];
  };

  test('figures are those that were read then', async () => {
    // Days stay: as of an instant they are those of now.
    const order = fc.record({
      operation_id: fc.integer({ min: 1, max: 20 }).map((n) => `order-${n}`),
      status: fc.constantFrom(1, 2, 3, 'odd'),
      account: fc.constantFrom('a', 'b', null),
      amount: fc.constantFrom('100', '2.50', null, '99999999999999999999'),
      number: fc.constantFrom('5', '7'),
      order_type: fc.constantFrom(1, 2, 9),
      update_time: fc.constantFrom(null, '2026-03-05T10:00:00Z', '2026-03-05 11:00:00'),
    });
    const nftClass = fc.record({
      id: fc.integer({ min: 1, max: 9 }).map((n) => `class-${n}`),
      nft_count: fc.constantFrom(1, 2, 5, 'many'),
      owner: fc.constantFrom('a', 'b', null),
    });
    const dayOf = (id: string): string => `2026-03-0${1 + (Number(id.split('-')[1]) % 6)}`;
    const orders = fc.array(order, { minLength: 1, maxLength: 5 });
    const classes = fc.array(nftClass, { minLength: 1, maxLength: 3 });
    const rounds = fc.sample(fc.tuple(orders, classes), { numRuns: 15, seed: 9 });
    const then: unknown[][] = [];
    for (const [i, [someOrders, someClasses]] of rounds.entries()) {
      const at = (id: string): string => `${dayOf(id)} 08:00:00`;
      const made = someOrders.map((one) => ({ ...one, create_time: at(one.operation_id) }));
      const born = someClasses.map((one) => ({ ...one, timestamp: at(one.id) }));
      await observe(bench.db, { project: 'then', resource: 'orders' }, made, when(i));
      await observe(bench.db, { project: 'then', resource: 'nft_classes' }, born, when(i));
      then.push(await figuresOf('then', {}));
    }
    for (const [i, figures] of then.entries()) {
      expect(await figuresOf('then', { asOf: when(i) })).toEqual(figures);
    }
    const before = await figuresOf('then', { asOf: '2026-03-05T00:00:00Z' });
    expect(before).toEqual(then[0]?.map(() => []));
    const texts = then.map((figures) => JSON.stringify(figures));
    expect(new Set(texts).size).toBe(texts.length);
    const growth = await archive.statistics.nftGrowth({ project: 'then', by: 'day' });
    const grown = `*, changed_on as period from analytics.nft_growth_by_day where project_id = 'then' order by changed_on`;
    const names = 'period classes_changed nfts_minted nfts_burnt transfers';
    expect(said(growth, names)).toEqual(said(await ask(`select ${grown}`), names));
  });

  test('are held only where what proves it had been proved by then', async () => {
    const query = { project, from: '2026-03-01', to: '2026-03-09', by: 'day' } as const;
    const heldDays = async (asOf: string): Promise<number[]> => {
      const orders = await archive.statistics.orders({ ...query, asOf });
      const classes = await archive.statistics.nftClasses({ ...query, asOf });
      return [orders, classes].map((rows) => rows.filter(({ isHeld }) => isHeld).length);
    };
    const [proved] = await ask(
      `select to_char(max(proved_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
         from analytics.coverage where project_id = 'p'`,
    );
    const now = await heldDays('9999-12-31T23:59:59Z');
    expect(Math.min(...now)).toBeGreaterThan(3);
    expect(await heldDays(String(proved?.['at']))).toEqual(now);
    // Nothing had been read yet: no order, and no claim that there was none.
    expect(await heldDays('2026-04-01T00:00:00Z')).toEqual([0, 0]);
  });
});

describe("in the reader's zone", () => {
  const days = daysIn({ from: '2026-02-27', to: '2026-05-03' });
  // Around the beginnings of months in each zone, and of summer time in New York and in Berlin.
  const createdAt = `
    2026-02-28T15:59:59.999999Z 2026-02-28T16:00:00Z 2026-03-01T04:59:59Z 2026-03-08T06:59:59Z 2026-03-08T07:00:00Z
    2026-03-29T00:59:59Z 2026-03-29T01:00:00Z 2026-03-31T15:59:59.999999Z 2026-03-31T16:00:00Z 2026-03-31T21:59:59Z
    2026-03-31T22:00:00Z 2026-04-01T03:59:59Z 2026-04-01T04:00:00Z 2026-04-30T23:00:00Z`
    .trim()
    .split(/\s+/);
  beforeAll(async () => {
    await bench.db.query(
      `insert into sync.slices (project_id, resource, day, state, proof, deadline_at)
       select 'z', 'orders', day::date, case when day = '2026-04-30' then 'open' else 'final' end, 'books', '2026-05-31'
         from unnest($1::text[]) day`,
      [days],
    );
    for (const [i, at] of createdAt.entries()) {
      await writeOrder(bench.db, { project: 'z', id: `${i}`, createdAt: at, amount: '100' });
    }
    // Under the day whose list showed them, for their own times are no times to go by.
    const odd = { project: 'z', day: '2026-03-31', amount: '5' };
    await writeOrder(bench.db, { ...odd, id: 'zero', createdAt: '0001-01-01T00:00:00Z' });
    await writeOrder(bench.db, { ...odd, id: 'unread', createdAt: null });
    // A platform whose days are Shanghai's shows it a day later than UTC has it.
    const platforms = { project: 'z', day: '2026-04-01', amount: '7' };
    await writeOrder(bench.db, { ...platforms, id: 'late', createdAt: '2026-03-31T17:00:00Z' });
  });

  /** By the calendar that JavaScript has, not by Postgres's. */
  const dayIn = (zone: string, at: string): string =>
    new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' }).format(new Date(at));
  const expected = (zone: string, length: number): Record<string, number> => {
    const found: Record<string, number> = {};
    const placed = [...createdAt, '2026-03-31T17:00:00Z'].map((at) => dayIn(zone, at));
    for (const day of [...placed, '2026-03-31', '2026-03-31']) {
      const period = length === 7 ? `${day.slice(0, 7)}-01` : day;
      found[period] = (found[period] ?? 0) + 1;
    }
    return found;
  };

  test.each(['UTC', 'Asia/Shanghai', 'Europe/Berlin', 'America/New_York', 'Pacific/Kiritimati'])(
    'orders of %s stand under its days and months',
    async (zone) => {
      for (const [by, length] of [
        ['day', 10],
        ['month', 7],
      ] as const) {
        const query = { project: 'z', by, zone } as const;
        const held = (rows: OrderFigures[]): Record<string, number> =>
          Object.fromEntries(
            rows.filter(({ orders }) => orders > 0).map(({ period, orders }) => [period, orders]),
          );
        expect(held(await archive.statistics.orders(query))).toEqual(expected(zone, length));
        const then = await archive.statistics.orders({ ...query, asOf: '2026-05-05T00:00:00Z' });
        expect(held(then)).toEqual(expected(zone, length));
        const parts = await Promise.all(
          [{ to: '2026-03-31' }, { from: '2026-04-01' }].map((part) =>
            archive.statistics.orders({ ...query, ...part }),
          ),
        );
        expect(held(parts.flat())).toEqual(expected(zone, length));
      }
      const accounts = { project: 'z', from: '2026-04-01', zone } as const;
      const [all] = await archive.statistics.accounts(accounts);
      expect(all?.orders).toBe(
        (expected(zone, 7)['2026-04-01'] ?? 0) + (expected(zone, 7)['2026-05-01'] ?? 0),
      );
      const months = await ask(
        `select month, orders::int, spent_units, days_in_month, days_held, is_held
           from analytics.orders_by_month_in('z', $1) order by month`,
        [zone],
      );
      const same = await archive.statistics.orders({ project: 'z', by: 'month', zone });
      expect(
        months.map((row) => [row['month'], row['orders'], row['days_held'], row['is_held']]),
      ).toEqual(same.map((row) => [row.period, row.orders, row.daysHeld, row.isHeld]));
    },
  );

  test.each([
    // The open 30th of April is part of Shanghai's 1st of May, too; before the 27th of February nothing is known.
    ['UTC', { '2026-02-01': 2, '2026-03-01': 31, '2026-04-01': 29, '2026-05-01': 2 }],
    ['Asia/Shanghai', { '2026-02-01': 1, '2026-03-01': 31, '2026-04-01': 29, '2026-05-01': 1 }],
    ['Europe/Berlin', { '2026-02-01': 1, '2026-03-01': 31, '2026-04-01': 29, '2026-05-01': 1 }],
    ['America/New_York', { '2026-02-01': 2, '2026-03-01': 31, '2026-04-01': 28, '2026-05-01': 1 }],
  ])('a month of %s is held when the UTC days that it touches are', async (zone, held) => {
    const rows = await archive.statistics.orders({ project: 'z', by: 'month', zone });
    expect(Object.fromEntries(rows.map((row) => [row.period, row.daysHeld]))).toEqual(held);
    expect(rows.filter(({ isHeld }) => isHeld).map(({ period }) => period)).toEqual(['2026-03-01']);
    const one = { project: 'z', by: 'month', zone, from: '2026-03-01', to: '2026-03-31' } as const;
    expect(await archive.statistics.orders(one)).toMatchObject([{ days: 31, isHeld: true }]);
    // The 1st of March begins on it in the East.
    const daysLost = ['Asia/Shanghai', 'Europe/Berlin'].includes(zone) ? 1 : 0;
    await settle('2026-02-28', 'lost');
    expect(await archive.statistics.orders(one)).toMatchObject([
      { daysLost, isHeld: daysLost === 0, reservations: daysLost === 0 ? [] : ['lost'] },
    ]);
    await settle('2026-02-28', 'final');
  });

  const settle = (day: string, state: string): Promise<unknown> =>
    ask(`update sync.slices set state = $2 where project_id = 'z' and day = $1`, [day, state]);

  test('classes and their growth, too', async () => {
    const of = { project: 'zc', resource: 'nft_classes' as const };
    const one = { id: 'c', owner: 'a', timestamp: '2026-03-31T16:30:00Z' };
    await observe(bench.db, of, [{ ...one, nft_count: 1 }], '2026-03-31T17:00:00Z');
    await observe(bench.db, of, [{ ...one, nft_count: 4 }], '2026-04-30T16:00:00Z');
    const query = { project: 'zc', by: 'month' } as const;
    for (const [zone, made, grown] of [
      ['UTC', '2026-03-01', '2026-04-01'],
      ['Asia/Shanghai', '2026-04-01', '2026-05-01'],
    ] as const) {
      const [classes] = await archive.statistics.nftClasses({ ...query, zone });
      expect(classes).toMatchObject({ period: made, classes: 1 });
      const [growth] = await archive.statistics.nftGrowth({ ...query, zone });
      expect(growth).toMatchObject({ period: grown, nftsMinted: '3' });
    }
  });
});

test('what would fill the memory is refused with a sentence', async () => {
  await bench.db.query(
    `insert into archive.orders (project_id, operation_id, account, slice_day, raw, raw_sha256, observed_at, first_seen_at, changed_at)
     select 'many', n::text, n::text, '2026-03-01', '{}', '\\xab', now(), now(), now() from generate_series(0, 100000) n`,
  );
  const query = { project: 'many', by: 'day', groupBy: ['account'] } as const;
  await expect(archive.statistics.orders(query)).rejects.toThrow('more than 100000 rows');
});

// One id that the platform lists on two days, each time with other contents: it is one record, so one of the contents
// is in force. P5: both are kept; P2: which one is in force does not depend on which day was read first, and nothing is
// written once that is settled; P6: the day that shows the other one is not sealed.
import { afterEach, describe, expect, test } from 'vitest';
import { addDays } from '../../src/day.ts';
import type { ListedResource } from '../../src/model.ts';
import type { LiteralRecords } from '../../src/simulator/platform.ts';
import { differences, type Bench } from '../support/archive.ts';
import { classOf, orderOf } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

type Twice = [resource: ListedResource, first: object, second: object];

/** What is said of one id on its first and on its second day. */
const cases: Record<string, Twice> = {
  'a day of its own each, said at the same time': ['orders', {}, {}],
  'the second said later': ['orders', { update_time: '2026-02-02T00:00:00Z' }, {}],
  'the first said later': ['orders', {}, { update_time: '2026-02-02T00:00:00Z' }],
  'both of the first day': [
    'orders',
    { create_time: '2026-02-07T11:00:00Z', message: 'a' },
    { create_time: '2026-02-07T11:00:00Z', message: 'b' },
  ],
  'one without a time': ['orders', {}, { create_time: '0001-01-01T00:00:00Z' }],
  'classes, which say nothing of when they changed': ['nft_classes', {}, {}],
};
const names = Object.keys(cases);
const two = (n: number): string => String(n).padStart(2, '0');
/** The case of number `i` stands on these days, which hold two other records each; the first days come first. */
const daysOf = (i: number) => [`2026-02-${two(4 + i)}`, `2026-02-${two(10 + i)}`] as const;
const idOf = (i: number): string => `twice-${i}`;

function everything(): LiteralRecords {
  const orders: object[] = [];
  const classes: object[] = [];
  Object.values(cases).forEach(([resource, ...said], i) => {
    daysOf(i).forEach((on, which) => {
      const of = resource === 'orders' ? orderOf : classOf;
      const key = resource === 'orders' ? 'operation_id' : 'id';
      const update = resource === 'orders' ? { update_time: '2026-02-03T00:00:00Z' } : {};
      const { record } = of(on, 9, { ...update, [key]: idOf(i), ...said[which] });
      const all = resource === 'orders' ? orders : classes;
      all.push(of(on, 1), of(on, 2), { record, at: Date.parse(`${on}T11:00:00Z`) });
    });
  });
  return { orders, classes } as LiteralRecords;
}

type Settled = { sha: string; versions: number; states: string };

/** Of each case: the content in force, how many others are kept, and what became of its two days. */
async function settled(): Promise<Record<string, Settled>> {
  const found: Record<string, Settled> = {};
  for (const [i, name] of names.entries()) {
    const isOrder = cases[name]?.[0] === 'orders';
    const [table, versions, key] = isOrder
      ? ['orders', 'order_versions', 'operation_id']
      : ['nft_classes', 'nft_class_versions', 'id'];
    const { rows } = await bench.db.query<Settled>(
      `select encode(raw_sha256, 'hex') as sha,
              (select count(*)::int from archive.${versions} where ${key} = $1) as versions,
              (select string_agg(state, ' ' order by state) from sync.slices
                where resource = $2 and day = any ($3::date[])) as states
         from archive.${table} where ${key} = $1`,
      [idOf(i), table, daysOf(i)],
    );
    const [row] = rows;
    if (row !== undefined) found[name] = row;
  }
  return found;
}

const nextDay = (): Promise<unknown> => bench.runLater(day + hour);
/** Reads the days in question a day later, and no others; of the classes there is one case, the last. */
const lookAgain = async (): Promise<void> => {
  bench.simulator.advance(day);
  await bench.run({
    only: { resource: 'orders', days: { from: '2026-02-04', to: '2026-02-15' } },
  });
  for (const on of ['2026-02-09', '2026-02-15']) {
    const days = { from: on, to: addDays(on, 1) };
    await bench.run({ only: { resource: 'nft_classes', days } });
  }
};

const startAt = Date.parse('2026-03-02T12:00:00Z');
/** The window's first day, those between which records move here, and today. */
const days = ['2026-02-01', '2026-02-10', '2026-02-12', '2026-03-02'];
const inForce: (string | undefined)[][] = [];

test.each(['first', 'second'] as const)(
  'whose %s day is read first: one content is in force, the other kept, and the day that shows it not sealed',
  async (readFirst) => {
    bench = await createBench({ startAt, records: everything() });
    const from = daysOf(0)[readFirst === 'first' ? 0 : 1];
    const to = `2026-02-${readFirst === 'first' ? '10' : '16'}`;
    await bench.run({ only: { days: { from, to } } });
    await lookAgain();
    await lookAgain();
    // The oracle files a text under the day it names: of the two that name one day it expects both.
    const sameDay = idOf(names.indexOf('both of the first day'));
    const found = await falseSeals(bench);
    expect(found.filter(({ other }) => !other.includes(sameDay))).toEqual([]);
    const now = await settled();
    await lookAgain();
    expect(await settled()).toEqual(now);
    expect(Object.keys(now)).toEqual(names);
    for (const { versions, states } of Object.values(now)) {
      expect(states).toBe('sealed walked');
      expect(versions).toBeLessThanOrEqual(3);
    }
    inForce.push(names.map((name) => now[name]?.sha));
    expect(inForce.at(-1)).toEqual(inForce[0]);
  },
);

test('sabotaged: without the notes of which list shows what, each reading replaces what the other one wrote', async () => {
  const [from, to] = daysOf(0);
  const both = [from, to].map((on) => orderOf(on, 9, { operation_id: idOf(0), update_time: '' }));
  bench = await createBench(
    { startAt, records: { orders: both, classes: [] } },
    { scope: { classes: 'none' } },
  );
  const versions: (number | undefined)[] = [];
  for (let i = 0; i < 3; i++) {
    for (const on of [from, to]) {
      await bench.db.query('delete from sync.contested');
      bench.simulator.advance(minute);
      const days = { from: on, to: `2026-02-${two(Number(on.slice(8)) + 1)}` };
      await bench.run({ only: { days } });
    }
    versions.push((await settled())[names[0] ?? '']?.versions);
  }
  expect(versions).toEqual([1, 3, 5]);
});

test('a record that moves to another day is followed there: it is contested by nobody', async () => {
  const [from, to] = ['2026-02-10', '2026-02-12'];
  const both = [orderOf(from, 1), orderOf(to, 1), orderOf(from, 5, { operation_id: 'mover' })];
  bench = await createBench(
    { startAt, days, records: { orders: both, classes: [] } },
    { scope: { classes: 'none' } },
  );
  await bench.run();
  bench.simulator.hide('orders', 'mover');
  bench.simulator.insert('orders', orderOf(to, 5, { operation_id: 'mover' }));
  for (let i = 0; i < 3; i++) {
    await nextDay();
    expect(await falseSeals(bench)).toEqual([]);
  }
  expect(await differences(bench)).toEqual([]);
  const { rows } = await bench.db.query(
    `select distinct state from sync.slices where resource = 'orders' and day = any ($1) and day < '2026-03-01'`,
    [days],
  );
  expect(rows).toEqual([{ state: 'sealed' }]);
});

describe('orders that told a later update time for two days than before and after', () => {
  const on = '2026-02-10';
  /** Every order of the day as it says now: eight hours later or not, and of that status. */
  const say = (laterHours: number, status = 2): void => {
    const later = (time: string): string =>
      new Date(Date.parse(time) + laterHours * hour).toISOString().replace('.000', '');
    for (let i = 0; i < 3; i++) {
      const { record } = orderOf(on, i);
      bench.simulator.mutate('orders', record.operation_id, (one) => ({
        ...one,
        status,
        create_time: later(record.create_time),
        update_time: later(record.update_time),
      }));
    }
  };
  const stateNow = async (): Promise<unknown> => {
    const { rows } = await bench.db.query<{ state: string }>(
      `select state || ' ' || proof as state from sync.slices where resource = 'orders' and day = $1`,
      [on],
    );
    return rows[0]?.state;
  };

  /** `first`: they told it from the first reading on. */
  async function lieForTwoDays(first: boolean, status = 2): Promise<void> {
    const orders = [0, 1, 2].map((i) => orderOf(on, i));
    bench = await createBench(
      { startAt, days, records: { orders, classes: [] } },
      { scope: { classes: 'none' } },
    );
    if (!first) await bench.run();
    say(8, status);
    await nextDay();
    await nextDay();
  }

  test.each([false, true])(
    'at first: %s. The day is not sealed with what they told, and after a day of the truth it is in force',
    async (first) => {
      await lieForTwoDays(first);
      say(0);
      const seen: unknown[] = [];
      for (let i = 0; i < 4; i++) {
        await nextDay();
        expect(await falseSeals(bench)).toEqual([]);
        seen.push(await stateNow());
      }
      expect(seen[0]).toBe('walked none');
      expect(seen.at(-1)).toBe('sealed walk');
      expect(await differences(bench)).toEqual([]);
      const { rows } = await bench.db.query<{ force: boolean[] }>(
        `select array_agg(in_force_from is not null order by observed_at) as force from analytics.order_history
          where operation_id = $1`,
        [`o-${on}-0`],
      );
      // What was told meanwhile is kept, and was in force until it was corrected.
      expect(rows[0]?.force.at(-1)).toBe(true);
      const corrected = bench.simulator.clock.now();
      say(0, 3);
      await nextDay();
      const then = await bench.db.query(
        `select distinct status, (created_at at time zone 'UTC')::time < '13:00' as is_true
           from analytics.orders_as_of('p', $1)`,
        [new Date(corrected).toISOString()],
      );
      expect(then.rows).toEqual([{ status: 2, is_true: true }]);
    },
  );

  test('P2: a settled order goes back to pending under a later update time only', async () => {
    await lieForTwoDays(false);
    say(0, 1);
    for (let i = 0; i < 3; i++) {
      await nextDay();
      expect(await falseSeals(bench)).toEqual([]);
      expect(await stateNow()).toBe('walked none');
    }
    const { rows } = await bench.db.query('select distinct status from archive.orders');
    expect(rows).toEqual([{ status: 2 }]);
  });
});

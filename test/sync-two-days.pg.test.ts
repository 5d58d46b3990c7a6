// One id that the platform lists on two days, each time with other contents: it is one record, so one of the contents is in
// force. P5: both are kept; P2: which one is in force does not depend on which day was read first, and nothing is written
// once that is settled; P6: the day that shows the other one is not sealed.
import { afterEach, expect, test } from 'vitest';
import type { ListedResource } from '../src/model.ts';
import type { LiteralRecords } from '../src/simulator/platform.ts';
import { createBench, type Bench } from './support/archive.ts';
import { classOf, orderOf } from './support/days.ts';
import { falseSeals } from './support/seals.ts';

let bench: Bench;
afterEach(() => bench.close());

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

type Twice = [resource: ListedResource, first: object, second: object];

/** What is said of one id on its first and on its second day. */
const cases: Record<string, Twice> = {
  'a day of its own each, said at the same time': ['orders', {}, {}],
  'the second said later': ['orders', { update_time: '2026-02-02T23:30:00Z' }, {}],
  'the first said later': ['orders', {}, { update_time: '2026-02-02T23:30:00Z' }],
  'both of the first day': [
    'orders',
    { create_time: '2026-02-10T11:00:00Z', message: 'a' },
    { create_time: '2026-02-10T11:00:00Z', message: 'b' },
  ],
  'one without a time': ['orders', {}, { create_time: '0001-01-01T00:00:00Z' }],
  'classes, which say nothing of when they changed': ['nft_classes', {}, {}],
};
const names = Object.keys(cases);
const two = (n: number): string => String(n).padStart(2, '0');
/** The case of number `i` stands on these days, which hold two other records each. */
const daysOf = (i: number) => [`2026-02-${two(4 + 2 * i)}`, `2026-02-${two(5 + 2 * i)}`] as const;
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

test('one content is in force, the other is kept, and only the day that shows the one in force is sealed', async () => {
  const endings: Record<string, Settled>[] = [];
  for (const readFirst of [0, 1] as const) {
    bench = await createBench({
      startAt: Date.parse('2026-03-02T12:00:00Z'),
      records: everything(),
    });
    for (const i of names.keys()) {
      const from = daysOf(i)[readFirst];
      await bench.run({
        only: { days: { from, to: `2026-02-${two(Number(from.slice(8)) + 1)}` } },
      });
    }
    await bench.run();
    await bench.runLater(minute);
    await nextDay();
    await nextDay();
    expect(await falseSeals(bench)).toEqual([]);
    const now = await settled();
    await nextDay();
    expect(await settled()).toEqual(now);
    expect(Object.keys(now)).toEqual(names);
    for (const { versions, states } of Object.values(now)) {
      expect(states).toBe('sealed walked');
      expect(versions).toBeLessThanOrEqual(3);
    }
    endings.push(now);
    if (readFirst === 0) await bench.close();
  }
  const inForce = endings.map((one) => names.map((name) => one[name]?.sha));
  expect(inForce[0]).toEqual(inForce[1]);

  // Sabotaged: without the notes of which list shows what, each reading replaces what the other one wrote.
  const before = (await settled())[names[0] ?? '']?.versions ?? 0;
  for (let i = 0; i < 2; i++) {
    await bench.db.query('delete from sync.contested');
    await bench.db.query(
      `update sync.slices set state = 'walked', proof = 'none', due_at = 'epoch', walked_at = 'epoch'
                           where day = $1 and resource = 'orders'`,
      [daysOf(0)[i]],
    );
    await bench.runLater(minute);
  }
  expect((await settled())[names[0] ?? '']?.versions).toBeGreaterThan(before);
});

// Every switch of the simulator, every reading of what the document leaves open, ends in an exact archive whose days are
// sealed, and no seal is false (P6). The oracle that says so sees whatever is not true.
import { expect, test } from 'vitest';
import { switches, type Dialect } from '../../src/simulator/dialect.ts';
import { differences, type Bench } from '../support/archive.ts';
import { queryAt } from '../support/client.ts';
import { recordsOf, someIds, threeDaysOfRecords } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals, type FalseSeal } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
let bench: Bench;

const hour = 3_600_000;
/** The window's first day, two without records, two with, and today. */
const days = ['2026-03-01', '2026-04-02', '2026-04-03', '2026-04-04', '2026-04-05', '2026-04-06'];
/** No order stays pending, so that every past day can be sealed. */
const world = {
  ordersPerDay: 9,
  classesPerDay: 6,
  pendingShare: 0,
  settleMs: 60_000,
  since: '2026-04-04',
};
const small = { maxOrders: 4, maxClasses: 4 };

/** Those that differ only beside others: expired keys with keys that expire, limits with small ones. */
const isBelow = (name: string): boolean => name === 'keyExpired' || name === 'overLimit';

/** The values that are not standard. */
const choices = Object.entries(switches).flatMap(
  ([name, { values }]): [string, readonly (string | number | boolean)[]][] =>
    values === undefined || isBelow(name) ? [] : [[name, values.slice(1)]],
);

/** Switches that do not touch each other: the first of each value together, the second, and so on. */
const together: string[][] = [
  ['dayEnd', 'statusFilter', 'ties', 'timeForm', 'feePath'],
  ['lastKey', 'emptyList', 'monthEnd', 'totals'],
];
const dialects = [
  ...choices.filter(([name]) => !together.flat().includes(name)).map((choice) => [choice]),
  ...together.map((names) => choices.filter(([name]) => names.includes(name))),
].flatMap((group) =>
  Array.from({ length: Math.max(...group.map(([, values]) => values.length)) }, (_, i) =>
    Object.fromEntries(
      group.flatMap(([name, values]) => (values[i] === undefined ? [] : [[name, values[i]]])),
    ),
  ),
);

test.each<Partial<Dialect>>([
  ...dialects,
  {
    dates: 'utc+8',
    dayEnd: 'exclusive',
    totals: 'absent',
    keyLifeRequests: 2,
    keyExpired: 'ignore',
  },
  {
    maxOrders: 10,
    maxClasses: 10,
    overLimit: 'refuse',
    totals: 'absent',
    keyLifeRequests: 2,
    keyExpired: 'empty',
  },
  {
    maxOrders: 10,
    maxClasses: 10,
    dayEnd: 'instant',
    lastKey: 'repeated',
    overLimit: 'refuse',
    emptyList: 'null',
    totals: 'zero',
    timeForm: 'go',
    ties: 'insertion',
    monthEnd: 'utc+8',
    unknownFields: true,
    keyLifeRequests: 2,
    keyExpired: 'refuse',
  },
])('%o', async (dialect) => {
  // Where dates are ignored nothing new may come.
  const records = recordsOf(['2026-03-01', '2026-04-05', '2026-04-06']);
  const given = dialect.dates === 'ignored' ? { records } : { world };
  bench = await createBench({ ...given, days, dialect: { ...small, ...dialect } });
  expect(await bench.run()).toMatchObject({ outcome: 'done', problem: null });
  expect(await differences(bench)).toEqual([]);
  // A day apart, also what shows nothing is believed.
  bench.simulator.advance(24 * hour + 60_000);
  await bench.run();
  expect(await falseSeals(bench)).toEqual([]);
  const { rows } = await bench.db.query(
    `select resource, array_agg(day::text order by day) as days from sync.slices
      where state = 'sealed' and day < '2026-04-06' group by 1 order by 1 desc`,
  );
  // A list that knows one end alone cannot be read from the other: its days are sealed where they show nothing.
  const sealed = dialect.sort === 'ignored' ? days.slice(0, 3) : days.slice(0, -1);
  expect(rows).toEqual(['orders', 'nft_classes'].map((resource) => ({ resource, days: sealed })));
});

test('sabotaged: the oracle of seals sees what is sealed by hand, and what was altered under a seal', async () => {
  bench = await createBench({ ...threeDaysOfRecords, faults: { dropped: { ids: someIds } } });
  bench.simulator.mutate('orders', 'o-2026-04-03-1', (one) => ({ ...one, status: 1 }));
  await bench.seal();
  expect(await falseSeals(bench)).toEqual([]);
  const sealByHand = async (day: string, state: string, proof: string): Promise<unknown> => {
    await bench.db.query(
      `update sync.slices set state = $1, proof = $2, proved_at = $3 where day = $4 and resource = 'orders'`,
      [state, proof, new Date(bench.simulator.clock.now()).toISOString(), day],
    );
    return falseSeals(bench);
  };
  // One that is proved and not sealed is looked at, too.
  const missing = [{ missing: ['o-2026-04-02-7'] }];
  expect(await sealByHand('2026-04-02', 'sealed', 'none')).toMatchObject(missing);
  expect(await sealByHand('2026-04-02', 'walked', 'readings')).toMatchObject(missing);
  await sealByHand('2026-04-02', 'walked', 'none');
  expect(await sealByHand('2026-04-06', 'sealed', 'none')).toMatchObject([{ early: true }]);
  await sealByHand('2026-04-06', 'open', 'none');
  const pending = await sealByHand('2026-04-03', 'sealed', 'books');
  expect(pending).toMatchObject([{ slice: 'orders  2026-04-03 sealed books', pending: 1 }]);
  await sealByHand('2026-04-03', 'walked', 'none');

  await queryAt(
    bench.connectionString,
    `delete from archive.orders where operation_id = 'o-2026-04-01-3';
     update archive.orders set raw = raw || '{"operation_id": "invented"}' where operation_id = 'o-2026-04-01-4';
     update archive.orders set raw = raw || '{"message": "x"}' where operation_id = 'o-2026-04-01-5'`,
  );
  const [found, ...others] = (await sealByHand('2026-04-01', 'sealed', 'books')) as FalseSeal[];
  expect(others).toEqual([]);
  expect(found?.missing).toEqual(['o-2026-04-01-3', 'o-2026-04-01-4', 'o-2026-04-01-7']);
  expect(found?.extra).toEqual(['invented']);
  expect(found?.other).toEqual(['o-2026-04-01-5']);
});

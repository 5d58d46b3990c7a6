// Whatever chance brings, lies, changes and hours in any order, in any dialect: no run throws, no seal is false (P6),
// totals are what a count gives (P1), and when the lies end everything is sealed.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { FaultRule, Faults } from '../../src/simulator/faults.ts';
import { noon, type Bench } from '../support/archive.ts';
import { classOf, orderOf } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';
import { falseSeals } from '../support/seals.ts';

const createBench = benchesOnOneDatabase();
const hour = 3_600_000;
const days = ['2026-03-09', '2026-04-03', '2026-04-04', '2026-04-05'] as const;
/** Those with records, the window's first, empty neighbours and today. */
const read = ['2026-03-01', '2026-03-08', '2026-03-10', '2026-04-02', ...days, '2026-04-06'];

const dialects = fc.record<Partial<Dialect>>({
  dayEnd: fc.constantFrom('inclusive', 'exclusive', 'instant'),
  dates: fc.constantFrom('utc', 'utc', 'utc', 'utc+8', 'ignored'),
  lastKey: fc.constantFrom('empty', 'null', 'absent', 'repeated', 'onward'),
  totals: fc.constantFrom('present', 'present', 'absent', 'zero'),
  maxOrders: fc.constantFrom(50, 3, 5),
  maxClasses: fc.constantFrom(200, 3, 5),
  ties: fc.constantFrom('id', 'insertion'),
  keyLifeRequests: fc.constantFrom(0, 0, 3),
  keyExpired: fc.constantFrom('refuse', 'ignore', 'empty'),
  monthEnd: fc.constantFrom('utc', 'utc+8'),
});

const share = fc.constantFrom<FaultRule>({}, { share: 0.5 }, { share: 0.1 });
const where = fc.constantFrom<FaultRule>(
  {},
  { with: 'page_key' },
  { without: 'page_key' },
  { with: 'limit=1&' },
  { with: 'status=' },
);
/** At most one of those that hide and of those that miscount: together they may hide from list and totals alike. */
const lies: fc.Arbitrary<Partial<Faults>> = fc.oneof(
  fc.constant<Partial<Faults>>({}),
  fc
    .tuple(share, fc.constantFrom<FaultRule>({ rows: 1 }, { rows: 2 }))
    .map(([a, b]) => ({ dropped: { ...a, ...b } })),
  fc
    .tuple(share, where, fc.constantFrom(-2, -1, 1, 2))
    .map(([a, b, by]) => ({ lyingTotal: { ...a, ...b, by } })),
  share.map((a) => ({ duplicated: a })),
  fc.constant<Partial<Faults>>({ serverError: { share: 0.2 }, reset: { share: 0.1 } }),
);
const noLies = {
  dropped: null,
  lyingTotal: null,
  duplicated: null,
  serverError: null,
  reset: null,
};

type Change = {
  kind: 'hide' | 'insert' | 'settle' | 'say';
  resource: 'orders' | 'nft_classes';
  day: (typeof days)[number];
  i: number;
};
const changes = fc.array(
  fc.record<Change>({
    kind: fc.constantFrom('hide', 'insert', 'settle', 'say'),
    resource: fc.constantFrom('orders', 'nft_classes'),
    day: fc.constantFrom(...days),
    i: fc.nat(11),
  }),
  { maxLength: 4 },
);

const lives = fc.record({
  dialect: dialects,
  orders: fc.tuple(fc.nat(11), fc.nat(11), fc.nat(11), fc.nat(3)),
  classes: fc.tuple(fc.nat(11), fc.nat(3), fc.nat(11), fc.nat(3)),
  pending: fc.boolean(),
  steps: fc.array(fc.record({ laterH: fc.constantFrom(0, 1, 7, 26), lies, changes }), {
    minLength: 1,
    maxLength: 5,
  }),
});
type Life = typeof lives extends fc.Arbitrary<infer T> ? T : never;

function change({ simulator }: Bench, { kind, resource, day, i }: Change): void {
  const id = `${resource === 'orders' ? 'o' : 'c'}-${day}-${i}`;
  const now = new Date(simulator.clock.now()).toISOString();
  if (kind === 'hide') simulator.hide(resource, id);
  else if (kind === 'insert') {
    // An id that is shown is not made again.
    if (![...simulator.oracle.shown(resource)].some((one) => one.id === id)) {
      simulator.insert(
        resource,
        resource === 'orders' ? orderOf(day, i, { update_time: now }) : classOf(day, i),
      );
    }
  } else {
    simulator.mutate(resource, id, (one) =>
      kind === 'settle' && resource === 'orders'
        ? { ...one, status: 2, update_time: now }
        : { ...one, message: now, update_time: now },
    );
  }
}

/** What is told without counting, and the count. */
const totals = async ({ db }: Bench): Promise<unknown> =>
  (await db.query(`select resource, records from analytics.record_totals order by 1`)).rows;
const counted = async ({ db }: Bench): Promise<unknown> =>
  (
    await db.query(
      `select 'nft_classes' as resource, count(*) as records from archive.nft_classes
       union all select 'orders', count(*) from archive.orders order by 1`,
    )
  ).rows;

async function live({ dialect, orders, classes, pending, steps }: Life): Promise<void> {
  const of = <T>(counts: readonly number[], make: (day: string, i: number) => T): T[] =>
    days.flatMap((day, d) => Array.from({ length: counts[d] ?? 0 }, (_, i) => make(day, i)));
  const bench = await createBench(
    {
      startAt: noon,
      dialect,
      days: read,
      records: {
        orders: of(orders, (day, i) =>
          orderOf(day, i, pending && i % 4 === 1 ? { status: 1 } : {}),
        ),
        classes: of(classes, (day, i) => classOf(day, i)),
      },
    },
    // One request at a time: what a seed draws is what happens, and keys of three requests last.
    { concurrency: 1 },
  );
  try {
    const check = async (): Promise<void> => {
      expect(await falseSeals(bench)).toEqual([]);
      expect(await totals(bench)).toEqual(await counted(bench));
    };
    await bench.run();
    await check();
    const hasTotals = bench.simulator.dialect().totals === 'present';
    for (const step of steps) {
      for (const one of step.changes) change(bench, one);
      // Where nothing is counted, what is hidden from the list is hidden from everyone.
      const isClaimed = hasTotals || step.lies.dropped === undefined;
      bench.simulator.setFaults({ ...noLies, ...(isClaimed ? step.lies : {}) });
      // A proof made before a change is not judged after it: the oracle goes by the moment.
      await bench.runLater(step.laterH * hour + 60_000);
      await check();
    }
    bench.simulator.setFaults(noLies);
    // Two days of truth at least, and five at most until everything is sealed.
    let unsealed: unknown[] = [];
    for (let i = 0; i < 5 && (i < 2 || unsealed.length > 0); i++) {
      bench.simulator.advance(25 * hour);
      await bench.run();
      await check();
      ({ rows: unsealed } = await bench.db.query(
        `select resource, day, state, proof, why, last_error from sync.slices s
          where day = any ($1) and day < '2026-04-06' and state <> 'sealed' and why <> 'pending'`,
        [read],
      ));
    }
    expect(unsealed).toEqual([]);
  } finally {
    await bench.close();
  }
}

test('P6: whatever is sealed is true, and when the lies end everything is', async () => {
  await fc.assert(fc.asyncProperty(lives, live), { seed: 1, numRuns: 3, endOnFailure: true });
}, 300_000);

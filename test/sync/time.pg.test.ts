// P6, P7: days of platform time lived through with clocks that are wrong: the machine's, the platform's, and those of
// some of the machines behind its balancer. At every step the ledger must claim nothing that the true time does not
// bear out.
import { afterEach, describe, expect, test } from 'vitest';
import { addDays, dayOf, daysIn, windowAt } from '../../src/day.ts';
import type { Day } from '../../src/model.ts';
import type { SimulatorOptions } from '../../src/simulator/server.ts';
import type { Faults } from '../../src/simulator/faults.ts';
import { enterSlices } from '../../src/sync/enter-days.ts';
import type { Bench } from '../support/archive.ts';
import { classOf } from '../support/days.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const hour = 3_600_000;
const day = 24 * hour;
const begin = Date.parse('2026-04-06T12:00:00Z');

const createBench = benchesOnOneDatabase();
let bench: Bench;
afterEach(() => bench.close());

/** The true time, and by how much this machine's wall clock is off. */
type Truth = { passedMs: number; wallErrorMs: number };

/** Days at either end of the window. */
const few = [
  ...daysIn({ from: '2026-03-01', to: '2026-03-05' }),
  ...daysIn({ from: '2026-04-01', to: '2026-04-07' }),
];
const whole = { ordersPerDay: 4, classesPerDay: 0, quietShare: 0.2, pendingShare: 0 };

/** `days` of the window are read, all of them where `null`. */
async function begun(
  more: SimulatorOptions = {},
  days: Day[] | null = few,
): Promise<{ truth: Truth; now: () => number }> {
  const truth: Truth = { passedMs: 0, wallErrorMs: 0 };
  const startedAt = performance.now();
  const now = (): number => begin + truth.passedMs + performance.now() - startedAt;
  bench = await createBench(
    {
      startAt: begin,
      speed: 1,
      now,
      ...(days === null ? { world: whole } : { days, world: { ...whole, since: '2026-04-01' } }),
      time: {
        wallNow: () => now() + truth.wallErrorMs,
        monotonicNow: now,
        // While a run waits for more answers to tell the time by, time passes at once.
        sleep: async (forMs) => void (truth.passedMs += forMs),
      },
      ...more,
    },
    { scope: { classes: 'none' } },
  );
  return { truth, now };
}

/** What the ledger claims although the true time contradicts it. */
async function claimedTooEarly(now: number): Promise<string[]> {
  const { rows } = await bench.db.query<{ claim: string }>(
    `select day || ' is ' || state as claim from sync.slices
      where (state in ('final', 'lost') and day >= $1)
         or (state = 'sealed' and ((day + 1)::timestamp at time zone 'UTC') + interval '15 minutes' > $2)
      union all
     select count(*) || ' days to come' from sync.slices where day > $3 having count(*) > 0`,
    [windowAt(now).from, new Date(now).toISOString(), addDays(dayOf(now), 1)],
  );
  return rows.map(({ claim }) => claim);
}

async function states(): Promise<Record<string, number>> {
  const { rows } = await bench.db.query<{ state: string; days: number }>(
    `select state, count(*)::int as days from sync.slices where deadline_at < '9999-01-01' group by 1`,
  );
  return Object.fromEntries(rows.map(({ state, days }) => [state, days]));
}

/** A run every few hours; after each of them the claims. */
async function live(
  { truth, now }: Awaited<ReturnType<typeof begun>>,
  steps: number,
  stepMs: number,
  each: (step: number) => Promise<void> | void = () => undefined,
): Promise<string[]> {
  const claims: string[] = [];
  for (let step = 0; step < steps; step++) {
    truth.passedMs += stepMs;
    await each(step);
    await bench.run();
    claims.push(...(await claimedTooEarly(now())));
  }
  return claims;
}

describe('machines behind a balancer', () => {
  const lives: [string, Faults['otherClock'], Faults['wrongDate']][] = [
    ['5 of 100 answers 75 days ahead', { share: 0.05, ms: 75 * day }, null],
    ['5 of 100 answers dated 2101', null, { share: 0.05, ms: 75 * 365 * day }],
    ['half of the answers a day ahead', { share: 0.5, ms: day }, null],
    ['half of the answers a day behind', null, { share: 0.5, ms: -day }],
  ];
  test.each(lives)('%s', async (_, otherClock, wrongDate) => {
    const world = await begun({ faults: { otherClock, wrongDate } });
    await bench.run();
    const claims = await live(world, 3, 10 * hour, async (step) => {
      if (step % 2 === 1) await bench.restart();
    });
    expect(claims).toEqual([]);
    // The platform is whole again: what had to wait is sealed.
    bench.simulator.setFaults({ otherClock: null, wrongDate: null });
    await bench.restart();
    expect(await live(world, 2, 25 * hour)).toEqual([]);
    expect(await states()).toEqual({ open: 1, sealed: few.length + 2 });
  });

  test('one answer two hours ahead at 23:00 seals no today', async () => {
    const world = await begun();
    await bench.run();
    world.truth.passedMs = 11 * hour;
    await bench.run();
    bench.simulator.setFaults({ otherClock: { next: 1, ms: 2 * hour } });
    expect(await live(world, 2, 60_000)).toEqual([]);
    expect(await states()).toEqual({ open: 1, sealed: 9 });
  });
});

test.each([
  ['2026-02-25', '2026-04-06', []],
  ['2026-04-02', '2026-05-03', ['2026-04-01', '2026-04-02']],
])(
  'P7: between %s and %s, nothing agreed on, only days are entered that all witnesses have in the window',
  async (certain, possible, days) => {
    await begun({}, null);
    const clock = {
      now: () => Date.parse(possible),
      certain: () => Date.parse(certain),
      possible: () => Date.parse(possible),
      isSettled: () => false,
    };
    const { db, worker } = bench;
    await enterSlices(db, 'q', worker.scope, new Map(), clock, worker.settings);
    const { rows } = await db.query<{ day: string }>('select day from sync.slices order by day');
    expect(rows.map(({ day }) => day)).toEqual(days);
  },
);

describe('this machine', () => {
  test('a year behind asks for the right days and keeps their records; verdicts wait until it is set right', async () => {
    const world = await begun();
    world.truth.wallErrorMs = -366 * day;
    await bench.run();
    expect(await states()).toEqual({ open: 1, walked: 9 });
    const { rows } = await bench.db.query('select count(*)::int as held from archive.orders');
    expect(rows).toEqual([{ held: bench.simulator.oracle.count('orders') }]);
    expect(await live(world, 3, 8 * hour)).toEqual([]);
    expect((await states())['sealed']).toBeUndefined();
    // Noted for the alert, since when it has been so.
    const noted = await bench.db.query(
      `select disagrees, round(disagrees_by_ms / 86400000.0)::int as days, disagrees_since < $1 as since from sync.clocks`,
      [new Date(world.now() - 16 * hour).toISOString()],
    );
    expect(noted.rows).toEqual([{ disagrees: 'machine', days: 366, since: true }]);

    world.truth.wallErrorMs = 0;
    await bench.restart();
    expect(await live(world, 2, 25 * hour)).toEqual([]);
    expect(await states()).toEqual({ open: 1, sealed: 12 });
    expect((await bench.db.query('select disagrees from sync.clocks')).rows).toEqual([
      { disagrees: null },
    ]);
  });

  test('in a process that begins anew, a belief that was kept is confirmed by the first answer', async () => {
    const world = await begun();
    world.truth.wallErrorMs = -366 * day;
    await bench.run();
    // The database's clock goes on as this test's does not: the belief is of this moment.
    await bench.restart();
    const { passedMs } = world.truth;
    await bench.run();
    // Nothing was waited for.
    expect(world.truth.passedMs).toBe(passedMs);
    expect(Math.abs(bench.worker.platform.clock.now() - world.now())).toBeLessThan(60_000);
  });
});

test('a platform that was set 26 days ahead loses nothing, and back again heals', async () => {
  const world = await begun();
  await bench.run();
  bench.simulator.advance(26 * day);
  // Every minute, as the service ticks: within ten minutes it is followed.
  await live(world, 12, 60_000);
  expect(await states()).toMatchObject({ sealed: 9 });
  const { clock } = bench.worker.platform;
  expect([dayOf(clock.now()), dayOf(clock.certain())]).toEqual(['2026-05-02', '2026-04-06']);
  expect(Object.keys(await states()).toSorted()).toEqual(['open', 'sealed', 'walked']);

  // What was shown meanwhile was not observed in a time to come: certificates and later contents would wait for it.
  const observed = await bench.db.query<{ at: string }>(
    'select max(observed_at) as at from (select observed_at from sync.slices union all select observed_at from archive.orders) all_of',
  );
  expect(Date.parse(observed.rows[0]?.at ?? '')).toBeLessThan(world.now() + hour);

  bench.simulator.advance(-26 * day);
  await live(world, 12, 60_000);
  expect(await live(world, 2, 25 * hour)).toEqual(['24 days to come', '23 days to come']);
  const { rows } = await bench.db.query(
    `select * from sync.slices where state <> 'sealed' and day < '2026-04-08' and deadline_at < '9999-01-01'`,
  );
  expect(rows).toEqual([]);
});

test('P2: what is shown after every clock was 40 days ahead, and set right, replaces what was shown then', async () => {
  const classes = Array.from({ length: 8 }, (_, i) => classOf('2026-04-05', i));
  const days = ['2026-03-01', '2026-04-04', '2026-04-05', '2026-04-06'];
  bench = await createBench({ days, startAt: begin, records: { orders: [], classes } });
  const say = (nft_count: number): void => {
    for (const { record } of classes) {
      bench.simulator.mutate('nft_classes', record.id, (one) => ({ ...one, nft_count }));
    }
  };
  await bench.run();
  say(50);
  await bench.skipTo(begin + 40 * day);
  await bench.run();
  bench.simulator.setNow(begin + hour);
  await bench.restart();
  // Of contents shown at one moment the digest would choose: of eight pairs not always the newer.
  say(99);
  await bench.run();
  bench.simulator.advance(7 * hour);
  await bench.run();
  const { rows } = await bench.db.query('select distinct nft_count from archive.nft_classes');
  expect(rows).toEqual([{ nft_count: '99' }]);
});

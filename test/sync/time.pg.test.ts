// P6, P7: days of platform time lived through with clocks that are wrong: the machine's, the platform's, and those of
// some of the machines behind its balancer. At every step the ledger must claim nothing that the true time does not
// bear out.
import { afterEach, describe, expect, test } from 'vitest';
import { addDays, dayOf, daysIn, windowAt } from '../../src/day.ts';
import type { Day } from '../../src/model.ts';
import type { SimulatorOptions } from '../../src/simulator/server.ts';
import type { Faults } from '../../src/simulator/faults.ts';
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
    expect(bench.worker.platform.clock.disagreement()).toMatchObject({ of: 'machine' });

    // In the same process: what it heard before says nothing any more.
    world.truth.wallErrorMs = 0;
    expect(await live(world, 2, 25 * hour)).toEqual([]);
    expect(await states()).toEqual({ open: 1, sealed: 12 });
    expect(bench.worker.platform.clock.disagreement()).toBeNull();
  });

  test('a year ahead asks for the right days; where nothing is shown, nothing is proved until it is set right', async () => {
    const world = await begun();
    world.truth.wallErrorMs = 366 * day;
    await bench.run();
    const { rows } = await bench.db.query('select count(*)::int as held from archive.orders');
    expect(rows).toEqual([{ held: bench.simulator.oracle.count('orders') }]);
    // By this machine the months of empty days are long gone.
    expect(await states()).toEqual({ open: 5, sealed: 5 });
    expect(await live(world, 2, 9 * hour)).toEqual([]);
    world.truth.wallErrorMs = 0;
    expect(await live(world, 2, 25 * hour)).toEqual([]);
    expect(await states()).toEqual({ open: 1, sealed: 12 });
  });
});

describe('the platform', () => {
  test('set five hours ahead in the evening: today is read, and sealed when it is over', async () => {
    const world = await begun();
    await bench.run();
    world.truth.passedMs = 8 * hour;
    bench.simulator.advance(5 * hour);
    expect(await live(world, 2, 60_000)).toEqual([]);
    expect(await states()).toMatchObject({ sealed: 9 });
    bench.simulator.advance(-5 * hour);
    expect(await live(world, 2, 25 * hour)).toEqual([]);
    expect(await states()).toEqual({ open: 1, sealed: 11 });
  });

  test('set 26 days ahead decides nothing, and what it left behind binds nobody when it is set back', async () => {
    const world = await begun();
    await bench.run();
    bench.simulator.advance(26 * day);
    await live(world, 12, 60_000);
    expect(await states()).toMatchObject({ sealed: 9 });
    const { clock } = bench.worker.platform;
    expect([dayOf(clock.now()), dayOf(clock.earliest())]).toEqual(['2026-05-02', '2026-04-06']);
    expect(Object.keys(await states()).toSorted()).toEqual(['open', 'sealed', 'walked']);

    // What was shown meanwhile was not observed in a time to come: certificates and later contents would wait for it.
    const observed = await bench.db.query<{ at: string }>(
      'select max(observed_at) as at from (select observed_at from sync.slices union all select observed_at from archive.orders) all_of',
    );
    expect(Date.parse(observed.rows[0]?.at ?? '')).toBeLessThan(world.now() + hour);

    bench.simulator.advance(-26 * day);
    await live(world, 12, 60_000);
    // Days still to come are left alone.
    expect(await live(world, 2, 25 * hour)).toEqual(['24 days to come', '23 days to come']);
    const { rows } = await bench.db.query(
      `select * from sync.slices where state <> 'sealed' and day < '2026-04-08' and deadline_at < '9999-01-01'`,
    );
    expect(rows).toEqual([]);
  });

  test('silent for more than ten minutes after a month went: nothing is final or lost before it answers', async () => {
    const world = await begun();
    await bench.run();
    await bench.db.query(
      `update sync.slices set state = 'open', whole_walk = 0 where day = '2026-03-02'`,
    );
    bench.simulator.setFaults({ reset: {} });
    await live(world, 3, 9 * day);
    expect(bench.worker.platform.clock.earliest()).toBe(-Infinity);
    expect(Object.keys(await states()).toSorted()).toEqual(['open', 'sealed']);
    bench.simulator.setFaults({ reset: null });
    expect(await live(world, 1, hour)).toEqual([]);
    expect(await states()).toMatchObject({ final: 3, lost: 1 });
  });
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

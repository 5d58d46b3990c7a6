// P6, P7: days of platform time lived through with clocks that are wrong: the machine's, the platform's, and those of
// some of the machines behind its balancer. At every step the ledger must claim nothing that the true time does not
// bear out.
import { describe, expect, test } from 'vitest';
import { addDays, dayOf, daysIn, windowAt } from '../../src/day.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-server.ts';
import type { Bench } from '../support/archive.ts';
import { benchesOnOneDatabase } from '../support/one-database.ts';

const hour = 3_600_000;
const day = 24 * hour;
const begin = Date.parse('2026-04-06T12:00:00Z');

const createBench = benchesOnOneDatabase();
let bench: Bench;

/** The true time, and by how much this machine's wall clock is off. */
type Truth = { passedMs: number; wallErrorMs: number };

/** Days at either end of the window. */
const few = [
  ...daysIn({ from: '2026-03-01', to: '2026-03-05' }),
  ...daysIn({ from: '2026-04-04', to: '2026-04-07' }),
];

async function begun(more: SimulatorOptions = {}): Promise<{ truth: Truth; now: () => number }> {
  const truth: Truth = { passedMs: 0, wallErrorMs: 0 };
  const startedAt = performance.now();
  const now = (): number => begin + truth.passedMs + performance.now() - startedAt;
  bench = await createBench(
    {
      startAt: begin,
      speed: 1,
      now,
      days: few,
      world: {
        ordersPerDay: 4,
        classesPerDay: 0,
        quietShare: 0.2,
        pendingShare: 0,
        since: '2026-04-04',
      },
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

/** Days that were over two days ago and are not sealed; those asked for after they had left the window set aside. */
async function notSealed(now: number): Promise<string[]> {
  const { rows } = await bench.db.query<{ day: string }>(
    `select day::text || ' ' || coalesce(why, state) as day from sync.slices
      where state <> 'sealed' and day < $1 and deadline_at < '9999-01-01' order by 1`,
    [addDays(dayOf(now), -2)],
  );
  return rows.map(({ day }) => day);
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

test('machines behind a balancer, 5 of 100 answers 75 days ahead: nothing is claimed too early, all is sealed when that is over', async () => {
  const world = await begun({ faults: { wrongDate: { share: 0.05, ms: 75 * day } } });
  await bench.run();
  const claims = await live(world, 3, 10 * hour, async (step) => {
    if (step % 2 === 1) await bench.restart();
  });
  expect(claims).toEqual([]);
  bench.simulator.setFaults({ wrongDate: null });
  await bench.restart();
  expect(await live(world, 3, 25 * hour)).toEqual([]);
  expect(await notSealed(world.now())).toEqual([]);
});

test.each([
  ['behind', -1],
  ['ahead', 1],
])(
  'this machine a year %s asks for the right days and keeps their records; verdicts wait until it is set right',
  async (_, sign) => {
    const world = await begun();
    world.truth.wallErrorMs = sign * 366 * day;
    await bench.run();
    const { rows } = await bench.db.query('select count(*)::int as held from archive.orders');
    expect(rows).toEqual([{ held: bench.simulator.oracle.count('orders') }]);
    // By a machine that is ahead the months are long gone.
    expect(await live(world, 2, 9 * hour)).toEqual([]);
    expect((await states())['sealed']).toBeUndefined();
    expect(bench.worker.platform.clock.disagreement()).toMatchObject({ of: 'machine' });

    // In the same process: what it heard before says nothing any more.
    world.truth.wallErrorMs = 0;
    expect(await live(world, 3, 25 * hour)).toEqual([]);
    expect(await notSealed(world.now())).toEqual([]);
    expect(bench.worker.platform.clock.disagreement()).toBeNull();
  },
);

describe('the platform', () => {
  test('set 26 days ahead decides nothing, and what it left behind binds nobody when it is set back', async () => {
    const world = await begun();
    await bench.run();
    bench.simulator.advance(26 * day);
    await live(world, 10, 60_000);
    const { clock } = bench.worker.platform;
    expect([dayOf(clock.now()), dayOf(clock.earliest())]).toEqual(['2026-05-02', '2026-04-06']);
    expect(Object.keys(await states()).toSorted()).toEqual(['open', 'walked']);

    // What was shown meanwhile was not observed in a time to come: certificates and later contents would wait for it.
    const observed = await bench.db.query<{ at: string }>(
      'select max(observed_at) as at from (select observed_at from sync.slices union all select observed_at from archive.orders) all_of',
    );
    expect(Date.parse(observed.rows[0]?.at ?? '')).toBeLessThan(world.now() + hour);

    bench.simulator.advance(-26 * day);
    await live(world, 10, 60_000);
    // Days still to come are left alone.
    expect(await live(world, 3, 25 * hour)).toEqual(
      [24, 23, 22].map((days) => `${days} days to come`),
    );
    expect(await notSealed(world.now())).toEqual([]);
  });

  test('silent for more than ten minutes after a month went: nothing is final or lost before it answers', async () => {
    const world = await begun();
    await bench.run();
    await live(world, 1, 25 * hour);
    await bench.db.query(
      `begin; reset role; delete from sync.readings where day = '2026-03-02'; set local role outlast_writer;
       update sync.slices set state = 'open' where day = '2026-03-02'; commit; set role outlast_writer`,
    );
    bench.simulator.setFaults({ reset: {} });
    await live(world, 3, 9 * day);
    expect(bench.worker.platform.clock.earliest()).toBe(-Infinity);
    expect(Object.keys(await states()).toSorted()).toEqual(['open', 'sealed', 'walked']);
    bench.simulator.setFaults({ reset: null });
    expect(await live(world, 1, hour)).toEqual([]);
    expect(await states()).toMatchObject({ final: 3, lost: 1 });
  });
});
